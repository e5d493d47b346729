use volary::prelude::*;

#[derive(Message)]
#[message(codec = json)]
struct NoName;

#[derive(Message)]
#[message(remote = "has spaces")]
struct BadName;

#[derive(Message)]
#[message(remote)]
struct Generic<T>(T);

#[derive(Debug, Rejection)]
#[rejection(codex = json)]
struct Typo;

struct Account;

#[actor(kind = "")]
impl Account {
    #[message(codec = json)]
    fn deposit(&mut self) {}
}

fn main() {}
