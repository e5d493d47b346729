//! Keys of messages, and the hash that places them on the ring.
//!
//! The hash is part of what routers promise: the same key goes to the same place in every process, on every machine
//! and in every version. Text and bytes are hashed with 64-bit FNV-1a, whose result is then mixed; numbers are mixed as
//! they are. The mixing is the finaliser of SplitMix64.

/// Where a message belongs: two messages with equal keys go to the same routee while the routees stay the same.
///
/// The numbers behind keys never change: FNV-1a (64 bits, offset `cbf29ce484222325`, prime `100000001b3`) of the bytes,
/// then SplitMix64's finaliser; whole numbers go through the finaliser alone.
///
/// ```
/// use volary_core::routing::HashKey;
/// assert_eq!(HashKey::of("alice"), HashKey::of(b"alice"));
/// assert_ne!(HashKey::of("alice"), HashKey::of("bob"));
/// assert_eq!(HashKey::from(7_u64), HashKey::from(7_u32));
/// assert_eq!(HashKey::of("alice").hash(), 0xc5d1_556d_6677_4a5c);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HashKey(u64);

impl HashKey {
    /// The key that text or bytes are.
    ///
    /// ```
    /// # use volary_core::routing::HashKey;
    /// let key = HashKey::of("customer-17");
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let fnv = bytes.as_ref().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        HashKey(mix(fnv))
    }

    /// Its place on the ring.
    ///
    /// ```
    /// # use volary_core::routing::HashKey;
    /// println!("{:x}", HashKey::of("alice").hash());
    /// ```
    #[must_use]
    pub fn hash(self) -> u64 {
        self.0
    }
}

macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for HashKey {
            fn from(number: $number) -> Self {
                HashKey(mix(u64::from(number)))
            }
        }
    )*};
}

from_numbers!(u8, u16, u32, u64);

impl From<usize> for HashKey {
    fn from(number: usize) -> Self {
        HashKey(mix(number as u64))
    }
}

impl From<i64> for HashKey {
    fn from(number: i64) -> Self {
        HashKey(mix(number.cast_unsigned()))
    }
}

impl From<i32> for HashKey {
    fn from(number: i32) -> Self {
        HashKey::from(i64::from(number))
    }
}

impl From<u128> for HashKey {
    fn from(number: u128) -> Self {
        HashKey::of(number.to_le_bytes())
    }
}

impl From<&str> for HashKey {
    fn from(text: &str) -> Self {
        HashKey::of(text)
    }
}

impl From<String> for HashKey {
    fn from(text: String) -> Self {
        HashKey::of(text)
    }
}

/// SplitMix64's finaliser: every bit of the input moves every bit of the output.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
