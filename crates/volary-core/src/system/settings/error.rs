//! What can be wrong with settings.

use thiserror::Error;

use super::Source;

/// All mistakes in the settings, one per line. Nothing was started.
///
/// ```
/// use volary_core::system::settings::Settings;
///
/// let refused = Settings::builder()
///     .throughput(1000)
///     .environment([("VOLARY_WORKER".to_owned(), "8".to_owned())])
///     .build(4)
///     .unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "unknown environment variable VOLARY_WORKER: did you mean VOLARY_WORKERS?\n\
///      throughput: the value `1000` (from code) is refused: allowed is a whole number from 8 to 256",
/// );
/// assert_eq!(refused.mistakes().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", one_per_line(.mistakes))]
pub struct SettingsError {
    mistakes: Vec<Mistake>,
}

impl SettingsError {
    pub(super) fn new(mistakes: Vec<Mistake>) -> Self {
        Self { mistakes }
    }

    /// The mistakes, at least one.
    ///
    /// ```
    /// # use volary_core::system::settings::{Mistake, Settings};
    /// let refused = Settings::builder().throughput(1).build(4).unwrap_err();
    /// assert!(matches!(&refused.mistakes()[0], Mistake::Value { setting, .. } if *setting == "throughput"));
    /// ```
    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

fn one_per_line(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One mistake in the settings.
///
/// ```
/// use volary_core::system::settings::Settings;
///
/// let refused = Settings::builder().toml_str("bank.toml", "ask-timeout = 5").build(4).unwrap_err();
/// assert_eq!(
///     refused.mistakes()[0].to_string(),
///     "ask-timeout: the value `5` (from file bank.toml, line 1, key ask-timeout) is refused: a duration needs a unit: \
///      write \"5s\" or \"5ms\"; allowed is a duration such as 250ms, 5s, 3min, 2h or 1d, more than 0 and at most 1d",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Mistake {
    /// Give the setting a value that is allowed.
    #[error("{setting}: the value `{value}` (from {origin}) is refused: {}allowed is {allowed}", before(.hint.as_deref()))]
    Value {
        /// The setting.
        setting: &'static str,
        /// The value as it was given, shortened; `***` for secrets.
        value: String,
        /// Where the value came from.
        origin: Source,
        /// What is allowed.
        allowed: String,
        /// What the writer seems to have got wrong.
        hint: Option<String>,
    },
    /// Correct or remove the key; keys of the application belong under `[app]`.
    #[error("unknown setting {key} in file {file}, line {line}: {}", suggest(.suggestion.as_deref(), "remove it, or move it below [app] if it is your own"))]
    UnknownKey {
        /// The key or table.
        key: String,
        /// The file, as it was named to the builder.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key that may have been meant.
        suggestion: Option<String>,
    },
    /// Correct or remove the variable; those of the application begin with `VOLARY_APP_`.
    #[error("unknown environment variable {variable}: {}", suggest(.suggestion.as_deref(), "remove it, or let it begin with VOLARY_APP_ if it is your own"))]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The variable that may have been meant.
        suggestion: Option<String>,
    },
    /// Set the variable to UTF-8 text.
    #[error("environment variable {variable}: the value is not UTF-8 text")]
    NotText {
        /// The variable.
        variable: String,
    },
    /// Write `app` as a table.
    #[error(
        "app: the value (from file {file}, line {line}) is refused: allowed is a table, [app], with the application's own settings"
    )]
    AppIsNoTable {
        /// The file, as it was named to the builder.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// Write the name as a table.
    #[error("{section}: the value (from file {file}, line {line}) is refused: allowed is a table, [{section}]")]
    SectionIsNoTable {
        /// The name of the table.
        section: &'static str,
        /// The file, as it was named to the builder.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// Keep one of the two.
    #[error(
        "app.{key} (from {origin}) and app.{other} mean the same setting, because '.', '-', '_' and case make no difference: keep one"
    )]
    SameKey {
        /// The second spelling.
        key: String,
        /// Where the second spelling is.
        origin: Source,
        /// The first spelling.
        other: String,
    },
    /// Name a file that exists and may be read, or none.
    #[error("file {file} cannot be read: {reason}")]
    Unreadable {
        /// The file, as it was named to the builder.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// Mend the file. What else may be wrong in it shows when it can be read.
    #[error("file {file}, line {line}, column {column}: {message}")]
    Syntax {
        /// The file, as it was named to the builder.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, in characters counted from 1.
        column: usize,
        /// What the parser said; never an excerpt of the file, which may hold secrets.
        message: String,
    },
}

fn before(hint: Option<&str>) -> String {
    hint.map_or(String::new(), |hint| format!("{hint}; "))
}

fn suggest(suggestion: Option<&str>, otherwise: &str) -> String {
    suggestion.map_or(otherwise.to_owned(), |name| format!("did you mean {name}?"))
}
