//! O4, O7, S21: settings come from code, environment, file and default, in this order; every mistake is named.

use std::time::Duration;

use volary_core::system::settings::{ByteSize, Mistake, Settings, SettingsBuilder, Source, declared};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn file(text: &str) -> SettingsBuilder {
    Settings::builder().toml_str("bank.toml", text)
}

fn environment(pairs: &[(&str, &str)]) -> SettingsBuilder {
    Settings::builder().environment(variables(pairs))
}

/// The messages, one per mistake.
fn refusal(builder: SettingsBuilder) -> Vec<String> {
    let error = builder.build(4).expect_err("there is a mistake");
    let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), error.mistakes().len(), "one line per mistake: {lines:?}");
    lines
}

#[test]
fn o4_defaults() {
    let settings = Settings::builder().build(6).expect("defaults are valid");
    assert_eq!(settings.workers(), 6);
    assert_eq!(settings.throughput(), 32);
    assert_eq!(settings.ask_timeout(), Duration::from_secs(5));
    assert_eq!(settings.shutdown_timeout(), Duration::from_secs(300));
    assert_eq!(settings.drain_timeout(), Duration::ZERO);
    assert_eq!(settings.stop_timeout(), Duration::from_secs(180));
    assert_eq!(settings.stop_grace(), Duration::from_secs(5));
    assert_eq!(settings.init_timeout(), Duration::from_secs(1));
    assert_eq!(settings.init_retries(), 5);
    assert_eq!(settings.mailbox_high_water(), 100_000);
    assert_eq!(settings.mailbox_budget(), ByteSize::ZERO);
    assert_eq!(settings.slow_handler(), Duration::from_millis(100));
    assert_eq!(settings.blocking_threads(), 512);
    assert_eq!(settings.blocking_keep_alive(), Duration::from_secs(10));
    assert_eq!(settings.dead_letter_log(), 10);
    assert!(!settings.allow_panic_abort());
    assert!(settings.log_config());
    assert!(settings.effective().iter().all(|line| line.source == Source::Default));
}

#[test]
fn o4_precedence_is_code_environment_file_default() {
    let text = "throughput = 10\nworkers = 10\ninit-retries = 10";
    let pairs = [("VOLARY_THROUGHPUT", "20"), ("VOLARY_WORKERS", "20")];
    let settings = Settings::builder()
        .throughput(30)
        .environment(variables(&pairs))
        .toml_str("bank.toml", text)
        .build(4)
        .expect("valid");
    assert_eq!(
        (settings.throughput(), settings.workers(), settings.init_retries()),
        (30, 20, 10)
    );
    let sources: Vec<String> = settings
        .effective()
        .into_iter()
        .take(3)
        .map(|line| line.source.to_string())
        .collect();
    assert_eq!(sources, ["environment variable VOLARY_WORKERS", "code", "default"]);
}

#[test]
fn o4_of_two_files_the_later_wins() {
    let settings = file("throughput = 10\nworkers = 10")
        .toml_str("local.toml", "workers = 20")
        .build(4)
        .expect("valid");
    assert_eq!((settings.throughput(), settings.workers()), (10, 20));
}

#[test]
fn o4_every_setting_can_come_from_file_and_environment() {
    let text = r#"
        workers = 3
        throughput = 0x40
        ask-timeout = "250ms"
        shutdown-timeout = "3h"
        drain-timeout = "10s"
        stop-timeout = "2h"
        stop-grace = "0ms"
        init-timeout = "1d"
        init-retries = 0
        mailbox-high-water = 1_000_000
        mailbox-budget = "512MiB"
        slow-handler = "5s"
        blocking-threads = 1
        blocking-keep-alive = "3min"
        dead-letter-log = 0
        allow-panic-abort = true
        log-config = false
    "#;
    let from_file = file(text).build(4).expect("valid").effective();
    assert!(from_file.iter().all(|line| matches!(line.source, Source::File { .. })));
    // What is in force, written into the environment, comes out again.
    let pairs: Vec<_> = declared()
        .into_iter()
        .zip(&from_file)
        .map(|(setting, line)| (setting.variable, line.value.clone()))
        .collect();
    let from_environment = Settings::builder()
        .environment(pairs)
        .build(4)
        .expect("valid")
        .effective();
    for (one, other) in from_file.iter().zip(&from_environment) {
        assert_eq!((&one.name, &one.value), (&other.name, &other.value));
        assert!(matches!(other.source, Source::Environment { .. }));
    }
}

#[test]
fn s21_names_setting_value_source_and_what_is_allowed() {
    assert_eq!(
        refusal(environment(&[("VOLARY_THROUGHPUT", "1000")])),
        [
            "throughput: the value `1000` (from environment variable VOLARY_THROUGHPUT) is refused: allowed is a whole number from 8 to 256"
        ]
    );
    assert_eq!(
        refusal(file("\nworkers = 1")),
        [
            "workers: the value `1` (from file bank.toml, line 2, key workers) is refused: allowed is a whole number from 2 to 1024"
        ]
    );
    assert_eq!(
        refusal(Settings::builder().ask_timeout(Duration::ZERO)),
        [
            "ask-timeout: the value `0ms` (from code) is refused: allowed is a duration such as 250ms, 5s, 3min, 2h or 1d, more than 0 and at most 1d"
        ]
    );
}

#[test]
fn s21_refused_values() {
    for (variable, value, hint) in [
        ("VOLARY_WORKERS", "", "a whole number from 2 to 1024"),
        ("VOLARY_WORKERS", "many", "a whole number from 2 to 1024"),
        ("VOLARY_WORKERS", "1025", "a whole number from 2 to 1024"),
        ("VOLARY_THROUGHPUT", "7", "from 8 to 256"),
        ("VOLARY_INIT_RETRIES", "101", "from 0 to 100"),
        ("VOLARY_MAILBOX_HIGH_WATER", "0", "at least 1"),
        ("VOLARY_BLOCKING_THREADS", "10001", "from 1 to 10000"),
        ("VOLARY_ASK_TIMEOUT", "5", "write 5s or 5ms"),
        ("VOLARY_ASK_TIMEOUT", "5m", "write 5min"),
        ("VOLARY_ASK_TIMEOUT", "25h", "at most 1d"),
        ("VOLARY_STOP_TIMEOUT", "0s", "more than 0"),
        ("VOLARY_MAILBOX_BUDGET", "1GB", "write 1GiB"),
        ("VOLARY_LOG_CONFIG", "yes", "true or false"),
    ] {
        let messages = refusal(environment(&[(variable, value)]));
        assert!(
            messages[0].contains(hint) && messages[0].contains(&format!("`{value}`")),
            "{messages:?}"
        );
    }
    for (text, hint) in [
        ("workers = \"8\"", "write 8 without quotes"),
        ("workers = 8.0", "`8.0`"),
        ("workers = -8", "`-8`"),
        ("workers = 99999999999999999999", "`99999999999999999999`"),
        ("workers = [8]", "`[…]`"),
        ("[workers]\ncount = 8", "`{…}`"),
        ("ask-timeout = 5", "write \"5s\" or \"5ms\""),
        ("ask-timeout = 07:32:00", "`07:32:00`"),
        ("log-config = \"true\"", "write true without quotes"),
        ("log-config = 1", "true or false"),
    ] {
        let messages = refusal(file(text));
        assert!(messages.len() == 1 && messages[0].contains(hint), "{messages:?}");
    }
}

#[test]
fn s21_every_mistake_is_reported_at_once() {
    let builder = file("workers = 1\nthrouhgput = 64\nask-timeout = 5\n[apps]\nx = 1")
        .environment(variables(&[
            ("VOLARY_THROUGHPUT", "x"),
            ("VOLARY_LOGCONFIG", "true"),
            ("PATH", "/bin"),
        ]))
        .file("/does/not/exist.toml")
        .blocking_threads(0)
        .workers(4);
    let messages = refusal(builder);
    for (message, beginning) in messages.iter().zip([
        "unknown setting throuhgput in file bank.toml, line 2: did you mean throughput?",
        "unknown setting apps in file bank.toml, line 4: did you mean app?",
        "file /does/not/exist.toml cannot be read: ",
        "unknown environment variable VOLARY_LOGCONFIG: did you mean VOLARY_LOG_CONFIG?",
        "workers: the value `1` (from file bank.toml, line 1, key workers)",
        "throughput: the value `x` (from environment variable VOLARY_THROUGHPUT)",
        "ask-timeout: the value `5` (from file bank.toml, line 3, key ask-timeout)",
        "blocking-threads: the value `0` (from code)",
    ]) {
        assert!(message.starts_with(beginning), "{message}");
    }
    assert_eq!(messages.len(), 8, "{messages:#?}");
}

#[test]
fn s21_unknown_names_without_a_likeness() {
    assert_eq!(
        refusal(file("colour = 1")),
        ["unknown setting colour in file bank.toml, line 1: remove it, or move it below [app] if it is your own"]
    );
    for variable in ["VOLARY_COLOUR", "VOLARY_", "VOLARY_APP", "VOLARY_APP_", "VOLARY_APP__"] {
        let messages = refusal(environment(&[(variable, "hunter2")]));
        assert!(
            messages[0].starts_with(&format!("unknown environment variable {variable}: ")),
            "{messages:?}"
        );
        assert!(!messages[0].contains("hunter2"));
    }
    assert!(
        environment(&[("volary_workers", "x"), ("MY_VOLARY_WORKERS", "x")])
            .build(4)
            .is_ok()
    );
}

#[test]
fn s21_syntax_errors_show_line_and_column_but_no_text() {
    let messages = refusal(file(
        "workers = 4\n[app]\npassword = \"hunter2\nother = \"x\"\nthroughput = = 3",
    ));
    assert!(
        messages[0].starts_with("file bank.toml, line 3, column 20: "),
        "{messages:?}"
    );
    assert!(
        messages[1].starts_with("file bank.toml, line 5, column 14: "),
        "{messages:?}"
    );
    assert!(messages.iter().all(|message| !message.contains("hunter2")));
    let messages = refusal(file("workers = 4\nworkers = 5"));
    assert!(
        messages[0].starts_with("file bank.toml, line 2, column 1: duplicate key"),
        "{messages:?}"
    );
}

#[test]
fn s21_files_that_cannot_be_read() {
    let directory = std::env::temp_dir();
    assert!(refusal(Settings::builder().file(&directory))[0].contains("cannot be read"));
    let binary = directory.join(format!("volary-settings-{}.toml", std::process::id()));
    std::fs::write(&binary, [0xff, 0xfe]).expect("the temporary directory is writable");
    let messages = refusal(Settings::builder().file(&binary));
    std::fs::write(&binary, "workers = 7").expect("the temporary directory is writable");
    let settings = Settings::builder().file(&binary).build(4);
    std::fs::remove_file(&binary).expect("it was just written");
    assert!(
        messages[0].ends_with("cannot be read: it is not UTF-8 text"),
        "{messages:?}"
    );
    assert_eq!(settings.map(|settings| settings.workers()).ok(), Some(7));
}

#[test]
fn s21_variables_that_are_not_text() {
    let messages = refusal(environment(&[("VOLARY_APP_NAME", "caf\u{fffd}")]));
    assert_eq!(
        messages,
        ["environment variable VOLARY_APP_NAME: the value is not UTF-8 text"]
    );
}

#[test]
fn o4_the_application_has_a_space_of_its_own() {
    let text = r#"
        [app]
        name = "bank"
        limit = 0x10
        ratio = 1.5
        on = true
        hosts = ["a", "b", "c"]
        [app.db]
        pool-size = 4
        Password = "from file"
        [[app.peers]]
        host = "x"
    "#;
    let settings = file(text)
        .toml_str("local.toml", "app.hosts = [\"z\"]")
        .environment(variables(&[
            ("VOLARY_APP_DB_PASSWORD", "from environment"),
            ("VOLARY_APP_DB_POOL_SIZE", "8"),
        ]))
        .app("db.user", "root")
        .app("db.user", "bank")
        .build(4)
        .expect("valid");
    for (key, value) in [
        ("name", "bank"),
        ("limit", "16"),
        ("ratio", "1.5"),
        ("on", "true"),
        ("db.pool-size", "8"),
        ("db.password", "from environment"),
        ("DB_PASSWORD", "from environment"),
        ("db.user", "bank"),
        ("peers.0.host", "x"),
    ] {
        assert_eq!(settings.app(key), Some(value), "{key}");
    }
    assert_eq!(settings.app_list("hosts"), ["z"]);
    assert_eq!(settings.app("db"), None);
    assert_eq!(settings.app_keys().count(), 9);
}

#[test]
fn s21_two_spellings_of_one_key() {
    assert_eq!(
        refusal(file("[app]\npool-size = 1\npool_size = 2")),
        [
            "app.pool_size (from file bank.toml, line 3, key app.pool_size) and app.pool-size mean the same setting, because '.', '-', '_' and case make no difference: keep one"
        ]
    );
    assert!(refusal(file("app = 3"))[0].contains("allowed is a table, [app]"));
}

#[test]
fn o7_secrets_are_never_shown() {
    let builder = file("[app]\nurl = \"nats://bank:hunter2@host\"\n[[app.users]]\nname = \"a\"\nsecret = \"hunter2\"")
        .environment(variables(&[
            ("VOLARY_APP_DB_PASSWORD", "hunter2"),
            ("VOLARY_APP_API_TOKEN", "hunter2"),
        ]))
        .app("signing.key", "hunter2");
    assert!(!format!("{builder:?}").contains("hunter2"));
    let settings = builder.build(4).expect("valid");
    let shown = format!("{settings:?}\n{settings:#?}\n{:?}", settings.effective());
    assert!(!shown.contains("hunter2"), "{shown}");
    let lines: Vec<String> = settings
        .effective()
        .iter()
        .skip(declared().len())
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lines,
        [
            "app.api.token = *** (environment variable VOLARY_APP_API_TOKEN)",
            "app.db.password = *** (environment variable VOLARY_APP_DB_PASSWORD)",
            "app.signing.key = *** (code)",
            "app.url = nats://bank:***@host (file bank.toml, line 2, key app.url)",
            "app.users.0.name = a (file bank.toml, line 4, key app.users.0.name)",
            "app.users.0.secret = *** (file bank.toml, line 5, key app.users.0.secret)",
        ]
    );
    assert_eq!(settings.app("signing.key"), Some("hunter2"));
}

#[test]
fn mistakes_can_be_told_apart() {
    let error = file("thruput = 1\nworkers = 0").build(4).expect_err("two mistakes");
    assert!(matches!(
        error.mistakes(),
        [
            Mistake::UnknownKey { line: 1, .. },
            Mistake::Value {
                setting: "workers",
                origin: Source::File { line: 2, .. },
                ..
            }
        ]
    ));
}

#[test]
fn s21_what_is_said_of_a_section_is_kept_for_whom_it_belongs_to() {
    let settings = file("workers = 4\n[remote]\nwindow = 1\nlist = [\"a\", \"b\"]\npeers = 2")
        .environment(variables(&[
            ("VOLARY_REMOTE_WINDOW", "3"),
            ("VOLARY_REMOTE_LIST", " c ,,d"),
            ("VOLARY_REMOTE_LOST_AFTER", "3s"),
        ]))
        .build(4)
        .unwrap();
    let mut remote = settings.section("remote");
    assert_eq!(remote.count("remote.window", "a number"), Some(3));
    assert_eq!(remote.count("remote.peers", "a number"), Some(2));
    assert_eq!(
        remote.list("remote.list", "words"),
        Some(vec!["c".to_owned(), "d".to_owned()])
    );
    assert_eq!(
        remote.duration("remote.lost-after", "a time"),
        Some(Duration::from_secs(3))
    );
    let origin = |setting| remote.origin(setting).map(ToString::to_string);
    assert_eq!(
        origin("remote.window").unwrap(),
        "environment variable VOLARY_REMOTE_WINDOW"
    );
    assert_eq!(
        origin("remote.peers").unwrap(),
        "file bank.toml, line 5, key remote.peers"
    );
    remote.finish().unwrap();
    // Unless somebody says what is in there, it is not shown: nobody knows whether it is a secret.
    assert!(
        settings
            .effective()
            .iter()
            .all(|line| !line.name.starts_with("remote."))
    );
    assert_eq!(
        refusal(file("remote = 3")),
        ["remote: the value (from file bank.toml, line 1) is refused: allowed is a table, [remote]"]
    );
    for variable in ["VOLARY_REMOTE", "VOLARY_REMOTEX"] {
        assert!(refusal(environment(&[(variable, "x")]))[0].starts_with("unknown environment variable"));
    }
}

#[test]
fn s21_a_wrong_value_of_a_section_is_said_although_another_source_overrides_it() {
    let builder = file("[remote]\nwindow = \"x\"").environment(variables(&[("VOLARY_REMOTE_WINDOW", "3")]));
    let mut remote = builder.build(4).unwrap().section("remote");
    assert_eq!(remote.count("remote.window", "a number"), Some(3));
    assert_eq!(
        remote.finish().unwrap_err().to_string(),
        "remote.window: the value `x` (from file bank.toml, line 2, key remote.window) is refused: allowed is a number"
    );
}

/// The chapter of the book has a row for every setting, with the default in it.
#[test]
fn o4_the_book_lists_every_setting() {
    let chapter = include_str!("../../../docs/book/src/settings.md");
    for setting in volary_core::system::settings::declared() {
        let row = format!("| `{}` | {} |", setting.name, setting.default);
        assert!(chapter.contains(&row), "no row begins with {row}");
    }
}
