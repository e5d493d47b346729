//! The application's own settings: passed through as text, found by key, never printed when they look like secrets.
//!
//! The environment has no dots and no case, so `VOLARY_APP_DB_POOL_SIZE` must find `pool-size` below `[app.db]`. Keys
//! are therefore compared by their words alone: `db.pool-size`, `db.pool_size` and `DB_POOL_SIZE` are one key.

use std::{collections::BTreeMap, fmt};

use super::{Effective, Mistake, Source};

/// Shown instead of a secret.
pub(super) const HIDDEN: &str = "***";

/// What has one of these anywhere in its key is hidden.
const SECRET_WORDS: [&str; 8] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "key",
    "credential",
    "pwd",
];

/// The same of a whole word of a key: as a part they stand in words that have nothing to hide.
const SECRET_WHOLE: [&str; 12] = [
    "auth",
    "authorization",
    "bearer",
    "jwt",
    "cookie",
    "cookies",
    "private",
    "dsn",
    "salt",
    "otp",
    "pin",
    "signature",
];

/// Values that begin so are what a header of HTTP says of who is asking.
const SECRET_SCHEMES: [&str; 3] = ["bearer ", "basic ", "digest "];

#[derive(Clone, Default)]
pub(super) struct App {
    /// By the words of the key.
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    key: String,
    value: String,
    source: Source,
}

impl App {
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(&words(key)).map(|entry| entry.value.as_str())
    }

    pub(super) fn list(&self, key: &str) -> Vec<&str> {
        let key = words(key);
        (0..).map_while(|index| self.get(&format!("{key}.{index}"))).collect()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.values().map(|entry| entry.key.as_str())
    }

    pub(super) fn effective(&self) -> impl Iterator<Item = Effective> {
        self.entries.values().map(|entry| Effective {
            name: format!("app.{}", entry.key),
            value: shown(&entry.key, &entry.value),
            source: entry.source.clone(),
        })
    }

    /// Puts what another source says over what is known.
    pub(super) fn overlay(&mut self, layer: Layer) {
        for list in layer.lists {
            let below = format!("{list}.");
            self.entries.retain(|key, _| !key.starts_with(&below));
        }
        self.entries.extend(layer.app.entries);
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.effective()).finish()
    }
}

/// The application's settings from one source.
#[derive(Default)]
pub(super) struct Layer {
    app: App,
    /// Lists are replaced as a whole, so that no element of a longer list below shines through.
    lists: Vec<String>,
}

impl Layer {
    /// The same setting twice in one source is a mistake, because neither spelling is the stronger one.
    pub(super) fn insert(&mut self, key: String, value: String, source: Source, mistakes: &mut Vec<Mistake>) {
        let words = words(&key);
        if let Some(known) = self.app.entries.get(&words) {
            mistakes.push(Mistake::SameKey {
                key,
                origin: source,
                other: known.key.clone(),
            });
            return;
        }
        self.app.entries.insert(words, Entry { key, value, source });
    }

    pub(super) fn declare_list(&mut self, key: &str) {
        self.lists.push(words(key));
    }
}

/// The key with everything but its words made equal; empty when it has none.
pub(super) fn words(key: &str) -> String {
    let lowercase = key.to_lowercase();
    let words = lowercase.split(['.', '-', '_']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(".")
}

/// The value as it may be logged.
fn shown(key: &str, value: &str) -> String {
    // Every part of the key counts, not just the last: `[app.credentials] user = …` and `VOLARY_APP_TOKEN_FILE` are
    // better hidden without need than shown.
    // `host=db user=bank password=…`
    let lowercase = value.to_lowercase();
    let fields = lowercase
        .split('=')
        .map(|before| before.rsplit([' ', ';', ',', '&', '?', '"', '{']).next());
    let fields = fields.take(lowercase.matches('=').count()).flatten();
    if is_secret(&key.to_lowercase())
        || fields.map(str::trim).any(is_secret)
        || SECRET_SCHEMES.iter().any(|scheme| lowercase.starts_with(scheme))
    {
        return HIDDEN.to_owned();
    }
    hide_passwords_in_urls(value)
}

/// Whether what stands under this key, in lower case, is better not shown.
fn is_secret(key: &str) -> bool {
    SECRET_WORDS.iter().any(|word| key.contains(word))
        || key
            .split(|sign: char| !sign.is_alphanumeric())
            .any(|word| word.ends_with("pass") || SECRET_WHOLE.contains(&word))
}

/// `postgres://bank:***@db/accounts`
fn hide_passwords_in_urls(value: &str) -> String {
    let hidden = value.find("://").and_then(|scheme| {
        let start = scheme + "://".len();
        let end = value[start..]
            .find(['/', '?', '#'])
            .map_or(value.len(), |length| start + length);
        // A password may hold the very characters that end the authority; then the last `@` of the text ends it.
        let at = start + value[start..end].rfind('@').or_else(|| value[start..].rfind('@'))?;
        let colon = start + value[start..at].find(':')?;
        Some(format!(
            "{}:{HIDDEN}{}",
            &value[..colon],
            hide_passwords_in_urls(&value[at..])
        ))
    });
    hidden.unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_by_their_words() {
        for key in [
            "db.pool-size",
            "db.pool_size",
            "DB_POOL_SIZE",
            "Db__Pool.Size",
            ".db.pool.size.",
        ] {
            assert_eq!(words(key), "db.pool.size");
        }
        assert_eq!(words("__.-"), "");
    }

    #[test]
    fn o7_secrets_are_hidden() {
        for key in [
            "password",
            "db.password",
            "DB_PASSWORD",
            "api-key",
            "auth.accessToken",
            "client_secret",
            "aws.credentials",
            "db.password.file",
            "db-pass",
            "smtpPass",
            "redis_auth",
            "http.authorization",
            "session.jwt",
            "cookie",
            "tls.private",
            "sentry.dsn",
            "login.otp",
        ] {
            assert_eq!(shown(key, "hunter2"), HIDDEN, "{key}");
        }
        for key in [
            "region",
            "author",
            "authors.list",
            "passenger",
            "spinner",
            "insulin",
            "saltlake",
        ] {
            assert_eq!(shown(key, "eu"), "eu", "{key}");
        }
    }

    #[test]
    fn o7_passwords_in_urls_are_hidden() {
        for (value, expected) in [
            ("postgres://bank:hunter2@db:5432/x", "postgres://bank:***@db:5432/x"),
            ("redis://:hunter2@cache", "redis://:***@cache"),
            ("nats://a:x@one,nats://b:y@two", "nats://a:***@one,nats://b:***@two"),
            ("host=db password=hunter2", "***"),
            ("host=db;pass=hunter2", "***"),
            ("Bearer hunter2", "***"),
            ("host=db port=5432", "host=db port=5432"),
            ("a bearer of news", "a bearer of news"),
            ("a://b:hun/ter@2@host/x", "a://b:***@host/x"),
            ("https://host:8080/a:b", "https://host:8080/a:b"),
            ("mail me@example.org", "mail me@example.org"),
            ("https://user@host/", "https://user@host/"),
        ] {
            assert_eq!(shown("url", value), expected);
        }
    }
}
