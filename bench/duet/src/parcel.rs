//! What is sent: a number and a body. As Protocol Buffers, with the number as `fixed64`, a small one takes 100 bytes.

use std::time::Duration;

use bytes::Bytes;

/// The bytes of a small parcel, encoded.
pub const SMALL: usize = 100;
/// The bytes of a large body.
pub const LARGE: usize = 1 << 20;
/// How long a slow actor takes for a message.
pub const SLOWNESS: Duration = Duration::from_millis(1);

/// A line such as services log and send: it has patterns, for compressions to find.
const TEXT: &[u8; 89] =
    b"{\"sensor\":\"boiler-17/inlet\",\"celsius\":63.25,\"bar\":1.875,\"state\":\"heating\",\"since\":172904}";

/// The body of a small parcel.
pub fn small() -> Bytes {
    Bytes::from_static(TEXT)
}

/// The body of a large parcel: bytes without a pattern.
pub fn large() -> Bytes {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(byte).take(LARGE).collect::<Vec<u8>>().into()
}

/// The body of the answer to a question: a small one comes back, a large one does not.
pub fn answered(body: Bytes) -> Bytes {
    if body.len() <= SMALL { body } else { Bytes::new() }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    struct Parcel {
        #[prost(fixed64, tag = "1")]
        number: u64,
        #[prost(bytes = "bytes", tag = "2")]
        body: bytes::Bytes,
    }

    #[test]
    fn a_small_parcel_takes_a_hundred_bytes() {
        let parcel = Parcel {
            number: 7,
            body: super::small(),
        };
        assert_eq!(parcel.encoded_len(), super::SMALL);
        assert_eq!(super::large().len(), super::LARGE);
        assert!(super::answered(super::large()).is_empty());
    }
}
