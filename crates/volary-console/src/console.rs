//! What a console is to do, and starting it.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use volary_core::{ActorSystem, HookError, ShutdownHook, shutdown};

use crate::connection::Patience;
use crate::running::Running;

const CONNECTIONS: u32 = 64;
const MAX_CONNECTIONS: u32 = 10_000;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3600);

/// A console that does not listen yet.
///
/// ```
/// # use volary_console::Console;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("shop").start().await?;
/// let console = Console::bind("127.0.0.1:0").connections(16).serve(&system)?;
/// println!("http://{}/ready", console.local_addr());
/// # assert!(console.local_addr().ip().is_loopback());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a console listens when it serves a system"]
pub struct Console {
    address: String,
    reach: Reach,
    connections: u32,
    patience: Patience,
}

/// Who can get at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    ThisMachine,
    Anywhere,
}

impl Console {
    /// At an address of this machine's loopback interface, such as `127.0.0.1:9090` or `[::1]:9090`; port 0 takes any
    /// that is free.
    ///
    /// ```
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// assert!(Console::bind("127.0.0.1:0").serve(&system).is_ok());
    /// assert!(Console::bind("0.0.0.0:0").serve(&system).is_err(), "others could reach that");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn bind(address: impl Into<String>) -> Self {
        Console {
            address: address.into(),
            reach: Reach::ThisMachine,
            connections: CONNECTIONS,
            patience: Patience {
                request: REQUEST_TIMEOUT,
                answer: ANSWER_TIMEOUT,
            },
        }
    }

    /// At any address, such as `0.0.0.0:9090`: everybody who reaches it can read the figures. There is no
    /// encryption and no password.
    ///
    /// ```
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// let console = Console::bind_beyond_loopback("0.0.0.0:0").serve(&system)?;
    /// assert!(console.local_addr().ip().is_unspecified());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn bind_beyond_loopback(address: impl Into<String>) -> Self {
        Console {
            reach: Reach::Anywhere,
            ..Console::bind(address)
        }
    }

    /// How many connections are open at most, 64 unless set; others wait in the queue of the listener. 1 to 10,000.
    ///
    /// ```
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// assert!(Console::bind("127.0.0.1:0").connections(8).serve(&system).is_ok());
    /// assert!(Console::bind("127.0.0.1:0").connections(0).serve(&system).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn connections(mut self, most: u32) -> Self {
        self.connections = most;
        self
    }

    /// Within which time a request must have come, 5 seconds unless set; more than 0, up to an hour.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// let console = Console::bind("127.0.0.1:0").request_timeout(Duration::from_millis(5)).serve(&system)?;
    /// let silent = tokio::net::TcpStream::connect(console.local_addr()).await?;
    /// # while console.traffic().timed_out == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(console.traffic().timed_out, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.patience.request = timeout;
        self
    }

    /// Within which time an answer must have been taken, 5 seconds unless set; more than 0, up to an hour.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// assert!(Console::bind("127.0.0.1:0").answer_timeout(Duration::from_secs(1)).serve(&system).is_ok());
    /// assert!(Console::bind("127.0.0.1:0").answer_timeout(Duration::ZERO).serve(&system).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn answer_timeout(mut self, timeout: Duration) -> Self {
        self.patience.answer = timeout;
        self
    }

    /// Listens, on the tokio runtime that this is called on, until the system has stopped its actors. The runtime must
    /// have I/O and time enabled, as it has unless it was built by hand.
    ///
    /// ```
    /// # use volary_console::Console;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// let console = Console::bind("127.0.0.1:0").serve(&system)?;
    /// assert_ne!(console.local_addr().port(), 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the address cannot be listened at, an option is out of bounds, there is no runtime, or the system is down.
    pub fn serve(self, system: &ActorSystem) -> Result<Running, ConsoleError> {
        self.check()?;
        let runtime = Handle::try_current().map_err(|_| ConsoleError::NoRuntime)?;
        let (listener, address) = self.listen()?;
        let running = Running::start(
            listener,
            address,
            system.clone(),
            self.connections,
            self.patience,
            &runtime,
        );
        let closed = running.clone();
        let hook = ShutdownHook::new(shutdown::AFTER_ACTORS, "console", move || {
            let closed = closed.clone();
            async move { closed.close().await }
        });
        // An answer that is under way may take its time, and a refused client may linger for as long.
        let hook = hook.timeout(2 * self.patience.answer + Duration::from_secs(1));
        if let Err(error) = system.on_shutdown(hook) {
            running.close_at_once();
            return Err(ConsoleError::Stopped(error));
        }
        Ok(running)
    }

    fn check(&self) -> Result<(), ConsoleError> {
        let fits = |time: Duration| !time.is_zero() && time <= HOUR;
        let allowed = "more than 0 and at most an hour";
        let options = [
            (
                (1..=MAX_CONNECTIONS).contains(&self.connections),
                "connections",
                self.connections.to_string(),
                "1 to 10000",
            ),
            (
                fits(self.patience.request),
                "request_timeout",
                format!("{:?}", self.patience.request),
                allowed,
            ),
            (
                fits(self.patience.answer),
                "answer_timeout",
                format!("{:?}", self.patience.answer),
                allowed,
            ),
        ];
        match options.into_iter().find(|(fits, ..)| !fits) {
            None => Ok(()),
            Some((_, option, value, allowed)) => Err(ConsoleError::Option { option, value, allowed }),
        }
    }

    fn listen(&self) -> Result<(TcpListener, SocketAddr), ConsoleError> {
        let address: SocketAddr = self.address.parse().map_err(|_| ConsoleError::Address {
            address: self.address.clone(),
        })?;
        if self.reach == Reach::ThisMachine && !address.ip().is_loopback() {
            return Err(ConsoleError::BeyondLoopback { address });
        }
        let taken = |source| ConsoleError::Listen { address, source };
        let listener = StdListener::bind(address).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        Ok((TcpListener::from_std(listener).map_err(taken)?, address))
    }
}

/// Why a console does not listen.
///
/// ```
/// # use volary_console::{Console, ConsoleError};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("shop").start().await?;
/// let error = Console::bind("0.0.0.0:9090").serve(&system).unwrap_err();
/// assert!(matches!(error, ConsoleError::BeyondLoopback { .. }));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// Write an IP address and a port.
    #[error("console: {address:?} is no address; write one such as 127.0.0.1:9090")]
    Address {
        /// What was given.
        address: String,
    },
    /// Choose a loopback address, or say that others may read it.
    #[error("console: {address} can be reached from other machines; if that is meant, use bind_beyond_loopback")]
    BeyondLoopback {
        /// What was given.
        address: SocketAddr,
    },
    /// Choose an address of this machine with a port that is free, or port 0.
    #[error("console: cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Give the option a value that is allowed.
    #[error("console: {option} is {value}, allowed is {allowed}")]
    Option {
        /// Which option.
        option: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// Call it on a tokio runtime, which is to run it.
    #[error("console: there is no tokio runtime here to run it")]
    NoRuntime,
    /// There is nothing to show any more.
    #[error("console: the system is down: {0}")]
    Stopped(#[source] HookError),
}
