//! What a peer has no right to: it is told so, and both sides count it or say it.

use std::sync::atomic::Ordering::*;

use prost::Message;
use volary_wire::native::{Answer, Frame};

use super::Status;
use super::message::{ProblemMessage, no_right};
use crate::link::Link;
use crate::peer::Peer;
use crate::trust::Right;

/// The peer may not do that. It is told even if it waits for no answer, for its log.
pub(crate) fn forbid(link: &Link, right: Right, correlation: u64, why: &str) {
    let peer = &link.peer;
    peer.counters.forbidden.fetch_add(1, Relaxed);
    peer.shared.report_refused(&peer.node, why);
    let (status, payload) = no_right(right);
    link.write_in_order(&Frame::Answer(Answer {
        correlation,
        status: status as u8,
        payload,
    }));
}

/// An answer came, maybe that this node may not do something there.
pub(crate) fn heard(peer: &Peer, answer: Answer) {
    let shared = &peer.shared;
    if Status::from_wire(answer.status) == Some(Status::Forbidden)
        && let Ok(problem) = ProblemMessage::decode(answer.payload.clone())
        && let Some(right) = Right::named(&problem.right)
    {
        shared.report_forbidden(&peer.node, right);
    }
    shared.waiting.answered(&peer.node, answer);
}
