// What examples of recordings share, in lines that are not shown there: alice's account, what may be written down of its
// messages, and a recording of two deposits.

use volary::prelude::*;
#[allow(unused_imports, reason = "not every example needs all")]
use volary_testkit::record::*;

type Anything = Box<dyn std::error::Error + Send + Sync>;
type Done = std::result::Result<(), Anything>;

#[derive(Default)]
struct Account {
    cents: i64,
}

#[actor]
impl Account {
    fn deposit(&mut self, cents: i64) -> i64 {
        self.cents += cents;
        self.cents
    }
    fn balance(&mut self) -> i64 {
        self.cents
    }
}

fn codecs() -> Codecs<Account> {
    Codecs::new().message(
        |deposit: &Deposit| deposit.cents.to_be_bytes().to_vec(),
        |bytes| Ok(Deposit { cents: i64::from_be_bytes(bytes.try_into()?) }),
    )
}

/// A file that is gone in the end.
struct File(std::path::PathBuf);

impl File {
    #[allow(clippy::new_without_default, reason = "for examples alone")]
    fn new() -> Self {
        let thread = std::thread::current().id();
        File(std::env::temp_dir().join(format!("volary-{}-{thread:?}.recording", std::process::id())))
    }
}

impl AsRef<std::path::Path> for File {
    fn as_ref(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn bank() -> std::result::Result<(ActorSystem, ActorRef<Account>), Anything> {
    let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
    let alice = system.spawn(Account::default).named("alice").await?;
    Ok((system, alice))
}

/// A recording of deposits of 5 and 6.
#[allow(dead_code, reason = "not every example needs it")]
fn recorded() -> std::result::Result<File, Anything> {
    volary::run(async {
        let (file, (system, alice)) = (File::new(), bank().await?);
        let recording = Recorder::new(codecs()).start(&alice)?;
        alice.ask(Deposit { cents: 5 }).await?;
        alice.ask(Deposit { cents: 6 }).await?;
        recording.finish(&file)?;
        system.stop().await?;
        Ok(file)
    })
}
