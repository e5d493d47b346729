//! A peer that says what the test wants it to say: the wire by hand, on a bare socket.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use volary_wire::native::{
    Bounds, Envelope, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, Name, Operation, VERSIONS, Watch,
};
use volary_wire::{Codec, CodecId, Postcard};

use super::{Node, Note};

pub struct Stranger {
    stream: TcpStream,
    decoder: FrameDecoder,
    out: BytesMut,
}

pub fn hello(node: &str, incarnation: u64) -> Frame {
    Frame::Hello(introduction(node, incarnation))
}

/// The first words of a node that claims to be at `node`, and can no more than it must.
pub fn introduction(node: &str, incarnation: u64) -> Hello {
    Hello {
        versions: VERSIONS,
        cluster: "".into(),
        system: "stranger".into(),
        node: node.into(),
        incarnation,
        lane: Lane::Control,
        capabilities: Vec::new(),
        compressions: Vec::new(),
        called: Vec::new(),
        bounds: Bounds::default(),
    }
}

impl Stranger {
    /// Calls a node and introduces itself; what the node answers is still to be heard.
    pub async fn call(node: &Node, name: &str) -> Self {
        let mut stranger = Stranger::knock(node).await;
        stranger.say([hello(name, 7)]).await;
        stranger
    }

    /// Calls a node and says all of that itself; what the node answers is still to be heard.
    pub async fn introduce(node: &Node, hello: Hello) -> Self {
        let mut stranger = Stranger::knock(node).await;
        stranger.say([Frame::Hello(hello)]).await;
        stranger
    }

    /// Calls a node and is taken.
    pub async fn enter(node: &Node, name: &str) -> Self {
        let mut stranger = Stranger::call(node, name).await;
        let welcome = stranger.hear().await;
        assert!(matches!(welcome, Some(Frame::Welcome(_))), "{welcome:?}");
        stranger
    }

    /// A connection on which nothing was said.
    pub async fn knock(node: &Node) -> Self {
        Stranger::knock_from(node, "127.0.0.1").await
    }

    /// The same from another address of this machine.
    pub async fn knock_from(node: &Node, host: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(format!("{host}:0").parse().unwrap()).unwrap();
        Stranger {
            stream: socket.connect(node.remote.node().parse().unwrap()).await.unwrap(),
            decoder: FrameDecoder::new(Limits::default()),
            out: BytesMut::new(),
        }
    }

    /// Says all of this; false: the other side does not listen any more.
    pub async fn say(&mut self, frames: impl IntoIterator<Item = Frame>) -> bool {
        self.out.clear();
        for frame in frames {
            FrameWriter::new(&mut self.out).frame(&frame).unwrap();
        }
        self.stream.write_all(&self.out).await.is_ok()
    }

    /// Says these bytes, as far as they are taken within the time.
    pub async fn pour(&mut self, bytes: &[u8], time: Duration) -> bool {
        matches!(
            tokio::time::timeout(time, self.stream.write_all(bytes)).await,
            Ok(Ok(()))
        )
    }

    /// The next frame; `None` at the end of the connection.
    pub async fn hear(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            match self.stream.read_buf(self.decoder.buffer()).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The next frame that is no heartbeat.
    pub async fn hear_news(&mut self) -> Option<Frame> {
        loop {
            match self.hear().await {
                Some(Frame::Heartbeat { .. } | Frame::HeartbeatReply { .. }) => {}
                other => return other,
            }
        }
    }

    /// Hears until the connection ends.
    pub async fn hear_the_end(&mut self) {
        while self.hear().await.is_some() {}
    }
}

/// A message of any type and content to whoever is at `to`.
pub fn envelope(to: &str, sequence: u64, type_name: &str, payload: impl Into<bytes::Bytes>) -> Envelope {
    Envelope {
        sequence,
        receiver: Name::Text(to.into()),
        sender: None,
        type_name: Name::Text(type_name.into()),
        codec: CodecId::POSTCARD,
        metadata: None,
        payload: payload.into(),
    }
}

pub fn note(to: &str, sequence: u64, number: u64) -> Envelope {
    let mut payload = BytesMut::new();
    Postcard::encode(&Note { number }, &mut payload).unwrap();
    envelope(to, sequence, "test.Note", payload.freeze())
}

pub fn watch(who: &str) -> Watch {
    Watch {
        watcher: Name::Text("".into()),
        watched: Name::Text(who.into()),
    }
}

pub fn operation(correlation: u64, name: &str) -> Frame {
    Frame::Operation(Operation {
        correlation,
        name: name.into(),
        payload: Default::default(),
    })
}
