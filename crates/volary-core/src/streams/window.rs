//! How many elements of one stream an actor may have before it.
//!
//! A place is taken before an element is pulled out of the stream, and given back when the handler of its message has
//! ended. The pump is woken when half of the places are free, not at each one: otherwise pump and actor would take turns
//! element by element.

use std::task::{Poll, Waker};

use crate::actor::Message;
use crate::cell::{Arrival, Header, Parcel, post_parcel};
use crate::dispatch::{Step, wake};
use crate::events::DeadReason;
use crate::mailbox::Envelope;
use crate::reference::{Recipient, depart, envelope_from_here};
use crate::sync::Mutex;
use std::sync::Arc;

/// Where elements enter an actor.
pub(super) struct Inlet<M: Message> {
    to: Recipient<M>,
    size: usize,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    taken: usize,
    /// Of the pump, when it waits for room.
    waker: Option<Waker>,
}

impl<M: Message> Inlet<M> {
    pub(super) fn new(to: Recipient<M>, size: usize) -> Self {
        Inlet {
            to,
            size,
            places: Mutex::default(),
        }
    }

    pub(super) fn to(&self) -> &Recipient<M> {
        &self.to
    }

    /// Takes a place.
    pub(super) fn poll_enter(&self, waker: &Waker) -> Poll<()> {
        let waker = waker.clone();
        let mut places = self.places.lock();
        if places.taken < self.size {
            places.taken += 1;
            drop(places);
            return Poll::Ready(());
        }
        let before = places.waker.replace(waker);
        drop(places);
        drop(before);
        Poll::Pending
    }

    /// Gives a place back.
    pub(super) fn leave(&self) {
        let mut places = self.places.lock();
        places.taken -= 1;
        let waker = if places.taken <= self.size / 2 {
            places.waker.take()
        } else {
            None
        };
        drop(places);
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    /// Puts an element, for which a place was taken, into the mailbox, unless a layer refuses it. False: that is
    /// closed.
    pub(super) fn post(self: &Arc<Self>, message: M) -> bool {
        let cell = self.to.cell();
        let mut envelope = envelope_from_here(cell);
        let seen_off = depart(cell, &mut envelope, &message);
        let element = Element {
            inlet: self.clone(),
            message,
        };
        if let Err(reason) = seen_off {
            element.discard(cell, envelope.sender, DeadReason::Intercepted(reason));
            return true;
        }
        match post_parcel(cell, envelope, element) {
            Ok(idle) => {
                if idle {
                    cell.schedule();
                }
                true
            }
            Err(element) => {
                element.discard(cell, envelope.sender, DeadReason::Stopped);
                false
            }
        }
    }
}

/// An element in the mailbox.
struct Element<M: Message> {
    inlet: Arc<Inlet<M>>,
    message: M,
}

impl<M: Message> Parcel for Element<M> {
    fn open(self, arrival: &Arrival<'_>) -> Step {
        let Element { inlet, message } = self;
        let step = arrival.deliver(&inlet.to, message);
        if matches!(step, Step::Suspended) {
            // No mail is looked at before the handler has ended, so this comes after it.
            if let Err(place) = post_parcel(arrival.cell(), Envelope::OUTSIDE, Place(inlet)) {
                place.0.leave();
            }
        } else {
            inlet.leave();
        }
        step
    }

    fn discard(self, cell: &Header, sender: u64, reason: DeadReason) {
        cell.system().dead_letter(cell, sender, reason, self.message);
        self.inlet.leave();
    }
}

/// The place of an element whose handler was suspended.
struct Place<M: Message>(Arc<Inlet<M>>);

impl<M: Message> Parcel for Place<M> {
    fn open(self, _: &Arrival<'_>) -> Step {
        self.0.leave();
        Step::Done
    }

    fn discard(self, _: &Header, _: u64, _: DeadReason) {
        self.0.leave();
    }
}
