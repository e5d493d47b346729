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
/// # use volary_core::{ActorRef, AskError};
/// # use volary_remote::{AskRemote, RemoteEnvelope, TransportActor, Undelivered};
/// # async fn f(transport: &ActorRef<TransportActor>, envelope: RemoteEnvelope) {
/// match transport.ask(AskRemote(envelope)).await {
///     Ok(answer) => println!("{:?}, written in {}", answer.payload, answer.codec),
///     Err(AskError::Rejected(Undelivered::Rejected(no))) => println!("a rejection: {:?}", no.payload),
///     Err(error) => println!("{error}"),
/// }
/// # }
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
/// # use volary_remote::RemoteAnswer;
/// # use volary_wire::CodecId;
/// fn text(answer: RemoteAnswer) -> Option<String> {
///     (answer.codec == CodecId::JSON).then(|| String::from_utf8_lossy(&answer.payload).into_owned())
/// }
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
