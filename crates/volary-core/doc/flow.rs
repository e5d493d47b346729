// For examples of streams into actors: a stream of two amounts, or of as many as are taken. Behind `bank.rs`.

use std::pin::Pin;
use std::task::{self, Poll};

struct Flow<I>(I);
impl<I: Iterator + Unpin> futures_core::Stream for Flow<I> {
    type Item = I::Item;

    fn poll_next(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.get_mut().0.next())
    }
}

#[allow(dead_code, reason = "not every example needs it")]
fn amounts() -> Flow<impl Iterator<Item = i64> + Send + Unpin> {
    Flow([5, 6].into_iter())
}

/// Waits until alice has so much.
#[allow(dead_code, reason = "not every example needs it")]
async fn saved(alice: &ActorRef<Account>, cents: i64) -> Done {
    while alice.ask(Balance).await? < cents {
        tokio::task::yield_now().await;
    }
    Ok(())
}
