// For examples of a transport seen as an actor: that of the shop, with an envelope for alice, who has an account at the bank.
// Behind `bank.rs`.

#[allow(unused_imports, reason = "not every example needs all")]
use volary_remote::{
    AskRemote, Connect, InboundMessage, Peers, RemoteAnswer, RemoteDeadLetter, RemoteEnvelope, SendRemote, TransportActor, Undelivered,
};
use volary_wire::CodecId;

const ALICE: &str = "volary://bank@10.0.0.7:4242/user/alice";

async fn transport() -> std::result::Result<(ActorRef<TransportActor>, ActorRef<Account>), Box<dyn std::error::Error>> {
    let (shop, bank) = two_nodes().await?;
    let there: ActorRef<Account> = shop.actor(&ALICE.parse()?).ok_or("they speak with each other")?;
    let transport = there.system().spawn(move || TransportActor::new(shop.clone())).await?;
    Ok((transport, bank.actor(&ALICE.parse()?).ok_or("she lives there")?))
}

#[allow(dead_code, reason = "not every example needs it")]
fn envelope(cents: i64) -> std::result::Result<RemoteEnvelope, Box<dyn std::error::Error>> {
    Ok(RemoteEnvelope {
        target: ALICE.parse()?,
        sender: None,
        type_name: "bank.v1.Deposit".to_owned(),
        codec: CodecId::JSON,
        payload: format!(r#"{{"cents":{cents}}}"#).into(),
    })
}
