//! The least that a mailbox for many senders can do, all on one thread: the
//! reference line of `tell` and `tell/bounded`, where one worker is fastest.
//!
//! A message is three words, whom it is for, who sent it, and a number. To send
//! it is one compare-and-swap, since another thread might send as well, and
//! three stores; to handle it is to read them and one call by a pointer, since
//! nobody knows what it is. There is no actor: nothing is scheduled, looked up,
//! bounded, contained, timed, or checked for having ended.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::*};

use crate::contender::{Bench, Case, Contender, Pass, Role};

/// The bare mailbox's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "bare",
    role: Role::Reference,
    bench,
};

/// What a bounded mailbox holds, too.
const CAPACITY: usize = 1_024;
/// As many messages as a block of Volary has room for.
const BLOCK: usize = 42;

type Handler = fn(&mut u64, u64);

#[derive(Clone, Copy)]
struct Message {
    handler: Handler,
    sender: u64,
    value: u64,
}

const NOTHING: Message = Message { handler: |_, _| (), sender: 0, value: 0 };

/// Blocks of messages, and how many were sent.
#[expect(clippy::vec_box, reason = "a mailbox has its blocks from the allocator, one by one")]
struct Mailbox {
    blocks: Vec<Box<[Message; BLOCK]>>,
    sent: AtomicUsize,
}

impl Mailbox {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        let sent = self.sent.load(Acquire);
        let taken = self.sent.compare_exchange(sent, sent + 1, SeqCst, Acquire);
        let place = taken.expect("nobody else sends");
        if place / BLOCK == self.blocks.len() {
            self.blocks.push(Box::new([NOTHING; BLOCK]));
        }
        self.blocks[place / BLOCK][place % BLOCK] = message;
    }

    /// Handles everything, and keeps no more than the bounded one needs.
    fn handle_all(&mut self, sum: &mut u64) {
        let count = *self.sent.get_mut();
        let (full, rest) = (count / BLOCK, count % BLOCK);
        for (at, block) in self.blocks.iter().enumerate().take(full + 1) {
            for message in &block[..if at < full { BLOCK } else { rest }] {
                (message.handler)(sum, message.value);
                black_box(message.sender);
            }
        }
        self.blocks.truncate(CAPACITY / BLOCK + 1);
        *self.sent.get_mut() = 0;
    }
}

fn bench(workload: &str) -> Option<Bench> {
    match workload {
        "tell" => Some(Bench::Throughput(|case| by_the(case, usize::MAX))),
        "tell/bounded" => Some(Bench::Throughput(|case| by_the(case, CAPACITY))),
        _ => None,
    }
}

/// So many messages wait before they are handled.
fn by_the(_: &Case, capacity: usize) -> Pass {
    let mut mailbox = Mailbox { blocks: Vec::new(), sent: AtomicUsize::new(0) };
    let mut sum = 0_u64;
    let handler: Handler = black_box(|sum, value| *sum = sum.wrapping_add(value));
    Box::new(move |count| {
        let mut left = count;
        while left > 0 {
            let some = left.min(capacity as u64);
            for value in 0..some {
                mailbox.send(Message { handler, sender: black_box(7), value });
            }
            mailbox.handle_all(&mut sum);
            left -= some;
        }
        black_box(sum);
    })
}
