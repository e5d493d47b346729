//! Reading `VOLARY_*` variables. They are handed in; nothing here looks at the process.

use std::collections::BTreeMap;

use super::{
    Mistake, Source,
    app::{Layer, words},
    section::Sections,
    source::Given,
    suggest::closest,
    value::Raw,
};

const PREFIX: &str = "VOLARY_";
const APP_PREFIX: &str = "APP_";

/// The variable that sets a declared setting.
pub(super) fn variable(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase().replace(['-', '.'], "_"))
}

pub(super) fn is_ours(variable: &str) -> bool {
    variable.starts_with(PREFIX)
}

/// What the environment says. Variables that are not ours were left out before.
pub(super) fn read(
    variables: &BTreeMap<String, String>,
    settings: &[&'static str],
    given: &mut Vec<Given>,
    sections: &mut Sections,
    mistakes: &mut Vec<Mistake>,
) -> Layer {
    let mut app = Layer::default();
    for (name, value) in variables {
        let name = name.clone();
        if value.contains(char::REPLACEMENT_CHARACTER) {
            mistakes.push(Mistake::NotText { variable: name });
            continue;
        }
        let rest = name.strip_prefix(PREFIX).unwrap_or_default();
        if let Some(key) = rest.strip_prefix(APP_PREFIX).filter(|key| !words(key).is_empty()) {
            let key = words(key);
            let source = Source::Environment { variable: name };
            app.insert(key, value.clone(), source, mistakes);
        } else if let Some(section) = Sections::of_variable(&name) {
            let source = Source::Environment { variable: name.clone() };
            sections.insert(section, name, Raw::Plain(value.clone()), source);
        } else if let Some(setting) = settings.iter().find(|setting| variable(setting) == name) {
            given.push(Given {
                setting,
                value: Raw::Plain(value.clone()),
                source: Source::Environment { variable: name },
            });
        } else {
            // The value stays out of the message: nobody knows whether it is a secret.
            let suggestion = closest(rest, settings.iter().copied()).map(variable);
            mistakes.push(Mistake::UnknownVariable {
                variable: name,
                suggestion,
            });
        }
    }
    app
}
