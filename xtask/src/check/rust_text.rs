//! Rust source reduced to its code: comments, strings and characters become spaces, line breaks stay, so that a word
//! found in the result is a word of the program and its position is the position in the file.

/// The code of `source`, with the same length in bytes and the same lines.
pub(super) fn code_of(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    while code.len() < bytes.len() {
        let at = code.len();
        match not_code(bytes, at) {
            Some(length) => {
                let end = bytes.len().min(at + length);
                code.extend(
                    bytes[at..end]
                        .iter()
                        .map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }),
                );
            }
            None => code.push(bytes[at]),
        }
    }
    String::from_utf8(code).expect("whole comments and literals were replaced by ASCII")
}

/// Whether `word` stands in `code` on its own; each place where it does.
pub(super) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = code[..*at].chars().next_back();
        let after = code[*at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The line of the byte `at`, counted from one.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal that starts at `at`, if one does.
fn not_code(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => Some(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(block_comment(rest)),
        [b'"', ..] => Some(string(rest)),
        [b'\'', ..] => character(rest),
        [b'r', ..] if !continues_a_word(bytes, at) => raw_string(rest),
        _ => None,
    }
}

/// In `var` or `2r` the `r` is not the start of a raw string; in `br"` and `cr"` it is.
fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    let word_before = |end: usize| end > 0 && is_word(char::from(bytes[end - 1]));
    match at.checked_sub(1).map(|before| bytes[before]) {
        Some(b'b' | b'c') => word_before(at - 1),
        _ => word_before(at),
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" if depth == 1 => return at + 2,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `'a'` and `'\n'`, but not the lifetime `'a`.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        let closing = rest.iter().skip(3).position(|byte| *byte == b'\'')?;
        return Some(closing + 4);
    }
    let first = std::str::from_utf8(&rest[1..rest.len().min(5)])
        .or_else(|error| std::str::from_utf8(&rest[1..1 + error.valid_up_to()]))
        .ok()?
        .chars()
        .next()?;
    let closing = 1 + first.len_utf8();
    (rest.get(closing) == Some(&b'\'')).then_some(closing + 1)
}

/// `r"…"` and `r#"…"#`, but not the identifier `r#move`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    let open = 1 + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let length = body.windows(close.len()).position(|window| window == close);
    Some(length.map_or(rest.len(), |length| open + 1 + length + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(source: &str) -> String {
        code_of(source).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(words_of("a // unsafe\nb /* unsafe /* nested */ unsafe */ c"), "a b c");
        assert_eq!(words_of("/// unsafe { }\nfn f() {}"), "fn f() {}");
        assert_eq!(words_of("a /* open"), "a");
    }

    #[test]
    fn literals_are_not_code() {
        assert_eq!(
            words_of(r#"a("un\"safe", 'x', '\'', '\u{1F600}', 'é')"#),
            "a( , , , , )"
        );
        assert_eq!(words_of("a(r#\"un\"safe\"#, br\"x\\\", b\"y\")"), "a( , b , b )");
        assert_eq!(words_of("var\"text\" r#move"), "var r#move");
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(
            words_of("fn f<'a>(x: &'a str) -> Ref<'a, '_> {}"),
            "fn f<'a>(x: &'a str) -> Ref<'a, '_> {}"
        );
    }

    #[test]
    fn positions_stay() {
        let source = "let a = \"é\n\"; // x\nunsafe {}";
        let code = code_of(source);
        assert_eq!(code.len(), source.len());
        let places: Vec<usize> = words(&code, "unsafe").map(|at| line_number(&code, at)).collect();
        assert_eq!(places, [3]);
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(words("unsafe_code unsafe nunsafe (unsafe)", "unsafe").count(), 2);
    }
}
