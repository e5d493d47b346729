//! ractor with ractor_cluster: actors of the other node stand here as remote actors, found through process groups.
//!
//! Choices:
//! - Messages are prost types, converted by ractor_cluster's own macro. Span propagation is off.
//! - Tell: `ActorRef::cast`. Nothing on the way is bounded, so a sender asks now and then how many were handled, which is
//!   answered behind them: after 32,768 messages, divided by the number of senders, but 256 at least. Without that the
//!   whole pass would wait in memory.
//! - Ask: `ActorRef::call`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use ractor::rpc::CallResult;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, pg};
use ractor_cluster::{
    NodeServer, NodeServerMessage, RactorClusterMessage, RactorMessage, derive_serialization_for_prost_type,
};
use tokio::net::TcpListener;
use volary_bench_duet::remoting::Work;
use volary_bench_duet::{Remoting, case, parcel};

/// After how many messages, of all senders together, these wait until they were handled.
const STRIDE: u64 = 32_768;
/// The fewest messages for which one of them waits.
const FEWEST: u64 = 256;
/// How often this node looks whether the other one's groups have arrived.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Told, asked and answered.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Parcel {
    #[prost(fixed64, tag = "1")]
    number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    body: Bytes,
}

derive_serialization_for_prost_type! {Parcel}

/// What an actor there takes.
#[derive(RactorClusterMessage)]
pub enum DeskMessage {
    /// To be handled.
    Put(Parcel),
    /// To be answered.
    #[rpc]
    Question(Parcel, RpcReplyPort<Parcel>),
    /// How many were handled.
    #[rpc]
    Handled(RpcReplyPort<u64>),
}

struct Desk;

impl Actor for Desk {
    type Msg = DeskMessage;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<DeskMessage>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<DeskMessage>,
        message: DeskMessage,
        handled: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            DeskMessage::Put(parcel) => {
                std::hint::black_box(&parcel.body);
                *handled += 1;
            }
            DeskMessage::Question(question, reply) => {
                let body = parcel::answered(question.body);
                reply.send(Parcel {
                    number: question.number,
                    body,
                })?;
            }
            DeskMessage::Handled(reply) => reply.send(*handled)?,
        }
        Ok(())
    }
}

/// Work for an actor of this node.
#[derive(RactorMessage)]
struct Run(Work);

struct Job;

impl Actor for Job {
    type Msg = Run;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Run>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, _: ActorRef<Run>, run: Run, (): &mut ()) -> Result<(), ActorProcessingErr> {
        run.0.await;
        Ok(())
    }
}

/// A node of the cluster.
pub struct Cluster {
    /// How many messages each sender has under way.
    stride: u64,
}

/// An actor there, and how many messages it was told.
#[derive(Clone)]
pub struct Far {
    desk: ActorRef<DeskMessage>,
    told: Arc<AtomicU64>,
    stride: u64,
}

fn group(receiver: usize) -> String {
    format!("desk-{receiver}")
}

/// A port that was free a moment ago: the node server does not tell which one it took.
async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    listener.local_addr().expect("an address").port()
}

async fn node(name: &str) -> (ActorRef<NodeServerMessage>, u16) {
    let port = free_port().await;
    let server = NodeServer::new(
        port,
        "cookie".to_owned(),
        name.to_owned(),
        "localhost".to_owned(),
        None,
        None,
    )
    .with_listen_addr(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let (server, _) = Actor::spawn(None, server, ()).await.expect("a node server");
    (server, port)
}

impl Remoting for Cluster {
    type Far = Far;

    fn offers(workload: &str) -> bool {
        !matches!(
            workload,
            "remote-tell/mtls" | "remote-tell/zstd" | "remote-tell/slow-reader"
        )
    }

    async fn serve(workload: &str) -> String {
        let (_, port) = node("there").await;
        for receiver in 0..case::receivers(workload) {
            let (desk, _) = Actor::spawn(None, Desk, ()).await.expect("an actor");
            pg::join(group(receiver), vec![desk.get_cell()]);
        }
        format!("127.0.0.1:{port}")
    }

    async fn call(workload: &str, invitation: &str) -> Self {
        let (server, _) = node("here").await;
        ractor_cluster::client_connect(&server, invitation)
            .await
            .expect("a connection");
        let stride = (STRIDE / case::receivers(workload) as u64).max(FEWEST);
        Self { stride }
    }

    async fn act(&self, work: Work) {
        let (job, _) = Actor::spawn(None, Job, ()).await.expect("an actor");
        job.cast(Run(work)).expect("the actor lives");
    }

    async fn far(&self, receiver: usize) -> Far {
        loop {
            if let Some(desk) = pg::get_members(&group(receiver)).pop() {
                return Far {
                    desk: desk.into(),
                    told: Arc::default(),
                    stride: self.stride,
                };
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn tell(far: &Far, number: u64, body: &Bytes) {
        let parcel = Parcel {
            number,
            body: body.clone(),
        };
        far.desk.cast(DeskMessage::Put(parcel)).expect("the actor lives");
        if far.told.fetch_add(1, Relaxed) % far.stride == far.stride - 1 {
            Self::handled(far).await;
        }
    }

    async fn ask(far: &Far, number: u64, body: &Bytes) -> u64 {
        let parcel = Parcel {
            number,
            body: body.clone(),
        };
        let answer = far.desk.call(|reply| DeskMessage::Question(parcel, reply), None).await;
        match answer.expect("the actor lives") {
            CallResult::Success(answer) => answer.number,
            other => panic!("no answer: {other:?}"),
        }
    }

    async fn handled(far: &Far) -> u64 {
        match far
            .desk
            .call(DeskMessage::Handled, None)
            .await
            .expect("the actor lives")
        {
            CallResult::Success(handled) => handled,
            other => panic!("no answer: {other:?}"),
        }
    }
}
