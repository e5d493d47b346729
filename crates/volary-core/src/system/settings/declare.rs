//! The table of all settings. A line here is all it takes to add one: its getter, its setter, its name in files and in
//! the environment, its checks and its line in the log follow from it. One whose value must not be seen ends in `, secret`.

use std::{fmt, time::Duration};

use super::{
    ByteSize, Effective, Kind, Source,
    app::{App, HIDDEN},
    builder::{Resolver, SettingsBuilder},
    environment,
    section::Sections,
    value::{Allowed, Value},
};

/// What is known about a setting before anybody chose a value.
pub(super) struct Spec<T> {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    /// From the number of cores.
    pub(super) default: fn(usize) -> T,
    /// The default in words, where it is not a plain value.
    pub(super) default_text: Option<&'static str>,
    pub(super) allowed: Allowed<T>,
    pub(super) secret: bool,
}

/// A value and who chose it.
#[derive(Clone)]
pub(super) struct Resolved<T> {
    pub(super) value: T,
    pub(super) source: Source,
}

impl<T: Value> Spec<T> {
    fn declared(&self) -> Declared {
        Declared {
            name: self.name,
            variable: environment::variable(self.name),
            kind: T::KIND,
            default: self
                .default_text
                .map_or_else(|| (self.default)(0).show(), str::to_owned),
            allowed: T::describe(&self.allowed),
            doc: self.doc,
            secret: self.secret,
        }
    }

    fn effective(&self, resolved: &Resolved<T>) -> Effective {
        Effective {
            name: self.name.to_owned(),
            value: if self.secret {
                HIDDEN.to_owned()
            } else {
                resolved.value.show()
            },
            source: resolved.source.clone(),
        }
    }
}

macro_rules! settings {
    ($(
        #[doc = $doc:literal]
        $field:ident: $type:ty = $name:literal, $default:expr, $allowed:expr, e.g. $sample:expr $(, $secret:ident)?;
    )*) => {
        /// The settings in force, complete and checked.
        ///
        /// `Debug` and [`effective`](Self::effective) show everything but secrets.
        ///
        /// ```
        /// use volary_core::system::settings::Settings;
        ///
        /// let settings = Settings::builder().throughput(64).build(4)?;
        /// assert_eq!(settings.throughput(), 64);
        /// assert_eq!(settings.workers(), 4);
        /// # Ok::<(), volary_core::system::settings::SettingsError>(())
        /// ```
        #[derive(Clone)]
        pub struct Settings {
            $($field: Resolved<$type>,)*
            app: App,
            pub(super) sections: Sections,
        }

        impl Settings {
            $(
                #[doc = $doc]
                ///
                #[doc = concat!("`", $name, "` in files. Set it in code with [`SettingsBuilder::", stringify!($field), "`].\n")]
                #[doc = concat!(
                    "```\n# #![allow(unused_imports)]\n# use std::time::Duration;\n",
                    "# use volary_core::system::settings::{ByteSize, Settings};\n",
                    "let settings = Settings::builder().", stringify!($field), "(", stringify!($sample), ").build(4)?;\n",
                    "assert_eq!(settings.", stringify!($field), "(), ", stringify!($sample), ");\n",
                    "# Ok::<(), volary_core::system::settings::SettingsError>(())\n```",
                )]
                #[must_use]
                pub fn $field(&self) -> $type {
                    self.$field.value
                }
            )*

            pub(super) fn resolve(chosen: Chosen, app: App, resolver: &mut Resolver) -> Self {
                Self {
                    $($field: resolver.resolve(&spec::$field, chosen.$field),)*
                    app,
                    sections: Sections::default(),
                }
            }

            fn effective_declared(&self) -> Vec<Effective> {
                vec![$(spec::$field.effective(&self.$field)),*]
            }
        }

        impl SettingsBuilder {
            $(
                #[doc = $doc]
                ///
                #[doc = concat!("`", $name, "` in files. Read it with [`Settings::", stringify!($field), "`].\n")]
                #[doc = concat!(
                    "```\n# #![allow(unused_imports)]\n# use std::time::Duration;\n",
                    "# use volary_core::system::settings::{ByteSize, Settings};\n",
                    "let builder = Settings::builder().", stringify!($field), "(", stringify!($sample), ");\n",
                    "assert!(builder.build(4).is_ok());\n```",
                )]
                pub fn $field(mut self, value: $type) -> Self {
                    self.chosen.$field = Some(value);
                    self
                }
            )*
        }

        /// What code chose.
        #[derive(Clone, Default)]
        pub(super) struct Chosen {
            $($field: Option<$type>,)*
        }

        #[expect(non_upper_case_globals, reason = "named like the fields they describe")]
        mod spec {
            use super::*;
            $(
                pub(super) const $field: Spec<$type> = {
                    let (default, default_text): (fn(usize) -> $type, Option<&'static str>) = $default;
                    Spec { name: $name, doc: $doc.trim_ascii(), default, default_text, allowed: $allowed, secret: !stringify!($($secret)?).is_empty() }
                };
            )*
        }

        /// The names of all settings.
        pub(super) const NAMES: [&str; [$($name),*].len()] = [$($name),*];

        /// All settings there are, for help texts and documentation.
        ///
        /// ```
        /// use volary_core::system::settings::declared;
        ///
        /// for setting in declared() {
        ///     println!("{} (default {}): {}", setting.name, setting.default, setting.doc);
        /// }
        /// ```
        #[must_use]
        pub fn declared() -> Vec<Declared> {
            vec![$(spec::$field.declared()),*]
        }
    };
}

const DAY: Duration = Duration::from_hours(24);
/// The least of what is "more than 0".
const A_MOMENT: Duration = Duration::from_nanos(1);
const SWITCH: Allowed<bool> = between(false, true);

const fn between<T: Copy>(least: T, most: T) -> Allowed<T> {
    Allowed {
        least,
        most: Some(most),
    }
}

const fn at_least<T: Copy>(least: T) -> Allowed<T> {
    Allowed { least, most: None }
}

macro_rules! plainly {
    ($value:expr) => {
        (|_| $value, None)
    };
}

settings! {
    /// How many workers run actors at the same time; by default as many as there are cores, and at least two.
    workers: usize = "workers", (|cores| cores.clamp(2, 1024), Some("the number of cores, at least 2")), between(2, 1024), e.g. 8;
    /// How many messages an actor handles in a row before others get their turn.
    throughput: usize = "throughput", plainly!(32), between(8, 256), e.g. 64;
    /// How long an ask waits for its reply unless it says otherwise.
    ask_timeout: Duration = "ask-timeout", plainly!(Duration::from_secs(5)), between(A_MOMENT, DAY), e.g. Duration::from_secs(2);
    /// How long the whole shutdown may take, hooks and actors together.
    shutdown_timeout: Duration = "shutdown-timeout", plainly!(Duration::from_mins(5)), between(A_MOMENT, DAY), e.g. Duration::from_secs(25);
    /// How long the shutdown waits for actors to do the work they have before it stops them; 0 for not at all.
    drain_timeout: Duration = "drain-timeout", plainly!(Duration::ZERO), between(Duration::ZERO, DAY), e.g. Duration::from_secs(10);
    /// How long the actors of the system may take to stop before what is left is killed.
    stop_timeout: Duration = "stop-timeout", plainly!(Duration::from_mins(3)), between(A_MOMENT, DAY), e.g. Duration::from_secs(60);
    /// How long a stop waits for a handler that is suspended before its future is dropped.
    stop_grace: Duration = "stop-grace", plainly!(Duration::from_secs(5)), between(Duration::ZERO, DAY), e.g. Duration::from_secs(1);
    /// How long one attempt to initialise an actor may take.
    init_timeout: Duration = "init-timeout", plainly!(Duration::from_secs(1)), between(A_MOMENT, DAY), e.g. Duration::from_secs(10);
    /// How often a failed initialisation is tried again.
    init_retries: usize = "init-retries", plainly!(5), between(0, 100), e.g. 3;
    /// How many messages a mailbox holds when an event is published about it.
    mailbox_high_water: usize = "mailbox-high-water", plainly!(100_000), at_least(1), e.g. 5_000;
    /// How many bytes all mailboxes of the system may hold together; 0 for no limit.
    mailbox_budget: ByteSize = "mailbox-budget", plainly!(ByteSize::ZERO), at_least(ByteSize::ZERO), e.g. ByteSize::mebibytes(512);
    /// How long a handler may run without suspending before it is reported as slow.
    slow_handler: Duration = "slow-handler", plainly!(Duration::from_millis(100)), between(A_MOMENT, DAY), e.g. Duration::from_millis(20);
    /// How many threads the blocking dispatcher may have.
    blocking_threads: usize = "blocking-threads", plainly!(512), between(1, 10_000), e.g. 16;
    /// How long an idle thread of the blocking dispatcher is kept.
    blocking_keep_alive: Duration = "blocking-keep-alive", plainly!(Duration::from_secs(10)), between(Duration::ZERO, DAY), e.g. Duration::from_secs(60);
    /// How many dead letters are logged per second; the others are counted only.
    dead_letter_log: usize = "dead-letter-log", plainly!(10), at_least(0), e.g. 100;
    /// Whether the system may start in a program that aborts on panic, where supervision cannot catch one.
    allow_panic_abort: bool = "allow-panic-abort", plainly!(false), SWITCH, e.g. true;
    /// Whether the effective configuration is logged at start.
    log_config: bool = "log-config", plainly!(true), SWITCH, e.g. false;
}

impl Settings {
    /// Starts with nothing but defaults.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// assert_eq!(Settings::builder().build(4)?.throughput(), 32);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn builder() -> SettingsBuilder {
        SettingsBuilder::default()
    }

    /// A setting of the application, as text; none when nobody set it.
    ///
    /// `.`, `-`, `_` and case make no difference in keys, so that `VOLARY_APP_DB_POOL_SIZE` sets `db.pool-size`.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder()
    ///     .toml_str("bank.toml", "[app.db]\nuser = \"bank\"\npassword = \"from file\"")
    ///     .environment([("VOLARY_APP_DB_PASSWORD".to_owned(), "from environment".to_owned())])
    ///     .build(4)?;
    /// assert_eq!(settings.app("db.user"), Some("bank"));
    /// assert_eq!(settings.app("db.password"), Some("from environment"));
    /// assert_eq!(settings.app("db.host"), None);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    #[must_use]
    pub fn app(&self, key: &str) -> Option<&str> {
        self.app.get(key)
    }

    /// A list of the application; empty when nobody set it. Its elements are also found one by one, by their index.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "app.hosts = [\"a\", \"b\"]").build(4)?;
    /// assert_eq!(settings.app_list("hosts"), ["a", "b"]);
    /// assert_eq!(settings.app("hosts.1"), Some("b"));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    #[must_use]
    pub fn app_list(&self, key: &str) -> Vec<&str> {
        self.app.list(key)
    }

    /// The keys of all settings of the application, as they were written.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "app.db.pool-size = 4").build(4)?;
    /// assert_eq!(settings.app_keys().collect::<Vec<_>>(), ["db.pool-size"]);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn app_keys(&self) -> impl Iterator<Item = &str> {
        self.app.keys()
    }

    /// Every setting with its value and source, for the log at start; of [sections](super::Section) those that were
    /// [declared](SettingsBuilder::section). Secrets are shown as `***`.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "app.db.password = \"hunter2\"").build(4)?;
    /// let last = settings.effective().pop().map(|line| line.to_string());
    /// assert_eq!(last.as_deref(), Some("app.db.password = *** (file a.toml, line 1, key app.db.password)"));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    #[must_use]
    pub fn effective(&self) -> Vec<Effective> {
        let mut all = self.effective_declared();
        all.extend_from_slice(&self.sections.effective);
        all.extend(self.app.effective());
        all
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.effective();
        f.debug_map()
            .entries(lines.iter().map(|line| (&line.name, &line.value)))
            .finish()
    }
}

/// What there is to know about one setting.
///
/// ```
/// use volary_core::system::settings::declared;
///
/// let ask_timeout = declared().into_iter().find(|setting| setting.name == "ask-timeout").expect("it is declared");
/// assert_eq!(ask_timeout.variable, "VOLARY_ASK_TIMEOUT");
/// assert_eq!(ask_timeout.default, "5s");
/// assert!(!ask_timeout.secret);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declared {
    /// The key in TOML files.
    pub name: &'static str,
    /// The environment variable.
    pub variable: String,
    /// What sort of value it takes.
    pub kind: Kind,
    /// The default, as it would be written or in words.
    pub default: String,
    /// What is allowed, in words.
    pub allowed: String,
    /// What it is for, in a sentence.
    pub doc: &'static str,
    /// Whether its value is hidden in logs and messages.
    pub secret: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_allowed_on_every_machine() {
        for cores in [0, 1, 2, 64, 1024, 100_000] {
            assert!(Settings::builder().build(cores).is_ok(), "{cores} cores");
        }
    }

    #[test]
    fn names_are_spelled_alike_everywhere() {
        for setting in declared() {
            assert!(
                setting
                    .name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
                "{}",
                setting.name
            );
            assert!(setting.doc.ends_with('.'), "{}", setting.doc);
        }
    }

    #[test]
    fn o7_a_declared_secret_is_hidden() {
        let spec = Spec {
            name: "pin",
            doc: "",
            default: |_| 1234_usize,
            default_text: None,
            allowed: at_least(0),
            secret: true,
        };
        let resolved = Resolved {
            value: 1234,
            source: Source::Code,
        };
        assert_eq!(spec.effective(&resolved).value, HIDDEN);
    }
}
