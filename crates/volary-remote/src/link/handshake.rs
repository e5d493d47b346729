//! The first words of a connection: who calls, who answers, and whether they will talk.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use volary_core::tree::Node;
use volary_wire::native::{
    Bounds, Capabilities, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, Refuse, RefuseReason, VERSIONS,
    Welcome,
};

use super::within;
use crate::compression::Compression;
use crate::peer::Called;
use crate::shared::{Shared, cut};
use crate::transport::{Connection, Identity, host_of};
use crate::trust::{is_itself, is_unspecified};

/// How much of what a caller says is heard when it was refused, and for how long.
const HEARD_OUT: u64 = 1 << 20;
const HEARD_OUT_FOR: Duration = Duration::from_secs(1);

/// A connection whose other side is known.
pub(crate) struct Greeting {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) decoder: FrameDecoder,
    pub(crate) node: String,
    /// What its system calls itself.
    pub(crate) system: String,
    pub(crate) incarnation: u64,
    pub(crate) caller: Caller,
    /// Who the other side is for certain.
    pub(crate) identity: Option<Identity>,
    /// Of everything behind the handshake, in both directions.
    pub(crate) compression: Option<Compression>,
    /// What both sides can.
    pub(crate) capabilities: Capabilities,
    /// What the other side takes.
    pub(crate) bounds: Bounds,
}

/// Who made a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    We,
    They,
}

/// Why there was no greeting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ungreeted {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it broke a rule: {0}")]
    Rule(String),
    #[error("it refused: {text}")]
    Refused { reason: RefuseReason, text: String },
    #[error("we refused: {0}")]
    WeRefused(String),
    #[error("it speaks TLS, and this node does not")]
    Tls,
}

impl Ungreeted {
    /// The connection ended, and that says nothing.
    fn is_end(&self) -> bool {
        use io::ErrorKind::*;
        matches!(self, Ungreeted::Io(error)
            if error.get_ref().is_none()
                && matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe | NotConnected))
    }

    /// The other side has a connection of its own on the way.
    pub(crate) fn is_duplicate(&self) -> bool {
        matches!(
            self,
            Ungreeted::Refused {
                reason: RefuseReason::Duplicate,
                ..
            }
        )
    }
}

/// Introduces itself on a connection that was dialled.
pub(crate) async fn greet(
    shared: &Shared,
    mut connection: Connection,
    dialled: &str,
    called: &Called,
) -> Result<Greeting, Ungreeted> {
    // Before anything is said to it.
    let of_cluster = shared
        .trust
        .is_of_cluster(connection.identity.as_ref(), &shared.cluster);
    of_cluster.map_err(Ungreeted::WeRefused)?;
    let offered = shared.compressions(dialled);
    let hello = Frame::Hello(Hello {
        versions: VERSIONS,
        cluster: shared.cluster.as_str().into(),
        system: shared.system.name().into(),
        node: shared.node.as_str().into(),
        incarnation: shared.incarnation,
        lane: Lane::Control,
        capabilities: Capabilities::all().names(),
        compressions: offered.iter().map(|one| one.name().into()).collect(),
        called: called.names(),
        bounds: Bounds::of(&shared.options.limits()).with_window(shared.options.window),
    });
    let said = say(&mut connection, &hello).await;
    let mut decoder = FrameDecoder::new(first_words());
    // Who does not listen may have said why.
    let heard = hear(&mut connection, &mut decoder).await;
    match heard.map_err(|error| said.err().filter(|_| error.is_end()).unwrap_or(error))? {
        Frame::Welcome(welcome) if !(VERSIONS.0..=VERSIONS.1).contains(&welcome.version) => Err(Ungreeted::Rule(
            format!("it chose version {}, which was not offered", welcome.version),
        )),
        Frame::Welcome(welcome) => {
            decoder.set_limits(shared.options.limits());
            is_itself(connection.identity.as_ref(), welcome.node.as_str()).map_err(Ungreeted::WeRefused)?;
            // It has heard so, unless it does not listen to that, or there are too many names.
            called.check(welcome.system.as_str()).map_err(Ungreeted::WeRefused)?;
            let chosen = welcome.compression.as_ref().map(|name| {
                let chosen = offered.iter().find(|one| one.name() == name.as_str());
                let strange = || Ungreeted::Rule(format!("it chose {:?}, which was not offered", name.as_str()));
                chosen.copied().ok_or_else(strange)
            });
            Ok(Greeting {
                reader: connection.reader,
                writer: connection.writer,
                decoder,
                node: welcome.node.as_str().to_owned(),
                system: welcome.system.as_str().to_owned(),
                incarnation: welcome.incarnation,
                capabilities: Capabilities::of(&welcome.capabilities) & Capabilities::all(),
                bounds: welcome.bounds,
                identity: connection.identity,
                compression: chosen.transpose()?,
                caller: Caller::We,
            })
        }
        Frame::Refuse(refuse) => Err(Ungreeted::Refused {
            reason: refuse.reason,
            text: refuse.text.as_str().to_owned(),
        }),
        other => Err(Ungreeted::Rule(format!("it began with {}", other.kind()))),
    }
}

/// Hears who calls on a connection that was accepted, and answers if `admit` does not say why not. A connection that was
/// refused is left in `unheard`: the other side may have said more, see `hear_out`.
pub(crate) async fn accept(
    shared: &Shared,
    mut connection: Connection,
    admit: impl FnOnce(&str, u64) -> Result<(), (RefuseReason, String)>,
    unheard: &mut Option<Connection>,
) -> Result<Greeting, Ungreeted> {
    let mut decoder = FrameDecoder::new(first_words());
    let hello = match hear(&mut connection, &mut decoder).await {
        Ok(Frame::Hello(hello)) => hello,
        Ok(other) => return Err(Ungreeted::Rule(format!("it began with {}", other.kind()))),
        Err(error @ Ungreeted::Tls) => {
            // What is no TLS tells the other side enough.
            let _ = refuse(&mut connection, RefuseReason::Forbidden, "no TLS is spoken here").await;
            *unheard = Some(connection);
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let verdict = judge(shared, &hello)
        .and_then(|()| {
            let forbidden = |text| (RefuseReason::Forbidden, text);
            is_itself(connection.identity.as_ref(), hello.node.as_str()).map_err(forbidden)
        })
        .and_then(|()| {
            let of_another = |text| (RefuseReason::Cluster, text);
            let of_cluster = shared
                .trust
                .is_of_cluster(connection.identity.as_ref(), &shared.cluster);
            of_cluster.map_err(of_another)
        })
        .and_then(|()| admit(hello.node.as_str(), hello.incarnation));
    if let Err((reason, text)) = verdict {
        // It has words of the caller in it, who may hear some of them again.
        let text = cut(&text).to_owned();
        refuse(&mut connection, reason, &text).await?;
        *unheard = Some(connection);
        return Err(Ungreeted::WeRefused(text));
    }
    let taken = shared.compressions(hello.node.as_str());
    let compression = hello
        .compressions
        .iter()
        .filter_map(|name| Compression::named(name.as_str()))
        .find(|one| taken.contains(one));
    let capabilities = Capabilities::of(&hello.capabilities) & Capabilities::all();
    let welcome = Frame::Welcome(Welcome {
        version: hello.versions.1.min(VERSIONS.1),
        system: shared.system.name().into(),
        node: shared.node.as_str().into(),
        incarnation: shared.incarnation,
        capabilities: capabilities.names(),
        compression: compression.map(|one| one.name().into()),
        bounds: Bounds::of(&shared.options.limits()).with_window(shared.options.window),
    });
    say(&mut connection, &welcome).await?;
    decoder.set_limits(shared.options.limits());
    Ok(Greeting {
        reader: connection.reader,
        writer: connection.writer,
        decoder,
        node: hello.node.as_str().to_owned(),
        system: hello.system.as_str().to_owned(),
        incarnation: hello.incarnation,
        capabilities,
        bounds: hello.bounds,
        caller: Caller::They,
        identity: connection.identity,
        compression,
    })
}

fn judge(shared: &Shared, hello: &Hello) -> Result<(), (RefuseReason, String)> {
    let (low, high) = hello.versions;
    if high < VERSIONS.0 || low > VERSIONS.1 {
        let text = format!(
            "versions {} to {} are spoken here, not {low} to {high}",
            VERSIONS.0, VERSIONS.1
        );
        return Err((RefuseReason::Version, text));
    }
    if hello.cluster.as_str() != shared.cluster {
        return Err((
            RefuseReason::Cluster,
            format!("this is the cluster {:?}", shared.cluster),
        ));
    }
    let name = shared.system.name();
    if !hello.called.is_empty() && hello.called.iter().all(|called| called.as_str() != name) {
        let called: Vec<String> = hello
            .called
            .iter()
            .map(|one| format!("{:?}", cut(one.as_str())))
            .collect();
        let text = format!("this is the system {name:?}, not {}", called.join(" or "));
        return Err((RefuseReason::Node, text));
    }
    if hello.lane != Lane::Control {
        let text = "one connection carries everything here, that of the control lane".to_owned();
        return Err((RefuseReason::Duplicate, text));
    }
    // In one spelling only: or it would be another one to those who decide what it may.
    let itself = hello.node.as_str().parse().map(|node: Node| node.to_string());
    if itself.as_deref() != Ok(hello.node.as_str()) {
        let text = format!("{:?} is no node that can be reached", cut(hello.node.as_str()));
        return Err((RefuseReason::Forbidden, text));
    }
    // Nobody could call it back, and every machine could be meant.
    if is_unspecified(host_of(hello.node.as_str())) {
        let text = format!(
            "{:?} stands for all addresses of a machine: it has to advertise the one by which others reach it",
            cut(hello.node.as_str())
        );
        return Err((RefuseReason::Forbidden, text));
    }
    Ok(())
}

/// Says why not.
async fn refuse(connection: &mut Connection, reason: RefuseReason, text: &str) -> Result<(), Ungreeted> {
    let text = text.into();
    say(connection, &Frame::Refuse(Refuse { reason, text })).await
}

/// Hears out the other side, which was refused: to close while words of it are unread would be a reset, which takes back
/// what it was told.
pub(crate) async fn hear_out(shared: &Shared, mut connection: Connection) {
    let _ = connection.writer.shutdown().await;
    let mut words = (&mut connection.reader).take(HEARD_OUT);
    let _ = within(
        &shared.system,
        HEARD_OUT_FOR,
        tokio::io::copy(&mut words, &mut tokio::io::sink()),
    )
    .await;
}

/// Whoever is not known yet may not say much.
fn first_words() -> Limits {
    let mut limits = Limits::default();
    limits.max_frame = 64 << 10;
    limits.read_step = 4 << 10;
    limits
}

/// Whether these are the first bytes of TLS, a handshake or an alert. No frame begins so: it would be too long.
fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 0x03, ..])
}

async fn say(connection: &mut Connection, frame: &Frame) -> Result<(), Ungreeted> {
    let mut out = bytes::BytesMut::new();
    FrameWriter::new(&mut out)
        .frame(frame)
        .map_err(|error| Ungreeted::Rule(error.to_string()))?;
    connection.writer.write_all(&out).await?;
    connection.writer.flush().await?;
    Ok(())
}

async fn hear(connection: &mut Connection, decoder: &mut FrameDecoder) -> Result<Frame, Ungreeted> {
    loop {
        if is_tls(decoder.buffer()) {
            return Err(Ungreeted::Tls);
        }
        let frame = decoder
            .next_frame()
            .map_err(|error| Ungreeted::Rule(error.to_string()))?;
        if let Some(frame) = frame {
            return Ok(frame);
        }
        if connection.reader.read_buf(decoder.buffer()).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}
