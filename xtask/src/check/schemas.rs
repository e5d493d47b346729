//! Generated code is of the schema that is there, and nobody has edited it. Only what a schema or the code says is
//! looked at here; `cargo xtask proto --check` generates it again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::files::below;
use super::none_of;
use crate::failure::Outcome;
use crate::stamp::{FROM, LINES, stamp};
use crate::workspace;

const ADVICE: &str = "run `cargo xtask proto`";

pub(super) fn check() -> Outcome {
    none_of(findings(&workspace::root()), "generated code that is not of its schema")
}

fn findings(root: &Path) -> Vec<String> {
    let mut schemas = BTreeSet::new();
    let mut generated = BTreeSet::new();
    let mut findings = Vec::new();
    for file in below(&root.join("crates"), &["target"]) {
        let Ok(path) = file.strip_prefix(root) else {
            continue;
        };
        let place = path.to_string_lossy().replace('\\', "/");
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension == Some("proto") {
            schemas.insert(place);
        } else if extension == Some("rs")
            && let Ok(text) = fs::read_to_string(&file)
            && let Some(schema) = schema_of(&text)
        {
            match fs::read_to_string(root.join(schema)) {
                Err(error) => findings.push(format!("{place}: its schema {schema} cannot be read: {error}")),
                Ok(text_of_schema) if is_of(&text, schema, &text_of_schema) => {}
                Ok(_) => findings.push(format!("{place}: {schema} or the code itself has changed; {ADVICE}")),
            }
            generated.insert(schema.to_owned());
        }
    }
    let without_code = schemas.difference(&generated);
    findings.extend(without_code.map(|schema| format!("{schema}: no code is generated from it; {ADVICE}")));
    findings
}

/// The path of the schema, if this is generated code.
fn schema_of(text: &str) -> Option<&str> {
    let (path, _) = text.lines().next()?.strip_prefix(FROM)?.split_once(';')?;
    Some(path)
}

fn is_of(text: &str, path: &str, schema: &str) -> bool {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (head, code) = lines.split_at(LINES.min(lines.len()));
    head.concat().replace('\r', "") == stamp(path, schema, &code.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_code_is_of_the_schemas() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_change_on_either_side_is_seen() {
        let (path, schema, code) = ("a/b.proto", "message A {}\n", "struct A {}\n");
        let text = stamp(path, schema, code) + code;
        assert_eq!(schema_of(&text), Some(path));
        assert!(is_of(&text, path, schema));
        assert!(
            is_of(&text.replace('\n', "\r\n"), path, schema),
            "line ends of another system"
        );
        assert!(!is_of(&text, path, "message A { int64 b = 1; }\n"));
        assert!(!is_of(&text.replace("struct A", "struct B"), path, schema));
        assert!(!is_of(code, path, schema));
        assert_eq!(schema_of(code), None);
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        let text = stamp("a", "", "foobar");
        assert!(
            text.contains("schema cbf29ce484222325, code 85944171f73967e8"),
            "{text}"
        );
    }
}
