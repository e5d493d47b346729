//! Addresses: what is read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volary_core::Address;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(address) = text.parse::<Address>() {
        let written = address.to_string();
        assert!(written.len() <= Address::MAX_BYTES);
        assert_eq!(written.parse::<Address>().as_ref(), Ok(&address));
    }
});
