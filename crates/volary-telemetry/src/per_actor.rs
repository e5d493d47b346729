//! Figures of single actors, for those who want them and know that there are few.

use std::collections::BTreeMap;

use opentelemetry::KeyValue;
use volary_core::{ActorInfo, ActorSystem};

use crate::observed::Labelled;

type Read = fn(&ActorInfo) -> u64;

/// The figures that can be told of one actor, and whether those of the rest add up.
const FIGURES: [(&str, Read, Rest); 4] = [
    ("actor.children.count", |actor| actor.children as u64, Rest::ByKind),
    ("actor.stash.size", |actor| actor.stashed as u64, Rest::ByKind),
    ("actor.mailbox.size", |actor| actor.waiting as u64, Rest::ByKind),
    // A sum that actors join and leave would fall, which a counter must not.
    ("actor.processed.count", |actor| actor.taken, Rest::LeftOut),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    ByKind,
    LeftOut,
}

/// The values by instrument; none if no actor has any of its own.
pub(crate) fn values(system: &ActorSystem, most: usize, name: &KeyValue) -> BTreeMap<&'static str, Vec<Labelled>> {
    if most == 0 {
        return BTreeMap::new();
    }
    let mut actors = system.actors();
    actors.sort_unstable_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
    let rest = actors.split_off(most.min(actors.len()));
    let made = FIGURES.map(|(figure, value, kept)| {
        let own = |actor: &ActorInfo| (value(actor), attributes(actor, name));
        let mut values: Vec<Labelled> = actors.iter().map(own).collect();
        if kept == Rest::ByKind {
            values.extend(sums(&rest, value, name));
        }
        (figure, values)
    });
    made.into()
}

fn attributes(actor: &ActorInfo, system: &KeyValue) -> Vec<KeyValue> {
    let path = actor.path.as_str();
    let short = path.rsplit('/').next().unwrap_or(path);
    vec![
        system.clone(),
        KeyValue::new("actor.kind", actor.actor_type),
        KeyValue::new("actor.name", short.to_owned()),
        KeyValue::new("actor.address", path.to_owned()),
    ]
}

fn sums(rest: &[ActorInfo], value: Read, system: &KeyValue) -> Vec<Labelled> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    for actor in rest {
        *kinds.entry(actor.actor_type).or_default() += value(actor);
    }
    let labelled = |(kind, sum)| (sum, vec![system.clone(), KeyValue::new("actor.kind", kind)]);
    kinds.into_iter().map(labelled).collect()
}
