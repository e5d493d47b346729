//! What nodes answer to operations, as the node that asked reads it: the first byte says to which operation, the second
//! is the status, the rest is what the answer says.

use bytes::Bytes;
use volary_remote::{OperationError, RemoteSpawnError};
use volary_wire::native::{Answer, Frame};

use super::super::{Desk, Node, OPERATIONS, Stranger};

const WHO: &str = "/user/desk";

thread_local! {
    static ENDS: std::cell::RefCell<(Node, Stranger)> = {
        let node = Node::start();
        let stranger = Stranger::enter(&node);
        (node, stranger).into()
    };
}

async fn ask(node: &Node, which: usize) -> Result<(), OperationError> {
    let there = node.remote.at(Stranger::NAME);
    match OPERATIONS[which] {
        "lookup" => there.lookup(WHO).await.map(drop),
        "kinds" => there.kinds().await.map(drop),
        "kind" => there.kind(WHO).await.map(drop),
        "parent" => there.parent(WHO).await.map(drop),
        "children" => there.children(WHO).await.map(drop),
        "status" => there.status(WHO).await.map(drop),
        "stash" => there.stash_size(WHO).await.map(drop),
        "dependencies" => there.dependencies(WHO).await.map(drop),
        "passivation" => there.passivation(WHO).await.map(drop),
        "actor-metrics" => there.actor_metrics(WHO).await.map(drop),
        "node-metrics" => there.metrics().await.map(drop),
        "spawn" => match there.spawn::<Desk>("other").await {
            Err(RemoteSpawnError::Operation(error)) => Err(error),
            _ => Ok(()),
        },
        _ => there.stop(WHO).await,
    }
}

pub fn answers(data: &[u8]) {
    let [which, status, payload @ ..] = data else { return };
    ENDS.with_borrow_mut(|(node, stranger)| {
        let told = async {
            let Frame::Operation(operation) = stranger.hear().await else {
                panic!("nothing else is asked");
            };
            stranger
                .say(&Frame::Answer(Answer {
                    correlation: operation.correlation,
                    status: *status,
                    payload: Bytes::copy_from_slice(payload),
                }))
                .await;
        };
        let asked = ask(node, usize::from(*which) % OPERATIONS.len());
        let (result, ()) = node.block_on(async { tokio::join!(asked, told) });
        assert!(!matches!(result, Err(OperationError::Remote(_))), "{result:?}");
    });
}
