//! The bytes of one file: what programs read, and what a crash would leave of it.

use super::super::choice::Random;

/// What a disk writes as a whole or not at all.
const SECTOR: usize = 512;

/// A change that was not synced.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*offset..end].copy_from_slice(bytes);
            }
            Change::Length(length) => to.resize(*length, 0),
        }
    }

    /// The change up to some byte of it.
    fn torn(&self, random: &mut Random) -> Option<Change> {
        let Change::Write { offset, bytes } = self else {
            return None;
        };
        let kept = random.below(bytes.len() as u64) as usize;
        (kept > 0).then(|| Change::Write {
            offset: *offset,
            bytes: bytes[..kept].to_vec(),
        })
    }

    /// The change in pieces that a disk writes at once.
    fn sectors(&self) -> Vec<Change> {
        let Change::Write { offset, bytes } = self else {
            return vec![self.clone()];
        };
        let mut pieces = Vec::new();
        let (mut at, mut rest) = (*offset, bytes.as_slice());
        while !rest.is_empty() {
            let length = (SECTOR - at % SECTOR).min(rest.len());
            let (piece, after) = rest.split_at(length);
            pieces.push(Change::Write {
                offset: at,
                bytes: piece.to_vec(),
            });
            (at, rest) = (at + length, after);
        }
        pieces
    }
}

/// What became of changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Lost,
    Kept,
    /// Only those before some byte.
    Torn,
    /// Any of their sectors.
    Scattered,
}

/// A file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What is read.
    pub(super) live: Vec<u8>,
    /// What is certain.
    certain: Vec<u8>,
    unsynced: Vec<Change>,
}

impl Contents {
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.change(Change::Write { offset, bytes });
    }

    pub(super) fn set_length(&mut self, length: usize) {
        self.change(Change::Length(length));
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    pub(super) fn is_certain(&self) -> bool {
        self.unsynced.is_empty()
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.certain);
        }
    }

    /// A sync that fails: what was not synced stays so, or will never be, whatever a later sync says. Programs may go on
    /// reading it from memory, or not.
    pub(super) fn fail_to_sync(&mut self, random: &mut Random) {
        match random.below(3) {
            0 => {}
            1 => self.unsynced.clear(),
            _ => {
                self.unsynced.clear();
                self.live.clone_from(&self.certain);
            }
        }
    }

    /// Only what is certain is left. Says whether there was anything else.
    pub(super) fn forget_memory(&mut self) -> bool {
        let differs = self.live != self.certain;
        if differs {
            self.live.clone_from(&self.certain);
        }
        differs
    }

    pub(super) fn crash(&mut self, random: &mut Random) -> Fate {
        let changes = std::mem::take(&mut self.unsynced);
        let fate = match random.below(4) {
            0 => Fate::Lost,
            1 => Fate::Kept,
            2 => Fate::Torn,
            _ => Fate::Scattered,
        };
        let kept: Vec<Change> = match fate {
            Fate::Lost => Vec::new(),
            Fate::Kept => changes,
            Fate::Torn => {
                let whole = random.below(changes.len() as u64 + 1) as usize;
                let torn = changes.get(whole).and_then(|change| change.torn(random));
                changes.into_iter().take(whole).chain(torn).collect()
            }
            Fate::Scattered => {
                let sectors = changes.iter().flat_map(Change::sectors);
                sectors.filter(|_| random.chance(0.5)).collect()
            }
        };
        kept.iter().for_each(|change| change.apply(&mut self.certain));
        self.forget_memory();
        fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_survives_and_what_was_not_meets_every_fate() {
        let mut fates = [0; 4];
        for seed in 0..200 {
            let mut random = Random::new(seed, 9);
            let mut file = Contents::default();
            file.write(0, &[1; 2_000]);
            file.sync();
            file.write(2_000, &[2; 2_000]);
            let fate = file.crash(&mut random);
            fates[fate as usize] += 1;
            assert_eq!(file.live[..2_000], [1; 2_000]);
            let tail = &file.live[2_000..];
            match fate {
                Fate::Lost => assert!(tail.is_empty()),
                Fate::Kept => assert_eq!(tail, [2; 2_000]),
                Fate::Torn => assert!(tail.iter().all(|byte| *byte == 2)),
                Fate::Scattered => {
                    // The first piece ends at a boundary of sectors, and so do all but the last.
                    let whole = |piece: &[u8]| piece.iter().all(|byte| *byte == piece[0]);
                    let (first, rest) = tail.split_at(tail.len().min(48));
                    assert!(first.is_empty() || whole(first));
                    assert!(rest.chunks(SECTOR).all(whole));
                }
            }
        }
        assert!(fates.iter().all(|count| *count > 20), "{fates:?}");
    }

    #[test]
    fn a_failed_sync_may_lose_what_a_later_one_seems_to_save() {
        let mut lost = 0;
        for seed in 0..60 {
            let mut random = Random::new(seed, 9);
            let mut file = Contents::default();
            file.write(0, b"x");
            file.fail_to_sync(&mut random);
            file.sync();
            file.crash(&mut random);
            lost += u32::from(file.live.is_empty());
        }
        assert!((20..60).contains(&lost), "{lost}");
    }
}
