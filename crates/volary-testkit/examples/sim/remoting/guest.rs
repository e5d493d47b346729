//! Guests are started on other nodes, at the wish of a host. They speak to it when they are spoken to, and when they stop.

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::Argument;

use super::books::Paper;
use super::host::{Host, Remark};

pub(super) struct Guest {
    pub(super) guest: u64,
    pub(super) life: usize,
    pub(super) paper: Paper,
    /// Who has introduced themselves as such, their node and its life.
    host: Option<(ActorRef<Host>, usize, usize)>,
    said: u64,
}

pub(super) fn guest_name(guest: u64) -> String {
    format!("guest-{guest}")
}

impl Guest {
    /// Starts in a life of a node, with what came along.
    pub(super) fn arrive(life: usize, argument: &Argument, paper: &Paper) -> Result<Self, Fault> {
        let bytes = argument.bytes().try_into();
        let guest = u64::from_be_bytes(bytes.map_err(|_| Fault::msg("a guest has a number"))?);
        paper.open().guest_starts(life, guest);
        Ok(Guest {
            guest,
            life,
            paper: paper.clone(),
            host: None,
            said: 0,
        })
    }
}

#[actor(kind = "sim.Guest", remote(Meet, Chat))]
impl Guest {
    fn stopped(&mut self) {
        // The last word is before the end.
        self.say();
        self.paper.open().guest_ends(self.guest);
    }

    #[message(remote = "sim.Meet", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) fn meet(&mut self, id: u64, from: String, number: u64, host: ActorRef<Host>, node: usize, life: usize) {
        self.hears(id, &from, number);
        self.host = Some((host, node, life));
    }

    #[message(remote = "sim.Chat", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) fn chat(&mut self, id: u64, from: String, number: u64) -> u64 {
        self.hears(id, &from, number);
        self.say();
        number
    }

    #[actor(skip)]
    fn hears(&self, id: u64, from: &str, number: u64) {
        let me = guest_name(self.guest);
        self.paper.open().arrived(self.life, id, from, &me, number);
    }

    #[actor(skip)]
    fn say(&mut self) {
        let Some((host, node, life)) = &self.host else { return };
        self.said += 1;
        let id = self.paper.open().write(self.life, *node);
        let remark = Remark {
            id,
            guest: self.guest,
            number: self.said,
            life: *life,
        };
        self.paper.tell(host, id, remark);
    }
}
