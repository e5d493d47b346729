//! "Did you mean …?"

/// The candidate that is closest to what was written, if any is close enough to be meant.
pub(super) fn closest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if written.len() > LONGEST {
        return None;
    }
    // `askTimeout` and `ask_timeout` differ from `ask-timeout` by habit, not by meaning.
    let written = written.to_lowercase().replace('_', "-");
    let tolerated = (written.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&written, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut previous_letter = None;
    for (row, letter) in one.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, target) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != *target);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped = column > 0 && previous_letter == Some(*target) && other[column - 1] == letter;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
        previous_letter = Some(letter);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("workers", "worker", 1),
            ("wrokers", "workers", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["workers", "throughput", "ask-timeout", "app"];
        assert_eq!(closest("worker", names), Some("workers"));
        assert_eq!(closest("thruput", names), None);
        assert_eq!(closest("throughputt", names), Some("throughput"));
        assert_eq!(closest("ask_timeout", names), Some("ask-timeout"));
        assert_eq!(closest("askTimeout", names), Some("ask-timeout"));
        assert_eq!(closest("apps", names), Some("app"));
        assert_eq!(closest("x", names), None);
        assert_eq!(closest(&"w".repeat(10_000), names), None);
    }
}
