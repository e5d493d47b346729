//! A branch of the bank: a second process on this machine that holds some of the accounts.
//!
//! It is this program, started once more. It says where it listens, and ends when its input does: when the bank closes,
//! or has gone away. If sockets are not to be had, the bank says so and goes on alone.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use volary::prelude::*;
use volary::remote::{Remote, RemoteOptions};

use crate::account::Account;
use crate::options::Options;
use crate::{OPENING_CENTS, mishap, name};

const PATIENCE: Duration = Duration::from_secs(10);
const LOOPBACK: &str = "127.0.0.1:0";

/// The second process, as the first one sees it.
pub(crate) struct Branch {
    remote: Remote,
    node: String,
    process: Process,
    pub(crate) accounts: Vec<ActorRef<Account>>,
}

/// Ended when nobody holds it any more.
struct Process {
    child: Child,
    /// Open for as long as the branch is to stay.
    input: Option<ChildStdin>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.input.is_some() {
            let _ = self.child.kill(); // it may have ended by itself
        }
        let _ = self.child.wait();
    }
}

impl Branch {
    /// Starts the second process; `None` if there can be none, which is said.
    pub(crate) async fn open(system: &ActorSystem, options: &Options) -> Option<Self> {
        if options.branch_accounts == 0 {
            return None;
        }
        match Branch::try_open(system, options).await {
            Ok(branch) => {
                let count = branch.accounts.len();
                println!("a second process joins in at {} with {count} accounts", branch.node);
                Some(branch)
            }
            Err(error) => {
                println!("no second process joins in ({error}); the bank goes on alone");
                None
            }
        }
    }

    async fn try_open(system: &ActorSystem, options: &Options) -> volary::Result<Self> {
        let patience = RemoteOptions::new().operation_timeout(Duration::from_secs(3));
        let remote = Remote::builder().kind::<Account>().options(patience);
        let remote = remote.start(system, LOOPBACK).await?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args([
            "--branch",
            "1",
            "--branch-accounts",
            &options.branch_accounts.to_string(),
        ]);
        command.args(["--faults", &options.faults.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let process = Process { child, input };
        let output = output.ok_or_else(|| io::Error::other("it has no output"))?;
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(output).read_line(&mut line);
            let _ = send.send(line);
        });
        let said = tokio::task::spawn_blocking(move || receive.recv_timeout(PATIENCE)).await?;
        let node = said.unwrap_or_default().trim().to_owned();
        if node.is_empty() {
            return Err(io::Error::other("it did not start").into());
        }
        // It listens; whether it can be reached is another question.
        remote.at(&node).kinds().await?;
        let mut accounts = Vec::with_capacity(options.branch_accounts);
        for number in 0..options.branch_accounts {
            let address = format!("volary://branch@{node}/user/{}", name(number)).parse()?;
            accounts.push(
                remote
                    .actor(&address)
                    .ok_or_else(|| io::Error::other("it cannot be referred to"))?,
            );
        }
        Ok(Branch {
            remote,
            node,
            process,
            accounts,
        })
    }

    /// What was supervised over there.
    pub(crate) async fn faults(&self) -> volary::Result<u64> {
        Ok(self.remote.at(&self.node).metrics().await?.metrics.faults)
    }

    /// What travelled between the two.
    pub(crate) fn messages(&self) -> u64 {
        self.remote.peers().iter().map(|peer| peer.sent).sum()
    }

    /// Lets the second process end, and waits for that.
    pub(crate) fn close(mut self) {
        drop(self.process.input.take());
    }
}

/// What the second process does.
pub(crate) async fn serve(options: &Options) -> volary::Result<ExitCode> {
    let system = ActorSystem::builder("branch").start().await?;
    let remote = Remote::builder().kind::<Account>().start(&system, LOOPBACK).await?;
    for number in 0..options.branch_accounts {
        let account = system.spawn(|| Account::open(OPENING_CENTS)).named(name(number));
        account.on_fault(Directive::Resume).await?;
    }
    mishap::begin(options.faults);
    println!("{}", remote.node());
    tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new())).await??;
    system.stop().await?;
    Ok(ExitCode::SUCCESS)
}
