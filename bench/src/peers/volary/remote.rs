//! Volary between two processes.
//!
//! Choices:
//! - Messages are prost types, so they travel as Protocol Buffers; bodies are `Bytes`, which are not copied to be sent.
//! - Tell: `ActorRef::tell`. When the window of unconfirmed messages is used up the message is given back, and the sender
//!   tries again a millisecond later, by when a fraction of the window is free.
//! - Options: the defaults, but `receiver_share` is the whole window, so that a sender which is faster than its receiver
//!   is told to wait and nothing becomes a dead letter.
//! - `mtls`: certificates on both sides, made for the run; `zstd`: both sides offer it, which loopback has not by default.

use std::time::Duration;

use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use volary::prelude::*;
use volary::remote::compression::Compression;
use volary::remote::transport::{CertificateSource, Tls};
use volary::remote::{Remote, RemoteBuilder, RemoteOptions};
use volary_bench_duet::remoting::Work;
use volary_bench_duet::{Remoting, case, parcel};

use super::actors::{Job, Run};

/// The window of the defaults.
const WINDOW: u64 = 65_536;
/// After which time a message that was given back is sent again.
const AGAIN: Duration = Duration::from_millis(1);
/// Nobody waits this long; without it the usual five seconds would count on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Told.
#[derive(Clone, PartialEq, prost::Message, Message)]
#[message(remote = "bench.Parcel")]
pub struct Parcel {
    #[prost(fixed64, tag = "1")]
    number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    body: Bytes,
}

/// Asked.
#[derive(Clone, PartialEq, prost::Message, Message)]
#[message(reply = Answer, remote = "bench.Question")]
pub struct Question {
    #[prost(fixed64, tag = "1")]
    number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    body: Bytes,
}

/// Answered.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Answer {
    #[prost(fixed64, tag = "1")]
    number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    body: Bytes,
}

/// Asks how many parcels were handled.
#[derive(Clone, PartialEq, prost::Message, Message)]
#[message(reply = u64, remote = "bench.Handled")]
pub struct Handled {}

/// Takes parcels and answers questions.
pub struct Desk {
    handled: u64,
}

#[actor(kind = "bench.Desk", remote(Parcel, Question, Handled))]
impl Desk {
    #[handles]
    fn parcel(&mut self, parcel: Parcel) {
        std::hint::black_box(&parcel.body);
        self.handled += 1;
    }

    #[handles]
    fn question(&mut self, question: Question) -> Answer {
        Answer {
            number: question.number,
            body: parcel::answered(question.body),
        }
    }

    #[handles]
    fn handled(&mut self, _: Handled) -> u64 {
        self.handled
    }
}

/// Takes its time with each parcel.
pub struct Snail;

#[actor(kind = "bench.Snail", remote(Parcel))]
impl Snail {
    #[handles]
    async fn parcel(&mut self, parcel: Parcel) {
        tokio::time::sleep(parcel::SLOWNESS).await;
        drop(parcel);
    }
}

/// An actor of the other process.
#[derive(Clone)]
pub enum Far {
    /// Fast as it can.
    Desk(ActorRef<Desk>),
    /// Slow on purpose.
    Snail(ActorRef<Snail>),
}

impl Far {
    fn desk(&self) -> &ActorRef<Desk> {
        match self {
            Self::Desk(desk) => desk,
            Self::Snail(_) => panic!("slow ones are only told"),
        }
    }
}

/// The measuring side.
pub struct Node {
    system: ActorSystem,
    remote: Remote,
    workload: String,
    /// `host:port` of the other side.
    there: String,
}

fn builder(workload: &str, certificates: Option<CertificateSource>) -> RemoteBuilder {
    let options = RemoteOptions::new().window(WINDOW).receiver_share(WINDOW);
    let mut builder = Remote::builder().kind::<Desk>().kind::<Snail>().options(options);
    if let Some(certificates) = certificates {
        builder = builder.transport(Tls::new(certificates).expect("certificates that fit"));
    }
    if workload == "remote-tell/zstd" {
        builder = builder.compressions([Compression::Zstd]);
    }
    builder
}

impl Remoting for Node {
    type Far = Far;

    fn offers(_: &str) -> bool {
        true
    }

    async fn serve(workload: &str) -> String {
        let (own, guest) = match workload == "remote-tell/mtls" {
            true => certificates(),
            false => (None, Value::Null),
        };
        let system = ActorSystem::builder("there").start().await.expect("a system");
        let remote = builder(workload, own)
            .start(&system, "127.0.0.1:0")
            .await
            .expect("remoting");
        for receiver in 0..case::receivers(workload) {
            let name = name(receiver);
            if case::is_slow(workload, receiver) {
                system.spawn(|| Snail).named(name).await.expect("a slow actor");
            } else {
                system
                    .spawn(|| Desk { handled: 0 })
                    .named(name)
                    .await
                    .expect("an actor");
            }
        }
        let node = remote.node().to_owned();
        // The system lives as long as the process.
        std::mem::forget((system, remote));
        json!({ "node": node, "guest": guest }).to_string()
    }

    async fn call(workload: &str, invitation: &str) -> Self {
        let invitation: Value = serde_json::from_str(invitation).expect("an invitation");
        let text = |of: &Value| of.as_str().expect("a text").to_owned();
        let guest = &invitation["guest"];
        let own = guest.is_object().then(|| {
            CertificateSource::pem(
                text(&guest["certificate"]),
                text(&guest["key"]),
                text(&guest["authority"]),
            )
        });
        let system = ActorSystem::builder("here").start().await.expect("a system");
        let remote = builder(workload, own)
            .start(&system, "127.0.0.1:0")
            .await
            .expect("remoting");
        Self {
            system,
            remote,
            workload: workload.to_owned(),
            there: text(&invitation["node"]),
        }
    }

    async fn act(&self, work: Work) {
        let job = self.system.spawn(|| Job).await.expect("a job");
        job.tell(Run { work }).expect("the actor lives");
    }

    async fn far(&self, receiver: usize) -> Far {
        let address = format!("volary://there@{}/user/{}", self.there, name(receiver));
        let address = address.parse().expect("an address");
        if case::is_slow(&self.workload, receiver) {
            Far::Snail(self.remote.actor(&address).expect("an address of the other node"))
        } else {
            Far::Desk(self.remote.actor(&address).expect("an address of the other node"))
        }
    }

    async fn tell(far: &Far, number: u64, body: &Bytes) {
        let parcel = Parcel {
            number,
            body: body.clone(),
        };
        let told = match far {
            Far::Desk(desk) => desk.tell(parcel),
            Far::Snail(snail) => snail.tell(parcel),
        };
        // Too much is under way: the next one waits in line.
        let sent = match (told, far) {
            (Ok(()), _) => return,
            (Err(TellError::Full(parcel)), Far::Desk(desk)) => desk.send(parcel).timeout(PATIENCE).await,
            (Err(TellError::Full(parcel)), Far::Snail(snail)) => snail.send(parcel).timeout(PATIENCE).await,
            (Err(error), _) => panic!("{error}"),
        };
        sent.expect("there will be room");
    }

    async fn ask(far: &Far, number: u64, body: &Bytes) -> u64 {
        far.desk()
            .ask(Question {
                number,
                body: body.clone(),
            })
            .await
            .expect("an answer")
            .number
    }

    async fn handled(far: &Far) -> u64 {
        loop {
            match far.desk().ask(Handled {}).timeout(PATIENCE).await {
                Ok(handled) => return handled,
                // Other senders have used the window up.
                Err(AskError::Full) => tokio::time::sleep(AGAIN).await,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn name(receiver: usize) -> String {
    format!("desk-{receiver}")
}

/// Those of the side that serves, and those of the one it invites, as JSON.
fn certificates() -> (Option<CertificateSource>, Value) {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let certify = || {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("parameters");
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    };
    let (certificate, key) = certify();
    let own = CertificateSource::pem(certificate, key, authority.pem());
    let (certificate, key) = certify();
    (
        Some(own),
        json!({ "certificate": certificate, "key": key, "authority": authority.pem() }),
    )
}
