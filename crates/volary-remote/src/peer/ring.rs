//! A queue whose elements are written where they will lie.

/// As `VecDeque`, which takes what is pushed through memory: written word by word and copied at once in larger pieces, it
/// holds up whoever pushes for longer than all the rest of it takes.
pub(super) struct Ring<T> {
    /// A power of two of them, or none.
    slots: Vec<Option<T>>,
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring {
            slots: Vec::new(),
            first: 0,
            len: 0,
        }
    }
}

impl<T> Ring<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The next is pushed soon: its slot has not been touched since all others were, and is fetched meanwhile.
    #[inline(always)]
    pub(super) fn expect(&mut self) {
        if self.len < self.slots.len() {
            let at = self.place(self.len);
            self.slots[at] = None;
        }
    }

    #[inline(always)]
    pub(super) fn push_back(&mut self, element: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let at = self.place(self.len);
        self.slots[at] = Some(element);
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        let more = self.slots.len().max(64);
        self.slots.resize_with(self.slots.len() + more, || None);
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        let front = self.slots.get_mut(self.first)?.take()?;
        self.first = self.place(1);
        self.len -= 1;
        Some(front)
    }

    #[inline]
    fn place(&self, at: usize) -> usize {
        (self.first + at) & self.slots.len().wrapping_sub(1)
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.slots.get(self.first)?.as_ref()
    }

    pub(super) fn back(&self) -> Option<&T> {
        self.slots.get(self.place(self.len.checked_sub(1)?))?.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.len {
            return None;
        }
        let at = self.place(at);
        self.slots.get_mut(at)?.as_mut()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let (behind, front) = self.slots.split_at(self.first);
        front.iter().chain(behind).flatten()
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = T> {
        let Ring { mut slots, first, .. } = self;
        slots.rotate_left(first);
        slots.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn r8_a_ring_is_a_queue() {
        let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
        let mut random = 7_u64;
        for number in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Sometimes mostly in, sometimes mostly out.
            if (random >> 60) < if number / 1_000 % 2 == 0 { 10 } else { 6 } {
                ring.push_back(number);
                queue.push_back(number);
            } else {
                assert_eq!(ring.pop_front(), queue.pop_front());
            }
            assert_eq!(ring.len(), queue.len());
            assert_eq!((ring.front(), ring.back()), (queue.front(), queue.back()));
            let at = (random >> 40) as usize % 64;
            assert_eq!(ring.get_mut(at), queue.get_mut(at));
            if number % 997 == 0 {
                assert!(ring.iter().eq(queue.iter()));
            }
        }
        assert!(ring.into_iter().eq(queue));
    }

    #[test]
    fn an_empty_ring_has_nothing() {
        let mut ring = Ring::<u64>::default();
        assert_eq!((ring.front(), ring.back(), ring.len()), (None, None, 0));
        assert_eq!(ring.get_mut(0), None);
        assert_eq!(ring.iter().next(), None);
        assert_eq!(ring.pop_front(), None);
    }
}
