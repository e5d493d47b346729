//! Actors from functions: a state, one type of message, and a closure. No struct is needed.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;

use super::context::Context;
use super::fault::{Failure, Fault};
use super::message::Message;
use super::traits::{Actor, SyncHandler};
use crate::cell::MessageList;

type Answered<M> = Result<<M as Message>::Reply, Failure<<M as Message>::Rejection>>;
type Call<S, M> = dyn Fn(&mut S, M, &mut Context<FnActor<S, M>>) -> Answered<M> + Send + Sync;

/// An actor made of a state and a closure; see [`function`]. It can be used like the state itself.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let sum = system.spawn(function(|| 0, |sum: &mut i64, Deposit(n), ctx: &mut Context<FnActor<i64, Deposit>>| {
///     *sum += n;
///     assert_eq!(ctx.path().to_string(), "/user/sum");
///     Ok(*sum)
/// }));
/// assert_eq!(sum.named("sum").await?.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
pub struct FnActor<S, M: Message> {
    state: S,
    call: Arc<Call<S, M>>,
}

/// A factory for an actor that handles one type of message with a closure. `state` makes its state, at its start and
/// again when it is restarted.
///
/// ```
/// use volary_core::{ActorSystem, Message, function};
/// # use std::convert::Infallible;
///
/// struct Add(u64);
/// impl Message for Add { type Reply = u64; type Rejection = Infallible; }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// let sum = system
///     .spawn(function(|| 0, |sum: &mut u64, Add(n), _ctx| {
///         *sum += n;
///         Ok(*sum)
///     }))
///     .named("sum")
///     .await?;
/// sum.tell(Add(40))?;
/// assert_eq!(sum.ask(Add(2)).await?, 42);
/// # system.stop().await?; Ok(()) }
/// ```
pub fn function<S, M, F>(
    state: impl Fn() -> S + Send + Sync + 'static,
    handle: F,
) -> impl Fn() -> FnActor<S, M> + Send + Sync + 'static
where
    S: Send + 'static,
    M: Message,
    F: Fn(&mut S, M, &mut Context<FnActor<S, M>>) -> Answered<M> + Send + Sync + 'static,
{
    let call: Arc<Call<S, M>> = Arc::new(handle);
    move || FnActor {
        state: state(),
        call: call.clone(),
    }
}

impl<S: Send + 'static, M: Message> Actor for FnActor<S, M> {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<M>();
    }
}

impl<S: Send + 'static, M: Message> SyncHandler<M> for FnActor<S, M> {
    fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Answered<M> {
        (self.call)(&mut self.state, message, ctx)
    }
}

impl<S, M: Message> Deref for FnActor<S, M> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S, M: Message> DerefMut for FnActor<S, M> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S: fmt::Debug, M: Message> fmt::Debug for FnActor<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FnActor").field(&self.state).finish()
    }
}

type AsyncCall<S, M> = dyn for<'a> Fn(
        &'a mut S,
        M,
        &'a mut Context<AsyncFnActor<S, M>>,
    ) -> Pin<Box<dyn Future<Output = Answered<M>> + Send + 'a>>
    + Send
    + Sync;

/// An actor made of a state and an async closure; see [`async_function`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let sum = system.spawn(async_function(|| 0, |sum: &mut i64, Deposit(n), ctx: &mut Context<AsyncFnActor<i64, Deposit>>| {
///     Box::pin(async move {
///         ctx.sleep(Duration::from_millis(1)).await;
///         *sum += n;
///         Ok(*sum)
///     })
/// }));
/// assert_eq!(sum.await?.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
pub struct AsyncFnActor<S, M: Message> {
    state: S,
    call: Arc<AsyncCall<S, M>>,
}

/// As [`function`], for a closure that returns a boxed future: one allocation per message. A struct with an `async fn`
/// handler needs none.
///
/// ```
/// use volary_core::{ActorSystem, Message, async_function};
/// # use std::convert::Infallible;
///
/// struct Line(String);
/// impl Message for Line { type Reply = usize; type Rejection = Infallible; }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// let log = system
///     .spawn(async_function(Vec::new, |lines: &mut Vec<String>, Line(line), _ctx| {
///         Box::pin(async move {
///             tokio::task::yield_now().await;
///             lines.push(line);
///             Ok(lines.len())
///         })
///     }))
///     .await?;
/// assert_eq!(log.ask(Line("hello".to_owned())).await?, 1);
/// # system.stop().await?; Ok(()) }
/// ```
pub fn async_function<S, M, F>(
    state: impl Fn() -> S + Send + Sync + 'static,
    handle: F,
) -> impl Fn() -> AsyncFnActor<S, M> + Send + Sync + 'static
where
    S: Send + 'static,
    M: Message,
    F: for<'a> Fn(
            &'a mut S,
            M,
            &'a mut Context<AsyncFnActor<S, M>>,
        ) -> Pin<Box<dyn Future<Output = Answered<M>> + Send + 'a>>
        + Send
        + Sync
        + 'static,
{
    let call: Arc<AsyncCall<S, M>> = Arc::new(handle);
    move || AsyncFnActor {
        state: state(),
        call: call.clone(),
    }
}

impl<S: Send + 'static, M: Message> Actor for AsyncFnActor<S, M> {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<M>();
    }

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.becomes::<M, _>(call_async::<S, M>);
        Ok(())
    }
}

/// A behaviour and not a handler: a handler for every `M` cannot be told from the one that each sync handler is.
async fn call_async<S: Send + 'static, M: Message>(
    actor: &mut AsyncFnActor<S, M>,
    message: M,
    ctx: &mut Context<AsyncFnActor<S, M>>,
) -> Answered<M> {
    (actor.call)(&mut actor.state, message, ctx).await
}

impl<S: Send + 'static, M: Message> SyncHandler<M> for AsyncFnActor<S, M> {
    fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Answered<M> {
        Err(ctx.unhandled(message).into())
    }
}

impl<S, M: Message> Deref for AsyncFnActor<S, M> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S, M: Message> DerefMut for AsyncFnActor<S, M> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S: fmt::Debug, M: Message> fmt::Debug for AsyncFnActor<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncFnActor").field(&self.state).finish()
    }
}
