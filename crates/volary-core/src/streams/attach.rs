//! Feeding a stream to an actor.

use std::fmt;
use std::sync::Arc;

use futures_core::Stream;

use super::errors::StreamEnd;
use super::pump::{OnEnd, Pump};
use super::window::Inlet;
use crate::actor::{Actor, Context, Message};
use crate::reference::{Accepts, ActorRef, Target};
use crate::system::{TaskState, spawn_beside, spawn_for};

/// How many elements an actor may have before it, unless told otherwise.
const WINDOW: usize = 64;

impl<A: Actor> Context<A> {
    /// Feeds a stream to this actor: each element becomes a message, in order, and no more of them wait at a time than
    /// the [window](Attach::window) allows, so that a slow actor slows the stream. It ends with the stream, when the
    /// actor stops or restarts, or when it is [cancelled](Attached::cancel).
    ///
    /// ```
    /// # use volary_core::*;
    /// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # struct Done; impl Message for Done { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn in_a_handler<A: Actor + Respond<Line> + Respond<Done>>(ctx: &mut Context<A>,
    /// #     lines: impl futures_core::Stream<Item = String> + Send + 'static) {
    /// ctx.attach(lines).window(16).on_end(|_| Done).each(Line);
    /// # }
    /// ```
    pub fn attach<S>(&self, stream: S) -> Attach<A, S>
    where
        S: Stream + Send + 'static,
    {
        Attach::new(self.me(), stream, Scope::Incarnation)
    }
}

impl<T: Target> ActorRef<T> {
    /// Feeds a stream to the actor, as [`Context::attach`] does from inside. Restarts do not end it.
    ///
    /// ```
    /// # use volary_core::*;
    /// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f<T: Accepts<Line>>(parser: &ActorRef<T>, lines: impl futures_core::Stream<Item = String> + Send + 'static) {
    /// let attached = parser.attach(lines).each(Line);
    /// attached.cancel(); // changed our mind
    /// # }
    /// ```
    pub fn attach<S>(&self, stream: S) -> Attach<T, S>
    where
        S: Stream + Send + 'static,
    {
        Attach::new(self.clone(), stream, Scope::Life)
    }
}

/// How long a stream stays attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Until the actor stops or restarts.
    Incarnation,
    /// Until the actor stops.
    Life,
}

/// A stream that is about to be attached; nothing happens before [`each`](Attach::each).
///
/// No capacity of the mailbox applies to elements, the window does. They keep their place among other messages. One that
/// an [`Interceptor`](crate::Interceptor) refuses is a dead letter, and the stream goes on.
///
/// ```
/// # use volary_core::*;
/// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
/// # fn f<T: Accepts<Line>>(parser: &ActorRef<T>, lines: impl futures_core::Stream<Item = String> + Send + 'static) {
/// let attach = parser.attach(lines).window(16);
/// attach.each(Line); // now
/// # }
/// ```
#[must_use = "a stream is attached by `each`"]
pub struct Attach<T: Target, S> {
    actor: ActorRef<T>,
    stream: S,
    scope: Scope,
    window: usize,
    on_end: Option<OnEnd>,
}

impl<T: Target, S> Attach<T, S>
where
    S: Stream + Send + 'static,
{
    fn new(actor: ActorRef<T>, stream: S, scope: Scope) -> Self {
        Attach {
            actor,
            stream,
            scope,
            window: WINDOW,
            on_end: None,
        }
    }

    /// How many elements may wait or be handled at a time; 64 unless said otherwise, at least one.
    ///
    /// ```
    /// # use volary_core::*;
    /// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f<T: Accepts<Line>>(parser: &ActorRef<T>, lines: impl futures_core::Stream<Item = String> + Send + 'static) {
    /// parser.attach(lines).window(1).each(Line); // one at a time
    /// # }
    /// ```
    pub fn window(mut self, elements: usize) -> Self {
        self.window = elements.max(1);
        self
    }

    /// The message that says how the stream has ended by itself. It comes once, behind the last element. When the
    /// stream is cancelled or the actor ends there is none.
    ///
    /// ```
    /// # use volary_core::*;
    /// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
    /// struct Ended { well: bool }
    /// # impl Message for Ended { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f<T: Accepts<Line> + Accepts<Ended>>(parser: &ActorRef<T>,
    /// #     lines: impl futures_core::Stream<Item = String> + Send + 'static) {
    /// parser
    ///     .attach(lines)
    ///     .on_end(|end| Ended { well: matches!(end, StreamEnd::Completed) })
    ///     .each(Line);
    /// # }
    /// ```
    pub fn on_end<M: Message>(mut self, message: impl FnOnce(StreamEnd) -> M + Send + 'static) -> Self
    where
        T: Accepts<M>,
    {
        let to = self.actor.recipient::<M>();
        self.on_end = Some(Box::new(move |end| to.deliver_exempt(message(end))));
        self
    }

    /// Attaches the stream; `message` makes a message of each element. A stream of results hands it errors as well as
    /// values. Should it panic, or the stream, that is reported as a failure of the actor and ends the stream.
    ///
    /// ```
    /// # use volary_core::*;
    /// # struct Line(String); impl Message for Line { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f<T: Accepts<Line>>(parser: &ActorRef<T>, lines: impl futures_core::Stream<Item = String> + Send + 'static) {
    /// let attached = parser.attach(lines).each(|line| Line(line.to_uppercase()));
    /// # }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "most streams are never cancelled")]
    pub fn each<M: Message>(self, message: impl FnMut(S::Item) -> M + Send + 'static) -> Attached
    where
        T: Accepts<M>,
    {
        let inlet = Arc::new(Inlet::new(self.actor.recipient::<M>(), self.window));
        let pump = Pump::new(self.stream, message, inlet, self.on_end, self.actor.terminated());
        Attached(match self.scope {
            Scope::Incarnation => spawn_for(self.actor.cell(), pump),
            Scope::Life => spawn_beside(self.actor.cell(), pump),
        })
    }
}

impl<T: Target, S> fmt::Debug for Attach<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attach")
            .field("window", &self.window)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// A stream that feeds an actor. Dropping this leaves it attached.
///
/// ```
/// # fn f(attached: &volary_core::Attached) {
/// if !attached.is_finished() {
///     attached.cancel();
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Attached(Arc<TaskState>);

impl Attached {
    /// Drops the stream. Elements that are in the mailbox already are handled.
    ///
    /// ```
    /// # fn f(attached: &volary_core::Attached) { attached.cancel(); }
    /// ```
    pub fn cancel(&self) {
        self.0.abort();
    }

    /// Whether the stream was dropped: it has ended, was cancelled, or its actor is gone.
    ///
    /// ```
    /// # fn f(attached: &volary_core::Attached) -> bool { attached.is_finished() }
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached")
            .field("finished", &self.is_finished())
            .finish()
    }
}
