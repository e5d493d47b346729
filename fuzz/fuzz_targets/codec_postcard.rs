//! Values in postcard.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volary_fuzz::{Sample, round_trip};
use volary_wire::Postcard;

fuzz_target!(|data: &[u8]| round_trip::<Postcard, Sample>(data));
