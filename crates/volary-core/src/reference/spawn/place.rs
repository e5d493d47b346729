//! Makes cells and gives them their places in the tree.

use std::ptr::NonNull;

use super::super::errors::SpawnError;
use super::super::foreign::{Absent, Foreign};
use super::{Wait, begin};
use crate::actor::{Dispatcher, Product, Props, Reentrancy};
use crate::cell::state::Sealed;
use crate::cell::{Birth, CellRef, Extras, MailboxRule, Wakefulness, cell_table, create};
use crate::dispatch::Host;
use crate::supervision::Directive;
use crate::system::SystemCore;
use crate::tree::{NotAdopted, hash_of};

/// Makes the cell and gives it its place in the tree. A name comes with its hash.
pub(super) fn place<P, F>(
    parent: CellRef,
    factory: F,
    known: Option<(&str, u32)>,
    props: Option<Box<Props>>,
) -> Result<CellRef, SpawnError>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    let system = parent.system();
    let (dispatcher, extras) = match &props {
        None => (0, None),
        Some(props) => (system.dispatcher_index(&props.dispatcher)?, extras_for(system, props)?),
    };
    let name = known.map_or("", |(name, _)| name);
    // One seed decides everything: also who gets which id.
    let lane = if system.env().is_simulated() {
        None
    } else {
        Host::with(Host::lane)
    }
    .unwrap_or(0);
    let birth = Birth {
        table: cell_table::<P, F>(),
        system: NonNull::from(system),
        parent: Some(parent),
        on_fault: props.map_or(Directive::Restart, |props| props.on_fault),
        extras,
        name_length: u8::try_from(name.len()).unwrap_or(u8::MAX),
        dispatcher,
    };
    let (cell, kept) = create::<P, F>(birth, lane, name.as_bytes(), factory).ok_or(SpawnError::Exhausted)?;
    let Some(parent) = cell.parent() else {
        unreachable!("born with one")
    };
    // A child without a name is found by its id.
    let hash = known.map_or_else(|| hash_of(&cell), |(_, hash)| hash);
    let adopted = parent.adopt(kept, hash);
    if let Err(refusal) = adopted {
        cell.system().directory().remove(cell.id);
        return Err(match refusal {
            NotAdopted::Sealed(Sealed::Asleep) => SpawnError::Asleep { parent: parent.path() },
            NotAdopted::Sealed(Sealed::Ending) => SpawnError::Stopping { parent: parent.path() },
            NotAdopted::NameTaken => duplicate(parent, name),
        });
    }
    Ok(cell)
}

fn duplicate(parent: &CellRef, name: &str) -> SpawnError {
    let above = parent.path();
    SpawnError::Duplicate {
        path: above.child(name).unwrap_or(above),
    }
}

fn extras_for(system: &SystemCore, props: &Props) -> Result<Option<Box<Extras>>, SpawnError> {
    let bound = props.mailbox.bound();
    if bound.as_ref().is_some_and(|bound| bound.capacity == 0) {
        return Err(SpawnError::Capacity { capacity: 0 });
    }
    let mailbox = MailboxRule {
        bound,
        custom: props.mailbox.make(),
        foreign: None,
    };
    if props.stash == Some(0) {
        return Err(SpawnError::Stash);
    }
    if let Some(supervision) = &props.supervision {
        supervision.validate()?;
    }
    props.reentrancy.validate()?;
    props.passivation.validate()?;
    let own_dispatcher = (props.dispatcher == Dispatcher::Pinned)
        .then(|| system.pinned_thread())
        .flatten();
    let usual = !mailbox.is_guarded()
        && own_dispatcher.is_none()
        && props.supervision.is_none()
        && props.stash.is_none()
        && props.role.is_none()
        && props.reentrancy == Reentrancy::default()
        && !props.passivation.allowed
        && props.layers.is_none()
        && props.dependencies.is_none();
    if usual {
        return Ok(None);
    }
    Ok(Some(Box::new(Extras {
        mailbox,
        own_dispatcher,
        supervision: props.supervision.clone(),
        stash: props.stash,
        role: props.role.clone(),
        reentrancy: props.reentrancy,
        wakefulness: Wakefulness::new(props.passivation),
        layers: props.layers.clone(),
        dependencies: props.dependencies.clone(),
        ..Extras::default()
    })))
}

/// Makes one of the system's own actors: the root, and the guardians below it.
pub(crate) fn spawn_guardian<P, F>(
    system: NonNull<SystemCore>,
    parent: Option<&CellRef>,
    name: &str,
    factory: F,
) -> Option<CellRef>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    let birth = Birth {
        table: cell_table::<P, F>(),
        system,
        parent: parent.cloned(),
        on_fault: Directive::Restart,
        extras: None,
        name_length: u8::try_from(name.len()).unwrap_or(u8::MAX),
        dispatcher: 0,
    };
    let (cell, kept) = create::<P, F>(birth, 0, name.as_bytes(), factory)?;
    if let Some(parent) = parent
        && parent.adopt(kept, hash_of(&cell)).is_err()
    {
        cell.system().directory().remove(cell.id);
        return None;
    }
    let (cell, _) = begin(cell, Wait::No);
    Some(cell)
}

/// Makes a cell that stands for an actor elsewhere. `None`: the system is stopping, or has no id left.
pub(crate) fn spawn_stand_in(system: NonNull<SystemCore>, core: &SystemCore, foreign: Foreign) -> Option<CellRef> {
    fn absent() -> Absent {
        Absent
    }
    let parent = core.stand_ins()?;
    let extras = Extras {
        mailbox: MailboxRule {
            foreign: Some(Box::new(foreign)),
            ..MailboxRule::default()
        },
        ..Extras::default()
    };
    let birth = Birth {
        table: cell_table::<Absent, fn() -> Absent>(),
        system,
        parent: Some(parent.clone()),
        on_fault: Directive::Stop,
        extras: Some(Box::new(extras)),
        name_length: 0,
        dispatcher: 0,
    };
    let (cell, kept) = create::<Absent, fn() -> Absent>(birth, 0, b"", absent)?;
    if parent.adopt(kept, hash_of(&cell)).is_err() {
        core.directory().remove(cell.id);
        return None;
    }
    let (cell, _) = begin(cell, Wait::No);
    Some(cell)
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::foreign::{Errand, Outlet, Parcel, Undeliverable};
    use crate::{Actor, ActorSystem};

    struct Guardian;

    impl Actor for Guardian {}

    /// As when somebody abroad is spoken of for the first time while the system stops.
    #[tokio::test]
    async fn a_guardian_that_comes_too_late_leaves_nothing() {
        let system = ActorSystem::builder("late").start().await.expect("a system");
        let parent = system.spawn(|| Guardian).await.expect("a parent");
        let core = parent.cell().system();
        let known = core.directory().len();
        let witness = Arc::new(());
        let spawn = || {
            let held = witness.clone();
            let factory = move || {
                let _ = &held;
                Guardian
            };
            spawn_guardian(NonNull::from(core), Some(parent.cell()), "late", factory)
        };
        parent.cell().state.seal(0);
        assert!(spawn().is_none());
        assert_eq!(core.directory().len(), known);
        assert_eq!(Arc::strong_count(&witness), 1);
        system.stop().await.expect("a stop");
    }

    struct Nowhere;

    impl Outlet for Nowhere {
        fn send(&self, _: &mut Parcel<'_>) -> Result<(), Undeliverable> {
            Err(Undeliverable::Gone)
        }

        fn run(&self, _: Errand) {}
    }

    #[tokio::test]
    async fn a_stand_in_that_comes_too_late_leaves_nothing() {
        let system = ActorSystem::builder("late").start().await.expect("a system");
        let someone = system.spawn(|| Guardian).await.expect("an actor");
        let core = someone.cell().system();
        let parent = core.stand_ins().expect("a parent of stand-ins");
        let known = core.directory().len();
        let outlet = Arc::new(Nowhere);
        parent.state.seal(0);
        let foreign = Foreign {
            address: someone.address(),
            outlet: outlet.clone(),
        };
        assert!(spawn_stand_in(NonNull::from(core), core, foreign).is_none());
        assert_eq!(core.directory().len(), known);
        assert_eq!(Arc::strong_count(&outlet), 1);
        system.stop().await.expect("a stop");
    }

    /// Whoever wants an actor by its name, whether it is there or not, spawns and is refused again and again.
    #[tokio::test]
    async fn a_pinned_actor_that_is_refused_leaves_no_thread_behind() {
        let system = ActorSystem::builder("refused").start().await.expect("a system");
        let spawn = || system.spawn(|| Guardian).named("one").dispatcher(Dispatcher::Pinned);
        let first = spawn().await.expect("the first");
        for _ in 0..100 {
            assert!(matches!(spawn().await, Err(SpawnError::Duplicate { .. })));
        }
        let listed = first.cell().system().pinned_threads();
        assert!(listed <= 2, "{listed} listed for one actor"); // the last one is found by the next
        system.stop().await.expect("a stop");
    }
}
