//! A system as its instruments see it: looked at once for each collection, however many instruments there are.

use std::collections::{BTreeMap, BTreeSet};

use opentelemetry::KeyValue;
use parking_lot::Mutex;
use volary_core::{ActorSystem, Instrument};

use crate::per_actor;

/// A value with what it is told apart by.
pub(crate) type Labelled = (u64, Vec<KeyValue>);

pub(crate) struct Observed {
    /// Taken away when the system has stopped, since providers keep their instruments for ever.
    system: Mutex<Option<ActorSystem>>,
    /// How many actors have figures of their own.
    actors: usize,
    last: Mutex<Look>,
    /// The instruments that there are, by their names.
    registered: Mutex<BTreeSet<&'static str>>,
}

/// What was seen in one look, by instrument.
#[derive(Default)]
struct Look {
    /// Each is told once; who comes again belongs to the next collection.
    untold: BTreeMap<&'static str, Vec<Labelled>>,
}

impl Observed {
    pub(crate) fn new(system: ActorSystem, actors: usize) -> Self {
        Observed {
            system: Mutex::new(Some(system)),
            actors,
            last: Mutex::default(),
            registered: Mutex::default(),
        }
    }

    /// Whether there was no instrument of this name before.
    pub(crate) fn is_new(&self, name: &'static str) -> bool {
        self.registered.lock().insert(name)
    }

    pub(crate) fn release(&self) {
        let _system = self.system.lock().take();
        let _last = std::mem::take(&mut *self.last.lock());
    }

    /// Tells the values of one instrument.
    pub(crate) fn tell(&self, name: &'static str, mut each: impl FnMut(u64, &[KeyValue])) {
        let Some(system) = self.system.lock().clone() else {
            return;
        };
        let values = {
            let mut last = self.last.lock();
            if !last.untold.contains_key(name) {
                last.untold = self.look(&system);
                // Whose figures are gone is told nothing, and does not look for itself: what others were told in this
                // collection would be told in the next.
                for name in &*self.registered.lock() {
                    last.untold.entry(name).or_default();
                }
            }
            last.untold.remove(name)
        };
        for (value, attributes) in values.into_iter().flatten() {
            each(value, &attributes);
        }
    }

    fn look(&self, system: &ActorSystem) -> BTreeMap<&'static str, Vec<Labelled>> {
        let name = KeyValue::new("actor.system", system.name().to_owned());
        let mut detailed = per_actor::values(system, self.actors, &name);
        let values = |instrument: Instrument| {
            let own = detailed.remove(instrument.name);
            let all = own.unwrap_or_else(|| labelled(&instrument, &name));
            (instrument.name, all)
        };
        system.instruments().into_iter().map(values).collect()
    }
}

fn labelled(instrument: &Instrument, system: &KeyValue) -> Vec<Labelled> {
    let labelled = |point: &volary_core::Point| {
        let kind = point.actor_kind.map(|kind| KeyValue::new("actor.kind", kind));
        let labels = point.labels.iter();
        let others = labels.map(|(label, value)| KeyValue::new(*label, value.clone()));
        let attributes = std::iter::once(system.clone()).chain(kind).chain(others).collect();
        (point.value, attributes)
    };
    instrument.points.iter().map(labelled).collect()
}
