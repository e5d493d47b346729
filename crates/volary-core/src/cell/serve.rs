//! What goes on around the handling of a message that carries something, or that somebody looks at: layers are asked
//! before and told after, what travels along is passed on meanwhile, and the clock is read for a message that is
//! measured. A handler that suspends takes all of this along in its frame.

use std::num::NonZeroU64;
use std::time::{Duration, SystemTime};

use super::header::Header;
use crate::baggage::{Baggage, Carried};
use crate::dispatch::{Host, Step, attend_to_the_end};
use crate::events::DeadReason;
use crate::intercept::{Arriving, Handled, Layers, Outcome};
use crate::mailbox::{BELL, Freight, Incoming, RecordKind, RunFn};
use crate::reference::ActorId;
use crate::telemetry::{Begun, Meter, Sample, span_id};
use crate::time::{Moment, nanos};

/// A message that is being handled.
pub(crate) struct Served {
    /// In a box of its own, since handlers point to it while they run.
    carried: Box<Carried>,
    message_type: &'static str,
    sender: u64,
    begun: Moment,
    /// By the calendar, for a message of which somebody wants to know more than how long it took.
    wall: Option<SystemTime>,
    /// The span that sent it.
    parent: Option<NonZeroU64>,
    span: tracing::Span,
    /// Layers let it pass, and are to hear how it ends.
    layered: bool,
}

impl Header {
    /// Who looks at what this actor sends, for its turns; null for nobody.
    #[inline]
    pub(crate) fn sending_layers(&self) -> *const Layers {
        if !self.log.is_layered() {
            return std::ptr::null();
        }
        self.layers().map_or(std::ptr::null(), std::ptr::from_ref)
    }

    /// The layers that this actor was given itself.
    pub(crate) fn layers(&self) -> Option<&Layers> {
        self.extras_if_any()?.layers.as_deref()
    }

    /// Whether layers are to be asked before it handles anything.
    pub(crate) fn is_layered_over(&self) -> bool {
        !self.system().layers().is_empty() || self.layers().is_some()
    }

    /// Handles a message with all that goes on around it.
    ///
    /// # Safety
    /// The caller owns the actor, and the record is handled once, in the course found for its message.
    pub(crate) unsafe fn attend(&self, host: &Host, mut incoming: Incoming, course: Course) -> Step {
        if incoming.table.kind == RecordKind::Parcel {
            // All of it goes on around the message inside.
            // SAFETY: the caller's promise.
            return unsafe { course.take(self, host, incoming) };
        }
        if let Some(sent) = incoming.envelope.carried.and_then(Freight::time)
            && !self.log.is_layered()
            && let Some(meter) = self.system().meter().filter(|meter| !meter.has_sinks())
        {
            incoming.envelope.carried = None;
            // SAFETY: the caller's promise.
            return unsafe { self.time(host, incoming, course, meter, sent) };
        }
        let layered =
            incoming.table.kind != RecordKind::Answer && !std::ptr::eq(incoming.table, &BELL) && self.is_layered_over();
        let mut carried = incoming.envelope.take_carried();
        // It has left the mailbox.
        drop(carried.as_mut().and_then(|carried| carried.receipt.take()));
        let carried = carried.filter(|carried| !carried.is_spent());
        if carried.is_none() && !layered {
            // SAFETY: the caller's promise.
            return unsafe { course.take(self, host, incoming) };
        }
        let mut served = Served::begin(self, &incoming, carried.unwrap_or_default());
        if layered {
            // SAFETY: the record was not taken yet.
            let message = unsafe { (incoming.table.view)(self, &incoming) };
            // One that is out of date is dropped by its `run`.
            if let Some(message) = message
                && let Err(reason) = served.ask_layers(self, message, incoming.envelope.reply.is_some())
            {
                // SAFETY: an undelivered record of this cell, discarded once.
                unsafe { incoming.discard(self, DeadReason::Intercepted(reason)) };
                return Step::Done;
            }
        }
        served.layered = layered;
        served.open_span(self);
        // SAFETY: the caller's promise.
        let step = served.around(|| unsafe { course.take(self, host, incoming) });
        // SAFETY: the caller owns the actor, and this was the poll of that handler.
        unsafe { attend_to_the_end(self, served, &step) };
        step
    }
}

/// What becomes of a message of which somebody was asked.
pub(crate) enum Course {
    /// It is handled by whoever handles its kind now.
    Run(RunFn),
    /// The tap does not let it pass.
    PassOver,
}

impl Course {
    /// # Safety
    /// As for `Header::attend`.
    unsafe fn take(self, cell: &Header, host: &Host, incoming: Incoming) -> Step {
        match self {
            // SAFETY: the caller's promise.
            Course::Run(run) => unsafe { incoming.handle(run, cell, host) },
            Course::PassOver => {
                // SAFETY: an undelivered record of this cell, discarded once.
                unsafe { incoming.discard(cell, DeadReason::Discarded) };
                Step::Done
            }
        }
    }
}

/// Handling a message of which nothing is wanted but how long it waited and takes.
impl Header {
    /// # Safety
    /// As for `attend`.
    unsafe fn time(&self, host: &Host, incoming: Incoming, course: Course, meter: &Meter, sent: Moment) -> Step {
        let system = self.system();
        let (sender, message) = (incoming.envelope.sender, incoming.table);
        let begun = system.now();
        // SAFETY: the caller's promise.
        let step = unsafe { course.take(self, host, incoming) };
        if !matches!(step, Step::Suspended) {
            let took = system.now().nanos_since(begun);
            meter.record((self.table.actor_name)(), begun.nanos_since(sent), took);
            return step;
        }
        let served = Served {
            carried: Box::new(Carried {
                sent_at: Some(sent),
                ..Carried::default()
            }),
            message_type: (message.name)(),
            sender,
            begun,
            wall: None,
            parent: None,
            span: tracing::Span::none(),
            layered: false,
        };
        // SAFETY: the caller owns the actor, and this was the poll of that handler.
        unsafe { attend_to_the_end(self, served, &step) };
        step
    }
}

impl Served {
    fn begin(cell: &Header, incoming: &Incoming, carried: Box<Carried>) -> Self {
        let system = cell.system();
        Served {
            message_type: (incoming.table.name)(),
            sender: incoming.envelope.sender,
            begun: system.now(),
            wall: (carried.sent_at.is_some() && system.meter().is_some_and(Meter::has_sinks))
                .then(|| system.env().wall()),
            parent: None,
            span: tracing::Span::none(),
            layered: false,
            carried,
        }
    }

    /// What this handler sends comes from a span of its own, if it is part of a trace.
    fn open_span(&mut self, cell: &Header) {
        let Some(trace) = self.carried.baggage.trace.filter(|trace| trace.is_sampled()) else {
            return;
        };
        let system = cell.system();
        let parent = (!self.carried.begins_trace).then_some(trace);
        self.parent = parent.map(|parent| parent.span_id());
        let named = system.meter().zip(self.wall).and_then(|(meter, begun)| {
            let begun = Begun {
                actor_type: (cell.table.actor_name)(),
                message_type: self.message_type,
                begun,
                parent,
            };
            meter.open_span(cell, &begun)
        });
        let here = named.unwrap_or_else(|| trace.below(span_id(&**system.env())));
        self.carried.baggage.trace = Some(here);
        self.span = tracing::info_span!(
            target: "volary::message",
            "handle",
            actor = %cell.path(),
            message = self.message_type,
            trace_id = %format_args!("{:032x}", here.trace_id()),
            span_id = %format_args!("{:016x}", here.span_id()),
        );
    }

    pub(crate) fn around<R>(&self, poll: impl FnOnce() -> R) -> R {
        let _entered = self.span.enter();
        let baggage: &Baggage = &self.carried.baggage;
        if baggage.is_empty() {
            return poll();
        }
        baggage.in_scope(poll)
    }

    fn ask_layers(&self, cell: &Header, message: &dyn std::any::Any, asked: bool) -> Result<(), &'static str> {
        let arriving = Arriving {
            message,
            type_name: self.message_type,
            sender: ActorId::from_raw(self.sender),
            receiver: cell,
            asked,
            baggage: &self.carried.baggage,
        };
        let everywhere = cell.system().layers();
        if let Err((passed, reason)) = everywhere.receiving(&arriving) {
            everywhere.first_handled(passed, &self.seen(cell, Duration::ZERO, Outcome::Refused(reason)));
            return Err(reason);
        }
        if let Some(own) = cell.layers()
            && let Err((passed, reason)) = own.receiving(&arriving)
        {
            let refused = self.seen(cell, Duration::ZERO, Outcome::Refused(reason));
            own.first_handled(passed, &refused);
            everywhere.handled(&refused);
            return Err(reason);
        }
        Ok(())
    }

    fn seen<'a>(&'a self, cell: &'a Header, took: Duration, outcome: Outcome<'a>) -> Handled<'a> {
        Handled {
            type_name: self.message_type,
            sender: ActorId::from_raw(self.sender),
            receiver: cell,
            baggage: &self.carried.baggage,
            took,
            outcome,
        }
    }

    /// The handling is over.
    pub(crate) fn ended(&self, cell: &Header, outcome: Outcome<'_>) {
        let system = cell.system();
        let took = system.now().since(self.begun);
        if self.layered {
            let handled = self.seen(cell, took, outcome);
            if let Some(own) = cell.layers() {
                own.handled(&handled);
            }
            system.layers().handled(&handled);
        }
        let (Some(meter), Some(sent)) = (system.meter(), self.carried.sent_at) else {
            return;
        };
        let actor_type = (cell.table.actor_name)();
        let waited = self.begun.since(sent);
        meter.record(actor_type, nanos(waited), nanos(took));
        if let Some(begun) = self.wall {
            let sample = Sample {
                actor: cell.path(),
                actor_type,
                label: meter.label(actor_type),
                message_type: self.message_type,
                begun,
                waited,
                took,
                outcome,
                trace: self.carried.baggage.trace.filter(|trace| trace.is_sampled()),
                parent: self.parent,
            };
            meter.show(cell, &sample);
        }
    }
}
