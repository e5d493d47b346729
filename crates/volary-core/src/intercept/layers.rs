//! Interceptors in their order, and how they are called: each contained on its own.

use std::fmt;
use std::sync::Arc;

use super::interceptor::{Interceptor, Verdict};
use super::seen::{Arriving, Departing, Handled};
use crate::cell::Header;
use crate::dispatch::contain;

const PANICKED: &str = "an interceptor panicked";

/// Interceptors, outermost first.
#[derive(Clone, Default)]
pub(crate) struct Layers(Vec<Arc<dyn Interceptor>>);

impl Layers {
    pub(crate) fn push(&mut self, interceptor: impl Interceptor) {
        self.0.push(Arc::new(interceptor));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn sending(&self, message: &mut Departing<'_>) -> Result<(), &'static str> {
        let (cell, name) = (message.receiver, message.type_name);
        self.0
            .iter()
            .try_for_each(|layer| judge(cell, name, || layer.sending(message)))
    }

    /// Refused: how many had let it pass, and why it goes no further.
    pub(crate) fn receiving(&self, message: &Arriving<'_>) -> Result<(), (usize, &'static str)> {
        let (cell, name) = (message.receiver, message.type_name);
        self.0.iter().enumerate().try_for_each(|(passed, layer)| {
            judge(cell, name, || layer.receiving(message)).map_err(|reason| (passed, reason))
        })
    }

    /// Tells them that it is over, innermost first.
    pub(crate) fn handled(&self, handled: &Handled<'_>) {
        self.first_handled(self.0.len(), handled);
    }

    /// Tells so many, counted from the outermost, that it is over.
    pub(crate) fn first_handled(&self, count: usize, handled: &Handled<'_>) {
        for layer in self.0[..count].iter().rev() {
            report(handled.receiver, handled.type_name, contain(|| layer.handled(handled)));
        }
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}

fn judge(cell: &Header, message_type: &str, look: impl FnOnce() -> Verdict) -> Result<(), &'static str> {
    match report(cell, message_type, contain(look)) {
        Some(Verdict::Pass) => Ok(()),
        Some(Verdict::Refuse(reason)) => Err(reason),
        None => Err(PANICKED),
    }
}

fn report<R>(cell: &Header, message_type: &str, called: Result<R, crate::actor::Fault>) -> Option<R> {
    called
        .inspect_err(|fault| cell.system().report_layer_fault(cell, message_type, fault))
        .ok()
}
