//! Messages that travel, by every way to make one.

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::wire::{RemoteActor, Wire};

#[derive(Debug, Serialize, Deserialize, Rejection)]
#[rejection(codec = cbor)]
struct Closed<T> {
    why: T,
}

#[derive(Serialize, Deserialize, Message)]
#[message(reply = Option<T>, rejection = Closed<String>, remote = "shop.v1.Find", codec = postcard, reply_codec = json)]
struct Find<T> {
    what: T,
}

#[derive(Clone, PartialEq, prost::Message, Message)]
#[message(remote)]
struct Order {}

impl prost::Name for Order {
    const NAME: &'static str = "Order";
    const PACKAGE: &'static str = "shop.v1";
}

struct Shop;

#[actor(kind = "shop.v1.Shop", remote(Find, Order, Sell))]
impl Shop {
    #[handles]
    fn find(&mut self, find: Find<String>) -> Result<Option<String>, Closed<String>> {
        Ok(Some(find.what))
    }

    #[handles]
    fn order(&mut self, _order: Order) {}

    /// Sells.
    #[cfg(all())]
    #[message(remote = "shop.v1.Sell", codec = volary::wire::Json, derive(Serialize, Deserialize))]
    pub fn sell(&mut self, number: u32, ctx: &mut Context<Self>) -> u32 {
        let _ = ctx;
        number
    }

    fn close(&mut self) {}
}

struct Warehouse<T>(T);

#[actor(remote(Store))]
impl<T: Send + 'static> Warehouse<T> {
    #[message(remote = "shop.v1.Store", codec = json, derive(Serialize, Deserialize))]
    fn store(&mut self, thing: T) {
        self.0 = thing;
    }
}

fn main() {
    assert_eq!(Order::NAME, "shop.v1.Order");
    assert_eq!(Shop::KIND, "shop.v1.Shop");
    assert_eq!(Warehouse::<u8>::KIND, "Warehouse");
    let _ = (Close, Warehouse(1));
}
