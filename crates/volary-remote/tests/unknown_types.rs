//! R2: who asks with a type that the other node does not take hears of it by name, in the words of that node.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::{Log, Node, builder, options, reading, soon, stop};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::RemoteError;
use volary_remote::{Remote, RemoteBuilder};

/// Handles more than other nodes may send.
struct Singer(Log);

#[actor(kind = "test.Singer", remote(Hum))]
impl Singer {
    #[message(remote = "test.Hum", codec = postcard, derive(Serialize, Deserialize))]
    fn hum(&mut self) -> u64 {
        self.0.push("hums");
        1
    }

    /// A type that can travel, but not to this kind.
    #[message(remote = "test.repertoire.Ballad", codec = postcard, derive(Serialize, Deserialize))]
    fn ballad(&mut self, verses: u64) -> u64 {
        self.0.push("sings");
        verses
    }
}

/// Asks a singer of a node that is built this way for a ballad: what that node says of it, and whether the singer takes
/// what is listed.
async fn refusal(other: RemoteBuilder) -> (String, bool) {
    let one = Node::start("one", builder().kind::<Singer>().message::<Ballad>()).await;
    let other = Node::start("other", other.options(options())).await;
    let log = other.log.clone();
    let singer = other.system.spawn(move || Singer(log.clone()));
    singer.named("singer").await.unwrap();
    let far: ActorRef<Singer> = one.remote.actor(&other.address("singer")).unwrap();
    let refused = soon("a refusal", far.ask(Ballad { verses: 3 })).await;
    let Err(AskError::Remote(error)) = refused else {
        panic!("{refused:?}")
    };
    let RemoteError::NotTaken { node, name, why } = &*error else {
        panic!("{error:?}")
    };
    assert_eq!((&**node, &**name), (other.remote.node(), "test.repertoire.Ballad"));
    assert!(error.to_string().contains(why), "{error}");
    assert!(error.is_certainly_not_handled());
    assert_eq!((other.log.len(), reading(&other).refused), (0, 1));
    let hums = soon("an answer", far.ask(Hum)).await.is_ok();
    assert_eq!(reading(&one).connections, 1, "nothing is wrong with the connection");
    let why = why.clone();
    stop(one, other).await;
    (why, hums)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_a_type_that_a_node_does_not_know_is_refused_by_name() {
    let refused = refusal(Remote::builder().kind::<Singer>()).await;
    let expected = "no message `test.repertoire.Ballad` is registered here".to_owned();
    assert_eq!(refused, (expected, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_a_type_that_a_kind_does_not_list_is_refused_by_name() {
    let refused = refusal(Remote::builder().kind::<Singer>().message::<Ballad>()).await;
    let expected =
        "other nodes may not send `test.repertoire.Ballad` to `test.Singer`: list it in its `#[actor(remote(…))]`";
    assert_eq!(refused, (expected.to_owned(), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_an_actor_whose_kind_a_node_does_not_know_takes_nothing() {
    let refused = refusal(Remote::builder().message::<Ballad>()).await;
    let expected = "other nodes may send nothing to this actor: register its kind with `registry.kind::<…>()`";
    assert_eq!(refused, (expected.to_owned(), false));
}
