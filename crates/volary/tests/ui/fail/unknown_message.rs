use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn deposit(&mut self, _cents: i64) {}

    fn withdraw(&mut self, _cents: i64) {}
}

#[derive(Message)]
struct Paint;

protocol!(pub Till { Deposit, Paint });

async fn paint(account: ActorRef<Account>) {
    let _ = account.tell(Paint);
    let _ = account.ask(Paint).await;
    let _: Recipient<Paint> = account.recipient();
    let _: ActorRef<Till> = account.narrow();
}

fn main() {}
