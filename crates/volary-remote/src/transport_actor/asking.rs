//! Asking with bytes, and answers as bytes.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use volary_core::{Context, Fault, Message, ReplyTo, Resolving, Respond};
use volary_wire::native::Outcome;
use volary_wire::{Answered, CodecId, PendingReply};

use super::{RemoteEnvelope, TransportActor, Undelivered};
use crate::shared::Language;

/// Asks whoever an envelope is for; the answer comes back as bytes. The transport goes on meanwhile. The time that is left of
/// this ask is that of the other.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// let envelope = envelope(5)?; // a deposit for alice, as JSON
/// match transport.ask(AskRemote(envelope)).await {
///     Ok(answer) => assert_eq!(answer.payload, "5"),
///     Err(AskError::Rejected(Undelivered::Rejected(no))) => panic!("a rejection: {:?}", no.payload),
///     Err(error) => panic!("{error}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRemote(pub RemoteEnvelope);

impl Message for AskRemote {
    type Reply = RemoteAnswer;
    type Rejection = Undelivered;
}

/// An answer as bytes; see [`AskRemote`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// let answer: RemoteAnswer = transport.ask(AskRemote(envelope(5)?)).await?;
/// assert_eq!((answer.codec, &*answer.payload), (CodecId::JSON, &b"5"[..]));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAnswer {
    /// How it is written.
    pub codec: CodecId,
    /// The reply, or the rejection.
    pub payload: Bytes,
}

impl Respond<AskRemote> for TransportActor {
    async fn respond(
        &mut self,
        AskRemote(envelope): AskRemote,
        reply: ReplyTo<RemoteAnswer, Undelivered>,
        ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        let left = ctx.time_left();
        let asked = self.deliver(envelope, |registry, to, (name, codec, payload)| {
            registry.ask(to, name, codec, payload, left)
        });
        match asked {
            Ok(pending) => {
                let language = self.remote.shared().language.clone();
                ctx.spawn(pass_on(pending, language, reply));
            }
            Err(why) => reply.reject(why),
        }
        Ok(())
    }
}

async fn pass_on(
    mut pending: Box<dyn PendingReply>,
    language: Arc<Language>,
    reply: ReplyTo<RemoteAnswer, Undelivered>,
) {
    poll_fn(|context| pending.poll_reply(context)).await;
    let mut out = BytesMut::new();
    let answered = Resolving::within(&language.resolver, || pending.write(&mut out));
    let answer = |codec| RemoteAnswer {
        codec,
        payload: out.freeze(),
    };
    match answered {
        Answered::Ok(codec) => reply.send(answer(codec)),
        Answered::Rejected(codec) => reply.reject(Undelivered::Rejected(answer(codec))),
        Answered::Ended(Outcome::Ended { text, .. }) => {
            let why = text.as_str().to_owned();
            reply.reject(Undelivered::Unanswered { why });
        }
        Answered::Ended(_) => drop(reply),
    }
}
