//! Talking to an actor without knowing its type: protocols, recipients, weak references, addresses.
//!
//! `cargo run --example protocols`

use volary::prelude::*;

struct Lamp {
    on: bool,
}

#[actor]
impl Lamp {
    fn switch(&mut self, on: bool) {
        self.on = on;
    }

    fn is_on(&self) -> bool {
        self.on
    }
}

struct Radio {
    volume: u8,
}

/// Speaks the same messages; `#[handles]` takes an existing message instead of making one.
#[actor]
impl Radio {
    #[handles]
    fn switch(&mut self, switch: Switch) {
        self.volume = if switch.on { 5 } else { 0 };
    }

    #[handles]
    fn is_on(&self, _: IsOn) -> bool {
        self.volume > 0
    }
}

protocol! {
    /// Whatever can be switched. Neither lamp nor radio is named.
    Switchable { Switch, IsOn }
}

async fn turn_on(device: &ActorRef<Switchable>) -> volary::Result<()> {
    device.tell(Switch { on: true })?;
    println!("{} is on: {}", device.path(), device.ask(IsOn).await?);
    Ok(())
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("house").start().await?;
    let lamp = system.spawn(|| Lamp { on: false }).named("lamp").await?;
    let radio = system.spawn(|| Radio { volume: 0 }).named("radio").await?;

    for device in [lamp.narrow::<Switchable>(), radio.narrow()] {
        turn_on(&device).await?;
    }

    // For one message alone there is `Recipient`, from a reference or from an address.
    for switch in [lamp.recipient::<Switch>(), radio.recipient()] {
        switch.tell(Switch { on: false })?;
    }
    if let Some(found) = system.recipient::<IsOn>("/user/radio") {
        println!("found at {}: on is {}", found.path(), found.ask(IsOn).await?);
    }
    // A protocol is found at an address too, if whoever lives there speaks it.
    if let Some(found) = system.lookup::<Switchable>("/user/radio") {
        turn_on(&found).await?;
    }
    let typed: Option<ActorRef<Lamp>> = system.lookup("/user/radio");
    println!("a lamp at /user/radio: {}", typed.is_some());

    // A weak reference does not hold on to the memory of an actor that has ended.
    let weak = lamp.downgrade();
    lamp.stop();
    lamp.terminated().await;
    println!("the lamp is still there: {}", weak.upgrade().is_some());

    system.stop().await?;
    Ok(())
}
