//! Building and starting a system: every step that fails undoes the earlier ones and says which.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::core::{Around, Guardians, Parts, SystemCore};
use super::dispatchers::{self, DispatcherOptions};
use super::handle::ActorSystem;
use super::observer::Observer;
use super::settings::{Settings, SettingsBuilder, SettingsError, process_environment};
use super::shutdown::{self, Course, HookError, PhaseError, PhasePlace, ShutdownHook};
use crate::actor::Actor;
use crate::cell::CellRef;
use crate::dispatch::{Elastic, Pool, PoolConfig};
use crate::env::{Driver, Env, TokioEnv};
use crate::extension::Extensions;
use crate::intercept::{Interceptor, Layers};
use crate::passivation::{Eviction, EvictionError};
use crate::reference::spawn_guardian;
use crate::telemetry::{Meter, Telemetry, TelemetrySink};
use crate::time::Timers;
use crate::tree::{NameError, validate_system_name};

/// Why a system did not start. Nothing is left running.
///
/// ```
/// # use volary_core::{ActorSystem, SystemStartError};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = ActorSystem::builder("no spaces, please").start().await.unwrap_err();
/// assert!(matches!(error, SystemStartError::Name { .. }));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system's name cannot be used.
    #[error("cannot name a system {name:?}: {reason}")]
    Name {
        /// The name that was given.
        name: String,
        /// What is wrong with it.
        #[source]
        reason: NameError,
    },
    /// Settings are wrong; each mistake is named.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// A dispatcher's options are wrong.
    #[error("dispatcher {name:?}: {setting} is {value}, allowed is {allowed}")]
    Dispatcher {
        /// The dispatcher.
        name: String,
        /// Which option.
        setting: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// The limit to actors that are awake makes no sense.
    #[error(transparent)]
    Eviction(#[from] EvictionError),
    /// A phase of the shutdown cannot have its name or its place.
    #[error("{0}")]
    Phase(#[from] PhaseError),
    /// The options of a shutdown hook are wrong.
    #[error("{0}")]
    Hook(#[from] HookError),
    /// The program aborts on panic, so a crashing actor would take everything with it.
    #[error(
        "this program is built with `panic = \"abort\"`: a panic in one actor would end the whole process. \
         Build with `panic = \"unwind\"`, or set `allow-panic-abort`"
    )]
    PanicAbort,
    /// Two extensions have the same type: give one of them a type of its own.
    #[error("there are two extensions of the type {extension}")]
    Extension {
        /// The type.
        extension: &'static str,
    },
    /// A share that is none.
    #[error("the share of messages that is measured is {share}, and must be between 0 and 1")]
    Telemetry {
        /// What was asked for.
        share: f64,
    },
    /// There is no thread for the clock, so no deadline would ever pass.
    #[error("cannot start the clock's thread: {0}")]
    Clock(#[source] std::io::Error),
    /// No runtime could be brought up.
    #[error("cannot start a tokio runtime: {0}")]
    Runtime(#[source] std::io::Error),
}

/// Starts an [`ActorSystem`]; made by [`ActorSystem::builder`].
///
/// Settings come from code, from `VOLARY_…` environment variables and from TOML files, in this order
/// of precedence, and are checked together.
///
/// ```
/// # use std::time::Duration;
/// # use volary_core::ActorSystem;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("bank")
///     .settings(|s| s.ask_timeout(Duration::from_secs(2)).throughput(64))
///     .toml_str("bank.toml", "stop-grace = \"1s\"")
///     .start()
///     .await?;
/// assert_eq!(system.settings().ask_timeout(), Duration::from_secs(2));
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a system is started by `start().await`"]
pub struct SystemBuilder {
    name: String,
    settings: SettingsBuilder,
    environment: Option<Arc<dyn Env>>,
    read_environment: bool,
    dispatchers: Vec<(String, DispatcherOptions)>,
    eviction: Option<Eviction>,
    phases: Vec<(String, PhasePlace)>,
    hooks: Vec<ShutdownHook>,
    layers: Layers,
    telemetry: Option<Telemetry>,
    sinks: Vec<Arc<dyn TelemetrySink>>,
    extensions: Extensions,
    twice: Option<&'static str>,
}

impl SystemBuilder {
    pub(super) fn new(name: String) -> Self {
        SystemBuilder {
            name,
            settings: Settings::builder(),
            environment: None,
            read_environment: true,
            dispatchers: Vec::new(),
            eviction: None,
            phases: Vec::new(),
            hooks: Vec::new(),
            layers: Layers::default(),
            telemetry: None,
            sinks: Vec::new(),
            extensions: Extensions::default(),
            twice: None,
        }
    }

    /// Sets settings in code; these win over the environment and files.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank").settings(|s| s.throughput(16)).start().await?;
    /// assert_eq!(system.settings().throughput(), 16);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn settings(mut self, set: impl FnOnce(SettingsBuilder) -> SettingsBuilder) -> Self {
        self.settings = set(self.settings);
        self
    }

    /// Reads settings from a TOML file when the system starts.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("volary-{}.toml", std::process::id()));
    /// std::fs::write(&path, "throughput = 16")?;
    /// let system = ActorSystem::builder("bank").file(&path).start().await?;
    /// assert_eq!(system.settings().throughput(), 16);
    /// # std::fs::remove_file(&path)?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings = self.settings.file(path);
        self
    }

    /// Reads settings from TOML text; `name` stands for the file in messages.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank").toml_str("inline", "throughput = 16").start().await?;
    /// assert_eq!(system.settings().throughput(), 16);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn toml_str(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings = self.settings.toml_str(name, text);
        self
    }

    /// Does not look at `VOLARY_…` environment variables.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// let builder = ActorSystem::builder("bank").ignore_environment();
    /// # let _ = builder;
    /// ```
    pub fn ignore_environment(mut self) -> Self {
        self.read_environment = false;
        self
    }

    /// Runs the system in an environment of your own, such as
    /// [`SeededEnv`](crate::SeededEnv).
    ///
    /// ```
    /// # use volary_core::{ActorSystem, SeededEnv};
    /// let env = SeededEnv::new(7);
    /// env.clone().block_on(async {
    ///     let system = ActorSystem::builder("sim").environment(env).start().await.unwrap();
    ///     assert!(system.world().is_simulated());
    ///     system.stop().await.unwrap();
    /// });
    /// ```
    pub fn environment(mut self, env: impl Env) -> Self {
        self.environment = Some(Arc::new(env));
        self
    }

    /// Adds a dispatcher of your own, for
    /// [`Dispatcher::Named`](crate::Dispatcher::Named).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let slow = DispatcherOptions::new().workers(2);
    /// let system = ActorSystem::builder("bank").dispatcher("slow", slow).start().await?;
    /// let alice = system.spawn(Account::default).dispatcher(Dispatcher::Named("slow".to_owned())).await?;
    /// assert_eq!(alice.ask(Deposit(5)).await?, 5);
    /// let other = system.spawn(Account::default).dispatcher(Dispatcher::Named("quick".to_owned())).await;
    /// assert!(other.is_err(), "nobody has added it");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn dispatcher(mut self, name: impl Into<String>, options: DispatcherOptions) -> Self {
        self.dispatchers.push((name.into(), options));
        self
    }

    /// Limits how many actors may be awake; without this as many are as want to be.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let builder = ActorSystem::builder("bank").eviction(Eviction::lru().at_most(2));
    /// let system = builder.start().await?;
    /// let gone = system.events().subscribe::<ActorPassivated>();
    /// for _ in 0..3 {
    ///     let account = system.spawn(Account::default).passivation(Passivation::on_demand()).await?;
    ///     account.ask(Deposit(5)).await?;
    /// }
    /// assert!(gone.next().await.is_ok());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn eviction(mut self, eviction: Eviction) -> Self {
        self.eviction = Some(eviction);
        self
    }

    /// Adds a phase of your own to the [shutdown](crate::shutdown), next to another. Its hooks are all that it does.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, PhasePlace, ShutdownHook, shutdown};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank")
    ///     .shutdown_phase("settle", PhasePlace::after(shutdown::DRAIN))
    ///     .start()
    ///     .await?;
    /// assert!(system.on_shutdown(ShutdownHook::new("settle", "payments", || async {})).is_ok());
    /// assert!(system.on_shutdown(ShutdownHook::new("unsettle", "payments", || async {})).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn shutdown_phase(mut self, name: impl Into<String>, place: PhasePlace) -> Self {
        self.phases.push((name.into(), place));
        self
    }

    /// Registers something to be done on the way down. Hooks of one phase run in the order in which they were
    /// registered; see [`ActorSystem::on_shutdown`] for those that come later.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, ShutdownHook, shutdown};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (close, closed) = std::sync::mpsc::channel();
    /// let system = ActorSystem::builder("bank")
    ///     .on_shutdown(ShutdownHook::new(shutdown::AFTER_ACTORS, "database", move || {
    ///         # close.send(()).unwrap();
    ///         async { println!("closed") }
    ///     }))
    ///     .start()
    ///     .await?;
    /// system.stop().await?;
    /// # assert!(closed.try_recv().is_ok());
    /// # Ok(()) }
    /// ```
    pub fn on_shutdown(mut self, hook: ShutdownHook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Puts a layer around what all actors send and handle, within those given before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct NoDeposits;
    /// impl Interceptor for NoDeposits {
    ///     fn sending(&self, message: &mut Departing<'_>) -> Verdict {
    ///         if message.message().is::<Deposit>() { Verdict::Refuse("keep it") } else { Verdict::Pass }
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let system = ActorSystem::builder("bank").intercept(NoDeposits).start().await?;
    /// let alice = system.spawn(Account::default).await?;
    /// assert!(alice.tell(Deposit(5)).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.layers.push(interceptor);
        self
    }

    /// Measures messages: how long they wait and how long they take. Nothing is measured without this.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, Telemetry};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank").telemetry(Telemetry::sampled(0.01)).start().await?;
    /// assert_eq!(system.readings().share, 0.01);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = Some(telemetry);
        self
    }

    /// Shows every message that is measured to somebody; needs [`telemetry`](SystemBuilder::telemetry).
    ///
    /// ```
    /// # use volary_core::{ActorSystem, Sample, Telemetry, TelemetrySink};
    /// struct Print;
    /// impl TelemetrySink for Print {
    ///     fn sample(&self, sample: &Sample<'_>) { println!("{} took {:?}", sample.message_type, sample.took); }
    /// }
    /// let builder = ActorSystem::builder("bank").telemetry(Telemetry::sampled(0.01)).telemetry_sink(Print);
    /// # let _ = builder;
    /// ```
    pub fn telemetry_sink(mut self, sink: impl TelemetrySink) -> Self {
        self.sinks.push(Arc::new(sink));
        self
    }

    /// Adds something that all actors can get at by its type; see [`ActorSystem::extension`].
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// struct Prices { vat: u8 }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("shop").extension(Prices { vat: 19 }).start().await?;
    /// assert_eq!(system.extension::<Prices>().unwrap().vat, 19);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn extension<T: Send + Sync + 'static>(mut self, extension: T) -> Self {
        if let Err(twice) = self.extensions.insert(Arc::new(extension)) {
            self.twice.get_or_insert(twice);
        }
        self
    }

    /// Starts the system, on the caller's tokio runtime if there is one and on one of its own
    /// otherwise.
    ///
    /// Cancel safe: dropped before it is polled, nothing was started.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank").start().await?;
    /// assert_eq!(system.name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The step that failed; the earlier ones are undone.
    #[expect(clippy::unused_async, reason = "starting will wait for things, such as a cluster")]
    pub async fn start(self) -> Result<ActorSystem, StartError> {
        self.start_now()
    }

    /// Starts the system from code that is not async. Without a tokio runtime around, the system
    /// brings its own.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// let system = ActorSystem::builder("bank").start_now()?;
    /// assert_eq!(system.name(), "bank");
    /// # drop(system);
    /// # Ok::<(), volary_core::SystemStartError>(())
    /// ```
    ///
    /// # Errors
    /// As [`start`](SystemBuilder::start).
    pub fn start_now(self) -> Result<ActorSystem, StartError> {
        validate_system_name(&self.name).map_err(|reason| StartError::Name {
            name: self.name.clone(),
            reason,
        })?;
        let mut settings = self.settings;
        let simulated = self.environment.as_ref().is_some_and(|env| env.is_simulated());
        if self.read_environment && !simulated {
            settings = settings.environment(process_environment());
        }
        let cores = self
            .environment
            .as_ref()
            .map_or_else(available_cores, |env| env.parallelism());
        let settings = settings.build(cores)?;
        if cfg!(panic = "abort") && !settings.allow_panic_abort() {
            return Err(StartError::PanicAbort);
        }
        if let Some(eviction) = &self.eviction {
            eviction.validate()?;
        }
        if let Some(extension) = self.twice {
            return Err(StartError::Extension { extension });
        }
        if let Some(telemetry) = self.telemetry.as_ref().filter(|telemetry| !telemetry.is_sound()) {
            return Err(StartError::Telemetry { share: telemetry.share });
        }
        let pools = dispatchers::check(&self.dispatchers, &settings)?;
        let mut course = Course::new(shutdown::plan(&self.phases)?);
        for hook in self.hooks {
            shutdown::add(&mut course, hook).map_err(|refused| refused.error)?;
        }
        let env: Arc<dyn Env> = match self.environment {
            Some(env) => env,
            None => {
                let env = TokioEnv::find(settings.workers()).map_err(StartError::Runtime)?;
                if env.is_current_thread() {
                    tracing::warn!(
                        "the runtime has a single thread: actors run one at a time, only while the program awaits, \
                         and a handler that blocks stops everything; use a multi-thread runtime for more"
                    );
                }
                Arc::new(env)
            }
        };
        let meter = self.telemetry.map(|telemetry| Meter::new(&telemetry, self.sinks));
        let around = Around {
            layers: self.layers,
            meter,
            extensions: self.extensions,
        };
        assemble(self.name, settings, env, pools, self.eviction, course, around)
    }
}

fn assemble(
    name: String,
    settings: Settings,
    env: Arc<dyn Env>,
    pools: Vec<(String, PoolConfig)>,
    eviction: Option<Eviction>,
    course: Course<ShutdownHook>,
    around: Around,
) -> Result<ActorSystem, StartError> {
    let budget = settings.throughput() as u32;
    let timers = Arc::new(Timers::new(env.clone()));
    let observer = Observer::new(timers.clone());
    let parts = Parts {
        name,
        default_pool: Pool::start(
            &env,
            &PoolConfig {
                workers: settings.workers(),
                budget,
                executor: None,
            },
        ),
        blocking: Elastic::new(
            env.clone(),
            "volary-blocking".to_owned(),
            settings.blocking_threads(),
            Some(settings.blocking_keep_alive()),
            budget,
        ),
        own_pools: pools
            .into_iter()
            .map(|(name, config)| (name, Pool::start(&env, &config)))
            .collect(),
        timers,
        settings,
        env,
        eviction,
        course,
        around,
    };
    let core = Arc::new_cyclic(|this| SystemCore::new(parts, this.clone()));
    observer.watch(Arc::downgrade(&core));
    let driver: Arc<dyn Driver> = observer;
    if let Err(error) = core.env().attach(Arc::downgrade(&driver)) {
        core.pools().for_each(|pool| pool.close());
        core.env().retire();
        return Err(StartError::Clock(error));
    }
    *core.driver.lock() = Some(driver);
    raise_guardians(&core);
    if core.settings().log_config() {
        for setting in core.settings().effective() {
            tracing::info!(system = %core.name, "{setting}");
        }
    }
    Ok(ActorSystem::from_core(core))
}

/// The top of the tree. The root's factory keeps the system for as long as any cell exists.
fn raise_guardians(core: &Arc<SystemCore>) {
    let here = std::ptr::NonNull::from(&**core);
    let keep = core.clone();
    let root = spawn_guardian(here, None, "", move || {
        let _ = &keep;
        Guardian
    });
    let Some(root) = root else {
        unreachable!("a new directory has room")
    };
    let below = |name| spawn_guardian(here, Some(&root), name, || Guardian);
    let (Some(system), Some(user)) = (below("system"), below("user")) else {
        unreachable!("a new directory has room")
    };
    core.guardians.store(Some(Arc::new(Guardians { root, user, system })));
}

/// One more of the system's own actors, that only has children.
pub(super) fn raise_guardian(core: &SystemCore, parent: &CellRef, name: &str) -> Option<CellRef> {
    spawn_guardian(std::ptr::NonNull::from(core), Some(parent), name, || Guardian)
}

/// An actor that only has children.
struct Guardian;
impl Actor for Guardian {}

fn available_cores() -> usize {
    match tokio::runtime::Handle::try_current() {
        Ok(handle) => handle.metrics().num_workers().max(2),
        Err(_) => std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
    }
}

impl fmt::Debug for SystemBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBuilder")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .field("dispatchers", &self.dispatchers)
            .field("phases", &self.phases)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}
