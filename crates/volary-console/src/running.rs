//! A console that listens.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use volary_core::ActorSystem;

use crate::closing::{Close, Closing, closing};
use crate::connection::{self, Patience};
use crate::traffic::{Counters, Traffic, count};

/// After an error of `accept`, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// A console that listens; from [`Console::serve`](crate::Console::serve). It goes on without this handle, until its
/// system stops.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("shop").start().await?;
/// let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
/// assert!(console.local_addr().ip().is_loopback());
/// console.close().await;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Running {
    shared: Arc<Shared>,
}

struct Shared {
    address: SocketAddr,
    close: Close,
    /// A place for each connection, and one for whoever accepts them.
    places: Arc<Semaphore>,
    all_places: u32,
    open: Arc<AtomicUsize>,
    traffic: Arc<Counters>,
}

impl Running {
    pub(crate) fn start(
        listener: TcpListener,
        address: SocketAddr,
        system: ActorSystem,
        connections: u32,
        patience: Patience,
        runtime: &Handle,
    ) -> Self {
        let (close, closing) = closing();
        let all_places = connections + 1;
        let shared = Arc::new(Shared {
            address,
            close,
            places: Arc::new(Semaphore::new(all_places as usize)),
            all_places,
            open: Arc::default(),
            traffic: Arc::default(),
        });
        let accepting = Accepting {
            listener,
            system,
            patience,
            closing,
            places: shared.places.clone(),
            open: shared.open.clone(),
            traffic: shared.traffic.clone(),
        };
        // Taken here, so that a close that comes at once waits for it.
        let place = shared.places.clone().try_acquire_owned();
        runtime.spawn(async move {
            accepting.run().await;
            drop(place);
        });
        Running { shared }
    }

    /// The same as `close`, for somebody who does not wait.
    pub(crate) fn close_at_once(&self) {
        self.shared.close.say();
    }

    /// Where it listens.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/get.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// # let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
    /// println!("http://{}/metrics", console.local_addr());
    /// # assert!(get(&console, "/metrics").await?.starts_with("HTTP/1.1 200"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.address
    }

    /// What became of its connections so far.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/get.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// # let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
    /// # get(&console, "/live").await?;
    /// assert_eq!(console.traffic().answered, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.shared.traffic.read()
    }

    /// How many connections are open.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// # let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
    /// assert_eq!(console.connections(), 0);
    /// let browser = tokio::net::TcpStream::connect(console.local_addr()).await?;
    /// # while console.connections() == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(console.connections(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.open.load(Relaxed)
    }

    /// Stops listening, cuts off who has not asked yet, and waits until those who have are answered, within the time
    /// for an answer. Cancel safe: the close goes on. Closed already, it returns.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/get.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// # let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
    /// console.close().await;
    /// assert!(get(&console, "/live").await.is_err(), "nobody listens");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub async fn close(&self) {
        self.shared.close.say();
        // An error would mean that somebody closed the semaphore, which nobody does.
        let _ = self.shared.places.acquire_many(self.shared.all_places).await;
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("address", &self.shared.address)
            .field("traffic", &self.traffic())
            .finish_non_exhaustive()
    }
}

struct Accepting {
    listener: TcpListener,
    system: ActorSystem,
    patience: Patience,
    closing: Closing,
    places: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
    traffic: Arc<Counters>,
}

/// A connection that is open, however it ends.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Relaxed);
        Open(open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Accepting {
    async fn run(mut self) {
        loop {
            // Without a place it does not accept: who comes waits in the queue of the listener.
            let Some(Ok(place)) = self.closing.or(self.places.clone().acquire_owned()).await else {
                return;
            };
            let stream = match self.closing.or(self.listener.accept()).await {
                None => return,
                Some(Ok((stream, _))) => stream,
                Some(Err(_)) => {
                    count(&self.traffic.broken);
                    if self.closing.or(tokio::time::sleep(PAUSE)).await.is_none() {
                        return;
                    }
                    continue;
                }
            };
            let (system, closing) = (self.system.clone(), self.closing.clone());
            let (patience, traffic) = (self.patience, self.traffic.clone());
            let open = Open::new(&self.open);
            Handle::current().spawn(async move {
                connection::serve(stream, system, patience, closing, &traffic).await;
                drop((open, place));
            });
        }
    }
}
