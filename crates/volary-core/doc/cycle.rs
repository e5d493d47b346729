// For examples of actors that wait for each other: `a` asks `b`, who asks `a` before it answers. Behind `bank.rs`.

struct Chatter;
impl Actor for Chatter {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Chat>();
    }
}

/// Ask the actor at this path; answered with the ring that this closes.
struct Chat(&'static str);
impl Message for Chat {
    type Reply = Option<Cycle>;
    type Rejection = Infallible;
}
impl Handler<Chat> for Chatter {
    async fn handle(&mut self, chat: Chat, ctx: &mut Context<Self>) -> Result<Option<Cycle>, Failure> {
        let other = ctx.system().lookup::<Chatter>(chat.0).ok_or(Fault::msg("nobody"))?;
        match other.ask(Chat("/user/a")).await {
            Err(AskError::Cycle(cycle)) => Ok(Some(cycle)),
            answer => Ok(answer.or_fault()?),
        }
    }
}

async fn cycle() -> Result<(ActorSystem, Cycle), Anything> {
    let (system, _) = bank().await?;
    let a = system.spawn(|| Chatter).named("a").await?;
    system.spawn(|| Chatter).named("b").await?;
    let cycle = a.ask(Chat("/user/b")).await?.ok_or("they are in a ring")?;
    Ok((system, cycle))
}
