//! L26: extensions of the system by type, dependencies of actors by trait.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use volary::prelude::*;
use volary::{Dependency, DependencyBytes, DependencyError, DependencyKinds, SystemStartError};

struct Prices {
    vat: u8,
}

#[derive(Debug, PartialEq)]
struct Database {
    url: String,
}

impl Dependency for Database {
    const KIND: &'static str = "shop.Database";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.url.clone().into_bytes())
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let url = String::from_utf8(bytes.to_vec()).or_fault()?;
        Ok(Database { url })
    }
}

struct Fragile;

impl Dependency for Fragile {
    const KIND: &'static str = "shop.Fragile";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        panic!("cannot be written")
    }
    fn from_bytes(_: &[u8]) -> Result<Self, Fault> {
        panic!("cannot be read")
    }
}

/// Another type under the same name.
struct Impostor;

impl Dependency for Impostor {
    const KIND: &'static str = "shop.Database";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(Vec::new())
    }
    fn from_bytes(_: &[u8]) -> Result<Self, Fault> {
        Ok(Impostor)
    }
}

struct Clerk;

#[actor]
impl Clerk {
    fn look(&mut self, ctx: &mut Context<Self>) -> (Option<u8>, Option<String>, Vec<&'static str>) {
        let vat = ctx.extension::<Prices>().map(|prices| prices.vat);
        let url = ctx.dependency::<Database>().map(|database| database.url.clone());
        (vat, url, ctx.dependency_kinds())
    }
    fn crash(&mut self) {
        panic!("as told")
    }
}

#[tokio::test]
async fn l26_extensions_are_found_by_type_from_the_system_and_from_actors() {
    let system = builder("shop").extension(Prices { vat: 19 }).start().await.unwrap();
    assert_eq!(system.extension::<Prices>().unwrap().vat, 19);
    assert!(system.extension::<String>().is_none());
    assert_eq!(system.extensions().len(), 1);
    let clerk = system.spawn(|| Clerk).await.unwrap();
    assert_eq!(clerk.ask(Look).await.unwrap(), (Some(19), None, vec![]));
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l26_two_extensions_of_one_type_are_refused_at_the_start() {
    let error = builder("shop")
        .extension(1_u8)
        .extension(2_u8)
        .start()
        .await
        .unwrap_err();
    assert!(
        matches!(error, SystemStartError::Extension { extension: "u8" }),
        "{error}"
    );
    assert_eq!(error.to_string(), "there are two extensions of the type u8");
}

#[tokio::test]
async fn l26_dependencies_stay_with_their_actor_through_restarts() {
    let system = system().await;
    let database = Database { url: "db:1".to_owned() };
    let clerk = system
        .spawn(|| Clerk)
        .props(Props::new().dependency(database))
        .await
        .unwrap();
    let other = system.spawn(|| Clerk).await.unwrap();
    assert!(clerk.ask(Crash).await.is_err());
    let (_, url, kinds) = clerk.ask(Look).await.unwrap();
    assert_eq!((url.as_deref(), kinds), (Some("db:1"), vec!["shop.Database"]));
    assert_eq!(other.ask(Look).await.unwrap(), (None, None, vec![]));
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l26_dependencies_travel_as_bytes() {
    let there = Props::new().dependency(Database { url: "db:2".to_owned() });
    let bytes = there.dependency_bytes().unwrap();
    assert_eq!(
        format!("{bytes:?}"),
        "[shop.Database (4 bytes)]",
        "the bytes may be secret"
    );

    let mut kinds = DependencyKinds::default();
    kinds.add::<Database>().unwrap();
    kinds.add::<Database>().unwrap(); // the same again is no harm
    let here = Props::new().dependencies(kinds.read(&bytes).unwrap());
    let system = system().await;
    let clerk = system.spawn(|| Clerk).props(here).await.unwrap();
    assert_eq!(clerk.ask(Look).await.unwrap().1.as_deref(), Some("db:2"));
    system.stop().await.unwrap();
}

#[test]
fn l26_dependencies_that_cannot_be_written_or_read_say_so() {
    let error = Props::new().dependency(Fragile).dependency_bytes().unwrap_err();
    assert!(
        matches!(&error, DependencyError::Write { kind, .. } if kind == "shop.Fragile"),
        "{error}"
    );

    let one = |kind: &str, bytes: &[u8]| DependencyBytes {
        kind: kind.to_owned(),
        bytes: bytes.to_vec(),
    };
    let mut kinds = DependencyKinds::default();
    kinds.add::<Database>().unwrap();
    kinds.add::<Fragile>().unwrap();
    let error = kinds.read(&[one("shop.Database", &[0xff])]).unwrap_err();
    assert!(matches!(error, DependencyError::Read { .. }), "{error}");
    let error = kinds.read(&[one("shop.Fragile", &[])]).unwrap_err();
    assert!(matches!(error, DependencyError::Read { .. }), "{error}");
    let error = kinds.read(&[one("shop.Cache", &[])]).unwrap_err();
    let expected = "the dependency shop.Cache is not registered; those that are: shop.Database, shop.Fragile";
    assert_eq!(error.to_string(), expected);
    let error = kinds.add::<Impostor>().unwrap_err();
    assert!(
        matches!(
            error,
            DependencyError::Duplicate {
                kind: "shop.Database",
                ..
            }
        ),
        "{error}"
    );

    let both = Props::new()
        .dependency(Database::from_bytes(b"db:1").unwrap())
        .dependency(Impostor);
    let error = both.dependency_bytes().unwrap_err();
    assert!(matches!(error, DependencyError::Duplicate { .. }), "{error}");
}
