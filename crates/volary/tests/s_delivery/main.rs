//! S1–S4: delivery and order.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod accounting;
mod asks;
mod bounded;
#[path = "../common/mod.rs"]
mod common;
mod order;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Env, Moment, SendError, SystemBuilder};

fn tight(env: &StoryEnv) -> SystemBuilder {
    builder("tight").environment(env.clone())
}
