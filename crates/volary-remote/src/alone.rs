//! For tests: a node that is alone in a world of one thread, and connections that are made by hand.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::SystemTime;

use bytes::BytesMut;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use volary_core::{ActorSystem, BoxTask, Driver, Env, Moment, SeededEnv};
use volary_wire::native::{Bounds, Capabilities, Frame, FrameDecoder, FrameWriter, Limits};

use crate::link::{Caller, Greeting};
use crate::peer::Peer;
use crate::shared::Shared;
use crate::transport::{BoxFuture, Connection, Listener, Transport};
use crate::{Remote, RemoteBuilder};

/// Who is at the other end of connections, and of whom nobody else knows.
pub(crate) const PEER: &str = "127.0.0.1:9";

pub(crate) struct Alone {
    pub(crate) world: World,
    pub(crate) system: ActorSystem,
    pub(crate) remote: Remote,
    /// When it has dialled.
    pub(crate) dialled: Arc<Mutex<Vec<Moment>>>,
}

impl Alone {
    pub(crate) fn start(builder: RemoteBuilder) -> Self {
        let world = World {
            env: SeededEnv::new(7),
            next_task: Arc::default(),
        };
        let dialled = Arc::default();
        let nobody = Nobody(world.clone(), Arc::clone(&dialled));
        let (system, remote) = world.env.block_on(async {
            let system = ActorSystem::builder("one").environment(world.clone());
            let system = system.ignore_environment().settings(|s| s.log_config(false));
            let system = system.start().await.unwrap();
            let remote = builder.transport(nobody).start(&system, "127.0.0.1:1").await.unwrap();
            (system, remote)
        });
        Alone {
            world,
            system,
            remote,
            dialled,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.remote.shared()
    }

    pub(crate) fn peer(&self) -> Arc<Peer> {
        self.shared().peer(PEER).unwrap()
    }

    /// Runs everything that can run without time passing.
    pub(crate) fn settle(&self) {
        self.world.env.run_until_idle();
    }
}

type Change = Box<dyn FnOnce(BoxTask) -> BoxTask + Send>;

/// One thread and a clock that moves when it is told to. The next task can be changed before it is run.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) env: SeededEnv,
    next_task: Arc<Mutex<Option<Change>>>,
}

impl World {
    pub(crate) fn change_next_task(&self, change: impl FnOnce(BoxTask) -> BoxTask + Send + 'static) {
        *self.next_task.lock() = Some(Box::new(change));
    }
}

impl Env for World {
    fn now(&self) -> Moment {
        self.env.now()
    }
    fn wall(&self) -> SystemTime {
        self.env.wall()
    }
    fn random(&self) -> u64 {
        self.env.random()
    }
    fn spawn(&self, task: BoxTask) {
        let change = self.next_task.lock().take();
        self.env.spawn(match change {
            Some(change) => change(task),
            None => task,
        });
    }
    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        None
    }
    fn parallelism(&self) -> usize {
        1
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        None
    }
    fn is_simulated(&self) -> bool {
        true
    }
    fn attach(&self, driver: Weak<dyn Driver>) -> io::Result<()> {
        self.env.attach(driver)
    }
    fn timer_changed(&self, next: Moment) {
        self.env.timer_changed(next);
    }
}

/// Nobody calls, and nobody answers.
struct Nobody(World, Arc<Mutex<Vec<Moment>>>);

struct Silence;

impl Transport for Nobody {
    fn listen<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        let silence: Box<dyn Listener> = Box::new(Silence);
        Box::pin(std::future::ready(Ok(silence)))
    }
    fn connect<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        self.1.lock().push(self.0.now());
        Box::pin(std::future::ready(Err(io::ErrorKind::ConnectionRefused.into())))
    }
}

impl Listener for Silence {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(std::future::pending())
    }
    fn port(&self) -> u16 {
        1
    }
}

/// The far end of a connection.
#[derive(Clone, Default)]
pub(crate) struct Wire(Arc<Mutex<Ends>>);

#[derive(Default)]
struct Ends {
    /// What is to be read here.
    said: VecDeque<u8>,
    reader: Option<Waker>,
    /// What was written here, and how much more is taken.
    heard: Vec<u8>,
    /// With how many calls.
    writes: usize,
    room: usize,
    writer: Option<Waker>,
    /// The halves that were let go.
    gone: (bool, bool),
}

impl Wire {
    /// A connection that takes so many bytes before it is full.
    pub(crate) fn new(room: usize) -> Self {
        let wire = Wire::default();
        wire.0.lock().room = room;
        wire
    }

    /// The near end, as if the peer had called.
    pub(crate) fn greeting(&self, incarnation: u64) -> Greeting {
        Greeting {
            reader: Box::new(ReadHalf(self.clone())),
            writer: self.write_half(),
            decoder: FrameDecoder::new(Limits::default()),
            node: PEER.to_owned(),
            system: "stranger".to_owned(),
            incarnation,
            caller: Caller::They,
            identity: None,
            compression: None,
            capabilities: Capabilities::all(),
            bounds: Bounds::default(),
        }
    }

    pub(crate) fn write_half(&self) -> Box<dyn AsyncWrite + Send + Unpin> {
        Box::new(WriteHalf(self.clone()))
    }

    /// All of it is there to be read at once.
    pub(crate) fn say(&self, frames: impl IntoIterator<Item = Frame>) {
        let mut bytes = BytesMut::new();
        for frame in frames {
            FrameWriter::new(&mut bytes).frame(&frame).unwrap();
        }
        let mut ends = self.0.lock();
        ends.said.extend(bytes);
        if let Some(reader) = ends.reader.take() {
            reader.wake();
        }
    }

    /// How many bytes were written.
    pub(crate) fn heard(&self) -> usize {
        self.0.lock().heard.len()
    }

    /// That, read.
    pub(crate) fn heard_frames(&self) -> Vec<Frame> {
        let mut decoder = FrameDecoder::new(Limits::default());
        decoder.feed(&self.0.lock().heard);
        std::iter::from_fn(|| decoder.next_frame().unwrap()).collect()
    }

    /// With how many calls they were written.
    pub(crate) fn writes(&self) -> usize {
        self.0.lock().writes
    }

    /// What was written behind so many bytes.
    pub(crate) fn heard_from(&self, start: usize) -> Vec<u8> {
        self.0.lock().heard[start..].to_vec()
    }

    /// Takes so many bytes more.
    pub(crate) fn make_room(&self, room: usize) {
        let mut ends = self.0.lock();
        ends.room += room;
        if let Some(writer) = ends.writer.take() {
            writer.wake();
        }
    }

    /// Whether the half that is read, and the one that is written, were let go of.
    pub(crate) fn gone(&self) -> (bool, bool) {
        self.0.lock().gone
    }
}

struct ReadHalf(Wire);
struct WriteHalf(Wire);

impl AsyncRead for ReadHalf {
    fn poll_read(self: Pin<&mut Self>, task: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let ends = &mut *self.0.0.lock();
        if ends.said.is_empty() {
            ends.reader = Some(task.waker().clone());
            return Poll::Pending;
        }
        let count = ends.said.len().min(out.remaining());
        let bytes: Vec<u8> = ends.said.drain(..count).collect();
        out.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(task, &[io::IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let ends = &mut *self.0.0.lock();
        if ends.room == 0 {
            ends.writer = Some(task.waker().clone());
            return Poll::Pending;
        }
        let before = ends.heard.len();
        let room = ends.room;
        ends.heard
            .extend(slices.iter().flat_map(|slice| slice.iter()).take(room));
        let count = ends.heard.len() - before;
        ends.room -= count;
        ends.writes += 1;
        Poll::Ready(Ok(count))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for ReadHalf {
    fn drop(&mut self) {
        self.0.0.lock().gone.0 = true;
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        self.0.0.lock().gone.1 = true;
    }
}
