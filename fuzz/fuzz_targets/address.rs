//! `volary_fuzz::targets::address` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::address(data));
