//! One connection of an association: made by dialling or accepting, introduced by a handshake, and then read, written,
//! answered and watched over by a task each until one of them ends. Those that write and answer can be replaced.

mod answering;
mod answers;
mod dial;
mod handshake;
mod inbox;
mod keep;
mod pieces;
mod read;
mod share;
mod until;
mod write;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;

pub(crate) use dial::{Trials, dial};
pub(crate) use handshake::{Caller, Greeting, accept, hear_out};
pub(crate) use inbox::UNIT;
use inbox::{Leaving, Waiting};
use share::Share;
pub(crate) use until::{Closing, contained, give_way, within};
use write::{Pen, PenHolder};

use volary_wire::native::Frame;

use crate::compression::{Squeeze, Stretch};
use crate::duty::Duty;
use crate::event::PeerEvent;
use crate::peer::{Outbound, Peer};
use crate::trust::Rights;

/// What the tasks of a connection share.
pub(crate) struct Link {
    pub(crate) peer: Arc<Peer>,
    pub(crate) epoch: u64,
    incarnation: u64,
    caller: Caller,
    /// When it was made, on the clock of `heard`.
    began: u64,
    /// What the peer may do here.
    pub(crate) rights: Rights,
    closing: Closing,
    /// When something came last, in nanoseconds since the system's beginning of time.
    heard: AtomicU64,
    /// When the last heartbeat was written, on the same clock.
    asked: AtomicU64,
    /// Its number, until it is answered; or 0.
    asked_for: AtomicU64,
    /// Nothing is read before some of what is to be said was written.
    deaf: AtomicBool,
    /// Messages of the peer that have left their mailboxes here.
    leaving: Mutex<Leaving>,
    /// How many have not, and how many one actor may keep.
    waiting: Waiting,
    share: Share,
    /// What comes in pieces and is not whole yet.
    pieces: Mutex<pieces::Pieces>,
    /// Actors here that the peer watches, by the addresses it uses, and the end of each watch.
    watches: Mutex<BTreeMap<String, Arc<Closing>>>,
    answers: answers::Answers,
    answerer: Duty,
    writer: Duty,
    /// As long as somebody writes.
    pen: OnceLock<Weak<PenHolder>>,
}

impl Link {
    /// Starts the tasks of a connection that was greeted.
    pub(crate) fn start(peer: &Arc<Peer>, mut greeting: Greeting, rights: Rights) -> Arc<Self> {
        let squeezing = greeting.squeezing(peer.shared.options.stretch_bytes);
        *peer.compression.lock() = greeting.compression;
        let epoch = peer.connected(&greeting);
        let link = Arc::new(Link {
            peer: peer.clone(),
            epoch,
            incarnation: greeting.incarnation,
            caller: greeting.caller,
            began: peer.shared.nanos(),
            rights,
            closing: Closing::default(),
            heard: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            asked_for: AtomicU64::new(0),
            deaf: AtomicBool::new(false),
            leaving: Mutex::default(),
            waiting: Waiting::default(),
            share: {
                let options = &peer.shared.options;
                Share::new(options.receiver_share, options.window, greeting.bounds.window)
            },
            pieces: Mutex::new(pieces::Pieces::new(peer.shared.options.limits())),
            watches: Mutex::default(),
            answers: answers::Answers::default(),
            answerer: Duty::new(),
            writer: Duty::new(),
            pen: OnceLock::new(),
        });
        link.hear();
        let (squeeze, stretch) = match squeezing {
            Ok(both) => both,
            Err(why) => {
                link.close(&why);
                return link;
            }
        };
        let reading = read::read(link.clone(), greeting.reader, greeting.decoder, stretch);
        let read_by = link.clone();
        link.run(async move {
            reading.await;
            read_by.peer.look.notify_one(); // senders that were kept may be let go of
        });
        let pen = Pen::new(greeting.writer, squeeze);
        let _ = link.pen.set(Arc::downgrade(&pen));
        link.run(write::write(link.clone(), pen, link.writer.take_over()));
        link.run(keep::keep(link.clone()));
        link.run(answering::answer(link.clone(), link.answerer.take_over()));
        tracing::info!(node = %peer.node, incarnation = greeting.incarnation, "connected");
        link
    }

    /// Runs one of its tasks. If that panics the connection ends, or it would be one that nobody reads or writes.
    fn run(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let link = self.clone();
        self.peer.shared.system.world().spawn(Box::pin(async move {
            if contained(task).await.is_none() {
                link.close("what serves it panicked");
            }
        }));
    }

    /// Some handler keeps its thread. A task of ours that was to run there has another take its place.
    pub(crate) fn relieve(self: &Arc<Self>) {
        if self.closing.is_closed() {
            return;
        }
        let now = self.peer.shared.nanos();
        if self.answerer.is_overdue(self.answers.has_work(), now) {
            let turn = self.answerer.take_over();
            self.run(answering::answer(self.clone(), turn));
        }
        if self.writer.is_overdue(self.has_to_write(), now)
            && let Some(pen) = self.pen.get().and_then(Weak::upgrade)
        {
            let turn = self.writer.take_over();
            self.run(write::write(self.clone(), pen, turn));
        }
    }

    /// Whether there is something to write, and nobody is at it.
    fn has_to_write(&self) -> bool {
        let is_free = || {
            self.pen
                .get()
                .and_then(Weak::upgrade)
                .is_some_and(|pen| pen.try_lock().is_ok())
        };
        let has_news = || {
            self.leaving
                .try_lock()
                .is_some_and(|leaving| leaving.settled.has_news())
        };
        let outbound = || self.peer.outbound.try_lock();
        is_free() && (has_news() || outbound().is_some_and(|outbound| outbound.has_to_write(self.epoch)))
    }

    /// Whether everything that the peer has asked is answered, and the answers are among what is to be written.
    pub(crate) fn has_answered(&self) -> bool {
        self.closing.is_closed() || self.answers.are_given()
    }

    /// Ends the connection; what was on it is lost.
    pub(crate) fn close(&self, why: &str) {
        if self.closing.close() {
            tracing::info!(node = %self.peer.node, why, "disconnected");
            self.peer.disconnected(self.epoch);
            self.peer.counters.disconnections.fetch_add(1, Relaxed);
            self.leaving.lock().settle_up(self); // nobody hears of it any more
            self.answers.clear();
            self.watches.lock().clear();
            // Unless somebody writes, and sees that it is closed.
            if let Some(pen) = self.pen.get().and_then(Weak::upgrade)
                && let Ok(mut pen) = pen.try_lock()
            {
                pen.lay_down();
            }
            let (shared, node) = (&self.peer.shared, self.peer.node.clone());
            shared.waiting.lost(&node, self.epoch);
            let why = why.to_owned();
            shared.publish(PeerEvent::Disconnected { node, why });
        }
    }

    /// Whether this node made it, to this incarnation, within the last `time`.
    pub(crate) fn has_just_called(&self, incarnation: u64, time: Duration) -> bool {
        let age = Duration::from_nanos(self.peer.shared.nanos().saturating_sub(self.began));
        self.caller == Caller::We && self.incarnation == incarnation && !self.closing.is_closed() && age < time
    }

    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    pub(crate) fn is_open_to(&self, incarnation: u64) -> bool {
        self.incarnation == incarnation && !self.closing.is_closed()
    }

    pub(crate) fn closing(&self) -> &Closing {
        &self.closing
    }

    /// Writes a frame before everything that waits, if this is still the connection of its peer: what belongs to one
    /// means something else on the next.
    fn write_first(&self, frame: &Frame) {
        self.write(|outbound| outbound.write_first(frame));
    }

    /// The same behind everything that was written before.
    pub(crate) fn write_in_order(&self, frame: &Frame) {
        self.write(|outbound| outbound.write_in_order(frame));
    }

    /// What `write` yields; the default if this is not the connection any more.
    fn write<T: Default>(&self, write: impl FnOnce(&mut Outbound) -> T) -> T {
        let written = {
            let outbound = &mut *self.peer.outbound.lock();
            match outbound.is_on(self.epoch) {
                true => write(outbound),
                false => T::default(),
            }
        };
        self.peer.to_write.notify_one();
        written
    }

    fn hear(&self) {
        self.heard.store(self.peer.shared.nanos(), Relaxed);
    }

    /// Something was written. While nothing is read, that is how a peer shows that it is there.
    fn progress(&self) {
        if self.deaf.load(Relaxed) {
            self.hear();
        }
    }

    fn silent_for(&self) -> u64 {
        self.peer.shared.nanos().saturating_sub(self.heard.load(Relaxed))
    }
}

impl Greeting {
    /// What makes bytes fewer and more, as was agreed; what came behind the handshake is in there already.
    fn squeezing(&mut self, most: usize) -> Result<(Option<Squeeze>, Option<Stretch>), String> {
        let Some(compression) = self.compression else {
            return Ok((None, None));
        };
        let squeeze = Squeeze::new(compression).map_err(|error| error.to_string())?;
        let mut stretch = Stretch::new(compression, most).map_err(|error| error.to_string())?;
        stretch.feed(&self.decoder.buffer().split());
        Ok((Some(squeeze), Some(stretch)))
    }
}
