// What examples of actors elsewhere share, in lines that are not shown there: bob, who lives on another node, and the way out to
// him, on which the body of an example sees what is sent to him; alice, to whom something comes from there. Behind `bank.rs`.

#[allow(unused_imports, reason = "not every example needs all")]
use volary_core::foreign::*;

struct Out<F>(F);
impl<F> Outlet for Out<F>
where
    F: Fn(&mut Parcel<'_>) -> Result<(), Undeliverable> + Send + Sync + 'static,
{
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        (self.0)(parcel)
    }
    fn run(&self, _: Errand) {}
}

/// Who stands in for bob here. A body that panics has refused the message.
fn bob(
    system: &ActorSystem,
    send: impl Fn(&mut Parcel<'_>) -> Result<(), Undeliverable> + Send + Sync + 'static,
) -> Result<StandIn, Anything> {
    let address = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
    Ok(system.stand_in(address, Arc::new(Out(send))).ok_or("the system is stopping")?)
}

/// What bob is asked, and how that ends if his side does this about the answer.
#[allow(dead_code, reason = "not every example needs it")]
async fn ask_bob(answer: impl Fn(PendingReply) + Send + Sync + 'static) -> Result<Result<i64, AskError>, Anything> {
    let (system, _) = bank().await?;
    let account = bob(&system, move |parcel| {
        answer(parcel.take_reply().ok_or(Undeliverable::Unsendable)?);
        Ok(())
    })?;
    let answer = account.actor_ref::<Account>().ask(Deposit(5)).await;
    system.stop().await?;
    Ok(answer)
}

/// What arrives at alice: runs the body in her handler of it.
#[allow(dead_code, reason = "not every example needs it")]
async fn arrive(
    alice: &ActorRef<Account>,
    arrival: Arrival<'_>,
    body: impl FnOnce(&mut Context<Account>) -> Done + Send + 'static,
) -> Done {
    let asked = arrival.deliver(|| alice.ask(Inside(Box::new(body))).into_future());
    Ok(asked.await?)
}
