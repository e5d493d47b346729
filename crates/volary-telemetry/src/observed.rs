//! A system as its instruments see it: looked at once for each collection, however many instruments there are.

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
}

/// What was seen in one look, by instrument.
#[derive(Default)]
struct Look {
    /// Each is told once; who comes again belongs to the next collection.
    untold: Vec<Option<Vec<Labelled>>>,
}

impl Observed {
    pub(crate) fn new(system: ActorSystem, actors: usize) -> Self {
        Observed {
            system: Mutex::new(Some(system)),
            actors,
            last: Mutex::default(),
        }
    }

    pub(crate) fn release(&self) {
        let _system = self.system.lock().take();
        let _last = std::mem::take(&mut *self.last.lock());
    }

    /// Tells the values of one instrument.
    pub(crate) fn tell(&self, at: usize, mut each: impl FnMut(u64, &[KeyValue])) {
        let Some(system) = self.system.lock().clone() else {
            return;
        };
        let values = {
            let mut last = self.last.lock();
            if !last.untold.get(at).is_some_and(Option::is_some) {
                last.untold = self.look(&system);
            }
            last.untold.get_mut(at).and_then(Option::take)
        };
        for (value, attributes) in values.into_iter().flatten() {
            each(value, &attributes);
        }
    }

    fn look(&self, system: &ActorSystem) -> Vec<Option<Vec<Labelled>>> {
        let name = KeyValue::new("actor.system", system.name().to_owned());
        let mut detailed = per_actor::values(system, self.actors, &name);
        let values = |instrument: Instrument| {
            let own = detailed.remove(instrument.name);
            Some(own.unwrap_or_else(|| by_kind(&instrument, &name)))
        };
        system.instruments().into_iter().map(values).collect()
    }
}

fn by_kind(instrument: &Instrument, system: &KeyValue) -> Vec<Labelled> {
    let labelled = |point: &volary_core::Point| {
        let kind = point.actor_kind.map(|kind| KeyValue::new("actor.kind", kind));
        let attributes = std::iter::once(system.clone()).chain(kind).collect();
        (point.value, attributes)
    };
    instrument.points.iter().map(labelled).collect()
}
