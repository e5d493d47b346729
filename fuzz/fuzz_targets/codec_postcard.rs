//! `volary_fuzz::targets::codec_postcard` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::codec_postcard(data));
