//! Whoever sees to it that there is a connection to a peer when one is needed.

use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use volary_core::Moment;

use super::handshake::{Ungreeted, greet};
use super::{contained, within};
use crate::backoff::Backoff;
use crate::event::PeerEvent;
use crate::options::RemoteOptions;
use crate::peer::Peer;
use crate::shared::cut;

/// Dials a peer for as long as it is of use, again and again.
pub(crate) async fn dial(peer: Arc<Peer>, turn: u64) {
    let shared = peer.shared.clone();
    let system = shared.system.clone();
    let options = &shared.options;
    loop {
        if peer.is_closed() || shared.is_stopping() || !peer.dialler.is_held(turn) {
            return peer.look.notify_one(); // it may have been called in place of another
        }
        peer.dialler.go_on();
        if peer.outbound.lock().is_connected() {
            peer.trials.lock().end();
            peer.look.notified().await;
            continue;
        }
        if !(peer.outbound.lock().needs_connection() || peer.known.lock().has_watched()) {
            peer.trials.lock().since = None;
            rest(&peer).await;
            continue;
        }
        let since = *peer.trials.lock().since.get_or_insert_with(|| system.now());
        let attempted = {
            // Two would only be in each other's way.
            peer.dialler.wait_until(turn, u64::MAX);
            let Ok(_alone) = peer.attempting.try_lock() else {
                peer.look.notified().await;
                peer.dialler.wait_until(turn, 0);
                continue;
            };
            peer.counters.attempts.fetch_add(1, Relaxed);
            let attempted = shared.closing.or(contained(attempt(&peer))).await;
            peer.dialler.wait_until(turn, 0);
            attempted
        };
        let Some(attempted) = attempted else {
            return peer.look.notify_one();
        };
        let panicked = || Err(Ungreeted::WeRefused("what makes connections panicked".to_owned()));
        if !peer.dialler.is_held(turn) {
            return peer.look.notify_one(); // whoever has it now waits for the end of this attempt
        }
        let pause = match attempted.unwrap_or_else(panicked) {
            Ok(()) => continue,
            // Its own connection is on the way.
            Err(error) if error.is_duplicate() => Duration::from_millis(100),
            Err(error) => {
                peer.counters.failed_attempts.fetch_add(1, Relaxed);
                let why = cut(&error.to_string()).to_owned();
                *peer.why_not.lock() = Some(why.clone());
                if peer.trials.lock().is_news(&why) {
                    shared.report_not_connected(&peer.node, &why);
                }
                peer.trials.lock().backoff.next(system.world().random())
            }
        };
        let lost_at = since + options.lost_after;
        pause_for(&peer, turn, pause, lost_at).await;
    }
}

/// Until the next attempt, however long that is: also to a peer that is lost meanwhile, of which it is said at that moment. A
/// connection that the other side makes ends it.
async fn pause_for(peer: &Peer, turn: u64, pause: Duration, lost_at: Moment) {
    let shared = &peer.shared;
    let ends = shared.system.now() + pause;
    let mut lost_at = Some(lost_at);
    while !peer.outbound.lock().is_connected() && !peer.is_closed() {
        let now = shared.system.now();
        if lost_at.is_some_and(|lost_at| now >= lost_at) {
            lost_at = None;
            peer.trials.lock().since = None;
            lose(peer);
        }
        if now >= ends || !peer.dialler.is_held(turn) {
            return;
        }
        // What askers have given up takes room that others may have.
        let overdue = peer.outbound.lock().take_overdue();
        if !overdue.is_empty() {
            peer.report(overdue);
        }
        let next = lost_at.map_or(ends, |lost_at| ends.min(lost_at)).since(now);
        let next = next.min(shared.options.heartbeat);
        let nanos = u64::try_from(next.as_nanos()).unwrap_or(u64::MAX);
        peer.dialler.wait_until(turn, shared.nanos().saturating_add(nanos));
        let _ = within(&shared.system, next, connected(peer)).await;
        peer.dialler.wait_until(turn, 0);
    }
}

fn lose(peer: &Peer) {
    let shared = &peer.shared;
    if shared.lose(peer) {
        tracing::warn!(node = %peer.node, "lost");
        let node = peer.node.clone();
        shared.publish(PeerEvent::Lost { node });
    }
}

/// What whoever dials remembers from one time to the next; kept beside the peer, since another may go on with it.
pub(crate) struct Trials {
    backoff: Backoff,
    /// Since when there is no connection although one is needed.
    since: Option<Moment>,
    /// Why there was none the last time, so that it is not said again and again.
    said: String,
}

impl Trials {
    pub(crate) fn new(options: &RemoteOptions) -> Self {
        Trials {
            backoff: Backoff::new(options.backoff_first, options.backoff_most),
            since: None,
            said: String::new(),
        }
    }

    /// There is a connection.
    fn end(&mut self) {
        self.since = None;
        self.said.clear();
        self.backoff.reset();
    }

    fn is_news(&mut self, why: &str) -> bool {
        let news = self.said != why;
        why.clone_into(&mut self.said);
        news
    }
}

/// Waits until somebody needs the peer, and meanwhile lets go of actors there that nobody refers to any more.
async fn rest(peer: &Peer) {
    let shared = &peer.shared;
    loop {
        peer.sweep();
        if peer.known.lock().len() == 0 {
            return peer.look.notified().await;
        }
        let looked = within(&shared.system, shared.options.lost_after, peer.look.notified()).await;
        if looked.is_some() {
            return;
        }
    }
}

async fn connected(peer: &Peer) {
    while !peer.outbound.lock().is_connected() && !peer.is_closed() {
        peer.look.notified().await;
    }
}

/// Makes a connection. Whoever calls meanwhile is told so until it is there: a moment between the two would let calls
/// that cross become two connections.
async fn attempt(peer: &Arc<Peer>) -> Result<(), Ungreeted> {
    let shared = &peer.shared;
    shared.trust.may_dial(&peer.node).map_err(Ungreeted::WeRefused)?;
    let _dialling = shared.begin_dialling(&peer.node);
    call(peer).await
}

async fn call(peer: &Arc<Peer>) -> Result<(), Ungreeted> {
    let shared = &peer.shared;
    let epoch = peer.outbound.lock().epoch();
    let called = peer.called();
    let timed_out = || Ungreeted::Io(std::io::ErrorKind::TimedOut.into());
    let greeting = within(&shared.system, shared.options.connect_timeout, async {
        let connection = shared.transport.connect(&peer.node).await?;
        greet(shared, connection, &peer.node, &called).await
    })
    .await;
    let greeting = greeting.ok_or_else(timed_out)??;
    if greeting.node != peer.node {
        let text = format!("{} answers for {}", greeting.node, peer.node);
        tracing::warn!(text, "the node there says that it is another");
        return Err(Ungreeted::Rule(text));
    }
    if peer.is_over(greeting.incarnation) {
        let text = "an incarnation answers whose actors were said to be gone; it must start anew";
        return Err(Ungreeted::Rule(text.to_owned()));
    }
    shared.adopt(peer, greeting, epoch);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::future::{Future, IntoFuture};

    use serde::{Deserialize, Serialize};
    use volary::prelude::*;

    use crate::alone::{Alone, PEER};
    use crate::{PeerEvent, Remote, RemoteOptions};

    use super::*;

    #[test]
    fn r3_pauses_double_from_one_second_to_thirty_also_when_the_peer_is_lost_meanwhile() {
        let node = Alone::start(Remote::builder());
        let events = node.system.events().subscribe::<PeerEvent>();
        let peer = node.peer();
        for _ in 0..150 {
            // Somebody needs it all the time, although what has waited is given up whenever it is lost.
            peer.want_connection();
            node.world.env.advance(Duration::from_secs(1));
        }
        let dialled = node.dialled.lock();
        let pauses = dialled.windows(2).map(|two| two[1].since(two[0]).as_secs_f64());
        // With as much as a quarter less, and a second until it is asked for again.
        let longest = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0];
        let mut count = 0;
        for (pause, longest) in pauses.zip(longest) {
            assert!(
                (0.75 * longest..longest + 1.01).contains(&pause),
                "{pause} of {longest}: {dialled:?}"
            );
            count += 1;
        }
        assert_eq!(count, longest.len());
        let mut lost = 0;
        while let Some(event) = events.try_next() {
            lost += usize::from(matches!(event, Ok(PeerEvent::Lost { .. })));
        }
        assert!(lost >= 3, "each time after fifteen seconds: {lost}");
    }

    struct Desk;

    #[actor(kind = "test.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "test.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    #[test]
    fn s3_asks_that_were_given_up_leave_room_before_there_is_a_connection() {
        let options = RemoteOptions::new().window(16).receiver_share(16);
        let options = options.lost_after(Duration::from_secs(3_600));
        let node = Alone::start(Remote::builder().kind::<Desk>().options(options));
        let address = format!("volary://there@{PEER}/user/desk").parse().unwrap();
        let desk: ActorRef<Desk> = node.remote.actor(&address).unwrap();
        let asks: Vec<_> = (0..16)
            .map(|_| Box::pin(desk.ask(Note).timeout(Duration::from_secs(2)).into_future()))
            .collect();
        let mut asks: Vec<_> = asks;
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        asks.iter_mut()
            .for_each(|ask| assert!(ask.as_mut().poll(&mut task).is_pending()));
        assert!(matches!(desk.tell(Note), Err(TellError::Full(_))));
        node.world.env.advance(Duration::from_secs(2));
        assert!(asks.iter_mut().all(|ask| ask.as_mut().poll(&mut task).is_ready()));
        node.world.env.advance(Duration::from_secs(2));
        assert!(desk.tell(Note).is_ok());
        let reading = node.peer().read();
        assert_eq!((reading.under_way, reading.open_asks, reading.unreachable), (1, 0, 16));
    }

    #[test]
    fn r8_what_a_reference_was_told_beside_messages_and_never_left_is_counted() {
        let options = RemoteOptions::new().outbound_bytes(1 << 16);
        let node = Alone::start(Remote::builder().kind::<Desk>().options(options));
        let address = format!("volary://there@{PEER}/user/desk").parse().unwrap();
        let desk: ActorRef<Desk> = node.remote.actor(&address).unwrap();
        (0..3).for_each(|_| desk.restart());
        assert_eq!(node.peer().read().unsaid, 0, "they wait");
        for _ in 0..20 {
            node.world.env.advance(Duration::from_secs(1));
        }
        assert_eq!(node.peer().read().unsaid, 3, "it is lost");
        // And what there is no room for.
        let desk: ActorRef<Desk> = node.remote.actor(&address).unwrap();
        (0..10_000).for_each(|_| desk.restart());
        let unsaid = node.peer().read().unsaid;
        assert!((4..10_003).contains(&unsaid), "{unsaid}");
        for _ in 0..60 {
            node.world.env.advance(Duration::from_secs(1));
        }
        assert_eq!(node.peer().read().unsaid, 10_003);
    }
}
