//! A reader whose errors are in our words: in TLS 1.3 a caller hears only when it reads that it was not taken.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use super::error::explain;

pub(super) struct Explained<R> {
    reader: R,
    host: String,
}

impl<R> Explained<R> {
    pub(super) fn new(reader: R, host: &str) -> Self {
        Explained {
            reader,
            host: host.to_owned(),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Explained<R> {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let read = Pin::new(&mut this.reader).poll_read(task, into);
        // The end without a farewell is that of a connection, not of a handshake.
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => error,
            _ => explain(error, &this.host),
        })
    }
}
