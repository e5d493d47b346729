// For examples of the end of an actor: alice's account, and what its watcher was told. Behind `bank.rs`.

struct Watcher(ActorRef<Account>);

impl Actor for Watcher {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.watch(&self.0);
        Ok(())
    }
}

impl SyncHandler<Terminated> for Watcher {
    fn handle(&mut self, gone: Terminated, ctx: &mut Context<Self>) -> Result<(), Failure> {
        ctx.system().events().publish(gone);
        Ok(())
    }
}

async fn gone() -> Result<(ActorRef<Account>, Terminated), Anything> {
    let (system, alice) = bank().await?;
    let told = system.events().subscribe::<Terminated>();
    let account = alice.clone();
    system.spawn(move || Watcher(account.clone())).await?;
    alice.stop();
    let gone = told.next().await?;
    system.stop().await?;
    Ok((alice, gone))
}
