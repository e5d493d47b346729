//! The actor of a probe: it takes what comes and hands it to the test.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Weak;

use volary::{Actor, Context, Failure, Fault, Message, MessageList, ReplyTo, SyncHandler};

use super::arrivals::{Arrival, Arrivals};

/// The messages that a probe takes, as a list of types: `(A, (B, ()))`.
///
/// ```
/// # use volary_testkit::probe::MessageSet;
/// # #[derive(volary::Message)] struct Ping;
/// # #[derive(volary::Message)] struct Pong;
/// fn is_a_set<L: MessageSet>() {}
/// is_a_set::<(Ping, (Pong, ()))>();
/// ```
pub trait MessageSet: 'static {
    /// Makes them known to whoever has only the address.
    #[doc(hidden)]
    fn list<All: MessageSet>(list: &mut MessageList<ProbeActor<All>>);

    /// Makes the actor take them together with the right to answer.
    #[doc(hidden)]
    fn take_up<All: MessageSet>(ctx: &mut Context<ProbeActor<All>>);
}

impl MessageSet for () {
    fn list<All: MessageSet>(_: &mut MessageList<ProbeActor<All>>) {}
    fn take_up<All: MessageSet>(_: &mut Context<ProbeActor<All>>) {}
}

impl<M: Message, Rest: MessageSet> MessageSet for (M, Rest) {
    fn list<All: MessageSet>(list: &mut MessageList<ProbeActor<All>>) {
        list.add::<M>();
        Rest::list(list);
    }

    fn take_up<All: MessageSet>(ctx: &mut Context<ProbeActor<All>>) {
        ctx.becomes(take::<M, All>);
        Rest::take_up(ctx);
    }
}

/// The actor behind a [`Probe`](super::Probe), to type its reference by.
///
/// It can be sent anything, so that its reference can be narrowed to every protocol. What is not in its list it does not
/// handle: such a message becomes a dead letter.
///
/// ```
/// use volary::prelude::*;
/// use volary_testkit::{Probe, TestKit, probe::ProbeActor};
///
/// #[derive(Debug, Message)]
/// struct Ping;
///
/// let kit = TestKit::new();
/// kit.run(async {
///     let probe = Probe::<Ping>::new(kit.system()).await;
///     let actor: ActorRef<ProbeActor<(Ping, ())>> = probe.actor_ref();
///     actor.tell(Ping).unwrap();
/// });
/// ```
pub struct ProbeActor<L> {
    /// Weak: what comes when the test has dropped its probe interests nobody.
    arrivals: Weak<Arrivals>,
    takes: PhantomData<fn(L)>,
}

impl<L> ProbeActor<L> {
    pub(super) fn new(arrivals: Weak<Arrivals>) -> Self {
        ProbeActor {
            arrivals,
            takes: PhantomData,
        }
    }
}

impl<L: MessageSet> Actor for ProbeActor<L> {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        L::take_up(ctx);
        Ok(())
    }

    fn messages(list: &mut MessageList<Self>) {
        L::list(list);
    }
}

/// A handler that is given the `ReplyTo` cannot be written for every type of message, since a crate above might write
/// another; a behaviour can.
impl<M: Message, L: MessageSet> SyncHandler<M> for ProbeActor<L> {
    fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        Err(Failure::Unhandled(ctx.unhandled(message)))
    }
}

async fn take<M: Message, L: MessageSet>(
    probe: &mut ProbeActor<L>,
    message: M,
    reply: ReplyTo<M::Reply, M::Rejection>,
    _: &mut Context<ProbeActor<L>>,
) -> Result<(), Fault> {
    if let Some(arrivals) = probe.arrivals.upgrade() {
        arrivals.put(Arrival::new(message, reply));
    }
    Ok(())
}

impl<L> fmt::Debug for ProbeActor<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProbeActor")
    }
}
