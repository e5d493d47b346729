// For examples of eviction: bob, carol and dave, of whom two may be awake. Bob has handled three messages, then carol one, then
// dave two. Behind `bank.rs`.

async fn first_to_go(eviction: Eviction) -> Result<String, Anything> {
    let builder = ActorSystem::builder("bank").ignore_environment().eviction(eviction);
    let system = builder.settings(|s| s.log_config(false)).start().await?;
    let gone = system.events().subscribe::<ActorPassivated>();
    for (name, messages) in [("bob", 3), ("carol", 1), ("dave", 2)] {
        let spawn = system.spawn(Account::default).named(name);
        let account = spawn.passivation(Passivation::on_demand()).await?;
        for _ in 0..messages {
            account.ask(Deposit(5)).await?;
        }
    }
    let first = gone.next().await?.path.to_string();
    system.stop().await?;
    Ok(first)
}
