//! Calls of members to each other, as packets of the simulated network.

use std::future::{Future, pending};
use std::sync::{Arc, Mutex, PoisonError};

use openraft::alias::{SnapshotOf, VoteOf};
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse};
use openraft::{AsyncRuntime, BasicNode, OptionalSend, RaftNetworkFactory, RaftNetworkV2};
use tokio::sync::oneshot;
use volary_testkit::sim;

use crate::{Cluster, OnNode, Raft, Types};

/// The way from a member to another.
pub struct Line {
    cluster: Cluster,
    to: u64,
}

impl RaftNetworkFactory<Types> for Cluster {
    type Network = Line;

    async fn new_client(&mut self, to: u64, _: &BasicNode) -> Line {
        Line {
            cluster: self.clone(),
            to,
        }
    }
}

impl Line {
    /// Lets `serve` run at the other end and waits for what it says, which may be for nothing.
    async fn call<A, F>(
        &self,
        name: String,
        option: RPCOption,
        serve: impl FnOnce(Raft) -> F + Clone + Send + 'static,
    ) -> Result<A, RPCError<Types>>
    where
        A: Clone + Send + 'static,
        F: Future<Output = Option<A>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let (cluster, number) = (self.cluster.clone(), self.to);
        let here = sim::current().expect("a member calls from its node");
        here.send(&self.cluster.node(self.to), name, move |from, to| {
            let Some(raft) = cluster.member(number) else { return };
            to.clone().spawn(async move {
                let Some(answer) = serve(raft).await else { return };
                to.send(&from, "answer", move |_, _| {
                    let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
                    let _ = sender.map(|sender| sender.send(answer));
                });
            });
        });
        let answer = async {
            match receiver.await {
                Ok(answer) => answer,
                // Nobody is told that a packet was lost.
                Err(_) => pending().await,
            }
        };
        let answer = OnNode::timeout(option.soft_ttl(), answer).await;
        answer.map_err(|late| Unreachable::from_string(late).into())
    }
}

impl RaftNetworkV2<Types> for Line {
    type SnapshotData = ();

    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        let serve = |raft: Raft| async move { raft.append_entries(request).await.ok() };
        self.call("entries".to_owned(), option, serve).await
    }

    async fn vote(
        &mut self,
        request: VoteRequest<Types>,
        option: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        let serve = |raft: Raft| async move { raft.vote(request).await.ok() };
        self.call("a request for its vote".to_owned(), option, serve).await
    }

    async fn full_snapshot(
        &mut self,
        _: VoteOf<Types>,
        _: SnapshotOf<Types, ()>,
        _: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        Err(Unreachable::from_string("the log is kept whole").into())
    }
}
