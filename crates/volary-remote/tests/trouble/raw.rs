//! Somebody who speaks the dialect by hand, and says what a node would not.

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use volary_wire::native::{
    Bounds, Frame, FrameDecoder, FrameWriter, Head, Hello, Lane, Limits, NameRef, VERSIONS, Welcome,
};

use crate::home::soon;

pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    decoder: FrameDecoder,
}

/// The first words of a node that claims to be at `node`.
pub(crate) fn hello(node: &str, versions: (u16, u16), incarnation: u64) -> Frame {
    Frame::Hello(Hello {
        versions,
        cluster: "".into(),
        system: "raw".into(),
        node: node.into(),
        incarnation,
        lane: Lane::Control,
        capabilities: Vec::new(),
        compressions: Vec::new(),
        called: Vec::new(),
        bounds: Bounds::default(),
    })
}

pub(crate) fn welcome(node: &str, version: u16) -> Frame {
    Frame::Welcome(Welcome {
        version,
        system: "raw".into(),
        node: node.into(),
        incarnation: 1,
        capabilities: Vec::new(),
        compression: None,
        bounds: Bounds::default(),
    })
}

pub(crate) fn bytes_of(frame: &Frame) -> BytesMut {
    let mut out = BytesMut::new();
    FrameWriter::new(&mut out).frame(frame).unwrap();
    out
}

/// A message with names in full and such a payload, which no codec need be able to read.
pub(crate) fn tell(sequence: u64, receiver: &str, type_name: &str, payload: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    let head = Head {
        sequence,
        receiver: NameRef::Text(receiver),
        sender: None,
        type_name: NameRef::Text(type_name),
        codec: volary_wire::CodecId::POSTCARD,
        metadata: None,
    };
    let write = |out: &mut BytesMut| {
        out.extend_from_slice(payload);
        Ok::<(), std::convert::Infallible>(())
    };
    FrameWriter::new(&mut out).tell(&head, write).unwrap().unwrap();
    out
}

impl Raw {
    pub(crate) fn around(stream: TcpStream) -> Self {
        Raw {
            stream,
            decoder: FrameDecoder::new(Limits::default()),
        }
    }

    pub(crate) async fn connect(node: &str) -> Self {
        Raw::around(soon("a connection", TcpStream::connect(node)).await.unwrap())
    }

    /// Connects as the node `me` would.
    pub(crate) async fn greet(node: &str, me: &str, incarnation: u64) -> Self {
        let mut raw = Raw::connect(node).await;
        raw.say(&hello(me, VERSIONS, incarnation)).await;
        let answer = raw.hear().await;
        assert!(matches!(answer, Some(Frame::Welcome(_))), "{answer:?}");
        raw
    }

    pub(crate) async fn say(&mut self, frame: &Frame) {
        let _ = self.stream.write_all(&bytes_of(frame)).await;
    }

    /// The next frame; `None` if the connection has ended.
    pub(crate) async fn hear(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            let read = soon("a word or the end", self.stream.read_buf(self.decoder.buffer())).await;
            if read.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// Hears until the other side ends the connection.
    pub(crate) async fn hear_the_end(&mut self) {
        let mut buffer = vec![0; 4_096];
        while !matches!(soon("the end", self.stream.read(&mut buffer)).await, Ok(0) | Err(_)) {}
    }

    /// Ends it so that the other side hears a reset.
    pub(crate) fn reset(self) {
        let _ = self.stream.set_zero_linger();
    }
}
