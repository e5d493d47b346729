use serde::{Deserialize, Serialize};
use volary::prelude::*;

#[derive(Debug, Rejection)]
struct Closed;

#[derive(Message)]
#[message(remote = "bank.v1.Deposit", codec = json)]
struct NotSerializable;

#[derive(Serialize, Deserialize, Message)]
#[message(rejection = Closed, remote = "bank.v1.Withdraw", codec = json)]
struct RejectionWithoutCodec;

struct Account;

#[actor(remote(Transfer))]
impl Account {
    fn transfer(&mut self, cents: i64) {
        let _ = cents;
    }
}

struct Vault;

#[actor]
impl Vault {}

fn main() {
    let _ = volary::wire::Registry::new().kind::<Vault>();
}
