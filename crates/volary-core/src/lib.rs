//! Typed actors on one machine: the core of the Volary distributed actor runtime.
//!
//! Most users depend on the crate `volary`, which re-exports everything here together with the
//! `#[actor]` macro. The way of a message through this crate, one folder after the other:
//!
//! ```text
//!   reference ──▶ mailbox ──▶ dispatch ──▶ (turn) ──▶ cell ──▶ handler
//! ```
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]
#![cfg_attr(any(volary_loom, volary_shuttle), allow(dead_code, unused_imports))]

mod actor;
mod baggage;
pub mod breaker;
mod cell;
mod dispatch;
mod env;
mod events;
mod extension;
pub mod groups;
mod intercept;
mod mailbox;
mod passivation;
mod reference;
pub mod routing;
mod scheduler;
mod streams;
mod supervision;
mod sync;
pub mod system;
mod telemetry;
pub mod time;
mod topics;
pub mod tree;

pub use actor::{
    Actor, AsyncFnActor, Behaviour, Context, Continued, Dispatcher, Failure, Fault, FnActor, ForbiddenChange, Fsm,
    FsmState, Handler, Input, IntoFailure, MailboxDescription, Message, OrFault, Origin, Passage, PendingRequest, Pipe,
    PipeError, Product, Props, PropsDescription, ReceiveTimeout, Reentrancy, Rejection, Request, RequestError, Respond,
    StashFull, Stashed, StateChange, StateTimeout, SyncHandler, Tap, Task, UndescribableProps, Unhandled,
    async_function, function, once, unhandled,
};
pub use baggage::{
    Baggage, HeaderError, Headers, MAX_HEADER_BYTES, MAX_HEADERS, TraceContext, TraceParseError, WithBaggage,
};
pub use breaker::{BreakerChanged, BreakerOptions, BreakerOptionsError, CircuitBreaker};
pub use cell::MessageList;
pub use env::{BoxTask, Disk, DiskFile, Driver, Env, Observed, OpenMode, SeededEnv, Signal, What, run};
pub use events::{
    ActorFailed, ActorPassivated, ActorReinstated, ActorRestarted, ActorStarted, ActorStopped, ActorSuspended,
    ActorWoken, ChildFailed, DeadLetter, DeadReason, Event, EventStream, Lagged, MailboxHighWater, Missed,
    RejectionUnheard, SlowHandler, SubscriberInfo, SubscriberLagged, Subscription, SubscriptionOptions, Terminated,
};
pub use extension::{Dependency, DependencyBytes, DependencyError, DependencyKinds, ReadDependencies};
pub use groups::{Group, GroupChanged, Groups, JoinError};
pub use intercept::{Arriving, Departing, Handled, Interceptor, Outcome, Verdict};
pub use mailbox::{Fair, INLINE_BYTES, Letter, Mailbox, MailboxKind, Priority, StablePriority};
pub use passivation::{Eviction, EvictionError, Passivation};
pub use reference::foreign;
pub use reference::{
    Accepts, ActorId, ActorRef, ActorStatus, AnyRef, Ask, AskAll, AskError, AskFuture, Covers, Cycle, Recipient,
    RemoteError, ReplyTo, ResolveError, Resolver, Resolving, SendError, SendFuture, Spawn, SpawnError, SpawnFuture,
    Takes, TapError, Tapped, Target, TellAllError, TellError, Termination, WeakRef,
};
pub use routing::{RouteeLost, Router, RouterResized};
pub use scheduler::{Schedule, ScheduleError, ScheduleFailed, ScheduleId, ScheduleOnce, ScheduleRepeating, Scheduler};
pub use streams::{
    ActorSink, Attach, Attached, StreamClosed, StreamEnd, StreamError, StreamReply, Streaming, TrySendItemError,
};
pub use supervision::{
    Backoff, ChildrenPolicy, Directive, RuleForType, Strategy, Supervision, SupervisionDescription, SupervisionError,
};
pub use system::settings;
pub use system::shutdown::{
    self, CutShort, HookError, HookHandle, HookOutcome, HookRecovery, PhaseError, PhasePlace, Readiness, ShutdownHook,
    Unready,
};
pub use system::{
    ActorInfo, ActorSystem, DispatcherOptions, Metrics, Sleep, StartError as SystemStartError, StopError, StopProblem,
    SystemBuilder,
};
pub use telemetry::{
    BOUNDS, Begun, Cardinality, Histogram, Instrument, InstrumentKind, InstrumentSource, KindCensus, KindReading,
    Point, Readings, Sample, Telemetry, TelemetrySink,
};
pub use time::Moment;
#[cfg(feature = "cron")]
pub use time::{Cron, CronError};
pub use topics::{Interest, PublishError, TopicInfo, TopicInterest, TopicTypeError, Topics};
pub use tree::{Address, Path};

/// What the macros need and users do not.
#[doc(hidden)]
pub mod __private {
    /// Takes a system away as the death of its process would: for simulations, after its tasks were dropped.
    pub fn abandon(system: &crate::ActorSystem) {
        system.abandon();
    }

    pub use crate::actor::mapped;
    pub use crate::cell::{absent_table, message_table};
    pub use crate::mailbox::MessageTable;
    pub use crate::reference::{Accepts, Covers, Found, FoundTables, Target};

    use crate::actor::{Failure, IntoFailure, Rejection};

    /// A type as the macro reads it, which sees names and not what they stand for.
    pub struct Spelled<T: ?Sized>(std::marker::PhantomData<T>);

    /// Nearly every type is none; what stands for a result has the constant of its own, which goes first.
    pub trait NoOutcome {
        const IS_OUTCOME: bool = false;
    }

    impl<T: ?Sized> NoOutcome for Spelled<T> {}

    impl<T, E> Spelled<Result<T, E>> {
        pub const IS_OUTCOME: bool = true;
    }

    /// What a method under `#[actor]` returns, seen as an answer.
    pub trait Outcome {
        type Reply;
        type Rejection: Rejection;
        fn into_outcome(self) -> Result<Self::Reply, Failure<Self::Rejection>>;
    }

    impl<T, E: IntoFailure> Outcome for Result<T, E> {
        type Reply = T;
        type Rejection = E::Rejection;
        fn into_outcome(self) -> Result<T, Failure<E::Rejection>> {
            self.map_err(IntoFailure::into_failure)
        }
    }
}
