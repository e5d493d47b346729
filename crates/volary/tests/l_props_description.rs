//! Options of an actor as data: what can be said of them comes back as it was, and what is code is refused by name.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::time::Duration;

use volary::prelude::*;
use volary::{
    Arriving, Backoff, ChildrenPolicy, Dependency, DependencyError, DependencyKinds, Interceptor, MailboxDescription,
    Passivation, PropsDescription, Reentrancy, Strategy, Supervision, SupervisionDescription, UndescribableProps,
    Verdict,
};

const SECOND: Duration = Duration::from_secs(1);

struct Prefix(String);

impl Dependency for Prefix {
    const KIND: &'static str = "test.Prefix";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.0.clone().into_bytes())
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        String::from_utf8(bytes.to_vec()).map(Prefix).or_fault()
    }
}

fn known() -> DependencyKinds {
    let mut kinds = DependencyKinds::default();
    kinds.add::<Prefix>().unwrap();
    kinds
}

fn rich() -> Props {
    let supervision = Supervision::new()
        .strategy(Strategy::RestForOne)
        .on_panic(Directive::Stop)
        .otherwise(Directive::Resume)
        .limit(3, SECOND)
        .backoff(Backoff::new(SECOND, 8 * SECOND).jitter(0.5).reset_after(30 * SECOND))
        .children(ChildrenPolicy::Keep);
    Props::new()
        .mailbox(MailboxKind::BoundedRefusing(7))
        .dispatcher(Dispatcher::Named("io".to_owned()))
        .on_fault(Directive::Escalate)
        .supervision(supervision)
        .stash(9)
        .role("billing")
        .reentrancy(Reentrancy::hold_others().at_most(5))
        .passivation(Passivation::after(SECOND).or_after_messages(11).ending())
        .dependency(Prefix("hello".to_owned()))
}

#[test]
fn l_options_come_back_as_they_were_described() {
    for props in [Props::new(), rich()] {
        let described = PropsDescription::try_from(&props).unwrap();
        let again = described.props(&known()).unwrap();
        assert_eq!(PropsDescription::of(&again).unwrap(), described);
    }
    assert_eq!(
        PropsDescription::of(&Props::new()).unwrap(),
        PropsDescription::default()
    );
    let described = PropsDescription::of(&rich()).unwrap();
    assert_eq!(described.mailbox, MailboxDescription::BoundedRefusing(7));
    assert_eq!(described.dispatcher, Dispatcher::Named("io".to_owned()));
    assert_eq!((described.on_fault, described.stash), (Directive::Escalate, Some(9)));
    assert_eq!(described.role.as_deref(), Some("billing"));
    let supervision = described.supervision.clone().unwrap();
    assert_eq!(supervision.on_panic, Some(Directive::Stop));
    assert_eq!(
        (supervision.otherwise, supervision.limit),
        (Directive::Resume, Some((3, SECOND)))
    );
    assert_eq!(
        (supervision.strategy, supervision.children),
        (Strategy::RestForOne, ChildrenPolicy::Keep)
    );
    let made = described.props(&known()).unwrap();
    assert_eq!(
        PropsDescription::of(&made.role("")).unwrap().role,
        None,
        "an empty one is none"
    );
    let made = described.props(&known()).unwrap();
    assert_eq!(made.find_dependency::<Prefix>().unwrap().0, "hello");
}

#[test]
fn l_of_several_rules_for_panics_the_first_is_described() {
    let supervision = Supervision::new().on_panic(Directive::Stop).on_panic(Directive::Resume);
    assert_eq!(
        SupervisionDescription::of(&supervision).unwrap().on_panic,
        Some(Directive::Stop)
    );
}

struct Passes;
impl Interceptor for Passes {
    fn receiving(&self, _: &Arriving<'_>) -> Verdict {
        Verdict::Pass
    }
}

#[test]
fn l_options_that_are_code_are_refused_by_name() {
    let error = PropsDescription::of(&Props::new().intercept(Passes)).unwrap_err();
    assert!(matches!(error, UndescribableProps::Interceptors), "{error}");
    let error = PropsDescription::of(&Props::new().mailbox(MailboxKind::priority(|_| 0))).unwrap_err();
    assert!(matches!(error, UndescribableProps::Mailbox), "{error}");
    let supervision = Supervision::new().on::<std::io::Error>(Directive::Stop);
    let error = PropsDescription::of(&Props::new().supervision(supervision)).unwrap_err();
    assert!(error.to_string().contains("io::error::Error"), "{error}");
    let described = PropsDescription::of(&rich()).unwrap();
    let error = described.props(&DependencyKinds::default()).unwrap_err();
    assert!(matches!(error, DependencyError::Unknown { .. }), "{error}");
}

struct Parent;
#[actor]
impl Parent {
    fn ping(&mut self) {}
}

#[tokio::test]
async fn l_an_actor_is_inspected_and_given_a_child_from_outside() {
    let system = ActorSystem::builder("inspect")
        .ignore_environment()
        .start()
        .await
        .unwrap();
    let parent = system
        .spawn(|| Parent)
        .named("parent")
        .props(Props::new().dependency(Prefix(String::new())));
    let parent = parent.await.unwrap();
    let parent = volary::AnyRef::from(&parent);
    let child = parent.spawn(|| Parent).named("child").await.unwrap();
    assert_eq!(child.path().as_str(), "/user/parent/child");
    let child = volary::AnyRef::from(&child);
    assert_eq!(parent.children(), std::slice::from_ref(&child));
    assert_eq!(child.parent(), Some(parent.clone()));
    assert_eq!((parent.info().children, parent.info().path), (1, parent.path()));
    assert_eq!(parent.dependency_kinds(), ["test.Prefix"]);
    assert_eq!(parent.passivation(), Passivation::never());
    parent.stop();
    child.terminated().await;
    parent.terminated().await;
    assert!(parent.spawn(|| Parent).named("late").await.is_err());
    system.stop().await.unwrap();
}
