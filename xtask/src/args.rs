//! The arguments after a command's name. A command takes the options it knows, then asks for what is left.

use crate::failure::{Failure, Outcome};
use crate::nearest::nearest;

#[derive(Debug)]
pub(crate) struct Args {
    words: Vec<String>,
    known: Vec<&'static str>,
}

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self {
            words,
            known: Vec::new(),
        }
    }

    /// Takes `--name`; true if it was there.
    pub(crate) fn flag(&mut self, name: &'static str) -> bool {
        self.known.push(name);
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// Takes `--name VALUE` or `--name=VALUE`; the last one wins.
    pub(crate) fn option(&mut self, name: &'static str) -> Result<Option<String>, Failure> {
        self.known.push(name);
        let mut value = None;
        while let Some(at) = self.words.iter().position(|word| is_option(word, name)) {
            let word = self.words.remove(at);
            value = Some(match word.split_once('=') {
                Some((_, value)) => value.to_owned(),
                None if at < self.words.len() && !self.words[at].starts_with("--") => self.words.remove(at),
                None => return Err(Failure::Usage(format!("{name} needs a value"))),
            });
        }
        Ok(value)
    }

    /// Like [`Args::option`], for a whole number.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<u64>, Failure> {
        self.option(name)?
            .map(|text| {
                text.parse()
                    .map_err(|_| Failure::Usage(format!("{name} needs a whole number, not `{text}`")))
            })
            .transpose()
    }

    /// What is left, none of it an option.
    pub(crate) fn positional(self) -> Result<Vec<String>, Failure> {
        match self.words.iter().find(|word| word.starts_with('-')) {
            None => Ok(self.words),
            Some(word) => {
                let hint = match nearest(word, self.known.iter().copied()) {
                    Some(close) => format!("; did you mean {close}?"),
                    None => String::new(),
                };
                Err(Failure::Usage(format!("unknown option {word}{hint}")))
            }
        }
    }

    /// What is left, at most one word and no option.
    pub(crate) fn at_most_one(self) -> Result<Option<String>, Failure> {
        let mut words = self.positional()?;
        let first = words.drain(..1.min(words.len())).next();
        match words.first() {
            None => Ok(first),
            Some(extra) => Err(Failure::Usage(format!("unexpected argument `{extra}`"))),
        }
    }

    /// Nothing may be left.
    pub(crate) fn nothing(self) -> Outcome {
        match self.positional()?.first() {
            None => Ok(()),
            Some(extra) => Err(Failure::Usage(format!("unexpected argument `{extra}`"))),
        }
    }

    /// Everything that is left, to be handed on as it is.
    pub(crate) fn rest(self) -> Vec<String> {
        self.words
    }
}

fn is_option(word: &str, name: &str) -> bool {
    word.strip_prefix(name)
        .is_some_and(|tail| tail.is_empty() || tail.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn options_come_in_any_order_and_both_spellings() {
        let mut args = args("tell --json out.json --quick ask --seconds=5");
        assert!(args.flag("--quick"));
        assert!(!args.flag("--write"));
        assert_eq!(args.option("--json"), Ok(Some("out.json".to_owned())));
        assert_eq!(args.number("--seconds"), Ok(Some(5)));
        assert_eq!(args.number("--seeds"), Ok(None));
        assert_eq!(args.positional(), Ok(vec!["tell".to_owned(), "ask".to_owned()]));
    }

    #[test]
    fn the_last_value_wins() {
        assert_eq!(args("--seed 1 --seed 2").number("--seed"), Ok(Some(2)));
    }

    #[test]
    fn an_option_that_begins_like_another_is_left_alone() {
        let mut args = args("--seeds 3");
        assert_eq!(args.option("--seed"), Ok(None));
        assert_eq!(args.number("--seeds"), Ok(Some(3)));
    }

    #[test]
    fn a_missing_or_wrong_value_is_an_error() {
        assert!(args("--json").option("--json").is_err());
        assert!(args("--json --quick").option("--json").is_err());
        assert!(args("--seconds soon").number("--seconds").is_err());
    }

    #[test]
    fn what_nobody_took_is_an_error_with_a_hint() {
        let mut typo = args("--qiuck");
        typo.flag("--quick");
        assert_eq!(
            typo.positional(),
            Err(Failure::Usage(
                "unknown option --qiuck; did you mean --quick?".to_owned()
            ))
        );
        assert!(args("a b").at_most_one().is_err());
        assert_eq!(args("a").at_most_one(), Ok(Some("a".to_owned())));
        assert_eq!(args("").at_most_one(), Ok(None));
        assert!(args("a").nothing().is_err());
    }
}
