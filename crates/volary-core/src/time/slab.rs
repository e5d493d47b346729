//! Places for a great many small things of one kind.
//!
//! ```text
//! pages   [ thing  vacant  thing … ]  [ given back ]  [ thing  thing … ]
//! open    the pages with room, the one to fill next at the end
//! ```
//! Growing adds a page and moves nothing, so nobody who sets a timer waits until a million others are copied. A page
//! on which nothing is left gives its memory back; one such page is kept, so that what comes and goes allocates
//! nothing.

/// How many things a page holds.
const PAGE: usize = 2048;
/// Stands for "no place" in links; beyond every place.
const NONE: u16 = u16::MAX;

pub(crate) struct Slab<T> {
    len: usize,
    pages: Vec<Page<T>>,
    /// Pages with room. One that has given its memory back meanwhile is passed over when its turn comes.
    open: Vec<u32>,
    /// Pages without memory.
    blank: Vec<u32>,
    /// The page that is kept although nothing is on it.
    spare: Option<u32>,
}

struct Page<T> {
    places: Vec<Place<T>>,
    /// Head of the list of vacant places.
    vacant: u16,
    taken: u16,
    is_open: bool,
}

enum Place<T> {
    Taken(T),
    Vacant { next: u16 },
}

impl<T> Page<T> {
    const BLANK: Self = Self {
        places: Vec::new(),
        vacant: NONE,
        taken: 0,
        is_open: false,
    };

    fn is_full(&self) -> bool {
        self.vacant == NONE && self.places.len() == PAGE
    }

    fn take_place(&mut self, thing: T) -> usize {
        self.taken += 1;
        let at = usize::from(self.vacant);
        match self.places.get_mut(at) {
            Some(place) => {
                if let Place::Vacant { next } = std::mem::replace(place, Place::Taken(thing)) {
                    self.vacant = next;
                }
                at
            }
            None => {
                self.places.push(Place::Taken(thing));
                self.places.len() - 1
            }
        }
    }
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            len: 0,
            pages: Vec::new(),
            open: Vec::new(),
            blank: Vec::new(),
            spare: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let (page, place) = split(index);
        match self.pages.get(page)?.places.get(place)? {
            Place::Taken(thing) => Some(thing),
            Place::Vacant { .. } => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        let (page, place) = split(index);
        match self.pages.get_mut(page)?.places.get_mut(place)? {
            Place::Taken(thing) => Some(thing),
            Place::Vacant { .. } => None,
        }
    }

    /// All things, in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let places = self.pages.iter().flat_map(|page| &page.places);
        places.filter_map(|place| match place {
            Place::Taken(thing) => Some(thing),
            Place::Vacant { .. } => None,
        })
    }

    /// Where the thing is now.
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        let number = self.page_with_room();
        let page = &mut self.pages[number as usize];
        let place = page.take_place(thing);
        if page.is_full() {
            page.is_open = false;
            self.open.pop();
        }
        if self.spare == Some(number) {
            self.spare = None;
        }
        self.len += 1;
        number * PAGE as u32 + place as u32
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let (number, place) = split(index);
        let page = self.pages.get_mut(number)?;
        let found = page.places.get_mut(place)?;
        if matches!(found, Place::Vacant { .. }) {
            return None;
        }
        let removed = std::mem::replace(found, Place::Vacant { next: page.vacant });
        page.vacant = place as u16;
        page.taken -= 1;
        if !page.is_open {
            page.is_open = true;
            self.open.push(number as u32);
        }
        if page.taken == 0 {
            if self.spare.is_some() {
                page.places = Vec::new();
                page.vacant = NONE;
            } else {
                self.spare = Some(number as u32);
            }
        }
        self.len -= 1;
        match removed {
            Place::Taken(thing) => Some(thing),
            Place::Vacant { .. } => None,
        }
    }

    /// Gives back the page that is kept.
    pub(crate) fn shrink(&mut self) {
        if self.len == 0 {
            *self = Self::new();
        } else if let Some(number) = self.spare.take() {
            let page = &mut self.pages[number as usize];
            page.places = Vec::new();
            page.vacant = NONE;
        }
    }

    /// The last of the open pages, which it now is if it was not.
    fn page_with_room(&mut self) -> u32 {
        while let Some(number) = self.open.last().copied() {
            let page = &mut self.pages[number as usize];
            if page.places.capacity() > 0 {
                return number;
            }
            page.is_open = false;
            self.open.pop();
            self.blank.push(number);
        }
        let number = self.blank.pop().unwrap_or_else(|| {
            let number = u32::try_from(self.pages.len()).ok();
            let number = number.filter(|number| (*number as usize) < u32::MAX as usize / PAGE);
            self.pages.push(Page::BLANK);
            number.expect("there are fewer than four billion timers")
        });
        let page = &mut self.pages[number as usize];
        // The first one grows with what is on it: many a system has a handful of timers.
        page.places.reserve_exact(if number == 0 { 4 } else { PAGE });
        page.is_open = true;
        self.open.push(number);
        number
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.pages.iter().map(|page| page.places.capacity()).sum()
    }
}

fn split(index: u32) -> (usize, usize) {
    (index as usize / PAGE, index as usize % PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_agrees_with_a_map() {
        let mut slab = Slab::new();
        let mut map = BTreeMap::new();
        let mut random = 7_u64;
        for step in 0..200_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Waves of growing and shrinking, so that pages come and go.
            let grows = (random >> 33) % 100 < if step / 20_000 % 2 == 0 { 60 } else { 40 };
            if grows || map.is_empty() {
                let index = slab.insert(step);
                assert_eq!(map.insert(index, step), None, "a place is given once");
            } else {
                let at = (random >> 40) as u32 % (map.keys().last().unwrap() + 1);
                let index = *map.range(at..).next().unwrap().0;
                assert_eq!(slab.remove(index), map.remove(&index));
                assert_eq!(slab.remove(index), None);
                assert_eq!(slab.get(index), None);
            }
            assert_eq!(slab.len(), map.len());
        }
        assert!(map.iter().all(|(index, thing)| slab.get(*index) == Some(thing)));
    }

    #[test]
    fn what_comes_and_goes_allocates_nothing_and_what_has_gone_is_given_back() {
        let mut slab = Slab::new();
        let places: Vec<u32> = (0..100 * PAGE).map(|thing| slab.insert(thing)).collect();
        assert_eq!(slab.capacity(), 100 * PAGE);
        for place in &places[PAGE..] {
            slab.remove(*place);
        }
        assert_eq!(slab.capacity(), 2 * PAGE, "one page is in use, one is kept");
        for _ in 0..1_000 {
            let place = slab.insert(0);
            slab.remove(place);
            assert_eq!(slab.capacity(), 2 * PAGE);
        }
        slab.shrink();
        assert_eq!(slab.capacity(), PAGE);
        for place in &places[..PAGE] {
            slab.remove(*place);
        }
        slab.shrink();
        assert_eq!(slab.capacity(), 0);
    }
}
