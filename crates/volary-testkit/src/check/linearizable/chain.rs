//! The calls that are still to be done, in order.

/// Some of the numbers below `size` in an order of their own. Taking one out and putting it back is quick, as long as
/// the last one taken is the first one back.
pub(super) struct Chain {
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Also the place before the first and after the last.
    size: usize,
}

impl Chain {
    pub(super) fn new(size: usize, items: impl IntoIterator<Item = usize>) -> Self {
        let mut chain = Self {
            next: vec![size; size + 1],
            previous: vec![size; size + 1],
            size,
        };
        let mut last = size;
        for item in items {
            chain.next[last] = item;
            chain.previous[item] = last;
            last = item;
        }
        chain.next[last] = size;
        chain.previous[size] = last;
        chain
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.after(self.size)
    }

    pub(super) fn after(&self, item: usize) -> Option<usize> {
        Some(self.next[item]).filter(|next| *next != self.size)
    }

    pub(super) fn remove(&mut self, item: usize) {
        let (previous, next) = (self.previous[item], self.next[item]);
        self.next[previous] = next;
        self.previous[next] = previous;
    }

    /// Undoes [`remove`](Self::remove).
    pub(super) fn put_back(&mut self, item: usize) {
        let (previous, next) = (self.previous[item], self.next[item]);
        self.next[previous] = item;
        self.previous[next] = item;
    }
}
