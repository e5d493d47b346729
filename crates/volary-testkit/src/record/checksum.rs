//! The checksum of a line: CRC-32, as in Ethernet and zip.

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    #[test]
    fn t7_the_checksum_is_the_one_that_everybody_knows() {
        assert_eq!(super::checksum(b"123456789"), 0xcbf4_3926);
    }
}
