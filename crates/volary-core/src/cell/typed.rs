//! A cell with its actor in it: where types are known, and the tables that hide them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::{Any, TypeId, type_name};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::behaviour::BehaviourTable;
use super::header::{Birth, CellRef, CellTable, Header};
use super::here::Here;
use super::timed::Timed;
use crate::actor::{Actor, Behaviour, Context, Failure, Fault, Message, Product, Respond};
use crate::dispatch::{Ending, Host, Step, contain, launch};
use crate::events::{DeadReason, Terminated};
use crate::mailbox::{
    Envelope, Freight, Incoming, MessageTable, RecordKind, payload_words, take_payload, write_payload,
};
use crate::reference::{ReplySlot, ReplyTo};

/// The part of a cell whose place depends on the actor alone.
#[repr(C)]
struct Prefix<A> {
    header: Header,
    actor: UnsafeCell<MaybeUninit<A>>,
}

#[repr(C)]
struct Cell<A, F> {
    prefix: Prefix<A>,
    factory: F,
}

/// Makes a cell. The name follows it in the same allocation.
///
/// It is entered into the directory before it is written, since it must know its id; nobody knows
/// that id yet. Two counted pointers: one for whoever makes it, one for its parent's table. `None`: there is no id left.
pub(crate) fn create<P, F>(birth: Birth, lane: usize, name: &[u8], factory: F) -> Option<(CellRef, CellRef)>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    debug_assert_eq!(name.len(), usize::from(birth.name_length));
    let (layout, offset) = layout_of::<P::Actor, F>(name.len());
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc(layout) };
    let Some(memory) = NonNull::new(memory) else {
        handle_alloc_error(layout)
    };
    // SAFETY: the maker keeps the system, by the parent if there is one.
    let directory = unsafe { birth.system.as_ref() }.directory();
    let Some(id) = directory.insert(lane, memory.cast()) else {
        // SAFETY: just allocated, with this layout.
        unsafe { dealloc(memory.as_ptr(), layout) };
        return None;
    };
    // SAFETY: the memory has the layout of the cell, with the name behind it.
    unsafe {
        memory.cast::<Cell<P::Actor, F>>().write(Cell {
            prefix: Prefix {
                header: Header::new(birth, id),
                actor: UnsafeCell::new(MaybeUninit::uninit()),
            },
            factory,
        });
        std::ptr::copy_nonoverlapping(name.as_ptr(), memory.as_ptr().add(offset), name.len());
        memory.cast::<Header>().as_ref().settle_at(memory.cast());
        Some(CellRef::from_birth(memory.cast()))
    }
}

fn layout_of<A, F>(name: usize) -> (Layout, usize) {
    let cell = Layout::new::<Cell<A, F>>();
    let offset = cell.size();
    let size = offset + name;
    match Layout::from_size_align(size, cell.align()) {
        Ok(layout) => (layout, offset),
        Err(_) => handle_alloc_error(cell),
    }
}

/// The table of actors `P::Actor` made by `F`.
pub(crate) const fn cell_table<P, F>() -> &'static CellTable
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    const {
        &CellTable {
            build: build::<P, F>,
            drop_actor: drop_actor::<P::Actor>,
            started: started::<P::Actor>,
            stopping: stopping::<P::Actor>,
            stopped: stopped::<P::Actor>,
            free: free::<P::Actor, F>,
            name: name::<P::Actor, F>,
            size: size_of::<Cell<P::Actor, F>>(),
            actor_type: TypeId::of::<P::Actor>,
            actor_name: type_name::<P::Actor>,
            accepts: accepts::<P::Actor>,
        }
    }
}

fn actor_ptr<A>(cell: &Header) -> *mut A {
    let prefix = cell.raw().cast::<Prefix<A>>().as_ptr();
    // SAFETY: the cell was made by `create` with this actor type; only the address is computed.
    unsafe { UnsafeCell::raw_get(&raw const (*prefix).actor).cast::<A>() }
}

unsafe fn build<P, F>(cell: &Header) -> Result<(), Fault>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    let whole = cell.raw().cast::<Cell<P::Actor, F>>().as_ptr();
    // SAFETY: the table belongs to this cell; the factory is never written after birth.
    let factory = unsafe { &(*whole).factory };
    let actor = contain(|| factory().into_actor())??;
    // SAFETY: the caller owns the actor, and the place is empty.
    unsafe { actor_ptr::<P::Actor>(cell).write(actor) };
    Ok(())
}

unsafe fn drop_actor<A>(cell: &Header) {
    // SAFETY: the caller owns the actor, which is there, and drops it once.
    unsafe { actor_ptr::<A>(cell).drop_in_place() }
}

unsafe fn started<A: Actor>(cell: &Header, host: &Host) -> Step {
    // SAFETY: the caller owns the actor, which is there while the hook runs.
    unsafe { launch::<A, _, _>(cell, host, 0, |ctx| (*actor_ptr::<A>(cell)).started(ctx)) }
}

unsafe fn stopping<A: Actor>(cell: &Header, host: &Host) -> Step {
    // SAFETY: as in `started`.
    unsafe { launch::<A, _, _>(cell, host, 0, |ctx| (*actor_ptr::<A>(cell)).stopping(ctx)) }
}

unsafe fn stopped<A: Actor>(cell: &Header, host: &Host) -> Step {
    // SAFETY: as in `started`.
    unsafe { launch::<A, _, _>(cell, host, 0, |ctx| (*actor_ptr::<A>(cell)).stopped(ctx)) }
}

unsafe fn free<A, F>(header: NonNull<Header>) {
    let whole = header.cast::<Cell<A, F>>();
    // SAFETY: the last count is gone. The actor was dropped in its last turn; the header's own
    // fields and the factory go now, then the memory.
    unsafe {
        let (layout, _) = layout_of::<A, F>(usize::from(header.as_ref().name_length));
        (&raw mut (*whole.as_ptr()).prefix.header).drop_in_place();
        let factory = &raw mut (*whole.as_ptr()).factory;
        // A factory's drop is user code: contained like every other.
        let _ = contain(|| factory.drop_in_place());
        dealloc(header.as_ptr().cast(), layout);
    }
}

unsafe fn name<A, F>(cell: &Header) -> &[u8] {
    let start = cell.raw().cast::<u8>().as_ptr().cast_const();
    // SAFETY: `create` put the name behind the cell.
    unsafe { std::slice::from_raw_parts(start.add(size_of::<Cell<A, F>>()), usize::from(cell.name_length)) }
}

fn accepts<A: Actor>(message: TypeId) -> Option<&'static MessageTable> {
    let mut list = MessageList {
        wanted: Some(message),
        found: None,
        count: 0,
        actor: PhantomData,
    };
    A::messages(&mut list);
    list.found
}

/// The messages by which an actor can be reached through its address; see
/// [`Actor::messages`](crate::Actor::messages).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # struct Bell; struct Ring;
/// # impl Message for Ring { type Reply = (); type Rejection = Infallible; }
/// # impl SyncHandler<Ring> for Bell {
/// #     fn handle(&mut self, _: Ring, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) }
/// # }
/// impl Actor for Bell {
///     fn messages(list: &mut MessageList<Self>) {
///         list.add::<Ring>();
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// system.spawn(|| Bell).named("bell").await?;
/// assert!(system.recipient::<Ring>("/user/bell").is_some());
/// assert!(system.recipient::<Deposit>("/user/bell").is_none());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct MessageList<A> {
    wanted: Option<TypeId>,
    found: Option<&'static MessageTable>,
    count: usize,
    actor: PhantomData<A>,
}

impl<A> MessageList<A> {
    /// Adds a message that the actor handles.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Safe(i64);
    /// impl Actor for Safe {
    ///     fn messages(list: &mut MessageList<Self>) {
    ///         list.add::<Deposit>();
    ///     }
    /// }
    /// # impl SyncHandler<Deposit> for Safe {
    /// #     fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> { Ok(self.0 + deposit.0) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.spawn(|| Safe(0)).named("safe").await?;
    /// assert!(system.recipient::<Deposit>("/user/safe").is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn add<M: Message>(&mut self)
    where
        A: Respond<M>,
    {
        self.count += 1;
        if self.wanted == Some(TypeId::of::<M>()) {
            self.found = Some(message_table::<A, M>());
        }
    }
}

impl<A> std::fmt::Debug for MessageList<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MessageList({} messages)", self.count)
    }
}

/// The table of message `M` to actor `A`.
#[must_use]
pub const fn message_table<A: Respond<M>, M: Message>() -> &'static MessageTable {
    const {
        &MessageTable {
            run: run::<A, M, Own>,
            ..table_of::<M>()
        }
    }
}

/// The table of message `M` to an actor that lives elsewhere: its name and its end, for no record is ever handled here.
#[must_use]
pub const fn absent_table<M: Message>() -> &'static MessageTable {
    const {
        &MessageTable {
            run: discard_absent::<M>,
            ..table_of::<M>()
        }
    }
}

unsafe fn discard_absent<M: Message>(
    cell: &Header,
    _: &Host,
    payload: *mut u64,
    sender: u64,
    reply: Option<NonNull<ReplySlot>>,
    carried: Option<Freight>,
) -> Step {
    let envelope = Envelope::of((sender, 0), (reply, carried));
    // SAFETY: as in `run`.
    unsafe { Incoming::from_parts(absent_table::<M>(), envelope, payload).discard(cell, DeadReason::Nobody) };
    Step::Done
}

/// The table of message `M` to an actor that hands on what it has no handler for.
pub(crate) const fn relay_table<A: Relay<M>, M: Message>() -> &'static MessageTable {
    const {
        &MessageTable {
            run: run::<A, M, Relayed>,
            ..table_of::<M>()
        }
    }
}

/// What is the same for everybody who takes `M`, and for those that do not live here.
const fn table_of<M: Message>() -> MessageTable {
    MessageTable {
        run: discard_absent::<M>,
        discard: discard::<M>,
        view: view::<M>,
        unbox: unbox::<M>,
        words: payload_words::<M>(),
        kind: RecordKind::Message,
        message: TypeId::of::<M>,
        name: type_name::<M>,
    }
}

/// The table of message `M` from a timer of actor `A`.
pub(super) const fn timed_table<A: Respond<M>, M: Message>() -> &'static MessageTable {
    const {
        &MessageTable {
            run: run_timed::<A, M, Own>,
            discard: discard_timed::<M>,
            view: view_timed::<M>,
            unbox: unbox::<Timed<M>>,
            words: payload_words::<Timed<M>>(),
            kind: RecordKind::Timer,
            message: TypeId::of::<M>,
            name: type_name::<M>,
        }
    }
}

/// What to run for `M` while `B` stands in for the handler of `A`.
pub(super) fn behaviour_table<A, M, Shape, B>(_: B) -> &'static BehaviourTable
where
    A: Actor,
    M: Message,
    Shape: 'static,
    B: Behaviour<A, M, Shape>,
{
    const {
        assert!(
            size_of::<B>() == 0,
            "a behaviour is a function itself, not a pointer to one and not a closure that captures"
        );
        &BehaviourTable {
            run: run::<A, M, StandIn<B, Shape>>,
            run_timed: run_timed::<A, M, StandIn<B, Shape>>,
        }
    }
}

/// Who handles `M` for an actor: its own handler, or one that stands in for it.
trait Conduct<A, M: Message> {
    const IMMEDIATE: bool;

    fn now(actor: &mut A, message: M, ctx: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>>;

    fn later<'a>(
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a;
}

struct Own;

impl<A: Respond<M>, M: Message> Conduct<A, M> for Own {
    const IMMEDIATE: bool = A::IMMEDIATE;

    #[inline]
    fn now(actor: &mut A, message: M, ctx: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> {
        actor.handle_now(message, ctx)
    }

    #[inline]
    fn later<'a>(
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        actor.respond(message, reply, ctx)
    }
}

/// An actor that hands messages on to others, whatever they are. Not a handler: those are chosen message by message,
/// and this is for all that somebody else takes.
pub(crate) trait Relay<M: Message>: Actor {
    fn relay(&mut self, message: M, reply: ReplyTo<M::Reply, M::Rejection>, ctx: &mut Context<Self>);
}

struct Relayed;

impl<A: Relay<M>, M: Message> Conduct<A, M> for Relayed {
    const IMMEDIATE: bool = false;

    fn now(_: &mut A, _: M, _: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> {
        unreachable!("only called where IMMEDIATE says so")
    }

    fn later<'a>(
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        actor.relay(message, reply, ctx);
        std::future::ready(Ok(()))
    }
}

struct StandIn<B, Shape>(PhantomData<(B, Shape)>);

/// The behaviour of a type that has no size.
fn behaviour<B: Copy>() -> B {
    const { assert!(size_of::<B>() == 0) }
    // SAFETY: a value without size is read from nowhere. One was there: `behaviour_table` is the only way to
    // get here and was given it, and it is `Copy`, so there may be any number of them.
    unsafe { NonNull::<B>::dangling().read() }
}

impl<A: Actor, M: Message, Shape, B: Behaviour<A, M, Shape>> Conduct<A, M> for StandIn<B, Shape> {
    const IMMEDIATE: bool = B::IMMEDIATE;

    fn now(actor: &mut A, message: M, ctx: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> {
        behaviour::<B>().now(actor, message, ctx)
    }

    fn later<'a>(
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        behaviour::<B>().later(actor, message, reply, ctx)
    }
}

/// Handles one message.
unsafe fn run<A: Actor, M: Message, C: Conduct<A, M>>(
    cell: &Header,
    host: &Host,
    payload: *mut u64,
    sender: u64,
    reply: Option<NonNull<ReplySlot>>,
    _: Option<Freight>,
) -> Step {
    // SAFETY: the table in the record is this one, so the payload is an `M`, taken once.
    let message: M = unsafe { take_payload(payload) };
    if is_outdated(cell, sender, &message) {
        return Step::Done;
    }
    let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(reply);
    // SAFETY: as the caller promised.
    unsafe { handle::<A, M, C>(cell, host, sender, message, reply) }
}

/// Handles the message of a timer, if that is still set.
unsafe fn run_timed<A: Actor, M: Message, C: Conduct<A, M>>(
    cell: &Header,
    host: &Host,
    payload: *mut u64,
    sender: u64,
    _: Option<NonNull<ReplySlot>>,
    _: Option<Freight>,
) -> Step {
    // SAFETY: as in `run`.
    let timed: Timed<M> = unsafe { take_payload(payload) };
    cell.note_timer();
    if !cell.is_wanted(&timed) {
        drop_timed(cell, timed);
        return Step::Done;
    }
    let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(None);
    // SAFETY: as the caller promised.
    unsafe { handle::<A, M, C>(cell, host, sender, timed.message, reply) }
}

unsafe fn view<'a, M: Message>(cell: &Header, incoming: &'a Incoming) -> Option<&'a dyn Any> {
    // SAFETY: the table in the record is this one, so the payload is an `M`; the caller has not taken it.
    let message: &'a M = unsafe { incoming.view() };
    let outdated = ended_actor(incoming.envelope.sender, message)
        .is_some_and(|id| cell.with_links(|links| !links.watching.contains_key(&id)));
    (!outdated).then_some(message as &dyn Any)
}

unsafe fn view_timed<'a, M: Message>(cell: &Header, incoming: &'a Incoming) -> Option<&'a dyn Any> {
    // SAFETY: as in `view`.
    let timed: &'a Timed<M> = unsafe { incoming.view() };
    cell.is_set(timed).then_some(&timed.message as &dyn Any)
}

/// The message of a timer is nobody's loss: it ends with the timer.
unsafe fn discard_timed<M: Message>(cell: &Header, incoming: Incoming, _: DeadReason) {
    // SAFETY: as in `run`.
    let timed: Timed<M> = unsafe { incoming.take() };
    drop_timed(cell, timed);
}

fn drop_timed<M>(cell: &Header, timed: Timed<M>) {
    if let Err(fault) = contain(|| drop(timed)) {
        cell.report_drop(&fault);
    }
}

/// # Safety
/// The caller owns the actor, which is an `A`.
#[inline]
unsafe fn handle<A: Actor, M: Message, C: Conduct<A, M>>(
    cell: &Header,
    host: &Host,
    sender: u64,
    message: M,
    reply: ReplyTo<M::Reply, M::Rejection>,
) -> Step {
    if !C::IMMEDIATE {
        // SAFETY: the caller owns the actor, which is an `A` and stays there while the handler runs.
        return unsafe {
            launch::<A, _, _>(cell, host, sender, |ctx| {
                C::later(&mut *actor_ptr::<A>(cell), message, reply, ctx)
            })
        };
    }
    // SAFETY: as above, for the time of the call.
    let (mut context, actor) = unsafe { (Context::new(Here::new(cell), sender), &mut *actor_ptr::<A>(cell)) };
    let answered = match contain(|| C::now(actor, message, &mut context)) {
        // An answer that nobody waits for is dropped here, and its drop is user code.
        Ok(Ok(answer)) if std::mem::needs_drop::<M::Reply>() => contain(|| reply.send(answer)),
        Ok(Ok(answer)) => {
            reply.send(answer);
            Ok(())
        }
        Ok(Err(Failure::Rejected(rejection))) => contain(|| reply.reject(rejection)),
        Ok(Err(Failure::Stashed(stashed))) => {
            stashed.keep(reply);
            Ok(())
        }
        Ok(Err(Failure::Unhandled(_))) => Ok(()), // the asker hears that nobody answers
        Ok(Err(Failure::Fault(fault))) | Err(fault) => {
            reply.fail(&fault);
            Err(fault)
        }
    };
    match answered {
        Ok(()) => Step::Done,
        Err(fault) => Step::Faulted(fault),
    }
}

/// Calls a function of the actor that is not a handler.
///
/// # Safety
/// The caller owns the actor, which is an `A`.
pub(super) unsafe fn with_actor<A: Actor>(
    cell: &Header,
    host: &Host,
    sender: u64,
    call: impl FnOnce(&mut A, &mut Context<A>) -> Result<(), Fault>,
) -> Step {
    // SAFETY: the caller's promise, for the time of the call.
    let (mut context, actor) = unsafe { (Context::new(Here::new(cell), sender), &mut *actor_ptr::<A>(cell)) };
    match host.with_ending(Ending::Beginning, || contain(|| call(actor, &mut context))) {
        Ok(Ok(())) => Step::Done,
        Ok(Err(fault)) | Err(fault) => Step::Faulted(fault),
    }
}

/// Whether this is the `Terminated` of an actor that is not watched any more. Decided at compile
/// time for every other message.
#[inline]
fn is_outdated<M: Message>(cell: &Header, sender: u64, message: &M) -> bool {
    match ended_actor(sender, message) {
        Some(id) => cell.with_links(|links| links.watching.remove(&id)).is_none(),
        None => false,
    }
}

/// The actor of which this is the `Terminated`, if that is what it is.
#[inline]
fn ended_actor<M: Message>(sender: u64, message: &M) -> Option<u64> {
    if TypeId::of::<M>() != TypeId::of::<Terminated>() {
        return None;
    }
    let id = (message as &dyn Any).downcast_ref::<Terminated>()?.id().raw();
    (sender == id).then_some(id) // otherwise handed on by somebody: an ordinary message
}

/// Ends a message that will not be handled: a dead letter, and the end of its ask.
unsafe fn discard<M: Message>(cell: &Header, incoming: Incoming, reason: DeadReason) {
    // SAFETY: as in `run`.
    let message: M = unsafe { incoming.take() };
    let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(incoming.envelope.reply);
    cell.system()
        .dead_letter(cell, incoming.envelope.sender, reason, message);
    let ending = match reason {
        DeadReason::Expired if reply.is_wanted() => return reply.expire(),
        DeadReason::Stopped => Ending::Stopped,
        DeadReason::Intercepted(reason) => Ending::Refused(reason),
        _ => Ending::NoReply,
    };
    Host::with(|host| host.with_ending(ending, || drop(reply)));
}

unsafe fn unbox<M: Message>(boxed: Box<dyn Any + Send>, place: *mut u64) {
    match boxed.downcast::<M>() {
        // SAFETY: the caller has room for the payload of an `M`.
        Ok(message) => unsafe { write_payload(place, *message) },
        Err(_) => unreachable!("a letter carries the table of its own message"),
    }
}
