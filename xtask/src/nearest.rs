//! The known word closest to a mistyped one.

/// The candidate with the fewest edits, if it is close enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= 1.max(candidate.len() / 3) || candidate.starts_with(word))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "loom"), 4);
        assert_eq!(distance("loom", "loom"), 0);
        assert_eq!(distance("benhc", "bench"), 1);
        assert_eq!(distance("chekc", "check"), 1);
        assert_eq!(distance("soka", "sim"), 3);
    }

    #[test]
    fn nearest_prefers_the_fewest_edits_and_gives_up_when_far() {
        let words = ["demo", "test", "check", "bench", "instructions"];
        assert_eq!(nearest("tset", words), Some("test"));
        assert_eq!(nearest("instr", words), Some("instructions"));
        assert_eq!(nearest("deploy", words), None);
    }
}
