//! Names that look like one that nobody knows, so that an error says what was probably meant.

/// The longest name that is compared or shown: the peer chose it.
const LONGEST: usize = 255;
/// How many names are compared at most.
const COMPARED: usize = 1024;

/// The name, cut to a length that fits in an error.
pub(super) fn shown(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST)].to_owned()
}

/// The end of the sentence "no message is registered here".
pub(super) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    if name.len() > LONGEST {
        return String::new();
    }
    let nearest = known
        .take(COMPARED)
        .map(|known| (distance(name.as_bytes(), known.as_bytes()), known))
        .min();
    match nearest {
        None => ", and no other either".to_owned(),
        Some((distance, known)) if distance <= 2 + name.len() / 3 => format!("; did it mean `{known}`?"),
        Some(_) => String::new(),
    }
}

/// How many letters must be added, removed or changed.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, hint};

    #[test]
    fn the_nearest_is_named_and_nothing_far() {
        let known = ["bank.v1.Deposit", "bank.v1.Withdraw"];
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(
            hint("bank.v1.Deposti", known.into_iter()),
            "; did it mean `bank.v1.Deposit`?"
        );
        assert_eq!(hint("x", known.into_iter()), "");
    }
}
