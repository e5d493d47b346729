//! Which messages are settled, in few bytes: gaps and runs behind the first unsettled one.

use std::ops::RangeInclusive;

use bytes::{Bytes, BytesMut};

use super::frame::Confirm;
use super::read::Reader;
use super::write::put_number;
use super::{FrameError, FrameKind};

impl Confirm {
    /// The most ranges in one confirmation; what does not fit is said in the next.
    ///
    /// ```
    /// assert_eq!(volary_wire::native::Confirm::MAX_RANGES, 256);
    /// ```
    pub const MAX_RANGES: usize = 256;

    /// Everything up to `up_to`, and ranges beyond it that are in order and do not touch. None if they are not, or if
    /// there are more than [`MAX_RANGES`](Self::MAX_RANGES).
    ///
    /// ```
    /// # use volary_wire::native::Confirm;
    /// assert!(Confirm::new(10, &[11..=12]).is_none()); // then it would be up to 12
    /// ```
    #[must_use]
    pub fn new(up_to: u64, beyond: &[RangeInclusive<u64>]) -> Option<Self> {
        let mut ranges = BytesMut::new();
        let mut last = up_to;
        if beyond.len() > Self::MAX_RANGES {
            return None;
        }
        for range in beyond {
            // One missing at least, or the two would be one.
            let gap = range.start().checked_sub(last)?.checked_sub(2)?;
            put_number(&mut ranges, gap);
            put_number(&mut ranges, range.end().checked_sub(*range.start())?);
            last = *range.end();
        }
        let ranges = ranges.freeze();
        Some(Confirm { up_to, ranges })
    }

    /// The ranges beyond `up_to`, in order.
    ///
    /// ```
    /// # use volary_wire::native::Confirm;
    /// assert_eq!(Confirm::new(3, &[5..=5]).unwrap().beyond().count(), 1);
    /// ```
    pub fn beyond(&self) -> impl Iterator<Item = RangeInclusive<u64>> + use<> {
        let mut left = Reader::new(FrameKind::Confirm, self.ranges.clone());
        let mut last = self.up_to;
        std::iter::from_fn(move || next(&mut left, &mut last).ok().flatten())
    }

    /// Checks ranges that came from a peer.
    pub(crate) fn checked(up_to: u64, ranges: Bytes) -> Result<Self, FrameError> {
        let mut left = Reader::new(FrameKind::Confirm, ranges.clone());
        let (mut last, mut count) = (up_to, 0);
        while next(&mut left, &mut last)?.is_some() {
            count += 1;
            left.within(count, Self::MAX_RANGES, "ranges")?;
        }
        Ok(Confirm { up_to, ranges })
    }
}

fn next(left: &mut Reader, last: &mut u64) -> Result<Option<RangeInclusive<u64>>, FrameError> {
    if left.is_empty() {
        return Ok(None);
    }
    let gap = left.number("gap")?;
    let run = left.number("run")?;
    let start = last.checked_add(2).and_then(|start| start.checked_add(gap));
    let end = start.and_then(|start| start.checked_add(run));
    let (Some(start), Some(end)) = (start, end) else {
        return Err(left.unfit("ranges", gap));
    };
    *last = end;
    Ok(Some(start..=end))
}
