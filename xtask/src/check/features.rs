//! Each feature of each library alone, in pairs, and none at all: features are additive, so all of these must build.

use serde_json::Value;

use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::workspace::{self, Dependencies};

pub(super) fn check() -> Outcome {
    for package in workspace::packages(Dependencies::Left)?
        .iter()
        .filter(|package| is_library(package))
    {
        let name = package["name"].as_str().unwrap_or_default();
        let features = features(package);
        if features.is_empty() {
            eprintln!("==> features of {name}: it has none");
            continue;
        }
        for combination in combinations(&features) {
            let title = match combination.as_str() {
                "" => format!("{name} without features"),
                features => format!("{name} with {features}"),
            };
            let mut call = Invocation::cargo(["check", "--quiet", "-p", name, "--no-default-features"]);
            if !combination.is_empty() {
                call = call.args(["--features", &combination]);
            }
            call.run(&title)?;
        }
    }
    Ok(())
}

fn is_library(package: &Value) -> bool {
    let kinds = package["targets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|target| target["kind"].as_array());

    kinds
        .flatten()
        .any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "proc-macro")))
}

/// The features a user can name: `default` is a list of others, and a leading underscore marks internal ones.
fn features(package: &Value) -> Vec<&str> {
    let names = package["features"]
        .as_object()
        .into_iter()
        .flat_map(|features| features.keys());
    names
        .map(String::as_str)
        .filter(|name| *name != "default" && !name.starts_with('_'))
        .collect()
}

/// None, each alone, each pair.
fn combinations(features: &[&str]) -> Vec<String> {
    let mut all = vec![String::new()];
    for (at, first) in features.iter().enumerate() {
        all.push((*first).to_owned());
        all.extend(features[at + 1..].iter().map(|second| format!("{first},{second}")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_alone_and_in_pairs() {
        assert_eq!(combinations(&["a", "b", "c"]), ["", "a", "a,b", "a,c", "b", "b,c", "c"]);
        assert_eq!(combinations(&["a"]), ["", "a"]);
    }

    #[test]
    fn only_features_a_user_names_and_only_libraries() {
        let package: Value = serde_json::from_str(
            r#"{"name": "a", "targets": [{"kind": ["lib"]}, {"kind": ["test"]}],
                "features": {"default": ["metrics"], "metrics": [], "_internal": [], "toml": ["dep:toml"]}}"#,
        )
        .expect("a package of valid JSON");
        assert!(is_library(&package));
        assert_eq!(features(&package), ["metrics", "toml"]);
        let program: Value =
            serde_json::from_str(r#"{"name": "b", "targets": [{"kind": ["bin"]}]}"#).expect("a package of valid JSON");
        assert!(!is_library(&program));
        assert!(features(&program).is_empty());
    }
}
