//! S5–S8: execution.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod slow;
mod suspension;
mod turns;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::journal::Journal;
use common::*;
use volary::prelude::*;
use volary::{DispatcherOptions, Env, SlowHandler};
