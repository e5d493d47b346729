//! `#[actor(remote(Deposit, Withdraw))]`: what other nodes may send this actor.
//!
//! The list is checked against the messages of the block. Nothing is generated from it yet; it
//! will be the decode table and the allow-list of the actor's kind.

use quote::ToTokens;
use syn::Path;

use super::method::Method;
use crate::complaints::Complaints;

/// The messages that the author opened to other nodes, in the order written.
#[derive(Default)]
pub(super) struct RemoteList(Vec<Path>);

impl RemoteList {
    pub(super) fn extend(&mut self, messages: impl IntoIterator<Item = Path>) {
        self.0.extend(messages);
    }

    /// Complains about names that are no message of the block, or stand twice.
    pub(super) fn check(&self, methods: &[Method], complaints: &mut Complaints) {
        let known: Vec<String> = methods.iter().map(|method| method.message.name()).collect();
        let mut seen = Vec::new();
        for path in &self.0 {
            let name = path
                .segments
                .last()
                .map(|last| last.ident.to_string())
                .unwrap_or_default();
            if !known.contains(&name) {
                complaints.at(path, unknown(&path.to_token_stream().to_string(), &known));
            } else if seen.contains(&name) {
                complaints.at(
                    path,
                    format_args!("`{name}` is listed twice in `remote(…)`: remove this one"),
                );
            }
            seen.push(name);
        }
    }
}

fn unknown(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return format!("`{name}` is not a message of this block, which has none: add a method for it");
    }
    let list = known
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    format!("`{name}` is not a message of this block: it has {list}")
}
