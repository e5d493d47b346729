//! Topics on ractor: a process group and a message to each of its members. (Its
//! `OutputPort` drops what a subscriber is ten behind with, so a pass would not end.)

use ractor::pg;

use super::actors::Sink;
use super::{Ractor, spawn};
use crate::features::Publishing;
use crate::latch::Latch;

impl Publishing for Ractor {
    type Topic = String;

    async fn topic(&self, subscribers: usize, latch: &'static Latch) -> String {
        let group = String::from("numbers");
        let name = group.clone();
        let set_up = async move {
            let mut members = Vec::with_capacity(subscribers);
            for _ in 0..subscribers {
                members.push(spawn(Sink(latch), 0).await.get_cell());
            }
            pg::join(name, members);
        };
        self.host.at(0, set_up).await;
        group
    }

    fn publish(group: &String, value: u64) {
        for member in pg::get_members(group) {
            assert!(member.send_message::<u64>(value).is_ok(), "the actor lives");
        }
    }
}
