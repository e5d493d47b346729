//! Settings of what stands on the core, such as remoting: `[remote]` and `VOLARY_REMOTE_…`. The core keeps what was said
//! and who said it; what it means, and what is allowed, says whoever they are for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{ByteSize, Effective, Mistake, Settings, SettingsBuilder, SettingsError, Source};
use super::{environment, suggest::closest, value::Raw, value::Value};

/// The tables that are kept for others.
pub(super) const SECTIONS: [&str; 1] = ["remote"];

/// What was said, as it was said; what files say under the name of the key, the environment under that of the variable.
#[derive(Clone, Default)]
pub(super) struct Sections {
    given: Vec<(&'static str, String, Raw, Source)>,
    /// What was found when the settings were built, for those that were declared.
    pub(super) effective: Vec<Effective>,
}

impl Sections {
    pub(super) fn insert(&mut self, section: &'static str, name: String, value: Raw, source: Source) {
        self.given.push((section, name, value, source));
    }

    pub(super) fn section(&self, name: &'static str) -> Section {
        let given = self.given.iter().filter(|(section, ..)| *section == name);
        Section {
            name,
            given: given
                .map(|(_, key, value, source)| (key.clone(), value.clone(), source.clone()))
                .collect(),
            origins: BTreeMap::new(),
            known: BTreeSet::new(),
            mistakes: Vec::new(),
        }
    }

    /// The section that a variable is of, if it begins as those do.
    pub(super) fn of_variable(variable: &str) -> Option<&'static str> {
        let below = |section: &&str| variable.starts_with(&format!("{}_", environment::variable(section)));
        SECTIONS.into_iter().find(below)
    }
}

/// What files and the environment say in a table of its own, for whoever it belongs to. Each value is asked for by the
/// full name of its setting, such as `remote.window`; later files win over earlier ones, and the environment over files.
/// [`finish`](Section::finish) then says everything that was wrong.
///
/// ```
/// use volary_core::system::settings::Settings;
///
/// let settings = Settings::builder()
///     .toml_str("bank.toml", "[remote]\nwindow = 1024\nsilence = 3\npeer = 7")
///     .environment([("VOLARY_REMOTE_WINDOW".to_owned(), "2048".to_owned())])
///     .build(4)?;
/// let mut remote = settings.section("remote");
/// assert_eq!(remote.count("remote.window", "at least 16"), Some(2048));
/// assert_eq!(remote.count("remote.peers", "at least 1"), None);
/// assert_eq!(remote.duration("remote.silence", "more than 0"), None);
/// assert_eq!(
///     remote.finish().unwrap_err().to_string(),
///     "remote.silence: the value `3` (from file bank.toml, line 3, key remote.silence) is refused: a duration needs a \
///      unit: write \"3s\" or \"3ms\"; allowed is more than 0\n\
///      unknown setting remote.peer in file bank.toml, line 4: did you mean remote.peers?",
/// );
/// # Ok::<(), volary_core::system::settings::SettingsError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "what is wrong is said by `finish`"]
pub struct Section {
    name: &'static str,
    given: Vec<(String, Raw, Source)>,
    /// Of those that were asked for and have a value.
    origins: BTreeMap<&'static str, Source>,
    known: BTreeSet<&'static str>,
    mistakes: Vec<Mistake>,
}

impl Section {
    /// A whole number; `allowed` says in words what it may be, and is not looked at.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.window = 64").build(4)?;
    /// assert_eq!(settings.section("remote").count("remote.window", "at least 16"), Some(64));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn count(&mut self, setting: &'static str, allowed: &str) -> Option<usize> {
        self.value(setting, allowed, usize::read)
    }

    /// A number of bytes.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.max-frame = \"64KiB\"").build(4)?;
    /// let size = settings.section("remote").bytes("remote.max-frame", "at least 16KiB");
    /// assert_eq!(size.map(|size| size.bytes()), Some(65_536));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn bytes(&mut self, setting: &'static str, allowed: &str) -> Option<ByteSize> {
        self.value(setting, allowed, ByteSize::read)
    }

    /// A time with its unit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.silence = \"5s\"").build(4)?;
    /// let silence = settings.section("remote").duration("remote.silence", "more than 0");
    /// assert_eq!(silence, Some(Duration::from_secs(5)));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn duration(&mut self, setting: &'static str, allowed: &str) -> Option<Duration> {
        self.value(setting, allowed, Duration::read)
    }

    /// `true` or `false`.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.open = true").build(4)?;
    /// assert_eq!(settings.section("remote").switch("remote.open", "true or false"), Some(true));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn switch(&mut self, setting: &'static str, allowed: &str) -> Option<bool> {
        self.value(setting, allowed, bool::read)
    }

    /// A text.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.cluster = \"production\"").build(4)?;
    /// let cluster = settings.section("remote").text("remote.cluster", "a name");
    /// assert_eq!(cluster.as_deref(), Some("production"));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn text(&mut self, setting: &'static str, allowed: &str) -> Option<String> {
        self.value(setting, allowed, |raw| match raw {
            Raw::Plain(text) | Raw::Quoted(text) => Ok(text.clone()),
            Raw::Integer(..) | Raw::Boolean(_) => Err(Some(format!("write \"{raw}\" in quotes"))),
            _ => Err(None),
        })
    }

    /// A list of texts; in the environment with commas between them.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder()
    ///     .environment([("VOLARY_REMOTE_SEEDS".to_owned(), "a, b".to_owned())])
    ///     .build(4)?;
    /// let seeds = settings.section("remote").list("remote.seeds", "a list of hosts");
    /// assert_eq!(seeds.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn list(&mut self, setting: &'static str, allowed: &str) -> Option<Vec<String>> {
        self.value(setting, allowed, |raw| match raw {
            Raw::Plain(text) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(parts.map(str::to_owned).collect())
            }
            Raw::List(texts) => Ok(texts.clone()),
            Raw::Quoted(_) => Err(Some(format!("write [\"{raw}\"]"))),
            _ => Err(None),
        })
    }

    /// Who gave the value in force of a setting that was asked for; none if nobody did.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.window = 64").build(4)?;
    /// let mut remote = settings.section("remote");
    /// remote.count("remote.window", "at least 16");
    /// let origin = remote.origin("remote.window").map(ToString::to_string);
    /// assert_eq!(origin.as_deref(), Some("file a.toml, line 1, key remote.window"));
    /// assert!(remote.origin("remote.peers").is_none());
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    #[must_use]
    pub fn origin(&self, setting: &str) -> Option<&Source> {
        self.origins.get(setting)
    }

    /// The value in force cannot be: alone, or beside others.
    ///
    /// ```
    /// # use volary_core::system::settings::{Settings, Source};
    /// let mut remote = Settings::builder().build(4)?.section("remote");
    /// remote.refuse("remote.window", "7", Source::Code, "at least 16");
    /// assert_eq!(
    ///     remote.finish().unwrap_err().to_string(),
    ///     "remote.window: the value `7` (from code) is refused: allowed is at least 16"
    /// );
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn refuse(&mut self, setting: &'static str, value: impl Into<String>, origin: Source, allowed: &str) {
        self.mistakes.push(Mistake::Value {
            setting,
            value: value.into(),
            origin,
            allowed: allowed.to_owned(),
            hint: None,
        });
    }

    /// Whether nothing was wrong, and nothing was said that nobody asked for.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("a.toml", "remote.windwo = 64").build(4)?;
    /// assert!(settings.section("remote").finish().is_err());
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn finish(mut self) -> Result<(), SettingsError> {
        let known = self.known.iter().copied();
        for (name, _, source) in &self.given {
            if known.clone().any(|setting| self.is_of(name, source, setting)) {
                continue;
            }
            self.mistakes.push(match source {
                Source::File { file, line, key } => Mistake::UnknownKey {
                    key: key.clone(),
                    file: file.clone(),
                    line: *line,
                    suggestion: closest(key, known.clone()).map(str::to_owned),
                },
                _ => {
                    // The value stays out of the message: nobody knows whether it is a secret.
                    let written = name.to_lowercase();
                    let spelt = |setting| environment::variable(setting).to_lowercase().replace('_', "-");
                    let variables: BTreeMap<String, &str> = known.clone().map(|one| (spelt(one), one)).collect();
                    let likely = closest(&written, variables.keys().map(String::as_str));
                    let setting = likely.and_then(|likely| variables.get(likely));
                    Mistake::UnknownVariable {
                        variable: name.clone(),
                        suggestion: setting.map(|setting| environment::variable(setting)),
                    }
                }
            });
        }
        match self.mistakes.is_empty() {
            true => Ok(()),
            false => Err(SettingsError::new(self.mistakes)),
        }
    }

    /// The value in force. What is wrong in one that is overridden is said as well.
    fn value<T>(
        &mut self,
        setting: &'static str,
        allowed: &str,
        read: impl Fn(&Raw) -> Result<T, Option<String>>,
    ) -> Option<T> {
        self.known.insert(setting);
        let mut last = None;
        for (name, raw, source) in &self.given {
            if !self.is_of(name, source, setting) {
                continue;
            }
            match read(raw) {
                Ok(value) => last = Some((value, source.clone())),
                Err(hint) => self.mistakes.push(Mistake::Value {
                    setting,
                    value: raw.to_string(),
                    origin: source.clone(),
                    allowed: allowed.to_owned(),
                    hint,
                }),
            }
        }
        let (value, source) = last?;
        self.origins.insert(setting, source);
        Some(value)
    }

    /// Whether what was written by this name is that setting.
    fn is_of(&self, name: &str, source: &Source, setting: &str) -> bool {
        match source {
            Source::File { .. } => {
                let key = setting.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.'));
                key == Some(name)
            }
            _ => environment::variable(setting) == name,
        }
    }
}

/// What a section holds, for whoever builds the settings: with it, mistakes in the section are reported with all others,
/// and what is in force is logged with the rest. Without, both come when whoever it belongs to begins.
///
/// ```
/// use volary_core::system::settings::{Effective, Section, SectionSettings, Settings, Source};
///
/// const SETTINGS: SectionSettings = SectionSettings::new("remote", |mut section: Section| {
///     let window = section.count("remote.window", "a number").unwrap_or(16);
///     let origin = section.origin("remote.window").cloned().unwrap_or(Source::Default);
///     section.finish()?;
///     Ok(vec![Effective::new("remote.window", window.to_string(), origin)])
/// });
/// let refused = Settings::builder().section(SETTINGS).throughput(1).toml_str("a.toml", "remote.window = true");
/// assert_eq!(refused.build(4).unwrap_err().mistakes().len(), 2);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SectionSettings {
    pub(super) name: &'static str,
    pub(super) read: fn(Section) -> Result<Vec<Effective>, SettingsError>,
}

impl SectionSettings {
    /// Those of the section of this name. The function says what is in force, and everything that is wrong.
    ///
    /// ```
    /// # use volary_core::system::settings::SectionSettings;
    /// let none = SectionSettings::new("remote", |section| section.finish().map(|()| Vec::new()));
    /// # let _ = none;
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, read: fn(Section) -> Result<Vec<Effective>, SettingsError>) -> Self {
        SectionSettings { name, read }
    }
}

impl SettingsBuilder {
    /// Checks a section with the rest; see [`SectionSettings`].
    pub fn section(mut self, section: SectionSettings) -> Self {
        self.declared.retain(|known| known.name != section.name);
        self.declared.push(section);
        self
    }
}

impl Settings {
    /// What files and the environment say in a table that is not the core's; see [`Section`]. `remote` is the only one.
    pub fn section(&self, name: &'static str) -> Section {
        self.sections.section(name)
    }
}
