//! R7: context of the user's own crosses nodes, and messages know nothing of it.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use common::{Log, Node, eventually, soon, stop};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{Baggage, DeadLetter, DeadReason, RemoteError, TraceContext};
use volary_remote::{PeerEvent, Propagator, Remote, RemoteBuilder};

type Injected = Result<Baggage, Box<dyn Error + Send + Sync>>;

tokio::task_local! {
    /// For whom something is done; nobody passes it on.
    static TENANT: String;
}

/// Takes the tenant along, and lets nobody in who has none.
#[derive(Clone, Default)]
struct Tenants {
    injected: Arc<AtomicU64>,
    extracted: Arc<AtomicU64>,
}

impl Propagator for Tenants {
    fn inject(&self, leaving: Baggage) -> Injected {
        self.injected.fetch_add(1, SeqCst);
        match TENANT.try_with(Clone::clone).as_deref() {
            Ok("unspeakable") => Err("it has no name".into()),
            Ok(tenant) => Ok(leaving.with_header("x-tenant", tenant)?),
            Err(_) => Ok(leaving),
        }
    }

    fn extract(&self, arriving: Baggage) -> Injected {
        self.extracted.fetch_add(1, SeqCst);
        match arriving.header("x-tenant") {
            Some(b"mallory") => Err("mallory is not served".into()),
            Some(b"trouble") => panic!("trouble"),
            Some(tenant) => {
                let tenant = String::from_utf8(tenant.to_vec())?;
                Ok(arriving.with_header("tenant", tenant.to_uppercase())?)
            }
            None => Ok(arriving.with_header("tenant", "nobody")?),
        }
    }
}

/// Writes traces as Zipkin does, and nothing else.
struct B3;

impl Propagator for B3 {
    fn inject(&self, leaving: Baggage) -> Injected {
        let Some(trace) = leaving.trace() else {
            return Ok(leaving);
        };
        let sampled = u8::from(trace.is_sampled());
        let b3 = format!("{:032x}-{:016x}-{sampled}", trace.trace_id(), trace.span_id());
        Ok(Baggage::new().with_header("b3", b3)?)
    }

    fn extract(&self, arriving: Baggage) -> Injected {
        let Some(b3) = arriving.header("b3") else {
            return Ok(arriving);
        };
        let mut parts = std::str::from_utf8(b3)?.split('-');
        let (trace, span) = (parts.next().ok_or("no trace")?, parts.next().ok_or("no span")?);
        let (trace, span) = (u128::from_str_radix(trace, 16)?, u64::from_str_radix(span, 16)?);
        let trace = TraceContext::new(trace.try_into()?, span.try_into()?);
        let is_sampled = parts.next() == Some("1");
        Ok(arriving.with_trace(if is_sampled { trace.sampled() } else { trace }))
    }
}

struct Clerk {
    log: Log,
}

fn header(name: &str) -> String {
    let baggage = Baggage::current();
    let value = baggage.header(name).unwrap_or(b"-");
    String::from_utf8(value.to_vec()).unwrap()
}

#[actor(kind = "test.Clerk", remote(Whose, Keep, Trace))]
impl Clerk {
    #[message(remote = "test.Whose", codec = postcard, derive(Serialize, Deserialize))]
    fn whose(&mut self) -> String {
        header("tenant")
    }

    #[message(remote = "test.Keep", codec = postcard, derive(Serialize, Deserialize))]
    fn keep(&mut self, number: u64) {
        self.log.push(format!("{number} of {}", header("tenant")));
    }

    #[message(remote = "test.Trace", codec = postcard, derive(Serialize, Deserialize))]
    fn trace(&mut self) -> [String; 3] {
        // The span is that of this handling.
        let trace = Baggage::current().trace();
        let trace = trace.map(|trace| format!("{:x} {}", trace.trace_id(), trace.is_sampled()));
        [trace.unwrap_or_default(), header("b3"), header("stays")]
    }
}

async fn node(name: &str, builder: RemoteBuilder) -> Node {
    let node = Node::start(name, builder.kind::<Clerk>()).await;
    let log = node.log.clone();
    let clerk = move || Clerk { log: log.clone() };
    node.system.spawn(clerk).named("clerk").await.unwrap();
    node
}

fn clerk(from: &Node, of: &Node) -> ActorRef<Clerk> {
    from.remote.actor(&of.address("clerk")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_an_ambient_tenant_crosses_nodes_with_asks_and_with_every_tell() {
    let (ours, theirs) = (Tenants::default(), Tenants::default());
    let one = node("one", Remote::builder().propagator(ours.clone())).await;
    let other = node("other", Remote::builder().propagator(theirs.clone())).await;
    let far = clerk(&one, &other);
    let asked = TENANT.scope("blue".to_owned(), async { soon("an answer", far.ask(Whose)).await });
    assert_eq!(asked.await.unwrap(), "BLUE");
    assert_eq!(soon("an answer", far.ask(Whose)).await.unwrap(), "nobody");
    for number in 0..100 {
        let tell = async { far.tell(Keep { number }).unwrap() };
        TENANT.scope("red".to_owned(), tell).await;
        far.tell(Keep { number }).unwrap();
    }
    eventually("all arrive", || other.log.len() == 200).await;
    let expected: Vec<String> = (0..100)
        .flat_map(|number| [format!("{number} of RED"), format!("{number} of nobody")])
        .collect();
    assert_eq!(other.log.all(), expected);
    assert_eq!((ours.injected.load(SeqCst), theirs.extracted.load(SeqCst)), (202, 202));
    assert_eq!((ours.extracted.load(SeqCst), theirs.injected.load(SeqCst)), (0, 0));

    // What stays on a node is none of their business.
    let near = clerk(&one, &one);
    let asked = TENANT.scope("blue".to_owned(), async { soon("an answer", near.ask(Whose)).await });
    assert_eq!(asked.await.unwrap(), "-");
    assert_eq!((ours.injected.load(SeqCst), ours.extracted.load(SeqCst)), (202, 0));
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_a_trace_travels_in_the_format_of_somebody_else() {
    let one = node("one", Remote::builder().propagator(B3)).await;
    let other = node("other", Remote::builder().propagator(B3)).await;
    let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let baggage = Baggage::new().with_trace(text.parse().unwrap());
    let baggage = baggage.with_header("stays", "here").unwrap();
    let far = clerk(&one, &other);
    let asked = baggage.around(async { soon("an answer", far.ask(Trace)).await }).await;
    let expected = [
        "af7651916cd43dd8448eb211c80319c true",
        "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
        "-",
    ];
    assert_eq!(asked.unwrap(), expected);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_several_are_asked_in_order_and_the_other_way_round() {
    /// Writes its name behind those of the others.
    struct Link(&'static str);
    impl Propagator for Link {
        fn inject(&self, leaving: Baggage) -> Injected {
            self.extract(leaving)
        }
        fn extract(&self, arriving: Baggage) -> Injected {
            let before = String::from_utf8(arriving.header("tenant").unwrap_or_default().to_vec())?;
            Ok(arriving.with_header("tenant", format!("{before}{}", self.0))?)
        }
    }
    let chain = || Remote::builder().propagator(Link("a")).propagator(Link("b"));
    let one = node("one", chain()).await;
    let other = node("other", chain()).await;
    let far = clerk(&one, &other);
    assert_eq!(soon("an answer", far.ask(Whose)).await.unwrap(), "abba");
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_a_message_whose_context_cannot_be_written_is_not_sent() {
    let one = node("one", Remote::builder().propagator(Tenants::default())).await;
    let other = node("other", Remote::builder()).await;
    let far = clerk(&one, &other);
    let tell = async { far.tell(Keep { number: 1 }) };
    let told = TENANT.scope("unspeakable".to_owned(), tell).await;
    assert!(
        matches!(told, Err(TellError::Unsendable(Keep { number: 1 }))),
        "{:?}",
        told.is_ok()
    );
    let asked = TENANT.scope("unspeakable".to_owned(), async { soon("an end", far.ask(Whose)).await });
    let error = asked.await.unwrap_err().to_string();
    assert!(error.contains("what is to travel along cannot be written"), "{error}");
    assert_eq!(soon("an answer", far.ask(Whose)).await.unwrap(), "-");
    assert_eq!(other.log.len(), 0);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_a_message_whose_context_is_not_taken_is_refused_and_said_to_be() {
    let one = node("one", Remote::builder().propagator(Tenants::default())).await;
    let other = node("other", Remote::builder().propagator(Tenants::default())).await;
    let letters = other.system.events().subscribe::<DeadLetter>();
    let events = other.system.events().subscribe::<PeerEvent>();
    let far = clerk(&one, &other);
    for (tenant, why) in [
        ("mallory", "its context is not taken: mallory is not served"),
        ("trouble", "a propagator panicked"),
    ] {
        let asked = TENANT.scope(tenant.to_owned(), async { soon("an end", far.ask(Whose)).await });
        match asked.await {
            Err(AskError::Remote(error)) => match *error {
                RemoteError::NotTaken { why: said, .. } => assert_eq!(said, why),
                error => panic!("{error:?}"),
            },
            answer => panic!("{answer:?}"),
        }
        let tell = async { far.tell(Keep { number: 1 }).unwrap() };
        TENANT.scope(tenant.to_owned(), tell).await;
        let letter = soon("a dead letter", letters.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Unhandled);
        soon("it is said", async {
            loop {
                match events.next().await.unwrap() {
                    PeerEvent::Refused { why: said, .. } => break assert_eq!(said, why),
                    PeerEvent::Disconnected { why, .. } => panic!("{why}"),
                    _ => {}
                }
            }
        })
        .await;
    }
    assert_eq!(soon("an answer", far.ask(Whose)).await.unwrap(), "nobody");
    eventually("all is settled", || common::reading(&one).under_way == 0).await;
    assert_eq!(common::reading(&other).refused, 4);
    assert_eq!(other.log.len(), 0);
    stop(one, other).await;
}
