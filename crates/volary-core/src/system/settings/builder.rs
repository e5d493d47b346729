//! Gathers the sources and builds the settings. The typed setters are made by the table in `declare.rs`.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use super::{
    Mistake, SectionSettings, Settings, SettingsError, Source,
    app::{App, HIDDEN, Layer},
    declare::{Chosen, NAMES, Resolved, Spec},
    environment,
    file::File,
    section::Sections,
    source::Given,
    value::Value,
};

/// Collects settings from code, the environment and files; [`build`](Self::build) checks them all.
///
/// Of two files, or two values from the same source, the later one wins; apart from that the order of calls makes no
/// difference.
///
/// ```
/// use std::time::Duration;
/// use volary_core::system::settings::Settings;
///
/// let settings = Settings::builder()
///     .toml_str("bank.toml", "throughput = 64\nask-timeout = \"1s\"\n[app]\nregion = \"eu\"")
///     .environment([("VOLARY_ASK_TIMEOUT".to_owned(), "2s".to_owned())])
///     .workers(8)
///     .build(4)?;
///
/// assert_eq!(settings.workers(), 8);
/// assert_eq!(settings.ask_timeout(), Duration::from_secs(2));
/// assert_eq!(settings.throughput(), 64);
/// assert_eq!(settings.app("region"), Some("eu"));
/// # Ok::<(), volary_core::system::settings::SettingsError>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "settings take effect when they are built"]
pub struct SettingsBuilder {
    pub(super) chosen: Chosen,
    app: Vec<(String, String)>,
    environment: BTreeMap<String, String>,
    files: Vec<File>,
    pub(super) declared: Vec<SectionSettings>,
}

impl SettingsBuilder {
    /// Reads a TOML file when the settings are built. It must exist then.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let refused = Settings::builder().file("/does/not/exist.toml").build(4).unwrap_err();
    /// assert!(refused.to_string().starts_with("file /does/not/exist.toml cannot be read"));
    /// ```
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(File::OnDisk(path.into()));
        self
    }

    /// Reads TOML from a text; `name` is what mistakes call it.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().toml_str("built in", "throughput = 16").build(4)?;
    /// assert_eq!(settings.throughput(), 16);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn toml_str(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.files.push(File::Text {
            name: name.into(),
            text: text.into(),
        });
        self
    }

    /// Takes the `VOLARY_*` variables out of these; others are left alone. Hand in
    /// [`process_environment()`](super::process_environment) for those of the process.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let variables = [("VOLARY_WORKERS", "8"), ("HOME", "/root")];
    /// let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    /// assert_eq!(Settings::builder().environment(variables).build(4)?.workers(), 8);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let ours = variables
            .into_iter()
            .filter(|(variable, _)| environment::is_ours(variable));
        self.environment.extend(ours);
        self
    }

    /// Sets a setting of the application.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// let settings = Settings::builder().app("db.pool-size", "4").build(4)?;
    /// assert_eq!(settings.app("db.pool-size"), Some("4"));
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    pub fn app(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.app.push((key.into(), value.into()));
        self
    }

    /// Checks everything and gives the settings that are in force. `cores` is how many processors there are, the
    /// default number of workers.
    ///
    /// ```
    /// # use volary_core::system::settings::Settings;
    /// assert_eq!(Settings::builder().build(4)?.workers(), 4);
    /// assert_eq!(Settings::builder().build(1)?.workers(), 2);
    /// # Ok::<(), volary_core::system::settings::SettingsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All mistakes at once, those in overridden values too: what is wrong today is in force after the next change.
    pub fn build(self, cores: usize) -> Result<Settings, SettingsError> {
        let mut given = Vec::new();
        let mut mistakes = Vec::new();
        let mut app = App::default();
        let mut sections = Sections::default();
        for file in &self.files {
            app.overlay(file.read(&NAMES, &mut given, &mut sections, &mut mistakes));
        }
        let variables = &self.environment;
        app.overlay(environment::read(
            variables,
            &NAMES,
            &mut given,
            &mut sections,
            &mut mistakes,
        ));
        for (key, value) in self.app {
            let mut layer = Layer::default();
            layer.insert(key, value, Source::Code, &mut mistakes);
            app.overlay(layer);
        }
        let mut resolver = Resolver { given, cores, mistakes };
        let mut settings = Settings::resolve(self.chosen, app, &mut resolver);
        for declared in self.declared {
            match (declared.read)(sections.section(declared.name)) {
                Ok(lines) => sections.effective.extend(lines),
                Err(refused) => resolver.mistakes.extend_from_slice(refused.mistakes()),
            }
        }
        settings.sections = sections;
        if resolver.mistakes.is_empty() {
            Ok(settings)
        } else {
            Err(SettingsError::new(resolver.mistakes))
        }
    }
}

impl fmt::Debug for SettingsBuilder {
    /// Names the sources only: what they say is not checked yet and may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.files.iter().map(File::name).collect();
        let variables: Vec<_> = self.environment.keys().collect();
        f.debug_struct("SettingsBuilder")
            .field("files", &files)
            .field("environment", &variables)
            .finish_non_exhaustive()
    }
}

/// Finds the value in force for one setting after the other.
pub(super) struct Resolver {
    given: Vec<Given>,
    cores: usize,
    mistakes: Vec<Mistake>,
}

impl Resolver {
    pub(super) fn resolve<T: Value>(&mut self, spec: &Spec<T>, chosen: Option<T>) -> Resolved<T> {
        let mut resolved = Resolved {
            value: (spec.default)(self.cores),
            source: Source::Default,
        };
        for given in self.given.iter().filter(|given| given.setting == spec.name) {
            let checked = T::read(&given.value).and_then(|value| check(spec, value));
            match checked {
                Ok(value) => {
                    resolved = Resolved {
                        value,
                        source: given.source.clone(),
                    }
                }
                Err(hint) => self
                    .mistakes
                    .push(mistake(spec, given.value.to_string(), given.source.clone(), hint)),
            }
        }
        if let Some(value) = chosen {
            if let Err(hint) = check(spec, value) {
                self.mistakes.push(mistake(spec, value.show(), Source::Code, hint));
            }
            resolved = Resolved {
                value,
                source: Source::Code,
            };
        }
        resolved
    }
}

fn check<T: Value>(spec: &Spec<T>, value: T) -> Result<T, Option<String>> {
    if spec.allowed.contains(value) {
        Ok(value)
    } else {
        Err(None)
    }
}

fn mistake<T: Value>(spec: &Spec<T>, value: String, source: Source, hint: Option<String>) -> Mistake {
    Mistake::Value {
        setting: spec.name,
        value: if spec.secret { HIDDEN.to_owned() } else { value },
        origin: source,
        allowed: T::describe(&spec.allowed),
        hint,
    }
}
