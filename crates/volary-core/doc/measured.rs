// For examples of what is measured: a system that measures everything, and alice's account, which was asked once. Behind
// `bank.rs`.

async fn measured() -> Result<ActorSystem, Anything> {
    let builder = ActorSystem::builder("bank").ignore_environment().telemetry(Telemetry::sampled(1.0));
    let system = builder.settings(|s| s.log_config(false)).start().await?;
    system.spawn(Account::default).named("alice").await?.ask(Deposit(5)).await?;
    Ok(system)
}

/// What was measured of accounts.
#[allow(dead_code, reason = "not every example needs it")]
fn reading_of_accounts(system: &ActorSystem) -> KindReading {
    let mut kinds = system.readings().kinds.into_iter();
    kinds.find(|kind| kind.kind.ends_with("Account")).expect("one was asked")
}
