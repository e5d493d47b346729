//! What files and the environment say of remoting: the table `[remote]`, and variables that begin with `VOLARY_REMOTE_`.

use std::time::Duration;

use volary_core::settings::{ByteSize, Effective, Section, SectionSettings, Settings, Source};
use volary_core::tree::Host;

use crate::compression::Compression;
use crate::error::RemoteStartError;
use crate::options::{Fault, Overflow, RemoteOptions};
use crate::trust::{is_unspecified, spelt_allowed};

/// The table in files.
pub(crate) const SECTION: &str = "remote";
pub(crate) const LISTEN: &str = "remote.listen";
const ADVERTISE: &str = "remote.advertise";
const CLUSTER: &str = "remote.cluster";
const PLAINTEXT: &str = "remote.plaintext-beyond-loopback";
const COMPRESSIONS: &str = "remote.compressions";
const ALLOW_PEERS: &str = "remote.allow-peers";

/// The settings of remoting, to have them checked and logged when the system starts, together with its own. Without this
/// they are when remoting starts, and then what is chosen in code is known as well: leave this out where a setting makes
/// sense only beside an option in code.
///
/// ```
/// # use volary_core::ActorSystem;
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let builder = ActorSystem::builder("bank")
///     .settings(|settings| settings.section(volary_remote::SETTINGS))
///     .toml_str("bank.toml", "throughput = 1\n[remote]\nwindow = 7");
/// let refused = builder.start().await.unwrap_err().to_string();
/// assert!(refused.contains("remote.window: the value `7` (from file bank.toml, line 3, key remote.window) is refused"));
/// assert!(refused.contains("throughput: the value `1`"));
/// # }
/// ```
pub const SETTINGS: SectionSettings = SectionSettings::new(SECTION, |mut section| {
    let mut asked = Asked::default();
    let mut options = RemoteOptions::new();
    asked.take(&mut section);
    options.take(&mut section);
    let lines = lines(&asked, &options, &section);
    let faults = options.faults(&section);
    faults.into_iter().for_each(|fault| refuse(&mut section, &fault));
    section.finish().map(|()| lines)
});

/// What can be set of remoting besides its options: what was chosen in code, and then in files and the environment.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) listen: Wish<String>,
    pub(crate) advertise: Wish<String>,
    pub(crate) cluster: Wish<String>,
    pub(crate) plaintext: Wish<bool>,
    pub(crate) compressions: Wish<Vec<Compression>>,
    pub(crate) allow_peers: Wish<Vec<String>>,
}

/// What somebody wants, and whether that was said in code.
#[derive(Default)]
pub(crate) enum Wish<T> {
    #[default]
    None,
    InCode(T),
    InSettings(T),
}

impl<T> Wish<T> {
    pub(crate) fn in_code(chosen: Option<T>) -> Self {
        chosen.map_or(Wish::None, Wish::InCode)
    }

    pub(crate) fn get(self) -> Option<T> {
        match self {
            Wish::None => None,
            Wish::InCode(wish) | Wish::InSettings(wish) => Some(wish),
        }
    }

    /// What was said in code counts.
    fn or(&mut self, given: Option<T>) {
        if let (Wish::None, Some(given)) = (&*self, given) {
            *self = Wish::InSettings(given);
        }
    }

    fn line(&self, section: &Section, setting: &'static str, show: impl Fn(&T) -> String) -> Option<Effective> {
        let (value, origin) = match self {
            Wish::None => return None,
            Wish::InCode(value) => (value, Source::Code),
            Wish::InSettings(value) => (value, section.origin(setting).cloned().unwrap_or(Source::Default)),
        };
        Some(Effective::new(setting, show(value), origin))
    }
}

impl Asked {
    fn take(&mut self, section: &mut Section) {
        let listen = section.text(LISTEN, "a host and a port, such as 127.0.0.1:4242");
        self.listen.or(fitting(section, LISTEN, listen, |listen| {
            match listen.rsplit_once(':') {
                Some((_, port)) if port.parse::<u16>().is_ok() => Ok(listen.to_owned()),
                _ => Err("a host and a port, such as 127.0.0.1:4242".to_owned()),
            }
        }));
        let advertise = section.text(ADVERTISE, "the host by which others reach this node");
        self.advertise.or(fitting(section, ADVERTISE, advertise, |host| {
            match host.parse::<Host>() {
                Ok(_) if !is_unspecified(host) => Ok(host.to_owned()),
                Ok(_) => Err("a host by which others reach this node, and no address that stands for all".to_owned()),
                Err(error) => Err(format!("the host by which others reach this node: {error}")),
            }
        }));
        self.cluster.or(section.text(CLUSTER, "the name of a cluster"));
        self.plaintext.or(section.switch(PLAINTEXT, "true or false"));
        let compressions = section.list(COMPRESSIONS, "a list of compressions");
        self.compressions
            .or(each(section, COMPRESSIONS, compressions, compression));
        let peers = section.list(ALLOW_PEERS, "a list of hosts and nodes");
        self.allow_peers.or(each(section, ALLOW_PEERS, peers, |peer| {
            spelt_allowed(peer)
                .map_err(|error| format!("hosts and nodes such as bank-0.internal and 10.0.0.7:4242: {error}"))
        }));
    }

    fn lines(&self, section: &Section) -> Vec<Effective> {
        let names = |all: &Vec<Compression>| all.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
        let lines = [
            self.listen.line(section, LISTEN, String::clone),
            self.advertise.line(section, ADVERTISE, String::clone),
            self.cluster.line(section, CLUSTER, String::clone),
            self.plaintext.line(section, PLAINTEXT, bool::to_string),
            self.compressions
                .line(section, COMPRESSIONS, |all| format!("[{}]", names(all))),
            self.allow_peers
                .line(section, ALLOW_PEERS, |all| format!("[{}]", all.join(", "))),
        ];
        lines.into_iter().flatten().collect()
    }
}

/// Puts everything that was said together. What is wrong in code alone is said by the name that it has there.
pub(crate) fn resolve(
    asked: &mut Asked,
    options: &mut RemoteOptions,
    settings: &Settings,
) -> Result<Vec<Effective>, RemoteStartError> {
    let mut section = settings.section(SECTION);
    asked.take(&mut section);
    options.take(&mut section);
    let mut faults = options.faults(&section);
    let lines = lines(asked, options, &section);
    // Beside what was given a default may be wrong: whoever gave it knows the other by its setting.
    let is_of_code = |line: &Effective| matches!(line.source, Source::Code | Source::Default);
    let all_are_of_code = options.lines(&section).iter().all(is_of_code);
    if !faults.is_empty() && all_are_of_code && section.clone().finish().is_ok() {
        let Fault {
            option, value, allowed, ..
        } = faults.swap_remove(0);
        return Err(RemoteStartError::Option { option, value, allowed });
    }
    faults.iter().for_each(|fault| refuse(&mut section, fault));
    section.finish()?;
    Ok(lines)
}

fn lines(asked: &Asked, options: &RemoteOptions, section: &Section) -> Vec<Effective> {
    let mut lines = asked.lines(section);
    lines.extend(options.lines(section));
    lines
}

fn refuse(section: &mut Section, fault: &Fault) {
    section.refuse(fault.setting, fault.shown.as_str(), fault.origin.clone(), fault.allowed);
}

/// A value that is what it has to be, or what that is.
fn fitting<T>(
    section: &mut Section,
    setting: &'static str,
    given: Option<String>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let given = given?;
    let refused = match read(&given) {
        Ok(value) => return Some(value),
        Err(allowed) => allowed,
    };
    let origin = section.origin(setting).cloned().unwrap_or(Source::Default);
    section.refuse(setting, given, origin, &refused);
    None
}

/// The same for each of a list.
fn each<T>(
    section: &mut Section,
    setting: &'static str,
    given: Option<Vec<String>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<Vec<T>> {
    let read = given?
        .into_iter()
        .map(|one| fitting(section, setting, Some(one), &read));
    Some(read.flatten().collect())
}

fn compression(name: &str) -> Result<Compression, String> {
    let known = "a list of zstd, lz4, gzip, deflate and brotli";
    let compression = Compression::named(name).ok_or_else(|| known.to_owned())?;
    match compression.is_available() {
        true => Ok(compression),
        false => Err(format!(
            "{known}, each with its cargo feature, here `{}`",
            compression.feature()
        )),
    }
}

/// How a kind of option is written.
pub(crate) trait Given<Kind>: Sized {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self>;
    fn show(self) -> String;
}

pub(crate) enum Bytes {}
pub(crate) enum Count {}
pub(crate) enum Time {}
pub(crate) enum Word {}

impl Given<Bytes> for usize {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self> {
        let size = section.bytes(setting, allowed)?.bytes();
        Some(usize::try_from(size).unwrap_or(usize::MAX))
    }

    fn show(self) -> String {
        ByteSize::new(self as u64).to_string()
    }
}

impl Given<Count> for usize {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self> {
        section.count(setting, allowed)
    }

    fn show(self) -> String {
        self.to_string()
    }
}

impl Given<Count> for u64 {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self> {
        section.count(setting, allowed).map(|count| count as u64)
    }

    fn show(self) -> String {
        self.to_string()
    }
}

impl Given<Time> for Duration {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self> {
        section.duration(setting, allowed)
    }

    fn show(self) -> String {
        format!("{self:?}")
    }
}

impl Given<Word> for Overflow {
    fn read(section: &mut Section, setting: &'static str, allowed: &str) -> Option<Self> {
        let word = section.text(setting, allowed);
        fitting(section, setting, word, |word| {
            Overflow::named(word).ok_or_else(|| allowed.to_owned())
        })
    }

    fn show(self) -> String {
        self.name().to_owned()
    }
}
