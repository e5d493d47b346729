//! `volary_fuzz::targets::chunks` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::chunks(data));
