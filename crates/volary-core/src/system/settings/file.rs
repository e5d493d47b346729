//! Reading TOML: top-level keys are settings, the table `[app]` is the application's own.
//!
//! Every syntax error is reported with line and column. The parser's own rendering is not used, because it quotes the
//! line, and the line may hold a password.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use super::section::{SECTIONS, Sections};
use super::{Mistake, Source, app::Layer, app::words, source::Given, suggest::closest, value::Raw, value::excerpt};

const APP: &str = "app";

/// A file to be read when the settings are built, or the text of one.
#[derive(Clone)]
pub(super) enum File {
    OnDisk(PathBuf),
    Text { name: String, text: String },
}

impl File {
    pub(super) fn name(&self) -> String {
        match self {
            Self::OnDisk(path) => path.display().to_string(),
            Self::Text { name, .. } => name.clone(),
        }
    }

    pub(super) fn read(
        &self,
        settings: &[&'static str],
        given: &mut Vec<Given>,
        sections: &mut Sections,
        mistakes: &mut Vec<Mistake>,
    ) -> Layer {
        let file = self.name();
        let text = match self {
            Self::OnDisk(path) => read_text(path),
            Self::Text { text, .. } => Ok(text.clone()),
        };
        match text {
            Ok(text) => Reader {
                file,
                text: &text,
                settings,
                given,
                sections,
                mistakes,
                app: Layer::default(),
            }
            .read(),
            Err(reason) => {
                mistakes.push(Mistake::Unreadable { file, reason });
                Layer::default()
            }
        }
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

struct Reader<'a> {
    file: String,
    text: &'a str,
    settings: &'a [&'static str],
    given: &'a mut Vec<Given>,
    sections: &'a mut Sections,
    mistakes: &'a mut Vec<Mistake>,
    app: Layer,
}

impl Reader<'_> {
    fn read(mut self) -> Layer {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        if !errors.is_empty() {
            // What could be recovered around an error is a guess; complaints about guesses only confuse.
            self.report_syntax(&errors);
            return self.app;
        }
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            self.read_setting(key, value);
        }
        self.app
    }

    fn report_syntax(&mut self, errors: &[toml::de::Error]) {
        let offset = |error: &toml::de::Error| error.span().map_or(self.text.len(), |span| span.start);
        let mut errors: Vec<_> = errors.iter().map(|error| (offset(error), error.message())).collect();
        errors.sort_unstable();
        let mut last_line = 0;
        for (offset, message) in errors {
            let (line, column) = position(self.text, offset);
            // Further errors of the same line are mostly echoes of the first.
            if line == last_line {
                continue;
            }
            last_line = line;
            self.mistakes.push(Mistake::Syntax {
                file: self.file.clone(),
                line,
                column,
                message: message.replace('\n', ", "),
            });
        }
    }

    fn read_setting(&mut self, key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        let (line, _) = position(self.text, key.span().start);
        let name = key.get_ref().as_ref();
        let file = self.file.clone();
        if name == APP {
            match value.get_ref() {
                DeValue::Table(table) => self.read_app_table("", table),
                _ => self.mistakes.push(Mistake::AppIsNoTable { file, line }),
            }
        } else if let Some(section) = SECTIONS.into_iter().find(|section| *section == name) {
            match value.get_ref() {
                DeValue::Table(table) => self.read_section(section, table),
                _ => self.mistakes.push(Mistake::SectionIsNoTable { section, file, line }),
            }
        } else if let Some(setting) = self.settings.iter().find(|setting| **setting == name) {
            let key = name.to_owned();
            self.given.push(Given {
                setting,
                value: raw(value.get_ref()),
                source: Source::File { file, line, key },
            });
        } else {
            let candidates = self.settings.iter().copied().chain([APP]).chain(SECTIONS);
            let suggestion = closest(name, candidates).map(str::to_owned);
            let key = excerpt(name);
            self.mistakes.push(Mistake::UnknownKey {
                key,
                file,
                line,
                suggestion,
            });
        }
    }

    /// As it is: whoever it belongs to knows what may be in there.
    fn read_section(&mut self, section: &'static str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (line, _) = position(self.text, key.span().start);
            let name = key.get_ref().to_string();
            let source = Source::File {
                file: self.file.clone(),
                line,
                key: join(section, &excerpt(&name)),
            };
            self.sections.insert(section, name, raw(value.get_ref()), source);
        }
    }

    fn read_app_table(&mut self, above: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            self.read_app_value(join(above, key.get_ref()), value);
        }
    }

    fn read_app_list(&mut self, key: &str, list: &DeArray<'_>) {
        self.app.declare_list(key);
        for (index, value) in list.iter().enumerate() {
            self.read_app_value(join(key, &index.to_string()), value);
        }
    }

    fn read_app_value(&mut self, key: String, value: &Spanned<DeValue<'_>>) {
        let text = match value.get_ref() {
            DeValue::Table(table) => return self.read_app_table(&key, table),
            DeValue::Array(list) => return self.read_app_list(&key, list),
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.to_string(), |number| number.to_string()),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(time) => time.to_string(),
        };
        let (line, _) = position(self.text, value.span().start);
        let source = Source::File {
            file: self.file.clone(),
            line,
            key: join(APP, &key),
        };
        if words(&key).is_empty() {
            let (file, suggestion) = (self.file.clone(), None);
            let key = join(APP, &key);
            self.mistakes.push(Mistake::UnknownKey {
                key,
                file,
                line,
                suggestion,
            });
            return;
        }
        self.app.insert(key, text, source, self.mistakes);
    }
}

fn join(above: &str, key: &str) -> String {
    if above.is_empty() {
        key.to_owned()
    } else {
        format!("{above}.{key}")
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Quoted(text.to_string()),
        DeValue::Integer(number) => Raw::Integer(number.as_str().to_owned(), number.radix()),
        DeValue::Boolean(value) => Raw::Boolean(*value),
        DeValue::Float(number) => Raw::Other(number.to_string()),
        DeValue::Datetime(time) => Raw::Other(time.to_string()),
        DeValue::Array(list) => texts(list).map_or_else(|| Raw::Other("[…]".to_owned()), Raw::List),
        DeValue::Table(_) => Raw::Other("{…}".to_owned()),
    }
}

/// What is in a list of nothing but strings.
fn texts(list: &DeArray<'_>) -> Option<Vec<String>> {
    let text = |value: &Spanned<DeValue<'_>>| value.get_ref().as_str().map(str::to_owned);
    list.iter().map(text).collect()
}

/// Line and column of a byte, both from 1, columns in characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
