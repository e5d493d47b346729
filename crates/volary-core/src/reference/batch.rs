//! Many messages at once.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::ask::AskFuture;
use super::reply_to::Answer;
use crate::actor::Message;

/// Several asks to one actor under way; yields their answers in the order asked.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let mut cents = Vec::new();
/// for answer in alice.ask_all([Deposit(5), Deposit(6)]).await {
///     cents.push(answer?); // each is a result of its own
/// }
/// assert_eq!(cents, [5, 11]);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct AskAll<'a, M: Message> {
    pending: Vec<Option<AskFuture<'a, M>>>,
    answers: Vec<Option<Answer<M::Reply, M::Rejection>>>,
}

impl<'a, M: Message> AskAll<'a, M> {
    pub(crate) fn new(asks: impl Iterator<Item = AskFuture<'a, M>>) -> Self {
        let pending: Vec<_> = asks.map(Some).collect();
        let answers = pending.iter().map(|_| None).collect();
        AskAll { pending, answers }
    }
}

impl<M: Message> Unpin for AskAll<'_, M> {}

impl<M: Message> Future for AskAll<'_, M> {
    type Output = Vec<Answer<M::Reply, M::Rejection>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        ready!(settle(this.pending.iter_mut().zip(&mut this.answers), task));
        Poll::Ready(this.answers.drain(..).flatten().collect())
    }
}

/// Polls the asks that have no answer yet; ready when there are none. Each answer goes to its place at once.
pub(crate) fn settle<'a, F: Future + Unpin + 'a>(
    asks: impl Iterator<Item = (&'a mut Option<F>, &'a mut Option<F::Output>)>,
    task: &mut Context<'_>,
) -> Poll<()>
where
    F::Output: 'a,
{
    let mut waiting = false;
    for (pending, answer) in asks {
        let Some(ask) = pending else { continue };
        match Pin::new(ask).poll(task) {
            Poll::Ready(ready) => {
                *pending = None;
                *answer = Some(ready);
            }
            Poll::Pending => waiting = true,
        }
    }
    if waiting { Poll::Pending } else { Poll::Ready(()) }
}
