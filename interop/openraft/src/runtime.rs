//! openraft's runtime: static functions that ask for the node they are called on.

use std::fmt;
use std::future::Future;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use openraft::{AsyncRuntime, OptionalSend};
use openraft_rt_tokio::{TokioMpsc, TokioMutex, TokioOneshot};
use tokio::sync::oneshot;
use volary::Moment;
use volary_testkit::sim::{self, Node};

use crate::watch::InOrder;

/// The runtime of the node whose code runs.
#[derive(Debug)]
pub struct OnNode;

fn here() -> Node {
    sim::current().expect("openraft is called by code of a node")
}

impl AsyncRuntime for OnNode {
    type JoinError = Gone;
    type JoinHandle<T: OptionalSend + 'static> = Joined<T>;
    type Sleep = Sleep;
    type Instant = Instant;
    type TimeoutError = Late;
    type Timeout<R, T: Future<Output = R> + OptionalSend> = Limited<T>;
    type ThreadLocalRng = Seeded;
    type Mpsc = TokioMpsc;
    type Watch = InOrder;
    type Oneshot = TokioOneshot;
    type Mutex<T: OptionalSend + 'static> = TokioMutex<T>;

    fn spawn<T>(future: T) -> Joined<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        here().spawn(async move {
            let _ = sender.send(future.await);
        });
        Joined(receiver)
    }

    fn sleep(time: Duration) -> Sleep {
        Box::pin(here().sleep(time))
    }

    fn sleep_until(deadline: Instant) -> Sleep {
        Self::sleep(deadline - <Instant as openraft::Instant>::now())
    }

    fn timeout<R, F: Future<Output = R> + OptionalSend>(time: Duration, future: F) -> Limited<F> {
        Limited {
            future: Box::pin(future),
            limit: Self::sleep(time),
        }
    }

    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(deadline: Instant, future: F) -> Limited<F> {
        Limited {
            future: Box::pin(future),
            limit: Self::sleep_until(deadline),
        }
    }

    /// A panic ends the run, and never comes here.
    fn is_panic(_: &Gone) -> bool {
        false
    }

    fn thread_rng() -> Seeded {
        Seeded(here())
    }

    fn new(_threads: usize) -> Self {
        OnNode
    }

    fn block_on<F: Future<Output = T>, T>(&mut self, _: F) -> T {
        unimplemented!("there is one thread, and the simulator has it: use `Node::spawn`")
    }

    /// There is no other thread to block.
    async fn spawn_blocking<F, T>(work: F) -> Result<T, std::io::Error>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(work())
    }
}

/// A wait on the clock of a node.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a task ends with.
#[derive(Debug)]
pub struct Joined<T>(oneshot::Receiver<T>);

impl<T> Future for Joined<T> {
    type Output = Result<T, Gone>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(task).map_err(|_| Gone)
    }
}

/// The node of a task has crashed.
#[derive(Debug)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the node has crashed")
    }
}

/// A future that may take only so long.
pub struct Limited<F> {
    future: Pin<Box<F>>,
    limit: Sleep,
}

impl<F: Future> Future for Limited<F> {
    type Output = Result<F::Output, Late>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(task) {
            return Poll::Ready(Ok(output));
        }
        self.limit.as_mut().poll(task).map(|()| Err(Late))
    }
}

/// It took too long.
#[derive(Debug)]
pub struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it took too long")
    }
}

/// A moment of a node's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

/// openraft counts back from the present: a machine has been up for a day when a run begins.
const UPTIME: Duration = Duration::from_secs(86_400);

impl openraft::Instant for Instant {
    fn now() -> Self {
        Instant(UPTIME + here().now().since(Moment::ZERO))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Instant(self.0 + time)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        self.0 += time;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        Instant(self.0 - time)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, time: Duration) {
        self.0 -= time;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// Randomness of a node, from the seed.
pub struct Seeded(Node);

impl rand::TryRng for Seeded {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.0.random() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.0.random())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.random().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
