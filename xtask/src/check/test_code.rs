//! Which parts of a source exist in tests only.

use super::rust_text::words;

/// `code` (see [`code_of`](super::rust_text::code_of)) without its test-only items, which become spaces.
pub(super) fn without_tests(code: &str) -> String {
    let mut bytes = code.as_bytes().to_vec();
    for item in test_items(code) {
        for byte in &mut bytes[item.start..item.end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The names of the modules that `code` declares for tests and keeps in files of their own.
pub(super) fn test_modules(code: &str) -> Vec<String> {
    let declared = test_items(code).into_iter().filter_map(|item| {
        let text = code[item.start..item.end].trim_end().strip_suffix(';')?;
        let (before, name) = text.rsplit_once(char::is_whitespace)?;
        words(before, "mod").next()?;
        Some(name.to_owned())
    });
    declared.collect()
}

struct Item {
    start: usize,
    end: usize,
}

fn test_items(code: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (start, _) in code.match_indices('#') {
        if items.last().is_some_and(|item| start < item.end) {
            continue;
        }
        let rest = code[start + 1..].trim_start();
        let (inner, rest) = match rest.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest),
        };
        let Some(length) = rest.strip_prefix('[').and_then(|_| group(rest)) else {
            continue;
        };
        if is_test_only(&rest[1..length - 1]) {
            let after = code.len() - rest.len() + length;
            let end = if inner {
                code.len()
            } else {
                after + item_length(&code[after..])
            };
            items.push(Item { start, end });
        }
    }
    items
}

/// Whether an attribute says that what follows exists in tests only.
fn is_test_only(attribute: &str) -> bool {
    let text: String = attribute.split_whitespace().collect();
    let Some(condition) = text.strip_prefix("cfg(").and_then(|text| text.strip_suffix(')')) else {
        return text == "test";
    };
    let all_of = condition.starts_with("all(") && !condition.contains("any(") && !condition.contains("not(test");
    condition == "test" || (all_of && words(condition, "test").next().is_some())
}

/// From behind an attribute to the end of the item: its last brace, or the semicolon if it has none.
fn item_length(code: &str) -> usize {
    let mut at = 0;
    while let Some(offset) = code[at..].find(['{', ';', '(', '[']) {
        let opened = at + offset;
        let length = match code.as_bytes()[opened] {
            b';' => return opened + 1,
            _ => group(&code[opened..]).unwrap_or(code.len() - opened),
        };
        if code.as_bytes()[opened] == b'{' {
            return opened + length;
        }
        at = opened + length;
    }
    code.len()
}

/// The length of the bracketed group that `code` begins with.
fn group(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(code: &str) -> String {
        without_tests(code).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn test_items_go() {
        assert_eq!(left("a; #[cfg(test)] mod tests { fn f() { x[0] } } b;"), "a; b;");
        assert_eq!(left("#[cfg(all(test, volary_loom))] mod loom; b;"), "b;");
        assert_eq!(left("#[test] #[ignore] fn f(a: [u8; 3]) { x } b"), "b");
        assert_eq!(left("#![cfg(test)] a b"), "");
    }

    #[test]
    fn other_items_stay() {
        for code in [
            "#[cfg(not(test))] fn f() {}",
            "#[cfg(any(test, unix))] fn f() {}",
            "#[cfg(unix)] mod a;",
            "#[derive(Debug)] struct A;",
        ] {
            assert_eq!(left(code), code);
        }
    }

    #[test]
    fn modules_in_files_of_their_own_are_named() {
        assert_eq!(
            test_modules("#[cfg(test)] mod tests; mod b; #[cfg(all(test, x))] pub(crate) mod loom;"),
            ["tests", "loom"]
        );
        assert!(test_modules("#[cfg(test)] use a::b; #[cfg(test)] mod tests { }").is_empty());
    }
}
