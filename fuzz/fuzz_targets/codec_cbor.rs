//! `volary_fuzz::targets::codec_cbor` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volary_fuzz::targets::codec_cbor(data));
