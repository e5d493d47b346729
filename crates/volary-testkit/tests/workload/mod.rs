//! Histories of a thing that really is one copy: clients begin a call, it takes effect, it comes back, each when a
//! seeded draw says so.

use volary_testkit::check::{CallId, History, Model};

/// A sequence of numbers that depends on its seed alone.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// What a client is about.
enum Phase<M: Model> {
    Idle,
    Begun(CallId, M::Op),
    Done(CallId, M::Return),
}

/// `calls` calls of `clients` clients that are always busy. Of a hundred calls, `unheard` never come back; half of them
/// took effect.
pub(crate) fn honest<M: Model>(
    model: &M,
    calls: usize,
    clients: u64,
    unheard: u64,
    draw: &mut Draw,
    mut op: impl FnMut(&mut Draw, usize) -> M::Op,
) -> History<u8, M::Op, M::Return> {
    let mut history = History::new();
    let mut state = model.init();
    let mut phases: Vec<Phase<M>> = (0..clients).map(|_| Phase::Idle).collect();
    let mut begun = 0;
    while begun < calls || phases.iter().any(|phase| !matches!(phase, Phase::Idle)) {
        let client = draw.below(clients);
        let phase = &mut phases[client as usize];
        *phase = match std::mem::replace(phase, Phase::Idle) {
            Phase::Idle if begun == calls => Phase::Idle,
            Phase::Idle => {
                let op = op(draw, begun);
                begun += 1;
                Phase::Begun(history.begin(client, 0, op.clone()), op)
            }
            Phase::Begun(..) if draw.below(200) < unheard => Phase::Idle,
            Phase::Begun(call, op) => {
                let (next, returned) = model.step(&state, &op);
                state = next;
                Phase::Done(call, returned)
            }
            Phase::Done(..) if draw.below(200) < unheard => Phase::Idle,
            Phase::Done(call, returned) => {
                history.end(call, returned);
                Phase::Idle
            }
        };
    }
    history
}
