//! Where a setting came from, and what each source hands over before anything is validated.

use std::fmt;

use super::value::Raw;

/// Where the value of a setting came from.
///
/// ```
/// use volary_core::system::settings::Source;
///
/// let source = Source::File { file: "bank.toml".into(), line: 3, key: "throughput".into() };
/// assert_eq!(source.to_string(), "file bank.toml, line 3, key throughput");
/// assert_eq!(Source::Code.to_string(), "code");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Nobody chose it.
    Default,
    /// A key of a TOML file.
    File {
        /// The file, as it was named to the builder.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key, with the tables it is in.
        key: String,
    },
    /// An environment variable.
    Environment {
        /// The name of the variable.
        variable: String,
    },
    /// A call of the builder.
    Code,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line, key } => write!(f, "file {file}, line {line}, key {key}"),
            Self::Environment { variable } => write!(f, "environment variable {variable}"),
            Self::Code => f.write_str("code"),
        }
    }
}

/// One line of the effective configuration, fit for a log: secrets are already hidden.
///
/// ```
/// use volary_core::system::settings::Settings;
///
/// let settings = Settings::builder().throughput(64).build(4)?;
/// let lines: Vec<String> = settings.effective().iter().map(ToString::to_string).collect();
/// assert!(lines.contains(&"throughput = 64 (code)".to_owned()));
/// assert!(lines.contains(&"ask-timeout = 5s (default)".to_owned()));
/// # Ok::<(), volary_core::system::settings::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effective {
    /// The name of the setting; those of the application begin with `app.`.
    pub name: String,
    /// The value as it would be written in a file, or `***`.
    pub value: String,
    /// Where the value came from.
    pub source: Source,
}

impl Effective {
    /// A line for a setting of a [`Section`](super::Section).
    ///
    /// ```
    /// use volary_core::system::settings::{Effective, Source};
    ///
    /// let line = Effective::new("remote.window", "64", Source::Code);
    /// assert_eq!(line.to_string(), "remote.window = 64 (code)");
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>, source: Source) -> Self {
        Effective {
            name: name.into(),
            value: value.into(),
            source,
        }
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.name, self.value, self.source)
    }
}

/// A declared setting that some file or the environment gives a value for. Later ones win.
pub(super) struct Given {
    pub(super) setting: &'static str,
    pub(super) value: Raw,
    pub(super) source: Source,
}

/// The `VOLARY_*` variables of this process, for [`SettingsBuilder::environment`](super::SettingsBuilder::environment).
///
/// The one place where settings touch the world around them. Bytes that are not UTF-8 become `U+FFFD`, which building
/// reports as a mistake.
///
/// ```
/// use volary_core::system::settings::{Settings, process_environment};
///
/// let settings = Settings::builder().environment(process_environment()).build(4);
/// # let _ = settings;
/// ```
pub fn process_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(variable, value)| {
        let variable = variable.to_string_lossy();
        variable
            .starts_with("VOLARY_")
            .then(|| (variable.into_owned(), value.to_string_lossy().into_owned()))
    })
}
