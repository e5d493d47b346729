//! Writes what is on its way, a batch at a time.

use std::sync::Arc;

use bytes::Buf;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use volary_wire::native::{Confirm, Frame};

use super::Link;
use crate::peer::Batch;

/// How many runs of settled messages are said at a time.
const RUNS: usize = 128;

pub(super) async fn write(link: Arc<Link>, mut writer: Box<dyn AsyncWrite + Send + Unpin>) {
    let peer = link.peer.clone();
    let mut batch = Batch::default();
    loop {
        link.confirm();
        batch = peer.outbound.lock().next_batch(link.epoch, batch);
        if batch.is_empty() {
            if link.closing().or(peer.to_write.notified()).await.is_none() {
                break;
            }
            continue;
        }
        let written = link.closing().or(async {
            let mut bytes = (&batch.first[..]).chain(&batch.rest[..]);
            writer.write_all_buf(&mut bytes).await?;
            writer.flush().await
        });
        match written.await {
            Some(Ok(())) => {}
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

impl Link {
    /// Says which messages have left their mailboxes.
    fn confirm(&self) {
        let said = self.settled.lock().say(RUNS);
        if let Some((up_to, beyond)) = said
            && let Some(confirm) = Confirm::new(up_to, &beyond)
        {
            let outbound = &mut *self.peer.outbound.lock();
            if outbound.is_on(self.epoch) {
                outbound.write_first(&Frame::Confirm(confirm));
            }
        }
    }
}
