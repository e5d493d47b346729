//! The licence of every dependency, direct or not, on every platform.

use serde_json::Value;

use super::{none_of, spdx};
use crate::failure::Outcome;
use crate::workspace::{self, Dependencies};

pub(super) fn check() -> Outcome {
    let packages = workspace::packages(Dependencies::Included)?;
    let findings = packages.iter().filter_map(objection).collect();
    none_of(findings, "dependencies whose licence is not on the allow-list")?;
    eprintln!("    {} packages", packages.len());
    Ok(())
}

/// What is wrong with the licence of `package`, if anything.
fn objection(package: &Value) -> Option<String> {
    let text = |field: &str| package[field].as_str().unwrap_or("?");
    let why = match package["license"].as_str() {
        None => "it names no licence".to_owned(),
        Some(expression) => match spdx::is_allowed(expression) {
            Ok(true) => return None,
            Ok(false) => expression.to_owned(),
            Err(error) => format!("{expression}: {error}"),
        },
    };
    Some(format!("{} {}: {why}", text("name"), text("version")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(licence: &str) -> Value {
        let text = format!(r#"{{"name": "a", "version": "1.0.0", "license": {licence}}}"#);
        serde_json::from_str(&text).expect("a package of valid JSON")
    }

    #[test]
    fn offenders_are_named() {
        assert_eq!(objection(&package(r#""MIT OR Apache-2.0""#)), None);
        assert_eq!(
            objection(&package(r#""AGPL-3.0""#)),
            Some("a 1.0.0: AGPL-3.0".to_owned())
        );
        assert_eq!(
            objection(&package("null")),
            Some("a 1.0.0: it names no licence".to_owned())
        );
    }
}
