//! What one node wishes of another beside messages: that a guest is started, found or stopped there. Each wish ends in time,
//! is done once or not at all, as its answer says, and only by right.

use std::time::Duration;

use volary::RemoteError;
use volary_remote::{OperationError, Right};

use super::super::LATEST;
use super::Books;

/// Somebody who is to be started on another node.
pub(super) struct Invited {
    /// The life of their host.
    by: usize,
    /// Where to.
    to: usize,
    /// The host was told for certain that they were not started.
    never: bool,
    /// How often they were told to stop, and may have heard it.
    stops: u64,
    /// The node has said that they were.
    is_stopped: bool,
}

/// A wish that is under way.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Wish {
    pub(in super::super) life: usize,
    pub(in super::super) node: usize,
    pub(in super::super) right: Right,
    pub(in super::super) guest: u64,
}

/// What is known of a wish when it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Known {
    Done,
    /// Nobody is there.
    Nobody,
    Forbidden,
    /// It was not done.
    Not,
    Nothing,
}

impl Books {
    pub(in super::super) fn wishes(&mut self, wish: &Wish) {
        self.lives[wish.life].operations.begun += 1;
        let invited = &mut self.person(wish.guest).invited;
        match wish.right {
            Right::Spawn => {
                *invited = Some(Invited {
                    by: wish.life,
                    to: wish.node,
                    never: false,
                    stops: 0,
                    is_stopped: false,
                });
            }
            Right::Control => invited.iter_mut().for_each(|invited| invited.stops += 1),
            _ => {}
        }
    }

    /// A wish has ended; what that says.
    pub(in super::super) fn granted<T>(
        &mut self,
        wish: &Wish,
        late: Duration,
        outcome: &Result<T, OperationError>,
    ) -> Known {
        self.lives[wish.life].operations.ended += 1;
        if late > LATEST {
            self.wrong(format!("{wish:?} ends {late:?} after its time"));
        }
        let known = match outcome {
            Ok(_) => Known::Done,
            Err(OperationError::Nobody { .. }) => Known::Nobody,
            Err(OperationError::Forbidden { .. }) => Known::Forbidden,
            Err(OperationError::Remote(error)) if error.is_certainly_not_handled() => Known::Not,
            Err(OperationError::Remote(RemoteError::Unconfirmed { .. })) => Known::Nothing,
            Err(error) => {
                self.wrong(format!("{wish:?}: {error}"));
                Known::Nothing
            }
        };
        let from = self.lives[wish.life].node;
        if known == Known::Forbidden && !self.may_be_forbidden(from, wish.node, wish.right) {
            self.wrong(format!("{wish:?} is forbidden, but never was"));
        }
        match wish.right {
            Right::Spawn => self.invitation_ended(wish, known),
            Right::Control => self.stop_ended(wish, known),
            _ => {}
        }
        known
    }

    fn invitation_ended(&mut self, wish: &Wish, known: Known) {
        let person = self.person(wish.guest);
        let has_started = person.life.is_some();
        let never = matches!(known, Known::Not | Known::Forbidden);
        person.invited.iter_mut().for_each(|invited| invited.never = never);
        // Below /user there is always room.
        if (known == Known::Done) != has_started && known != Known::Nothing {
            self.wrong(format!(
                "{wish:?} has ended as {known:?}, and the guest has started: {has_started}"
            ));
        }
    }

    fn stop_ended(&mut self, wish: &Wish, known: Known) {
        if known == Known::Nobody {
            self.must_be_gone(wish);
        }
        let Some(invited) = &mut self.person(wish.guest).invited else {
            return;
        };
        match known {
            Known::Done => invited.is_stopped = true,
            Known::Nobody | Known::Forbidden | Known::Not => invited.stops -= 1,
            Known::Nothing => {}
        }
    }

    /// A node says that a guest is not there.
    pub(in super::super) fn must_be_gone(&mut self, wish: &Wish) {
        if !self.is_gone(wish.guest) {
            self.wrong(format!("{wish:?}: nobody is said to be there, but the guest is"));
        }
    }

    /// A guest was told to stop by reference: nobody answers.
    pub(in super::super) fn told_to_stop(&mut self, guest: u64) {
        let invited = &mut self.person(guest).invited;
        invited.iter_mut().for_each(|invited| invited.stops += 1);
    }

    /// A guest starts: where it was invited to, once, and by right.
    pub(in super::super) fn guest_starts(&mut self, life: usize, guest: u64) {
        self.starts(guest, life);
        let node = self.lives[life].node;
        let by = match &self.person(guest).invited {
            Some(invited) if invited.to == node && !invited.never => invited.by,
            _ => return self.wrong(format!("{guest} starts in life {life} without being invited")),
        };
        let from = self.lives[by].node;
        if !self.lives[life].rights[from].allows(Right::Spawn) {
            self.wrong(format!("n{from} has no right to start anybody in life {life}"));
        }
    }

    /// A guest has stopped: because its host told it to, by right, or everybody goes.
    pub(in super::super) fn guest_ends(&mut self, guest: u64) {
        self.ends_now(guest);
        let person = self.person(guest);
        let (Some(life), Some(invited)) = (person.life, &person.invited) else {
            return;
        };
        let (stops, by) = (invited.stops, invited.by);
        let from = self.lives[by].node;
        let by_right = stops > 0 && self.lives[life].rights[from].allows(Right::Control);
        if !by_right && !self.farewell {
            self.wrong(format!(
                "{guest} stops after {stops} times that it was told to by n{from}"
            ));
        }
    }

    /// Everybody who is still there may go.
    pub(in super::super) fn say_farewell(&mut self) -> Vec<volary::ActorSystem> {
        self.farewell = true;
        self.living().map(|(_, life)| life.system.clone()).collect()
    }

    pub(in super::super) fn guests(&self) -> Vec<u64> {
        let is_here = |person: &super::Person| person.invited.is_some() && person.life.is_some() && !person.ended;
        let all = self.people.iter().enumerate();
        all.filter(|(_, person)| is_here(person))
            .map(|(at, _)| at as u64 + 1)
            .collect()
    }

    /// Whoever was stopped, and has not ended.
    pub(super) fn stopped_in_vain(&self) -> Option<String> {
        let all = self.people.iter().enumerate();
        let mut in_vain = all.filter(|(at, person)| {
            let is_stopped = person.invited.as_ref().is_some_and(|invited| invited.is_stopped);
            is_stopped && !self.is_gone(*at as u64 + 1)
        });
        in_vain
            .next()
            .map(|(at, _)| format!("{} was stopped, and never ends", at + 1))
    }
}
