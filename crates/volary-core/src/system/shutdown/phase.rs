//! The phases and their order.

use std::fmt;

use crate::tree::validate_name;

/// The first phase: the system is not ready any more, and still does all it did.
///
/// For hooks that tell a load balancer, or wait until it has noticed.
///
/// ```
/// assert_eq!(volary_core::shutdown::UNREADY, "unready");
/// ```
pub const UNREADY: &str = "unready";

/// The phase in which nothing new is let in.
///
/// For hooks that close listeners and consumers, and wait for the requests that are under way.
///
/// ```
/// assert_eq!(volary_core::shutdown::INTAKE, "intake");
/// ```
pub const INTAKE: &str = "intake";

/// The phase in which the work that is left is done: after its hooks it waits until no actor below `/user` is at
/// work, has mail or awaits the answer to a request, for the setting `drain-timeout` at most. That is 0 unless set: no
/// waiting.
///
/// All mailboxes stay open, so that actors can do their work together. Actors that supervision holds, messages that
/// are put aside, timers, and tasks that actors have spawned are not waited for.
///
/// ```
/// assert_eq!(volary_core::shutdown::DRAIN, "drain");
/// ```
pub const DRAIN: &str = "drain";

/// The phase in which the actors stop, after its hooks: those below `/user`, then those of the runtime.
///
/// ```
/// assert_eq!(volary_core::shutdown::ACTORS, "actors");
/// ```
pub const ACTORS: &str = "actors";

/// The last phase: there are no actors any more.
///
/// For hooks that close what actors used, such as pools of connections, and flush logs.
///
/// ```
/// assert_eq!(volary_core::shutdown::AFTER_ACTORS, "after-actors");
/// ```
pub const AFTER_ACTORS: &str = "after-actors";

/// What the runtime itself does in a phase, after its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::system) enum Work {
    /// Waits until the actors are quiet.
    Drain,
    /// Stops the actors.
    Actors,
}

/// The runtime's own phases, in their order.
const BUILT_IN: [(&str, Option<Work>); 5] = [
    (UNREADY, None),
    (INTAKE, None),
    (DRAIN, Some(Work::Drain)),
    (ACTORS, Some(Work::Actors)),
    (AFTER_ACTORS, None),
];

/// How many phases of the user's own there may be.
const MAX_OWN: usize = 100;

/// Where a phase of your own stands: next to another, which may be one of your own as well.
///
/// Of several phases before, or after, the same one, the first to be declared comes first.
///
/// ```
/// use volary_core::{ActorSystem, PhasePlace, shutdown};
///
/// let builder = ActorSystem::builder("shop")
///     .shutdown_phase("settle", PhasePlace::after(shutdown::DRAIN))
///     .shutdown_phase("audit", PhasePlace::before("settle"));   // drain, audit, settle, actors
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhasePlace {
    /// Right before this phase.
    Before(String),
    /// Right after this phase.
    After(String),
}

impl PhasePlace {
    /// Right before `phase`.
    ///
    /// ```
    /// # use volary_core::{PhasePlace, shutdown};
    /// let place = PhasePlace::before(shutdown::ACTORS);
    /// assert_eq!(place.to_string(), "before \"actors\"");
    /// ```
    #[must_use]
    pub fn before(phase: impl Into<String>) -> Self {
        PhasePlace::Before(phase.into())
    }

    /// Right after `phase`.
    ///
    /// ```
    /// # use volary_core::{PhasePlace, shutdown};
    /// let place = PhasePlace::after(shutdown::DRAIN);
    /// assert_eq!(place.to_string(), "after \"drain\"");
    /// ```
    #[must_use]
    pub fn after(phase: impl Into<String>) -> Self {
        PhasePlace::After(phase.into())
    }

    fn neighbour(&self) -> &str {
        match self {
            PhasePlace::Before(phase) | PhasePlace::After(phase) => phase,
        }
    }
}

impl fmt::Display for PhasePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PhasePlace::Before(phase) => write!(f, "before {phase:?}"),
            PhasePlace::After(phase) => write!(f, "after {phase:?}"),
        }
    }
}

/// A shutdown phase that cannot be; the system does not start.
///
/// ```
/// # use volary_core::{ActorSystem, PhasePlace};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = ActorSystem::builder("shop")
///     .shutdown_phase("settle", PhasePlace::after("drian"))
///     .start()
///     .await
///     .unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "shutdown phase \"settle\": place is after \"drian\", allowed is before or after one of \
///      unready, intake, drain, actors, after-actors",
/// );
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("shutdown phase {phase:?}: {setting} is {value}, allowed is {allowed}")]
#[non_exhaustive]
pub struct PhaseError {
    /// The phase.
    pub phase: String,
    /// What about it is wrong.
    pub setting: &'static str,
    /// What it was.
    pub value: String,
    /// What it may be.
    pub allowed: String,
}

/// All phases in their order, or the first thing that is wrong.
pub(in crate::system) fn plan(own: &[(String, PhasePlace)]) -> Result<Vec<(String, Option<Work>)>, PhaseError> {
    if own.len() > MAX_OWN {
        return Err(PhaseError {
            phase: own[MAX_OWN].0.clone(),
            setting: "number of phases",
            value: own.len().to_string(),
            allowed: format!("at most {MAX_OWN}"),
        });
    }
    for (at, (name, place)) in own.iter().enumerate() {
        check_name(name, &own[..at])?;
        check_place(name, place, own)?;
    }
    let mut order = Vec::new();
    for (name, work) in BUILT_IN {
        place_with_neighbours(name, work, own, &mut order);
    }
    // What cannot be reached from any phase of the runtime leads in a circle.
    let lost = own
        .iter()
        .find(|(name, _)| !order.iter().any(|(placed, _)| placed == name));
    match lost {
        None => Ok(order),
        Some((name, place)) => Err(PhaseError {
            phase: name.clone(),
            setting: "place",
            value: place.to_string(),
            allowed: format!("a phase whose own place does not depend on {name:?}"),
        }),
    }
}

/// A phase with those that stand next to it, and with theirs.
fn place_with_neighbours(
    name: &str,
    work: Option<Work>,
    own: &[(String, PhasePlace)],
    order: &mut Vec<(String, Option<Work>)>,
) {
    for (other, place) in own {
        if matches!(place, PhasePlace::Before(neighbour) if neighbour == name) {
            place_with_neighbours(other, None, own, order);
        }
    }
    order.push((name.to_owned(), work));
    for (other, place) in own {
        if matches!(place, PhasePlace::After(neighbour) if neighbour == name) {
            place_with_neighbours(other, None, own, order);
        }
    }
}

fn check_name(name: &str, earlier: &[(String, PhasePlace)]) -> Result<(), PhaseError> {
    let wrong = |allowed: String| {
        Err(PhaseError {
            phase: name.to_owned(),
            setting: "name",
            value: format!("{name:?}"),
            allowed,
        })
    };
    if let Err(reason) = validate_name(name) {
        return wrong(format!("what an actor may be called: {reason}"));
    }
    let taken = BUILT_IN.iter().any(|(other, _)| *other == name) || earlier.iter().any(|(other, _)| other == name);
    if taken {
        return wrong("a name that no other phase has".to_owned());
    }
    Ok(())
}

fn check_place(name: &str, place: &PhasePlace, own: &[(String, PhasePlace)]) -> Result<(), PhaseError> {
    let others = || {
        let built_in = BUILT_IN.iter().map(|(other, _)| *other);
        built_in.chain(
            own.iter()
                .map(|(other, _)| other.as_str())
                .filter(|other| *other != name),
        )
    };
    if others().any(|other| other == place.neighbour()) {
        return Ok(());
    }
    Err(PhaseError {
        phase: name.to_owned(),
        setting: "place",
        value: place.to_string(),
        allowed: format!("before or after one of {}", others().collect::<Vec<_>>().join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(own: &[(&str, PhasePlace)]) -> Result<String, String> {
        let own: Vec<_> = own
            .iter()
            .map(|(name, place)| ((*name).to_owned(), place.clone()))
            .collect();
        match plan(&own) {
            Ok(phases) => Ok(phases.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn l27_the_phases_of_the_runtime_stand_in_their_order() {
        assert_eq!(order(&[]).as_deref(), Ok("unready intake drain actors after-actors"));
    }

    #[test]
    fn l27_own_phases_stand_next_to_their_neighbour_in_the_order_of_declaration() {
        let own = [
            ("audit", PhasePlace::before("settle")), // declared before its neighbour
            ("settle", PhasePlace::after(DRAIN)),
            ("report", PhasePlace::after(DRAIN)),
            ("first", PhasePlace::before(UNREADY)),
            ("close", PhasePlace::before(ACTORS)),
            ("last", PhasePlace::after(AFTER_ACTORS)),
        ];
        assert_eq!(
            order(&own).as_deref(),
            Ok("first unready intake drain audit settle report close actors after-actors last")
        );
    }

    #[test]
    fn l27_a_phase_that_cannot_be_is_named() {
        let text = |own: &[(&str, PhasePlace)]| order(own).expect_err("it is refused");
        let taken = text(&[("drain", PhasePlace::after(UNREADY))]);
        assert_eq!(
            taken,
            "shutdown phase \"drain\": name is \"drain\", allowed is a name that no other phase has"
        );
        let twice = text(&[("a", PhasePlace::after(UNREADY)), ("a", PhasePlace::after(DRAIN))]);
        assert!(twice.contains("\"a\"") && twice.contains("no other phase"), "{twice}");
        let unknown = text(&[("a", PhasePlace::before("b"))]);
        assert!(unknown.contains("\"a\": place is before \"b\""), "{unknown}");
        let itself = text(&[("a", PhasePlace::before("a"))]);
        assert!(itself.contains("\"a\": place is before \"a\""), "{itself}");
        let circle = text(&[
            ("fine", PhasePlace::after(DRAIN)),
            ("a", PhasePlace::before("b")),
            ("b", PhasePlace::after("a")),
        ]);
        assert!(
            circle.contains("\"a\": place is before \"b\"") && circle.contains("does not depend on \"a\""),
            "{circle}"
        );
        let nameless = text(&[("", PhasePlace::after(DRAIN))]);
        assert!(nameless.contains("name is \"\""), "{nameless}");
        let many: Vec<_> = (0..=MAX_OWN)
            .map(|n| (format!("p{n}"), PhasePlace::after(DRAIN)))
            .collect();
        assert!(plan(&many).is_err_and(|error| error.to_string().contains("101, allowed is at most 100")));
        assert!(plan(&many[1..]).is_ok());
    }
}
