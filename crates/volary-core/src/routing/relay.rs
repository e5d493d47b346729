//! The way through the router's actor, for those who know the router only as an address.
//!
//! Sender and deadline of a message stay what they were, except that an ask of which several are asked and one answer is
//! enough comes to them from the router. There is nobody to give a refused message back to: it becomes
//! a dead letter of the router's, and its asker hears why.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::ask::race;
use super::head::Head;
use super::plan::{Plan, Plans, Routing};
use super::race::Answer;
use super::strategy::Spreads;
use crate::actor::{Context, Message, Rejection};
use crate::cell::{Relay, relay_table};
use crate::dispatch::{Ending, Host, contain};
use crate::events::DeadReason;
use crate::mailbox::{Envelope, MessageTable, Refusal};
use crate::reference::{Accepts, ActorRef, AskError, Found, ReplyTo, Target, carrying, counted, offer, unasked};

/// Types a reference to a router: an `ActorRef<Routed<T, S>>` takes what a [`Router<T, S>`](super::Router) takes, and
/// can be watched, named and stopped like every other. Messages take the way through the router's own actor.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, Routed};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let address: ActorRef<Routed<Account, RoundRobin>> = accounts.actor_ref();
/// assert_eq!(address.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug)]
pub struct Routed<T, S>(std::marker::PhantomData<fn(T, S)>);

impl<T: Target, S: Routing> Target for Routed<T, S> {
    type Via = ();

    fn abroad() -> Self::Via {}

    fn found(actor: &Found<'_>) -> Option<Self::Via> {
        actor.is::<Head<T, S>>().then_some(())
    }
}

impl<T: Accepts<M>, S: Spreads<M>, M: Message> Accepts<M> for Routed<T, S> {
    fn table((): ()) -> &'static MessageTable {
        relay_table::<Head<T, S>, M>()
    }
}

impl<T: Accepts<M>, S: Plans<M>, M: Message> Relay<M> for Head<T, S> {
    fn relay(&mut self, message: M, reply: ReplyTo<M::Reply, M::Rejection>, ctx: &mut Context<Self>) {
        let system = ctx.here().system();
        let mut reply = Some(reply);
        // Keys, copies and drops are user code, and this actor is not theirs to crash.
        let fault = match self.switch().plan(&message, system) {
            Ok(plan) => match contain(|| self.hand_on(plan, message, &mut reply, ctx)) {
                Ok(()) => return,
                Err(fault) => fault,
            },
            Err(fault) => {
                let sender = ctx.origin().sender;
                system.dead_letter(ctx.here(), sender, DeadReason::Unhandled, message);
                fault
            }
        };
        if let Some(reply) = reply {
            reply.fail(&fault);
        }
        system.report_hook_fault(ctx.here(), "routing", &fault);
    }
}

impl<T: Target, S: Routing> Head<T, S> {
    /// The way to the asker stays in `reply` until somebody has it: should a copy panic, it is not lost.
    fn hand_on<M: Message>(
        &self,
        plan: Plan,
        message: M,
        reply: &mut Option<ReplyTo<M::Reply, M::Rejection>>,
        ctx: &Context<Self>,
    ) where
        T: Accepts<M>,
        S: Plans<M>,
    {
        let Envelope { sender, deadline, .. } = ctx.origin();
        let message = if reply.as_ref().is_some_and(ReplyTo::is_wanted) {
            match race(self.switch(), plan, message, None) {
                Ok(mut race) => {
                    if let Some(reply) = reply.take() {
                        ctx.spawn(async move {
                            // Once the asker has gone nobody else is asked.
                            let answer = poll_fn(|task| match reply.is_wanted() {
                                true => Pin::new(&mut race).poll(task).map(Some),
                                false => Poll::Ready(None),
                            });
                            if let Some(answer) = answer.await {
                                pass::<M>(answer, reply);
                            }
                        });
                    }
                    return;
                }
                Err(message) => message,
            }
        } else {
            message
        };
        let mut attempt = |routee: &ActorRef<T>, message: M| {
            let slot = reply.take().and_then(ReplyTo::into_slot);
            let letter = carrying(Envelope {
                sender,
                deadline,
                reply: slot,
                ..Envelope::OUTSIDE
            });
            let letter = counted(routee.cell(), letter);
            offer(routee.cell(), routee.table_for::<M>(), letter, message)
                .inspect_err(|_| *reply = slot.map(|slot| ReplyTo::from_slot(Some(slot))))
        };
        let given = match plan {
            // Everybody handles it, and the first of the list who takes it answers.
            Plan::Each | Plan::First(_) => self.switch().give_each(message, S::copy, attempt),
            Plan::One(_) | Plan::Idlest(_) | Plan::Key(_) | Plan::Chop(..) => {
                self.switch().give(plan, message, &mut attempt)
            }
        };
        if let Err((refusal, message)) = given {
            let why = unasked::<M>(refusal);
            let reason = match refusal {
                Refusal::Closed => DeadReason::Nobody,
                refusal => refusal.dead_reason(),
            };
            let here = ctx.here();
            here.system().dead_letter(here, sender, reason, message);
            if let Some(reply) = reply.take() {
                pass::<M>(Err(why), reply);
            }
        }
    }
}

/// Hands an answer to whoever waits for it.
fn pass<M: Message>(answer: Answer<M>, reply: ReplyTo<M::Reply, M::Rejection>) {
    match answer {
        Ok(answer) => reply.send(answer),
        Err(AskError::Rejected(rejection)) => reply.reject(rejection),
        Err(AskError::Failed(fault)) => reply.fail(&fault),
        Err(AskError::Full) => end(reply, Ending::Full),
        Err(AskError::Stopped) => end(reply, Ending::Stopped),
        Err(AskError::Remote(error)) => reply.end_remotely(*error),
        Err(AskError::Refused { reason }) => end(reply, Ending::Refused(reason)),
        Err(AskError::NoReply | AskError::Timeout { .. } | AskError::Cycle(_)) => end(reply, Ending::NoReply),
    }
}

fn end<R: Send + 'static, E: Rejection>(reply: ReplyTo<R, E>, ending: Ending) {
    Host::with(|host| host.with_ending(ending, || drop(reply)));
}
