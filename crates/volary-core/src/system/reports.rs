//! How trouble is told: counted, logged, and published.

use std::any::{Any, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use crate::sync::Mutex;

use super::core::SystemCore;
use super::metrics::count;
use crate::actor::{Fault, Message, Rejection};
use crate::cell::Header;
use crate::dispatch::{Host, contain};
use crate::env::What;
use crate::events::{
    ActorFailed, ActorPassivated, ActorReinstated, ActorRestarted, ActorStarted, ActorStopped, ActorSuspended,
    ActorWoken, DeadLetter, DeadReason, Lifecycle, MailboxHighWater, Missed, RejectionUnheard, SlowHandler,
    SubscriberLagged,
};
use crate::reference::ActorId;
use crate::scheduler::ScheduleFailed;
use crate::supervision::Directive;
use crate::telemetry::Rare;
use crate::time::Moment;
use crate::tree::{Address, Path};
use std::time::Duration;

/// So many per second, and a word about how many more there were.
pub(super) struct RateLimit {
    per_second: usize,
    window: Mutex<Window>,
}

struct Window {
    began: Moment,
    seen: usize,
    suppressed: u64,
}

impl RateLimit {
    pub(super) fn new(per_second: usize) -> Self {
        RateLimit {
            per_second,
            window: Mutex::new(Window {
                began: Moment::ZERO,
                seen: 0,
                suppressed: 0,
            }),
        }
    }

    /// `Some(n)`: speak, and n were kept quiet before.
    fn admit(&self, now: Moment) -> Option<u64> {
        let mut window = self.window.lock();
        if now.since(window.began) >= Duration::from_secs(1) {
            window.began = now;
            window.seen = 0;
        }
        if window.seen >= self.per_second {
            window.suppressed += 1;
            return None;
        }
        window.seen += 1;
        Some(std::mem::take(&mut window.suppressed))
    }
}

/// Whom a dead letter was for, beside the path.
#[derive(Clone, Copy)]
pub(crate) struct Addressee<'a> {
    id: Option<ActorId>,
    /// With the node, if it is another one.
    address: Option<&'a Address>,
}

impl<'a> Addressee<'a> {
    /// Somebody of this system, if anybody.
    pub(crate) fn here(id: Option<ActorId>) -> Self {
        Addressee { id, address: None }
    }

    fn of(cell: &'a Header) -> Self {
        Addressee {
            id: Some(ActorId::of(cell.id)),
            address: cell.foreign().map(|foreign| &foreign.address),
        }
    }

    /// For the log.
    fn name(self, path: &Path) -> String {
        self.address.map_or_else(|| path.to_string(), Address::to_string)
    }
}

impl SystemCore {
    /// Counts by type of actor, if anything is measured here.
    fn tally(&self, cell: &Header, what: Rare) {
        if let Some(meter) = self.meter() {
            meter.count(cell, what);
        }
    }

    pub(crate) fn count_refused(&self) {
        count(&self.counters.refused);
    }

    /// Ends a message that cannot be delivered: exactly one dead letter.
    pub(crate) fn dead_letter<M: Message>(&self, receiver: &Header, sender: u64, reason: DeadReason, message: M) {
        let letter = What::DeadLetter {
            message: type_name::<M>(),
            reason,
        };
        self.show(receiver, letter);
        self.tally(receiver, Rare::DeadLetter);
        self.dead_letter_to(Addressee::of(receiver), || receiver.path(), sender, reason, message);
    }

    /// The same for a message that is not here any more, to an actor elsewhere.
    pub(crate) fn dead_letter_abroad(
        &self,
        receiver: &Header,
        sender: u64,
        reason: DeadReason,
        message_type: &'static str,
    ) {
        let message_type = Cow::Borrowed(message_type);
        self.dead_letter_unseen(Addressee::of(receiver), receiver.path(), sender, reason, message_type);
    }

    /// The same for one that came from elsewhere and was never a message here.
    pub(crate) fn dead_letter_unseen(
        &self,
        receiver: Addressee<'_>,
        receiver_path: Path,
        sender: u64,
        reason: DeadReason,
        message_type: Cow<'static, str>,
    ) {
        count(&self.counters.dead_letters);
        let sender_path = self.directory.get(sender).map(|cell| cell.path());
        if let Some(suppressed) = self.dead_letter_log.admit(self.now()) {
            tracing::info!(
                message = &*message_type,
                receiver = receiver.name(&receiver_path),
                %reason,
                suppressed,
                "dead letter"
            );
        }
        if self.events.has_subscribers::<DeadLetter>() {
            self.events.publish(DeadLetter {
                reason,
                sender: ActorId::from_raw(sender),
                sender_path,
                receiver: receiver_path,
                receiver_id: receiver.id,
                address: receiver.address.cloned(),
                message_type,
                message: Arc::default(),
            });
        }
    }

    /// The same for a message to a path at which nobody lives who takes it.
    pub(crate) fn dead_letter_to_nobody<M: Message>(&self, path: &Path, sender: u64, message: M) {
        self.dead_letter_to(
            Addressee::here(None),
            || path.clone(),
            sender,
            DeadReason::Nobody,
            message,
        );
    }

    /// The same, to a path where perhaps nobody lives.
    pub(super) fn dead_letter_to<M: Message>(
        &self,
        addressee: Addressee<'_>,
        receiver: impl FnOnce() -> Path,
        sender: u64,
        reason: DeadReason,
        message: M,
    ) {
        count(&self.counters.dead_letters);
        let speak = self.dead_letter_log.admit(self.now());
        let heard = self.events.has_subscribers::<DeadLetter>();
        if speak.is_none() && !heard {
            // Dropping is user code too.
            drop_contained(message);
            return;
        }
        let sender_path = self.directory.get(sender).map(|cell| cell.path());
        let receiver = receiver();
        if let Some(suppressed) = speak {
            tracing::info!(
                message = type_name::<M>(),
                receiver = addressee.name(&receiver),
                sender = sender_path.as_ref().map(tracing::field::display),
                %reason,
                suppressed,
                "dead letter"
            );
        }
        if !heard {
            drop_contained(message);
            return;
        }
        let message: Box<dyn Any + Send> = Box::new(message);
        let letter = DeadLetter {
            reason,
            sender: ActorId::from_raw(sender),
            sender_path,
            receiver,
            receiver_id: addressee.id,
            address: addressee.address.cloned(),
            message_type: Cow::Borrowed(type_name::<M>()),
            message: Arc::new(Mutex::new(Some(message))),
        };
        // Dropped in there if a subscriber lags or has gone.
        let _ = contain(|| self.events.publish(letter));
    }

    pub(crate) fn publish_lifecycle(&self, cell: &Header, what: Lifecycle) {
        let seen = match what {
            Lifecycle::Started => Some(What::Started),
            Lifecycle::Restarted => Some(What::Restarted),
            Lifecycle::Stopped => Some(What::Stopped),
            Lifecycle::Suspended => Some(What::Suspended),
            Lifecycle::Reinstated => Some(What::Reinstated),
            Lifecycle::Passivated => Some(What::Passivated),
            Lifecycle::Woken => Some(What::Woken),
            Lifecycle::Stopping => None,
        };
        if let Some(seen) = seen {
            self.show(cell, seen);
        }
        if cell.foreign().is_some() {
            return; // a stand-in comes and goes while its actor lives elsewhere
        }
        let path = || cell.path();
        let id = ActorId::of(cell.id);
        match what {
            Lifecycle::Started if self.events.has_subscribers::<ActorStarted>() => {
                self.events.publish(ActorStarted { path: path(), id });
            }
            Lifecycle::Restarted => {
                count(&self.counters.restarts);
                self.tally(cell, Rare::Restart);
                if self.events.has_subscribers::<ActorRestarted>() {
                    self.events.publish(ActorRestarted { path: path(), id });
                }
            }
            Lifecycle::Stopped if self.events.has_subscribers::<ActorStopped>() => {
                self.events.publish(ActorStopped { path: path(), id });
            }
            Lifecycle::Suspended => {
                tracing::warn!(actor = %path(), "suspended");
                self.events.publish(ActorSuspended { path: path(), id });
            }
            Lifecycle::Reinstated => {
                self.tally(cell, Rare::Reinstated);
                self.events.publish(ActorReinstated { path: path(), id });
            }
            Lifecycle::Passivated => {
                count(&self.counters.passivated);
                if self.events.has_subscribers::<ActorPassivated>() {
                    self.events.publish(ActorPassivated { path: path(), id });
                }
            }
            Lifecycle::Woken => {
                count(&self.counters.woken);
                if self.events.has_subscribers::<ActorWoken>() {
                    self.events.publish(ActorWoken { path: path(), id });
                }
            }
            Lifecycle::Started | Lifecycle::Stopping | Lifecycle::Stopped => {}
        }
    }

    pub(crate) fn report_fault(&self, cell: &Header, fault: &Fault, directive: Directive) {
        self.show(cell, What::Failed { fault });
        count(&self.counters.faults);
        self.tally(cell, Rare::Fault);
        tracing::warn!(actor = %cell.path(), %fault, ?directive, "actor failed");
        // An actor that crashes again and again should not pay for words that nobody reads.
        if self.events.has_subscribers::<ActorFailed>() {
            self.events.publish(ActorFailed {
                path: cell.path(),
                id: ActorId::of(cell.id),
                fault: fault.clone(),
                directive: Some(directive),
            });
        }
    }

    pub(crate) fn report_hook_fault(&self, cell: &Header, hook: &'static str, fault: &Fault) {
        self.show(cell, What::Failed { fault });
        count(&self.counters.faults);
        self.tally(cell, Rare::Fault);
        let path = cell.path();
        tracing::warn!(actor = %path, %fault, hook, "hook failed");
        self.stopping.note(path.as_str(), hook, &fault.to_string());
        let id = ActorId::of(cell.id);
        self.events.publish(ActorFailed {
            path,
            id,
            fault: fault.clone(),
            directive: None,
        });
    }

    /// A layer panicked on a message. If that was the news of a failure, another would go round for ever.
    pub(crate) fn report_layer_fault(&self, cell: &Header, message_type: &str, fault: &Fault) {
        if message_type != type_name::<ActorFailed>() {
            return self.report_hook_fault(cell, "interceptor", fault);
        }
        count(&self.counters.faults);
        tracing::warn!(actor = %cell.path(), %fault, message_type, "an interceptor failed");
    }

    pub(crate) fn report_schedule_fault(&self, failed: ScheduleFailed) {
        count(&self.counters.faults);
        let ScheduleFailed { id, name, fault, .. } = &failed;
        tracing::warn!(%id, name, message = failed.message_type, %fault, "the message of a schedule failed");
        self.events.publish(failed);
    }

    pub(crate) fn report_start_failure(&self, cell: &Header, attempts: u32, fault: &Fault) {
        self.show(cell, What::Failed { fault });
        count(&self.counters.faults);
        self.tally(cell, Rare::Fault);
        let path = cell.path();
        tracing::warn!(actor = %path, attempts, %fault, "actor did not start");
        let id = ActorId::of(cell.id);
        self.events.publish(ActorFailed {
            path,
            id,
            fault: fault.clone(),
            directive: Some(Directive::Stop),
        });
    }

    /// A subscriber was too slow.
    pub(crate) fn report_lag(&self, cell: &Header, missed: Missed) {
        if self.events.has_subscribers::<SubscriberLagged>() {
            self.events.publish(SubscriberLagged {
                path: cell.path(),
                id: ActorId::of(cell.id),
                missed,
            });
        }
    }

    pub(crate) fn announce_high_water(&self, cell: &Header, depth: u64) {
        count(&self.counters.high_water);
        let path = cell.path();
        tracing::warn!(actor = %path, depth, "mailbox is above its high-water mark");
        self.events.publish(MailboxHighWater {
            path,
            id: ActorId::of(cell.id),
            depth,
        });
    }

    /// An actor was found in one and the same turn for a while: it has one message at a time from
    /// now on, and askers leave it to the workers.
    pub(crate) fn mark_slow(&self, id: u64) {
        if let Some(cell) = self.directory.get(id) {
            cell.set_noticed(crate::cell::state::SLOW);
        }
    }

    pub(crate) fn announce_slow(&self, id: u64, running: Duration) {
        count(&self.counters.slow_handlers);
        let Some(cell) = self.directory.get(id) else { return };
        let path = cell.path();
        tracing::warn!(actor = %path, ?running, "a handler blocks its worker; use the blocking dispatcher");
        self.events.publish(SlowHandler {
            path,
            id: ActorId::of(id),
            running,
        });
    }
}

fn drop_contained<M>(message: M) {
    // A message's drop that panics harms nobody but itself.
    let _ = contain(|| drop(message));
}

/// Runs `f` with the actor that is running on this thread, if there is one.
fn with_current(f: impl FnOnce(&Header)) {
    Host::with(|host| {
        if let Some(cell) = host.current() {
            f(cell);
        }
    });
}

/// An answer came after its asker had given up, perhaps from outside of any actor.
#[cold]
pub(crate) fn count_late_reply(system: u32) {
    if let Some(core) = super::core::by_number(system) {
        count(&core.counters.late_replies);
    }
}

/// A message that was told was answered with a rejection.
#[cold]
pub(crate) fn unheard_rejection<R: Rejection>(rejection: &R) {
    with_current(|cell| {
        let system = cell.system();
        count(&system.counters.unheard_rejections);
        if system.events.has_subscribers::<RejectionUnheard>() {
            let rejection = format!("{rejection:?}");
            system.events.publish(RejectionUnheard {
                path: cell.path(),
                id: ActorId::of(cell.id),
                rejection,
            });
        }
    });
}
