//! The accounting: what a sender counts must fit with what the receiver did.
//!
//! Sender: sent = confirmed + dead + refused + unconfirmed. Receiver: confirmed ≤ handled + dead there ≤ confirmed +
//! unconfirmed. Nothing is handled twice, and each pair keeps its order.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::flat::{flat_here, flat_there};
use crate::home::{Home, until};
use crate::program::{Child, Lines, Report};
use crate::writer::Writer;

/// How sure it is that everything a life handled was written down.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// It lives, and can be asked.
    Lives,
    /// It was killed: of each counter one message may have left the mailbox without a line.
    Killed,
}

/// Handled messages by sender and receiver; each pair must have kept its order, across all lives. Whoever has no name is
/// not among those whose books these are.
fn handled(lives: &[&Lines]) -> BTreeMap<(String, String), u64> {
    let mut last: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for line in lives.iter().flat_map(|lines| lines.all()) {
        let words: Vec<&str> = line.split(' ').collect();
        let ["h", to, from, number] = words[..] else { continue };
        let pair = (from.to_owned(), to.to_owned());
        let number: u64 = number.parse().unwrap();
        let before = last.insert(pair.clone(), number).unwrap_or(0);
        assert!(before < number, "{to} handles {number} of {from} after {before}");
        if !from.is_empty() {
            *counts.entry(pair).or_default() += 1;
        }
    }
    counts
}

/// What was written to all lives of a child, the last of which may live. Waits until nothing is under way; then nothing
/// of the trouble is kept either, on neither side.
pub(crate) async fn balance_there(home: &Home, writers: &[&Writer], lives: &mut [(&mut Child, End)]) {
    let node = lives[0].0.node.clone();
    let ends = |reading: &volary_remote::PeerReading| {
        reading.confirmed + reading.unconfirmed + reading.unreachable + reading.busy
    };
    until("the sender's books balance", || {
        let reading = home.reading(&node);
        reading.under_way == 0 && reading.sent == ends(&reading)
    })
    .await;
    let reading = home.reading(&node);
    let taken: u64 = writers.iter().map(|writer| writer.taken).sum();
    assert_eq!(reading.sent, taken, "each that was taken is counted once: {reading:?}");
    // What is refused on arrival is a dead letter there as well, whoever sent it, so it is not certain which of the
    // letters were home's.
    let (mut refused, mut dead, mut slack) = (0, 0, 0);
    for (child, end) in lives.iter_mut() {
        match end {
            End::Killed => slack += 3,
            End::Lives => {
                let report = at_rest(child).await;
                refused += report.get("refused");
                dead += report.get("dead") - lost(&report);
            }
        }
    }
    let lines: Vec<&Lines> = lives.iter().map(|(child, _)| &child.lines).collect();
    let confirmed = reading.confirmed + reading.busy;
    // Said before the message is handled, but read later.
    until("what is confirmed was handled there", || {
        let ended = handled(&lines).values().sum::<u64>() + refused + dead;
        confirmed <= ended + slack
    })
    .await;
    let ended = handled(&lines).values().sum::<u64>() + refused;
    assert!(
        ended <= confirmed + reading.unconfirmed,
        "{ended} ended there, more than can have: {reading:?}"
    );
    flat_here(home).await;
    for (child, _) in lives.iter_mut().filter(|(_, end)| *end == End::Lives) {
        flat_there(child).await;
    }
}

/// Each message that was lost or refused on the way is exactly one dead letter at home.
pub(crate) async fn dead_letters_at_home(home: &Home) {
    let figures = || {
        let peers = home.remote.peers();
        let lost = |peer: &volary_remote::PeerReading| peer.unconfirmed + peer.unreachable + peer.busy;
        (home.system.metrics().dead_letters, peers.iter().map(lost).sum::<u64>())
    };
    let end = Instant::now() + Duration::from_secs(5);
    while figures().0 != figures().1 {
        let (dead, lost) = figures();
        assert!(Instant::now() < end, "{dead} dead letters for {lost} losses");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// What a child lost on the way to others.
fn lost(report: &Report) -> u64 {
    report.get("unconfirmed") + report.get("unreachable") + report.get("busy")
}

/// Lets a child say no more; its figures when nothing of it is under way.
async fn at_rest(child: &mut Child) -> Report {
    child.command("hush");
    let end = Instant::now() + Duration::from_secs(40);
    loop {
        let report = child.report().await;
        let ends = report.get("confirmed") + lost(&report);
        if report.get("under_way") == 0 && report.get("sent") == ends && report.get("dead") >= lost(&report) {
            return report;
        }
        assert!(Instant::now() < end, "the child's books never balance: {report:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What a living child said to the guard; it says no more.
pub(crate) async fn balance_here(home: &Home, child: &mut Child) {
    let report = at_rest(child).await;
    let heard = handled(&[&home.heard]);
    let heard = heard.get(&(child.speaker(), "guard".to_owned())).copied().unwrap_or(0);
    let (confirmed, unconfirmed) = (report.get("confirmed"), report.get("unconfirmed"));
    assert!(
        confirmed <= heard && heard <= confirmed + unconfirmed,
        "{heard} heard, {confirmed} confirmed, {unconfirmed} unconfirmed"
    );
}

/// The guard has heard of the end of a life's speaker so often, and of nothing behind it.
pub(crate) fn nothing_behind_the_end(home: &Home, child: &Child, ends: usize) {
    let lines = home.heard.all();
    assert_eq!(lines.iter().filter(|line| line.starts_with("gone ")).count(), ends);
    if let Some(at) = lines.iter().rposition(|line| line.starts_with("gone ")) {
        let word = format!("h guard {} ", child.speaker());
        let late = lines[at..].iter().filter(|line| line.starts_with(&word)).count();
        assert_eq!(late, 0, "it speaks after its end");
    }
}

/// The books of two lives of a child at one address, of which the first was killed and watched, and the second lives.
pub(crate) async fn balance_two_lives(home: &Home, writer: &Writer, first: &mut Child, next: &mut Child) {
    nothing_behind_the_end(home, first, 1);
    let lives = &mut [(first, End::Killed), (&mut *next, End::Lives)];
    balance_there(home, &[writer], lives).await;
    balance_here(home, next).await;
    dead_letters_at_home(home).await;
}
