//! Hooks, messages that exist already, an actor in several blocks, and conditions.
#![deny(warnings)]

use volary::prelude::*;

#[derive(Message)]
#[message(reply = u32)]
pub struct Poke {
    pub force: u32,
}

#[derive(Message)]
pub enum Weather {
    Sun,
    Rain { millimetres: u8 },
}

#[derive(Default)]
pub struct Plant {
    height: u32,
}

#[actor]
impl Plant {
    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.check(self.height)
    }

    fn stopping(&mut self) {
        self.height = 0;
    }

    #[cfg(all())]
    async fn stopped(&mut self) {}

    #[cfg(any())]
    fn stopped(&mut self) -> Result<(), Fault> {}

    pub fn grow(&mut self, by: u32) -> u32 {
        self.height += by;
        self.height
    }

    #[handles]
    pub fn poked(&mut self, Poke { force }: Poke) -> u32 {
        self.height -= force;
        self.height
    }

    #[handles]
    async fn weather(&mut self, _: &mut Context<Self>, weather: Weather) {
        if let Weather::Rain { millimetres } = weather {
            self.height += u32::from(millimetres);
        }
    }

    #[cfg(all())]
    pub fn prune(&mut self) {}

    #[cfg(any())]
    pub fn prune(&mut self, missing: Nowhere) {}

    #[deprecated(note = "plants do not mind")]
    pub fn shout(&mut self) {}

    #[actor(skip)]
    fn check(&self, height: u32) -> Result<(), Fault> {
        if height > 0 { Err(Fault::msg("already grown")) } else { Ok(()) }
    }
}

#[volary::actor(handlers)]
impl Plant {
    #[volary::actor(skip)]
    fn helper(&self) {}

    pub fn water(&mut self) -> Result<u32, Fault> {
        self.helper();
        Ok(self.height)
    }
}

/// An actor whose lifecycle is written by hand.
pub struct Stone;

impl Actor for Stone {}

#[actor(handlers)]
impl Stone {
    pub fn kick(&mut self) {}
}

fn responds<A: Respond<M>, M: Message>(_: M) {}

fn main() {
    let mut plant = Plant::default();
    assert_eq!(plant.grow(2), 2);
    assert_eq!(plant.poked(Poke { force: 1 }), 1);
    responds::<Plant, _>(Grow { by: 1 });
    responds::<Plant, _>(Poke { force: 1 });
    responds::<Plant, _>(Weather::Sun);
    responds::<Plant, _>(Weather::Rain { millimetres: 1 });
    responds::<Plant, _>(Prune);
    responds::<Plant, _>(Water);
    responds::<Stone, _>(Kick);
}
