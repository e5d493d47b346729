//! Dispatchers of the user's own.

use tokio::runtime::Handle;

use super::builder::StartError;
use super::core::MAX_OWN;
use super::settings::Settings;
use crate::dispatch::PoolConfig;

/// A dispatcher of your own: workers, and how many messages one actor handles before the next has
/// its turn.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// let reports = DispatcherOptions::new().workers(2).throughput(8);
/// let system = ActorSystem::builder("shop").dispatcher("reports", reports).start().await?;
/// let report = system.spawn(Account::default).dispatcher(Dispatcher::Named("reports".to_owned())).await?;
/// assert_eq!(report.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct DispatcherOptions {
    workers: Option<usize>,
    throughput: Option<usize>,
    executor: Option<Handle>,
}

impl DispatcherOptions {
    /// As many workers as the default dispatcher, with its budget.
    ///
    /// ```
    /// let _ = volary_core::DispatcherOptions::new();
    /// ```
    pub fn new() -> Self {
        DispatcherOptions::default()
    }

    /// How many workers; 2 to 1,024.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, DispatcherOptions};
    /// let none = DispatcherOptions::new().workers(0);
    /// assert!(ActorSystem::builder("shop").dispatcher("reports", none).start_now().is_err());
    /// ```
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// How many messages in one turn; 8 to 256.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, DispatcherOptions};
    /// let none = DispatcherOptions::new().throughput(0);
    /// assert!(ActorSystem::builder("shop").dispatcher("reports", none).start_now().is_err());
    /// ```
    pub fn throughput(mut self, messages: usize) -> Self {
        self.throughput = Some(messages);
        self
    }

    /// A tokio runtime of its own for the workers, so that what these actors do cannot hold up anybody
    /// else's threads, sockets or timers. It must outlive the system, which does not shut it down.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    /// let options = DispatcherOptions::new().executor(runtime.handle().clone());
    /// # volary_core::run(async {
    /// let system = ActorSystem::builder("shop").dispatcher("reports", options).start().await?;
    /// let report = system.spawn(Account::default).dispatcher(Dispatcher::Named("reports".to_owned())).await?;
    /// assert_eq!(report.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?;
    /// # Ok(()) }) }
    /// ```
    pub fn executor(mut self, runtime: Handle) -> Self {
        self.executor = Some(runtime);
        self
    }
}

/// What the pools will be, or the first thing that is wrong.
pub(super) fn check(
    wanted: &[(String, DispatcherOptions)],
    settings: &Settings,
) -> Result<Vec<(String, PoolConfig)>, StartError> {
    let mut pools: Vec<(String, PoolConfig)> = Vec::new();
    for (name, options) in wanted {
        let wrong = |setting, value: String, allowed| StartError::Dispatcher {
            name: name.clone(),
            setting,
            value,
            allowed,
        };
        if name.is_empty()
            || ["default", "blocking", "pinned"].contains(&name.as_str())
            || pools.iter().any(|(n, _)| n == name)
        {
            return Err(wrong(
                "name",
                format!("{name:?}"),
                "a name of its own, not default, blocking or pinned",
            ));
        }
        if pools.len() == MAX_OWN {
            return Err(wrong("number of dispatchers", wanted.len().to_string(), "at most 250"));
        }
        let workers = options.workers.unwrap_or(settings.workers());
        if !(2..=1024).contains(&workers) {
            return Err(wrong("workers", workers.to_string(), "2 to 1024"));
        }
        let throughput = options.throughput.unwrap_or(settings.throughput());
        if !(8..=256).contains(&throughput) {
            return Err(wrong("throughput", throughput.to_string(), "8 to 256"));
        }
        pools.push((
            name.clone(),
            PoolConfig {
                workers,
                budget: throughput as u32,
                executor: options.executor.clone(),
            },
        ));
    }
    Ok(pools)
}
