//! The handles: all groups of a system, and one of them.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::changed::GroupChanged;
use super::error::JoinError;
use super::register::Key;
use crate::actor::{Actor, Context, Message};
use crate::cell::Header;
use crate::cell::state::DEAD;
use crate::reference::{Accepts, ActorRef, Recipient, Target};
use crate::routing::{AskEach, Broadcast};
use crate::system::ActorSystem;

/// The groups of a system, or those of a scope in it; see [`ActorSystem::groups`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let groups = system.groups();
/// groups.of::<Account>("accounts").join(&alice)?;
/// assert_eq!(groups.names(), ["accounts"]);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Groups {
    system: ActorSystem,
    scope: Arc<str>,
}

impl Groups {
    /// The group of this name for references of this type: to an actor, to whoever speaks a protocol, or to whoever
    /// [`Takes`](crate::Takes) a message. Groups of one name and several types have nothing to do with each other.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// let tills = system.groups().of::<Takes<Deposit>>("tills"); // anybody who takes a `Deposit`
    /// accounts.join(&alice)?;
    /// tills.join(&alice.recipient().into())?;
    /// assert_eq!((accounts.len(), tills.len()), (1, 1));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn of<T: Target>(&self, name: &str) -> Group<T> {
        let key = Key {
            scope: self.scope.clone(),
            name: name.into(),
            of: TypeId::of::<T>(),
        };
        Group {
            system: self.system.clone(),
            key,
            target: PhantomData,
        }
    }

    /// Groups of their own: names in one scope are not those of another.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().scope("tenant-7").of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// assert!(system.groups().of::<Account>("accounts").is_empty(), "another scope, another group");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn scope(&self, scope: &str) -> Groups {
        Groups {
            system: self.system.clone(),
            scope: scope.into(),
        }
    }

    /// The names of the groups that have members, in order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.groups().names().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.system.register().names(&self.scope)
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups")
            .field("scope", &self.scope)
            .field("names", &self.names())
            .finish_non_exhaustive()
    }
}

/// Actors under a common name. The handle is cheap, keeps nobody, and needs nobody to be in the group.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// # struct Worker(u32); impl Actor for Worker {}
/// # #[derive(Clone)] struct Pause; impl Message for Pause { type Reply = u32; type Rejection = Infallible; }
/// # impl SyncHandler<Pause> for Worker {
/// #   fn handle(&mut self, _: Pause, _: &mut Context<Self>) -> Result<u32, Failure> { Ok(self.0) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let workers = system.groups().of::<Worker>("workers");
/// let one = system.spawn(|| Worker(1)).await?;
/// workers.join(&one)?;
/// assert_eq!(workers.broadcast(Pause).sent, 1);
/// one.stop();
/// one.terminated().await; // who ends leaves
/// assert!(workers.is_empty());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Group<T: Target> {
    system: ActorSystem,
    key: Key,
    target: PhantomData<fn(T)>,
}

impl<T: Target> Group<T> {
    /// The name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.groups().of::<Account>("accounts").name(), "accounts");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.key.name
    }

    /// The scope; empty unless one was named.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().scope("tenant-7").of::<Account>("accounts");
    /// assert_eq!(accounts.scope(), "tenant-7");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.key.scope
    }

    /// Makes an actor a member, until it leaves or ends. False: it was one already.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// assert_eq!(accounts.members(), [alice.clone()]);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The actor has ended, or lives in another system.
    pub fn join(&self, actor: &ActorRef<T>) -> Result<bool, JoinError> {
        let (cell, core) = (actor.cell(), self.system.core());
        if cell.system().number != core.number {
            return Err(JoinError::Elsewhere {
                path: actor.path(),
                system: cell.system().handle().name().to_owned(),
            });
        }
        let register = core.groups();
        let new = register.insert(&self.key, actor);
        let there = cell.with_links(|links| {
            // One that has no links yet cannot mark them when it ends; see `watch`.
            if links.ended || cell.state.has(DEAD) {
                return false;
            }
            links.memberships().groups.insert(self.key.clone());
            true
        });
        if !there {
            register.remove(&self.key, cell);
        }
        register.announce(core.events());
        if there {
            Ok(new)
        } else {
            Err(JoinError::Ended { path: actor.path() })
        }
    }

    /// Ends a membership. False: there was none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// accounts.leave(&alice);
    /// assert!(accounts.is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn leave(&self, actor: &ActorRef<T>) -> bool {
        let (cell, core) = (actor.cell(), self.system.core());
        let found = core.groups().remove(&self.key, cell);
        self.forget_note(cell);
        core.groups().announce(core.events());
        found
    }

    /// All members, oldest first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// for member in accounts.members() {
    ///     member.tell(Deposit(5))?;
    /// }
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn members(&self) -> Vec<ActorRef<T>> {
        self.system.register().members::<T>(&self.key).to_vec()
    }

    /// How many members there are.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// assert_eq!(accounts.len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.system.register().members::<T>(&self.key).len()
    }

    /// Whether there is no member.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.groups().of::<Account>("accounts").is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends a message to every member, and says who did not take it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// assert_eq!(accounts.broadcast(Deposit(5)).sent, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn broadcast<M: Message + Clone>(&self, message: M) -> Broadcast<T, M>
    where
        T: Accepts<M>,
    {
        Broadcast::to(self.system.register().members::<T>(&self.key).iter(), &message)
    }

    /// Asks every member and collects all answers. Cancel safe: dropping it cancels every ask.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.join(&alice)?;
    /// let answers = accounts.ask_each(Deposit(5)).await;
    /// assert_eq!(answers.len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask_each<M: Message + Clone>(&self, message: M) -> AskEach<M>
    where
        T: Accepts<M>,
    {
        AskEach::new(self.system.register().members::<T>(&self.key).iter(), &message)
    }

    /// Tells an actor of every change of this group from now on, in order, until it ends or does not want to know any
    /// more. As with [`Terminated`](crate::Terminated), no bound of its mailbox applies. (Changes of all groups are on
    /// the event stream.)
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use volary_core::groups::GroupChanged;
    /// # impl SyncHandler<GroupChanged> for Account {
    /// #     fn handle(&mut self, _: GroupChanged, _: &mut Context<Self>) -> Result<(), Failure> { self.cents += 1; Ok(()) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let observer = system.spawn(Account::default).await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.watch(&observer.recipient::<GroupChanged>());
    /// let members = accounts.members(); // and whoever comes or goes after this is told
    /// assert!(members.is_empty());
    /// accounts.join(&alice)?;
    /// # assert_eq!(observer.ask(Balance).await?, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn watch(&self, observer: &Recipient<GroupChanged>) {
        self.system.register().watch::<T>(&self.key, observer);
        let cell = observer.cell();
        let there = cell.with_links(|links| {
            let there = !links.ended && !cell.state.has(DEAD);
            if there {
                links.memberships().groups.insert(self.key.clone());
            }
            there
        });
        if !there {
            self.system.register().unwatch(&self.key, observer);
        }
    }

    /// Takes back a [`watch`](Group::watch). False: there was none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use volary_core::groups::GroupChanged;
    /// # impl SyncHandler<GroupChanged> for Account {
    /// #     fn handle(&mut self, _: GroupChanged, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts");
    /// accounts.watch(&alice.recipient::<GroupChanged>());
    /// assert!(accounts.unwatch(&alice.recipient::<GroupChanged>()));
    /// assert!(!accounts.unwatch(&alice.recipient::<GroupChanged>()), "not any more");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "unwatching is what it is called for")]
    pub fn unwatch(&self, observer: &Recipient<GroupChanged>) -> bool {
        let found = self.system.register().unwatch(&self.key, observer);
        self.forget_note(observer.cell());
        found
    }

    /// Strikes the group out of an actor's cell, unless somebody has entered it again.
    fn forget_note(&self, cell: &Header) {
        let register = self.system.register();
        if let Some(extras) = cell.extras_if_any() {
            let links = &mut *extras.links.lock();
            // Looked at under the lock of the cell: who joins enters the register before the cell.
            if !register.concerns(&self.key, cell.id) {
                links.memberships().groups.remove(&self.key);
            }
        }
    }
}

impl<T: Target> Clone for Group<T> {
    fn clone(&self) -> Self {
        Group {
            system: self.system.clone(),
            key: self.key.clone(),
            target: PhantomData,
        }
    }
}

impl<T: Target> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("scope", &self.key.scope)
            .field("name", &self.key.name)
            .field("members", &self.len())
            .finish_non_exhaustive()
    }
}

impl ActorSystem {
    /// Actors under common names.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.groups().of::<Account>("accounts").members();
    /// assert!(accounts.is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn groups(&self) -> Groups {
        Groups {
            system: self.clone(),
            scope: "".into(),
        }
    }
}

impl<A: Actor> Context<A> {
    /// Makes this actor a member of the group of this name for actors of its type, and gives that group.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Worker;
    /// impl Actor for Worker {
    ///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         ctx.join("workers");
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let worker = system.spawn(|| Worker).await?;
    /// assert_eq!(system.groups().of::<Worker>("workers").members(), [worker]);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "joining is what it is called for")]
    pub fn join(&self, group: &str) -> Group<A> {
        let group = self.system().groups().of::<A>(group);
        // It lives, being the one that calls, and in this system.
        let _ = group.join(&self.me());
        group
    }

    /// Takes this actor out of such a group. False: it was not in it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # system.groups().of::<Account>("accounts").join(&alice)?;
    /// # inside(&alice, |ctx| {
    /// ctx.leave("accounts");
    /// # Ok(()) }).await?;
    /// assert!(system.groups().of::<Account>("accounts").is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn leave(&self, group: &str) -> bool {
        self.system().groups().of::<A>(group).leave(&self.me())
    }
}
