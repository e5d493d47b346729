//! `volary_fuzz::targets::operations` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::operations(data));
