//! Strangers call the nodes, and say what no node of this cluster would say. Each is told why it is not taken, if it can be
//! told anything, is counted, and leaves nothing behind; nobody else notices.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use volary::wire::native::{Bounds, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, RefuseReason, VERSIONS};
use volary_testkit::Sim;
use volary_testkit::sim::{Node, SimStream};

use super::books::{Paper, Visited};
use super::{LOOK, NODES, TROUBLE, at};

/// Who says nothing is not waited for any longer than this.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is wrong with a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oddity {
    Versions,
    Cluster,
    /// It calls a system of another name.
    Misnamed,
    Lane,
    /// It is nowhere that can be called.
    Place,
    /// It is not among those who are spoken with.
    NotAllowed,
    /// It says that it is another node of the cluster.
    Impostor,
    /// It is a former life of a node that is known.
    Former,
    Tls,
    /// It begins with what is said later.
    NoGreeting,
    Garbage,
    Silent,
}

impl Oddity {
    const ALL: [Oddity; 12] = [
        Oddity::Versions,
        Oddity::Cluster,
        Oddity::Misnamed,
        Oddity::Lane,
        Oddity::Place,
        Oddity::NotAllowed,
        Oddity::Impostor,
        Oddity::Former,
        Oddity::Tls,
        Oddity::NoGreeting,
        Oddity::Garbage,
        Oddity::Silent,
    ];

    /// Why it is not taken; what is no greeting has no answer.
    pub(super) fn reason(self) -> Option<RefuseReason> {
        match self {
            Oddity::Versions => Some(RefuseReason::Version),
            Oddity::Cluster => Some(RefuseReason::Cluster),
            Oddity::Misnamed => Some(RefuseReason::Node),
            Oddity::Lane => Some(RefuseReason::Duplicate),
            Oddity::Place | Oddity::NotAllowed | Oddity::Impostor | Oddity::Tls => Some(RefuseReason::Forbidden),
            Oddity::Former => Some(RefuseReason::Quarantined),
            Oddity::NoGreeting | Oddity::Garbage | Oddity::Silent => None,
        }
    }

    /// What it says first, from one node to another.
    fn words(self, from: usize, to: usize, sim: &Sim) -> Vec<u8> {
        let mut hello = Hello {
            versions: VERSIONS,
            cluster: super::CLUSTER.into(),
            system: "stranger".into(),
            node: at(from).into(),
            incarnation: 1,
            lane: Lane::Control,
            capabilities: Vec::new(),
            compressions: Vec::new(),
            called: Vec::new(),
            bounds: Bounds::default(),
        };
        match self {
            Oddity::Versions => hello.versions = (VERSIONS.1 + 1 + (sim.random() % 9) as u16, u16::MAX),
            Oddity::Cluster => hello.cluster = "another".into(),
            Oddity::Misnamed => hello.called = vec!["somebody-else".into()],
            Oddity::Lane => hello.lane = Lane::Large,
            Oddity::Place => hello.node = "nowhere".into(),
            Oddity::NotAllowed => hello.node = format!("n{from}:1").into(),
            Oddity::Impostor => {
                hello.node = at((0..NODES).find(|node| *node != from && *node != to).unwrap_or(to)).into()
            }
            Oddity::Former => {}
            Oddity::Tls => return vec![0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5],
            Oddity::NoGreeting => return bytes_of(&Frame::Heartbeat { nonce: 7 }),
            Oddity::Garbage => return (0..1 + sim.random() % 200).map(|_| sim.random() as u8).collect(),
            Oddity::Silent => return Vec::new(),
        }
        bytes_of(&Frame::Hello(hello))
    }
}

fn bytes_of(frame: &Frame) -> Vec<u8> {
    let mut out = BytesMut::new();
    let _ = FrameWriter::new(&mut out).frame(frame); // none of these is too large
    out.to_vec()
}

/// How a call ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Refused(RefuseReason, String),
    Welcome,
    /// Something that is no answer.
    Strange(String),
    /// The connection ended, or there was none.
    End,
    Nothing,
}

/// A stranger that calls from the machine of one node at the door of another.
pub(super) struct Stranger {
    pub(super) oddity: Oddity,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Stranger {
    fn draw(sim: &Sim) -> Self {
        let to = sim.random() as usize % NODES;
        Stranger {
            oddity: Oddity::ALL[sim.random() as usize % Oddity::ALL.len()],
            from: (to + 1 + sim.random() as usize % (NODES - 1)) % NODES,
            to,
        }
    }

    async fn call(&self, sim: &Sim, machine: &Node) -> Answer {
        let answer = async {
            let Ok(mut stream) = machine.connect(&format!("n{}", self.to), super::PORT).await else {
                return Answer::End;
            };
            if stream
                .write_all(&self.oddity.words(self.from, self.to, sim))
                .await
                .is_err()
            {
                return Answer::End;
            }
            hear(&mut stream).await
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            () = sim.sleep(PATIENCE) => Answer::Nothing,
        }
    }
}

/// The answer, up to the end of the connection.
async fn hear(stream: &mut SimStream) -> Answer {
    let mut decoder = FrameDecoder::new(Limits::default());
    let mut heard = None;
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => {
                let answer = match frame {
                    _ if heard.is_some() => Answer::Strange(format!("{} behind the answer", frame.kind())),
                    Frame::Refuse(refuse) => Answer::Refused(refuse.reason, refuse.text.as_str().to_owned()),
                    Frame::Welcome(_) => return Answer::Welcome,
                    other => Answer::Strange(other.kind().to_string()),
                };
                heard = Some(answer);
                continue;
            }
            Ok(None) => {}
            Err(error) => return Answer::Strange(error.to_string()),
        }
        if !matches!(stream.read_buf(decoder.buffer()).await, Ok(1..)) {
            return heard.unwrap_or(Answer::End);
        }
    }
}

/// Some call at any time while there is trouble: what they hear is true, if they hear anything.
pub(super) fn call_in_trouble(sim: &Sim, nodes: &[Node], paper: &Paper) {
    for _ in 0..sim.random() % 6 {
        let stranger = Stranger::draw(sim);
        let when = Duration::from_millis(sim.random() % TROUBLE.as_millis() as u64);
        // In a former life of itself a node may not be known yet, and then it is none.
        if stranger.oddity == Oddity::Former {
            continue;
        }
        let machine = nodes[stranger.from].clone();
        let (sim, paper) = (sim.clone(), paper.clone());
        nodes[stranger.from].spawn(async move {
            sim.sleep(when).await;
            let before = paper.open().present(stranger.to);
            let answer = stranger.call(&sim, &machine).await;
            paper.open().visited(&stranger, before, answer, Visited::InTrouble);
        });
    }
}

/// One of each kind calls when nothing else happens: each is told why, or that it is the end, and counted.
pub(super) async fn call_at_rest(sim: &Sim, nodes: &[Node], paper: &Paper) {
    for oddity in Oddity::ALL {
        let stranger = Stranger {
            oddity,
            ..Stranger::draw(sim)
        };
        let Some(before) = paper.open().present(stranger.to) else {
            continue;
        };
        if oddity == Oddity::Former && !before.is_connected(stranger.from) {
            continue;
        }
        let answer = stranger.call(sim, &nodes[stranger.from]).await;
        // Who was refused is heard out, and counted when it has left.
        let latest = sim.now() + PATIENCE;
        while !paper.open().has_counted(&before) && sim.now() < latest {
            sim.sleep(LOOK).await;
        }
        paper.open().visited(&stranger, Some(before), answer, Visited::AtRest);
    }
}
