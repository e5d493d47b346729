//! Routers: one address, many who do the work.
//!
//! A [`Router`] spreads messages over its routees by a strategy: [`RoundRobin`], [`Random`], [`SmallestMailbox`],
//! [`ConsistentHash`], [`FanOut`], [`ScatterGather`] or [`TailChopping`]. The routees are a [`Pool`] that the router
//! starts and supervises, actors that live anyway, or a [`Group`](crate::groups::Group).
//!
//! The strategy is part of the router's type, so that a message which must be cloned, or have a key, and cannot, is an
//! error of the compiler's.
//!
//! ```text
//!   Router (handle) ──▶ switch: strategy + table ──▶ routees       every tell and ask, on the sender's thread
//!   actor_ref, recipient ──▶ head ──▶ switch ──▶ routees           for those who know an address only
//!   head: the router's actor; starts, watches, fills, resizes and drains; the only writer of the table
//! ```

mod ask;
mod broadcast;
mod elastic;
mod events;
mod hash;
mod head;
mod order;
mod plan;
mod pool;
mod race;
mod relay;
mod ring;
mod router;
mod spawn;
mod strategy;
mod switch;
mod table;

pub use ask::{AskEach, RouterAsk, RouterAskFuture};
pub use broadcast::Broadcast;
pub use elastic::Elastic;
pub use events::{Loss, RouteeLost, RouterResized};
pub use hash::HashKey;
pub use order::ChangeError;
pub use plan::Routing;
pub use pool::{FailedRoutee, Pool, Routees, Source, WhenEmpty};
pub use relay::Routed;
pub use router::Router;
pub use spawn::{SpawnRouter, SpawnRouterFuture};
pub use strategy::{
    Answers, ConsistentHash, FanOut, KeyBy, Keyed, OwnKey, Random, RoundRobin, ScatterGather, SmallestMailbox, Spreads,
    TailChopping,
};
pub use table::{Routee, RouteeState};
