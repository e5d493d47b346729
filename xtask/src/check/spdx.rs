//! Licence expressions (SPDX) and whether we may use what they cover.
//!
//! An expression is read as it stands in a manifest: identifiers joined by `OR` and `AND`, `AND` binding tighter,
//! `WITH` an exception, parentheses, and the old `/`, which means `OR`.

/// Licences whose terms we can meet by keeping their notices.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "CC0-1.0",
    "0BSD",
    "Unlicense",
];

/// Whether `expression` leaves a choice that consists of allowed licences only, or why it cannot be read.
pub(super) fn is_allowed(expression: &str) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut reader = Reader {
        words: spaced.split_whitespace().collect(),
        at: 0,
    };
    let allowed = reader.any()?;
    match reader.next() {
        None => Ok(allowed),
        Some(word) => Err(format!("unexpected `{word}`")),
    }
}

struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    /// `all OR all …`
    fn any(&mut self) -> Result<bool, String> {
        let mut allowed = self.all()?;
        while self.take("OR") {
            // Both sides are read even if the first one decides.
            allowed |= self.all()?;
        }
        Ok(allowed)
    }

    /// `one AND one …`
    fn all(&mut self) -> Result<bool, String> {
        let mut allowed = self.one()?;
        while self.take("AND") {
            allowed &= self.one()?;
        }
        Ok(allowed)
    }

    /// A licence, perhaps with an exception, or an expression in parentheses.
    fn one(&mut self) -> Result<bool, String> {
        match self.next() {
            Some("(") => {
                let allowed = self.any()?;
                if self.take(")") {
                    Ok(allowed)
                } else {
                    Err("a parenthesis is not closed".to_owned())
                }
            }
            Some(word) if is_operator(word) => Err(format!("a licence is missing before `{word}`")),
            None => Err("a licence is missing at the end".to_owned()),
            Some(licence) => {
                if !self.take("WITH") {
                    return Ok(ALLOWED.contains(&licence));
                }
                match self.next() {
                    Some(exception) if !is_operator(exception) => {
                        Ok(ALLOWED.contains(&format!("{licence} WITH {exception}").as_str()))
                    }
                    _ => Err("an exception is missing after `WITH`".to_owned()),
                }
            }
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }
}

fn is_operator(word: &str) -> bool {
    matches!(word, "(" | ")" | "OR" | "AND" | "WITH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_choice_is_enough() {
        assert_eq!(is_allowed("MIT"), Ok(true));
        assert_eq!(is_allowed("GPL-3.0-only"), Ok(false));
        assert_eq!(is_allowed("GPL-3.0-only OR MIT"), Ok(true));
        assert_eq!(is_allowed("MIT OR Apache-2.0 OR LGPL-2.1-or-later"), Ok(true));
        assert_eq!(is_allowed("MIT/Apache-2.0"), Ok(true));
        assert_eq!(is_allowed("GPL-2.0 / MPL-2.0"), Ok(false));
    }

    #[test]
    fn every_part_of_a_conjunction_counts() {
        assert_eq!(is_allowed("Apache-2.0 AND ISC"), Ok(true));
        assert_eq!(is_allowed("MIT AND GPL-3.0-only"), Ok(false));
        assert_eq!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"), Ok(true));
        assert_eq!(is_allowed("(MIT OR Apache-2.0) AND OpenSSL"), Ok(false));
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert_eq!(is_allowed("MIT OR Apache-2.0 AND GPL-3.0-only"), Ok(true));
        assert_eq!(is_allowed("(MIT OR Apache-2.0) AND GPL-3.0-only"), Ok(false));
        assert_eq!(is_allowed("GPL-3.0-only AND MIT OR ((ISC))"), Ok(true));
    }

    #[test]
    fn an_exception_is_part_of_the_licence() {
        assert_eq!(is_allowed("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only"), Ok(true));
        assert_eq!(is_allowed("GPL-2.0-only WITH Classpath-exception-2.0"), Ok(false));
        assert_eq!(is_allowed("MIT WITH strings-attached"), Ok(false));
    }

    #[test]
    fn what_cannot_be_read_is_not_guessed() {
        for broken in [
            "",
            "MIT OR",
            "OR MIT",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "MIT WITH",
            "()",
        ] {
            assert!(is_allowed(broken).is_err(), "`{broken}`");
        }
    }
}
