//! The least that a mailbox for many senders can do, all on one thread: the
//! reference line of `tell` and `tell/bounded`, where one worker is fastest.
//!
//! A message is three words, whom it is for, who sent it, and a number. To send
//! it is one compare-and-swap, since another thread might send as well, and
//! three stores; to handle it is to read them and one call by a pointer, since
//! nobody knows what it is. There is no actor: nothing is scheduled, looked up,
//! contained, timed, or checked for having ended. With a bound, each message is
//! a future that is ready if there is room, as it is for everybody whose sender
//! waits; whoever waits is polled again once all were handled.

use std::cell::RefCell;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::task::{Context, Poll, Waker};

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
        "tell" => Some(Bench::Throughput(unbounded)),
        "tell/bounded" => Some(Bench::Throughput(bounded)),
        _ => None,
    }
}

/// What nobody can see through.
fn handler() -> Handler {
    black_box(|sum, value| *sum = sum.wrapping_add(value))
}

/// All messages wait before they are handled.
fn unbounded(_: &Case) -> Pass {
    let mut mailbox = Mailbox { blocks: Vec::new(), sent: AtomicUsize::new(0) };
    let mut sum = 0_u64;
    let handler = handler();
    Box::new(move |count| {
        for value in 0..count {
            mailbox.send(Message { handler, sender: black_box(7), value });
        }
        mailbox.handle_all(&mut sum);
        black_box(sum);
    })
}

/// A message that waits for room.
struct Sending<'a> {
    mailbox: &'a RefCell<Mailbox>,
    message: Message,
}

impl Future for Sending<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut mailbox = self.mailbox.borrow_mut();
        if *mailbox.sent.get_mut() >= CAPACITY {
            return Poll::Pending;
        }
        mailbox.send(self.message);
        Poll::Ready(())
    }
}

/// As everybody's `tell_waiting`.
async fn send_waiting(mailbox: &RefCell<Mailbox>, message: Message) {
    Sending { mailbox, message }.await;
}

fn bounded(_: &Case) -> Pass {
    let mailbox = RefCell::new(Mailbox { blocks: Vec::new(), sent: AtomicUsize::new(0) });
    let mut sum = 0_u64;
    let handler = handler();
    Box::new(move |count| {
        let sender = async {
            for value in 0..count {
                send_waiting(&mailbox, Message { handler, sender: black_box(7), value }).await;
            }
        };
        let mut sender: Pin<&mut dyn Future<Output = ()>> = pin!(sender);
        let mut task = Context::from_waker(Waker::noop());
        while sender.as_mut().poll(&mut task).is_pending() {
            mailbox.borrow_mut().handle_all(&mut sum);
        }
        mailbox.borrow_mut().handle_all(&mut sum);
        black_box(sum);
    })
}
