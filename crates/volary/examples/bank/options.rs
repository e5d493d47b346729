//! What can be said on the command line.

use std::time::Duration;

pub(crate) struct Options {
    pub(crate) accounts: usize,
    pub(crate) time: Duration,
    /// Of a thousand messages, so many crash their receiver.
    pub(crate) faults: u64,
    /// How many accounts a second process has; none: there is no second process.
    pub(crate) branch_accounts: usize,
    /// This is the second process.
    pub(crate) is_branch: bool,
}

pub(crate) fn from_command_line() -> Options {
    parse(std::env::args().skip(1)).unwrap_or_else(|mistake| {
        eprintln!("bank: {mistake}");
        std::process::exit(2);
    })
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let (mut accounts, mut seconds, mut faults) = (200_000, 5, 1);
    let (mut branch_accounts, mut branch) = (1_000, 0);
    while let Some(option) = args.next() {
        let (place, least, most) = match option.as_str() {
            "--accounts" => (&mut accounts, 2, 10_000_000),
            "--seconds" => (&mut seconds, 1, 86_400),
            "--faults" => (&mut faults, 0, 500),
            "--branch-accounts" => (&mut branch_accounts, 0, 100_000),
            "--branch" => (&mut branch, 0, 1), // how the program starts itself once more
            _ => {
                return Err(format!(
                    "no option `{option}`; there are --accounts, --seconds, --faults and --branch-accounts"
                ));
            }
        };
        let value = args.next().unwrap_or_else(|| "nothing".to_owned());
        let number = value.parse().ok().filter(|number| (least..=most).contains(number));
        *place = number.ok_or_else(|| format!("{option} needs a number from {least} to {most}, not `{value}`"))?;
    }
    let (accounts, time) = (accounts as usize, Duration::from_secs(seconds));
    Ok(Options {
        accounts,
        time,
        faults,
        branch_accounts: branch_accounts as usize,
        is_branch: branch == 1,
    })
}
