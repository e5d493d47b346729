//! Parcels under Miri: events, messages of topics and elements of streams that are handled, suspended on, not wanted any
//! more, and left behind; small and boxed, with and without something that travels along.

use std::pin::Pin;
use std::task::Poll;

use super::*;

/// Small and plain, so that each subscriber has a copy of its own in the parcel.
#[derive(Clone, Copy)]
struct Small(u32);

/// Shared by subscribers, and too large to lie in a record.
struct Large([u64; 40], Token);

impl Clone for Large {
    fn clone(&self) -> Self {
        Large(self.0, Token(self.1.0.clone()))
    }
}

/// An element of a stream; the second says how long it takes.
struct Element(
    Box<u32>,
    Duration,
    #[expect(dead_code, reason = "counts its drop")] Token,
);

macro_rules! messages {
    ($($message:ty),*) => {$(
        impl Message for $message {
            type Reply = ();
            type Rejection = Infallible;
        }
    )*};
}
messages!(Small, Large, Element);

#[derive(Default)]
struct Reader(Arc<AtomicUsize>, Box<u32>);

impl Actor for Reader {}
impl SyncHandler<Small> for Reader {
    fn handle(&mut self, small: Small, _: &mut Context<Self>) -> Result<(), Failure> {
        assert_eq!(Baggage::current().header("user"), Some(&b"ada"[..]));
        self.0.fetch_add(small.0 as usize, SeqCst);
        Ok(())
    }
}
impl SyncHandler<Large> for Reader {
    fn handle(&mut self, large: Large, _: &mut Context<Self>) -> Result<(), Failure> {
        self.0.fetch_add(large.0.len(), SeqCst);
        Ok(())
    }
}
impl Handler<Element> for Reader {
    async fn handle(&mut self, element: Element, ctx: &mut Context<Self>) -> Result<(), Failure> {
        let borrowed = &mut self.1;
        if !element.1.is_zero() {
            ctx.sleep(element.1).await;
        }
        **borrowed += *element.0;
        self.0.fetch_add(**borrowed as usize, SeqCst);
        Ok(())
    }
}

struct Elements(Vec<Element>);
impl futures_core::Stream for Elements {
    type Item = Element;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Element>> {
        Poll::Ready(self.0.pop())
    }
}

fn reader(seen: &Arc<AtomicUsize>) -> impl Fn() -> Reader + Send + Sync + 'static {
    let seen = seen.clone();
    move || Reader(seen.clone(), Box::new(0))
}

#[test]
fn miri_parcel_of_an_event_or_topic_is_opened_dismissed_and_discarded() {
    in_system(|system| async move {
        let (drops, seen) = (Drops::default(), Arc::new(AtomicUsize::new(0)));
        let ada = Baggage::new().with_header("user", "ada").unwrap();
        let pile = MailboxKind::Custom(Arc::new(|| Box::<Pile>::default()));
        for mailbox in [MailboxKind::Unbounded, pile] {
            seen.store(0, SeqCst);
            let one = system.spawn(reader(&seen)).mailbox(mailbox.clone()).await.unwrap();
            let two = system.spawn(reader(&seen)).mailbox(mailbox).await.unwrap();
            for actor in [&one, &two] {
                system.events().subscribe_actor::<Small>(&actor.recipient());
                system.topics().subscribe::<Large>("large", actor).unwrap();
            }
            let publish = || {
                ada.in_scope(|| {
                    system.events().publish(Small(1));
                    system.topics().publish("large", Large([7; 40], drops.token())).unwrap()
                })
            };
            assert_eq!(publish(), 2);
            system.sleep(HOUR).await;
            assert_eq!(seen.load(SeqCst), 2 * 41, "opened");
            publish();
            system.topics().unsubscribe("large", one.id());
            system.events().unsubscribe_actor::<Small>(&one.recipient());
            two.kill();
            two.terminated().await;
            system.sleep(HOUR).await;
            assert_eq!(seen.load(SeqCst), 2 * 41, "one did not want it, the other is not there");
            assert_eq!(publish(), 0);
            one.stop();
            one.terminated().await;
        }
        assert_eq!(
            drops.count(),
            2 * 5,
            "three that were published, a copy for the other, and one for its dead letter"
        );
    });
}

#[test]
fn miri_parcel_of_a_stream_gives_its_place_back_however_it_ends() {
    in_system(|system| async move {
        let (drops, seen) = (Drops::default(), Arc::new(AtomicUsize::new(0)));
        let elements = |times: &[Duration]| {
            let element = |time: &Duration| Element(Box::new(1), *time, drops.token());
            Elements(times.iter().rev().map(element).collect())
        };
        let actor = system.spawn(reader(&seen)).await.unwrap();
        let ada = Baggage::new().with_header("user", "ada").unwrap();
        let short = Duration::from_millis(1);
        let attached = ada.in_scope(|| {
            actor
                .attach(elements(&[short, Duration::ZERO, short]))
                .window(1)
                .each(|e| e)
        });
        system.sleep(HOUR).await;
        assert!(attached.is_finished());
        assert_eq!((seen.load(SeqCst), drops.count()), (1 + 2 + 3, 3));

        let attached = actor
            .attach(elements(&[HOUR, short, short, short]))
            .window(2)
            .each(|e| e);
        system.sleep(short).await;
        actor.kill(); // one in its handler, one in the mailbox, two not pulled yet
        actor.terminated().await;
        system.sleep(short).await;
        assert!(attached.is_finished());
        assert_eq!((seen.load(SeqCst), drops.count()), (6, 7));
        assert_eq!(system.metrics().dead_letters, 1);

        let late = actor.attach(elements(&[short])).each(|e| e);
        system.sleep(short).await;
        assert!(late.is_finished());
        assert_eq!(drops.count(), 8);
    });
}
