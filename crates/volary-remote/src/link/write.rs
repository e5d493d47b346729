//! Writes what is on its way, a batch at a time.

use std::sync::Arc;

use bytes::Buf;
use std::io;
use std::sync::atomic::Ordering::*;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use volary_wire::native::{Confirm, Frame};

use super::Link;
use super::until::give_way;
use crate::compression::Squeeze;
use crate::peer::Batch;

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// How much is compressed before others have their turn.
const SQUEEZED_AT_ONCE: usize = 256 << 10;

/// What a connection is written with.
pub(super) struct Pen {
    /// Gone with the connection.
    writer: Option<Writer>,
    /// A batch was begun with and not ended: whatever came behind it would be taken for the rest of it.
    torn: bool,
    squeeze: Option<Squeeze>,
    batch: Batch,
}

/// Held while a batch is written.
pub(super) type PenHolder = tokio::sync::Mutex<Pen>;

impl Pen {
    pub(super) fn new(writer: Writer, squeeze: Option<Squeeze>) -> Arc<PenHolder> {
        let batch = Batch::default();
        Arc::new(PenHolder::new(Pen {
            writer: Some(writer),
            torn: false,
            squeeze,
            batch,
        }))
    }

    /// Nothing is written any more.
    pub(super) fn lay_down(&mut self) {
        self.writer = None;
    }
}

/// Writes what there is, until the connection ends or another has this duty.
pub(super) async fn write(link: Arc<Link>, pen: Arc<PenHolder>, turn: u64) {
    let to_write = &link.peer.to_write;
    while link.writer.is_held(turn) {
        let written = link.closing().or(write_batch(&link, &pen)).await;
        link.writer.go_on();
        match written {
            Some(Ok(Written::Batch)) => {}
            Some(Ok(Written::Nothing)) => {
                if link.closing().or(to_write.notified()).await.is_none() {
                    break;
                }
            }
            Some(Err(error)) => {
                link.close(&error.to_string());
                break;
            }
            None => break,
        }
    }
    if link.closing().is_closed()
        && let Ok(mut pen) = pen.try_lock()
    {
        pen.lay_down();
    }
    // Whoever waits to write on the next connection, or in its place on this one, may have been told of it.
    to_write.notify_one();
}

enum Written {
    Nothing,
    Batch,
}

/// Writes what there is by now.
async fn write_batch(link: &Link, pen: &PenHolder) -> io::Result<Written> {
    let Pen {
        writer,
        torn,
        squeeze,
        batch,
    } = &mut *pen.lock().await;
    let Some(writer) = writer.as_mut().filter(|_| !*torn && !link.closing().is_closed()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let peer = &link.peer;
    link.confirm();
    let spare = std::mem::take(batch);
    *batch = peer
        .outbound
        .lock()
        .next_batch(link.epoch, spare, || peer.shared.nanos());
    peer.room.notify_one();
    peer.made_room(); // it may have been full of what is written now
    if batch.is_empty() {
        return Ok(Written::Nothing);
    }
    *torn = true;
    let written = match squeeze {
        None => {
            let mut bytes = batch.bytes();
            let length = bytes.remaining();
            while bytes.has_remaining() {
                if writer.write_buf(&mut bytes).await? == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                link.progress();
            }
            length
        }
        Some(squeeze) => write_squeezed(link, squeeze, writer, batch).await?,
    };
    writer.flush().await?;
    *torn = false;
    peer.counters.bytes_written.fetch_add(written as u64, Relaxed);
    Ok(Written::Batch)
}

/// Writes a batch with one flush at its end; how many bytes it became.
async fn write_squeezed(link: &Link, squeeze: &mut Squeeze, writer: &mut Writer, batch: &Batch) -> io::Result<usize> {
    let mut length = 0;
    for piece in batch.parts().flat_map(|part| part.chunks(SQUEEZED_AT_ONCE)) {
        squeeze.write(piece).map_err(io::Error::other)?;
        if piece.len() == SQUEEZED_AT_ONCE {
            length += squeeze.squeezed().len();
            writer.write_all(squeeze.squeezed()).await?;
            squeeze.clear();
            link.progress();
            give_way().await;
        }
    }
    squeeze.flush().map_err(io::Error::other)?;
    length += squeeze.squeezed().len();
    writer.write_all(squeeze.squeezed()).await?;
    squeeze.clear();
    Ok(length)
}

impl Link {
    /// Says which messages have left their mailboxes.
    fn confirm(&self) {
        let said = {
            let mut leaving = self.leaving.lock();
            leaving.settle_up(self);
            leaving.settled.say(Confirm::MAX_RANGES)
        };
        if let Some((up_to, beyond)) = said {
            let Some(confirm) = Confirm::new(up_to, &beyond) else {
                // Not said, it would never be: better another connection than books that are wrong for ever.
                return self.close("which messages were taken cannot be said");
            };
            let outbound = &mut *self.peer.outbound.lock();
            if outbound.is_on(self.epoch) {
                outbound.write_first(&Frame::Confirm(confirm));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::alone::{Alone, Wire};
    use crate::{Remote, RemoteOptions, Rights};

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A connection, and something to be written on it.
    fn link(node: &Alone, wire: &Wire) -> Arc<Link> {
        let link = Link::start(&node.peer(), wire.greeting(7), Rights::all());
        (0..10).for_each(|nonce| link.write_in_order(&Frame::Heartbeat { nonce }));
        link
    }

    #[test]
    fn r3_a_batch_of_many_parts_is_written_with_one_call() {
        let node = Alone::start(Remote::builder().options(RemoteOptions::new().chunk_bytes(1_024)));
        let link = link(&node, &Wire::new(0));
        let wire = Wire::new(usize::MAX);
        let pen = Pen::new(wire.write_half(), None);
        link.write_first(&Frame::Heartbeat { nonce: 10 });
        // Three pieces, each with a head of its own.
        link.write(|outbound| outbound.answer(&[7; 3_000]).err());
        let mut written = 0;
        // First the heartbeats and two pieces, then the last one.
        for (parts, writes) in [(6, 1), (2, 2)] {
            assert!(matches!(
                poll(pin!(write_batch(&link, &pen))),
                Poll::Ready(Ok(Written::Batch))
            ));
            let batch = &pen.try_lock().unwrap().batch;
            assert_eq!((batch.parts().count(), wire.writes()), (parts, writes));
            written += batch.parts().map(<[u8]>::len).sum::<usize>();
            assert_eq!(wire.heard(), written);
        }
        assert!(matches!(
            poll(pin!(write_batch(&link, &pen))),
            Poll::Ready(Ok(Written::Nothing))
        ));
        assert_eq!(wire.writes(), 2);
    }

    #[test]
    fn r3_nothing_is_written_behind_a_batch_that_was_torn() {
        let node = Alone::start(Remote::builder());
        // Tasks of its own do not run here.
        let link = link(&node, &Wire::new(0));
        let wire = Wire::new(5);
        let pen = Pen::new(wire.write_half(), None);
        let mut first = Box::pin(write_batch(&link, &pen));
        assert!(poll(first.as_mut()).is_pending());
        let mut next = pin!(write(link.clone(), pen.clone(), link.writer.take_over()));
        assert!(poll(next.as_mut()).is_pending());
        // Whoever has begun comes to its end, as with a panic of the transport, before it can close the connection.
        wire.make_room(1_000);
        link.write_in_order(&Frame::Heartbeat { nonce: 10 });
        drop(first);
        assert!(!link.closing().is_closed());
        assert!(poll(next).is_ready());
        assert_eq!(wire.heard(), 5);
        assert!(link.closing().is_closed(), "it is of no use to anybody");
    }

    #[test]
    fn r3_a_connection_that_is_closed_is_let_go_of_although_it_is_full() {
        let node = Alone::start(Remote::builder());
        let wire = Wire::new(5);
        let link = link(&node, &wire);
        node.settle();
        assert_eq!(wire.heard(), 5, "in the middle of a batch");
        // Somebody who had this duty before, and whom a blocked thread keeps.
        let kept = link.pen.get().and_then(std::sync::Weak::upgrade).unwrap();
        link.close("the test wants it");
        node.settle();
        assert_eq!((wire.heard(), wire.gone()), (5, (true, true)));
        drop(kept);
    }

    #[test]
    fn r3_a_connection_that_is_closed_is_let_go_of_although_whoever_writes_does_not_come() {
        let node = Alone::start(Remote::builder());
        let wire = Wire::new(usize::MAX);
        let link = link(&node, &wire);
        node.settle();
        assert!(wire.heard() > 0 && wire.gone() == (false, false));
        link.close("the test wants it");
        // None of its tasks has had a turn since.
        assert_eq!(wire.gone(), (false, true));
    }
}
