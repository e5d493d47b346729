//! What can be said on the command line.

use std::ops::RangeInclusive;
use std::time::Duration;

pub(crate) struct Options {
    pub(crate) accounts: usize,
    pub(crate) time: Duration,
    /// Of a thousand messages, so many crash their receiver.
    pub(crate) faults: u64,
}

impl Options {
    pub(crate) fn from_command_line() -> Self {
        parse(std::env::args().skip(1)).unwrap_or_else(|mistake| {
            eprintln!("bank: {mistake}");
            std::process::exit(2);
        })
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { accounts: 200_000, time: Duration::from_secs(5), faults: 1 };
    while let Some(option) = args.next() {
        match option.as_str() {
            "--accounts" => options.accounts = number(&option, args.next(), 2..=10_000_000)? as usize,
            "--seconds" => options.time = Duration::from_secs(number(&option, args.next(), 1..=86_400)?),
            "--faults" => options.faults = number(&option, args.next(), 0..=500)?,
            _ => return Err(format!("no option `{option}`; there are --accounts N, --seconds N and --faults PER_MILLE")),
        }
    }
    Ok(options)
}

fn number(option: &str, value: Option<String>, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let value = value.unwrap_or_else(|| "nothing".to_owned());
    let range = format!("a number from {} to {}", allowed.start(), allowed.end());
    let number = value.parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| format!("{option} needs {range}, not `{value}`"))
}
