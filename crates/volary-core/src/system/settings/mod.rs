//! The settings of an actor system on one machine: where they come from, what is allowed, and what is in force.
//!
//! ```text
//! code        Settings::builder().ask_timeout(..)      wins over
//! environment VOLARY_ASK_TIMEOUT=2s                    wins over
//! TOML file   ask-timeout = "2s"                       wins over
//! default     5s
//! ```
//! All settings are declared in one table, [`declare.rs`](declared). Building collects *every* mistake, in every
//! source, overridden or not, and each names the setting, the value, its source and what is allowed. What belongs to
//! the application lives under `[app]` and `VOLARY_APP_*`, is passed through, and is never printed when it looks like a secret. What stands on the core has a table
//! of its own, `[remote]` and `VOLARY_REMOTE_*`, in which the core only [keeps](Section) what is said.

mod app;
mod builder;
mod declare;
mod environment;
mod error;
mod file;
mod section;
mod size;
mod source;
mod suggest;
mod value;

pub use builder::SettingsBuilder;
pub use declare::{Declared, Settings, declared};
pub use error::{Mistake, SettingsError};
pub use section::{Section, SectionSettings};
pub use size::ByteSize;
pub use source::{Effective, Source, process_environment};
pub use value::Kind;
