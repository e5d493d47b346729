//! Writes what is on its way, a batch at a time.

use std::sync::Arc;

use bytes::Buf;
use std::io;
use std::sync::atomic::Ordering::*;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use volary_wire::native::{Confirm, Frame};

use super::Link;
use crate::compression::Squeeze;
use crate::peer::Batch;

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// How much is compressed before others have their turn.
const SQUEEZED_AT_ONCE: usize = 256 << 10;

pub(super) async fn write(link: Arc<Link>, mut writer: Writer, mut squeeze: Option<Squeeze>) {
    let peer = link.peer.clone();
    let mut batch = Batch::default();
    loop {
        link.confirm();
        batch = peer.outbound.lock().next_batch(link.epoch, batch);
        peer.room.notify_one();
        peer.made_room(); // it may have been full of what is written now
        if batch.is_empty() {
            if link.closing().or(peer.to_write.notified()).await.is_none() {
                break;
            }
            continue;
        }
        let written = link.closing().or(async {
            let written = match &mut squeeze {
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
                Some(squeeze) => write_squeezed(&link, squeeze, &mut writer, &batch).await?,
            };
            writer.flush().await?;
            Ok::<_, io::Error>(written)
        });
        match written.await {
            Some(Ok(written)) => {
                peer.counters.bytes_written.fetch_add(written as u64, Relaxed);
            }
            Some(Err(error)) => {
                link.close(&error.to_string());
                break;
            }
            None => break,
        }
    }
    // Whoever waits to write on the next connection may have been told of this one.
    peer.to_write.notify_one();
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
            tokio::task::yield_now().await;
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
