//! What users write: actors, messages, handlers, and the options they are started with.

mod answer;
mod behaviour;
mod context;
mod fault;
mod fsm;
mod function;
mod message;
mod once;
mod passivate;
mod pipe;
mod props;
mod props_description;
mod reentrancy;
mod request;
mod stash;
mod tap;
mod timers;
mod traits;

pub use answer::mapped;
pub use behaviour::{Behaviour, Unhandled, unhandled};
pub use context::{Context, Task};
pub use fault::{Failure, Fault, IntoFailure, OrFault};
pub use fsm::{ForbiddenChange, Fsm, FsmState, StateChange, StateTimeout};
pub use function::{AsyncFnActor, FnActor, async_function, function};
pub use message::{Message, Rejection};
pub(crate) use once::MadeOnce;
pub use once::once;
pub use pipe::{Pipe, PipeError};
pub use props::{Dispatcher, Props};
pub use props_description::{MailboxDescription, PropsDescription, UndescribableProps};
pub use reentrancy::{Reentrancy, RequestError};
pub use request::{Continued, PendingRequest, Request};
pub use stash::{StashFull, Stashed};
pub use tap::{Input, Origin, Passage, Tap};
pub use timers::ReceiveTimeout;
pub use traits::{Actor, Handler, Product, Respond, SyncHandler};
