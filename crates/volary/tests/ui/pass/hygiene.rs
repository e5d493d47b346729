//! Generated code means the same whatever stands around it.
#![deny(warnings, missing_docs, unreachable_pub, clippy::all)]

/// Another road to the facade.
pub mod elsewhere {
    pub use volary as runtime;
}

mod hostile {
    #![allow(dead_code)]
    pub(crate) mod volary {}
    pub(crate) struct Result;
    pub(crate) struct Ok;
    pub(crate) struct Err;
    pub(crate) struct Message;
    pub(crate) struct Handler;
    pub(crate) struct Actor;
    pub(crate) struct Infallible;
    pub(crate) struct PhantomData;
    pub(crate) mod core {}
    pub(crate) mod std {}

    /// Its methods are named like those of the traits beneath.
    pub(crate) struct Echo;

    #[::volary::actor]
    impl Echo {
        /// Every parameter is called like a local of the handler.
        pub(crate) fn handle(&mut self, message: u8, context: u16, reply: u32, list: u64) -> u8 {
            let _ = (context, reply, list);
            message
        }
        /// Like the method of `Respond`.
        pub(crate) async fn respond(&mut self, _context: &mut ::volary::Context<Self>, __answer: u8) -> u8 {
            __answer
        }
        /// Like the hook, but without a receiver.
        pub(crate) fn messages() {}
    }

    #[derive(::volary::Message)]
    pub(crate) struct Ping;

    #[derive(Debug, ::volary::Rejection)]
    pub(crate) struct Refused;

    ::volary::protocol!(pub(crate) Api { Ping });
}

/// An actor that finds the runtime elsewhere.
pub struct Distant;

#[elsewhere::runtime::actor(crate = crate::elsewhere::runtime)]
impl Distant {
    /// Answers.
    pub fn call(&mut self, voice: String) -> String {
        voice
    }
}

/// A message from elsewhere.
#[derive(elsewhere::runtime::Message)]
#[message(crate = crate::elsewhere::runtime)]
pub struct Letter;

fn main() {
    assert_eq!(hostile::Echo.handle(1, 2, 3, 4), 1);
    let _ = hostile::Handle { message: 1, context: 2, reply: 3, list: 4 };
    let _ = hostile::Respond { __answer: 1 };
    hostile::Echo::messages();
    let _ = Call { voice: String::new() };
}
