//! The other end of a connection to a node, played by a target: the wire by hand.

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use volary_remote::transport::{Connection, Transport};
use volary_wire::native::{Bounds, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, VERSIONS};

use super::Node;

pub struct Stranger {
    connection: Connection,
    decoder: FrameDecoder,
}

impl Stranger {
    /// Calls a node and is taken.
    pub fn enter(node: &Node) -> Self {
        node.block_on(async {
            let connection = node.network.connect(node.remote.node()).await.expect("it listens");
            let mut stranger = Stranger::at(connection);
            stranger
                .say(&Frame::Hello(Hello {
                    versions: VERSIONS,
                    cluster: "".into(),
                    system: "stranger".into(),
                    node: Self::NAME.into(),
                    incarnation: 7,
                    lane: Lane::Control,
                    capabilities: Vec::new(),
                    compressions: Vec::new(),
                    called: Vec::new(),
                    bounds: Bounds::default(),
                }))
                .await;
            let welcome = stranger.hear().await;
            assert!(matches!(welcome, Frame::Welcome(_)), "{welcome:?}");
            stranger
        })
    }

    /// What it calls itself.
    pub const NAME: &str = "127.0.0.1:7";

    fn at(connection: Connection) -> Self {
        Stranger {
            connection,
            decoder: FrameDecoder::new(Limits::default()),
        }
    }

    pub async fn say(&mut self, frame: &Frame) {
        let mut out = BytesMut::new();
        FrameWriter::new(&mut out)
            .frame(frame)
            .expect("no longer than a frame may be");
        self.connection.writer.write_all(&out).await.expect("the node listens");
        self.connection.writer.flush().await.expect("the node listens");
    }

    /// The next frame that is about something. The node must not end the connection, whatever it was told.
    pub async fn hear(&mut self) -> Frame {
        loop {
            match self.decoder.next_frame().expect("a node writes frames") {
                Some(Frame::Heartbeat { nonce }) => self.say(&Frame::HeartbeatReply { nonce }).await,
                Some(Frame::HeartbeatReply { .. } | Frame::Credit(_)) => {}
                Some(frame) => return frame,
                None => {
                    let read = self.connection.reader.read_buf(self.decoder.buffer()).await;
                    assert_ne!(read.expect("the node goes on"), 0, "the node ended the connection");
                }
            }
        }
    }
}
