//! kameo with its feature `remote`: a libp2p swarm over TCP, noise and yamux, actors looked up by name.
//!
//! Choices:
//! - The swarm is built as the documentation shows for production, without mDNS; the calling side dials.
//! - Messages are serde types, which kameo writes as MessagePack; bodies are bytes, not lists of numbers.
//! - Tell: each one is a request on a stream of its own. `tell(…).send()` has nobody wait for anything, and what is
//!   beyond the limit of concurrent streams is lost, so a bounded number of `tell(…).send_ack()` is under way instead.
//! - The limits of a request and of concurrent streams are raised for what the workloads need.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use kameo::prelude::*;
use kameo::remote;
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, SwarmBuilder, noise, tcp, yamux};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, oneshot};
use volary_bench_duet::remoting::Work;
use volary_bench_duet::{Remoting, case, parcel};

/// How many messages are under way to one actor.
const UNDER_WAY: usize = 64;
/// How many streams may be open at a time.
const STREAMS: usize = 4_096;
/// The largest request: a large parcel and what goes with it.
const REQUEST: u64 = 8 << 20;
/// How often a name is looked up that is not known yet.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Told.
#[derive(Serialize, Deserialize)]
pub struct Parcel {
    number: u64,
    body: Bytes,
}

/// Asked.
#[derive(Serialize, Deserialize)]
pub struct Question {
    number: u64,
    body: Bytes,
}

/// Answered.
#[derive(Serialize, Deserialize, Reply)]
pub struct Answer {
    number: u64,
    body: Bytes,
}

/// Asks how many parcels were handled.
#[derive(Serialize, Deserialize)]
pub struct Handled;

/// Takes parcels and answers questions.
#[derive(Actor, RemoteActor)]
pub struct Desk {
    handled: u64,
}

#[remote_message]
impl Message<Parcel> for Desk {
    type Reply = ();

    async fn handle(&mut self, parcel: Parcel, _: &mut Context<Self, ()>) {
        std::hint::black_box(&parcel.body);
        self.handled += 1;
    }
}

#[remote_message]
impl Message<Question> for Desk {
    type Reply = Answer;

    async fn handle(&mut self, question: Question, _: &mut Context<Self, Answer>) -> Answer {
        Answer {
            number: question.number,
            body: parcel::answered(question.body),
        }
    }
}

#[remote_message]
impl Message<Handled> for Desk {
    type Reply = u64;

    async fn handle(&mut self, _: Handled, _: &mut Context<Self, u64>) -> u64 {
        self.handled
    }
}

/// Work for an actor of this process.
struct Run(Work);

#[derive(Actor)]
struct Job;

impl Message<Run> for Job {
    type Reply = ();

    async fn handle(&mut self, run: Run, _: &mut Context<Self, ()>) {
        run.0.await;
    }
}

/// A swarm of two.
pub struct Swarm;

/// An actor there, and the places of what is under way to it.
#[derive(Clone)]
pub struct Far {
    desk: RemoteActorRef<Desk>,
    places: Arc<Semaphore>,
}

fn name(receiver: usize) -> String {
    format!("desk-{receiver}")
}

/// Starts the swarm of this process and hands back where it listens. Dials `invitation`, if there is one, and then comes
/// back only when the connection is there.
async fn join(invitation: Option<&str>) -> String {
    let config = remote::messaging::Config::default()
        .with_max_concurrent_streams(STREAMS)
        .with_request_size_maximum(REQUEST);
    let mut swarm = SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(
            tcp::Config::default().nodelay(true),
            noise::Config::new,
            yamux::Config::default,
        )
        .expect("a transport")
        .with_behaviour(|key| remote::Behaviour::new(key.public().to_peer_id(), config))
        .expect("a behaviour")
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(300)))
        .build();
    swarm.behaviour().init_global();
    swarm
        .listen_on("/ip4/127.0.0.1/tcp/0".parse().expect("an address"))
        .expect("a port");
    let own = *swarm.local_peer_id();
    let dials = invitation.is_some();
    if let Some(invitation) = invitation {
        let address: Multiaddr = invitation.parse().expect("an address");
        swarm.dial(address).expect("a way to dial");
    }
    let (ready, is_ready) = oneshot::channel();
    tokio::spawn(async move {
        let (mut ready, mut listening, mut connected) = (Some(ready), None, !dials);
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::NewListenAddr { address, .. } => listening = Some(format!("{address}/p2p/{own}")),
                SwarmEvent::ConnectionEstablished { peer_id, endpoint, .. } => {
                    swarm.add_peer_address(peer_id, endpoint.get_remote_address().clone());
                    connected = true;
                }
                _ => {}
            }
            if let (Some(address), true) = (&listening, connected)
                && let Some(ready) = ready.take()
            {
                let _ = ready.send(address.clone());
            }
        }
    });
    is_ready.await.expect("a swarm")
}

impl Remoting for Swarm {
    type Far = Far;

    fn offers(workload: &str) -> bool {
        !matches!(
            workload,
            "remote-tell/mtls" | "remote-tell/zstd" | "remote-tell/slow-reader"
        )
    }

    async fn serve(workload: &str) -> String {
        let address = join(None).await;
        for receiver in 0..case::receivers(workload) {
            let desk = Desk::spawn(Desk { handled: 0 });
            desk.register(name(receiver)).await.expect("a name that is free");
            std::mem::forget(desk);
        }
        address
    }

    async fn call(_: &str, invitation: &str) -> Self {
        join(Some(invitation)).await;
        Self
    }

    async fn act(&self, work: Work) {
        let job = Job::spawn(Job);
        job.tell(Run(work)).await.expect("the actor lives");
        std::mem::forget(job);
    }

    async fn far(&self, receiver: usize) -> Far {
        loop {
            if let Ok(Some(desk)) = RemoteActorRef::lookup(name(receiver)).await {
                return Far {
                    desk,
                    places: Arc::new(Semaphore::new(UNDER_WAY)),
                };
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn tell(far: &Far, number: u64, body: &Bytes) {
        let place = Arc::clone(&far.places).acquire_owned().await.expect("places for all");
        let (desk, body) = (far.desk.clone(), body.clone());
        tokio::spawn(async move {
            desk.tell(&Parcel { number, body })
                .send_ack()
                .await
                .expect("it arrives");
            drop(place);
        });
    }

    async fn ask(far: &Far, number: u64, body: &Bytes) -> u64 {
        let question = Question {
            number,
            body: body.clone(),
        };
        far.desk.ask(&question).await.expect("an answer").number
    }

    async fn handled(far: &Far) -> u64 {
        far.desk.ask(&Handled).await.expect("an answer")
    }
}
