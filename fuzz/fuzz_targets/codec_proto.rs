//! `volary_fuzz::targets::codec_proto` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::codec_proto(data));
