//! The word that a console closes, and waiting for something or for that word, whichever comes first.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::watch;

/// Whoever has it hears that the console closes.
#[derive(Clone)]
pub(crate) struct Closing(watch::Receiver<bool>);

/// Says it.
pub(crate) struct Close(watch::Sender<bool>);

pub(crate) fn closing() -> (Close, Closing) {
    let (close, closing) = watch::channel(false);
    (Close(close), Closing(closing))
}

impl Close {
    pub(crate) fn say(&self) {
        self.0.send_replace(true);
    }
}

impl Closing {
    /// What the future ends with; `None` if the console closes before that.
    pub(crate) async fn or<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        // An error means that the other side is gone, and nobody can say it any more.
        let mut closed = pin!(self.0.wait_for(|closed| *closed));
        poll_fn(|task| {
            if closed.as_mut().poll(task).is_ready() {
                return Poll::Ready(None);
            }
            future.as_mut().poll(task).map(Some)
        })
        .await
    }
}
