// What examples of state machines share, in lines that are not shown there: a lock with a door, on virtual time, and ways into
// its handlers.

use std::{convert::Infallible, time::Duration};
use volary_core::*;

type Done = Result<(), Box<dyn std::error::Error + Send + Sync>>;

#[derive(Debug, Clone, PartialEq)]
#[allow(dead_code, reason = "not every example needs all")]
enum Door {
    Locked { wrong: u32 },
    Closed,
    Open,
}

impl FsmState for Door {
    fn timeout(&self) -> Option<Duration> {
        matches!(self, Door::Open).then_some(Duration::from_secs(5))
    }
    fn may_go_to(&self, next: &Self) -> bool {
        !matches!((self, next), (Door::Locked { .. }, Door::Open))
    }
}

type Body = fn(&mut Fsm<Door>, &mut Context<Lock>) -> Done;
type Late = fn(&mut Fsm<Door>, &StateTimeout<Door>, &mut Context<Lock>);

struct Lock {
    door: Fsm<Door>,
    late: Late,
}

impl Actor for Lock {}

struct Inside(Body);
impl Message for Inside {
    type Reply = ();
    type Rejection = Infallible;
}
impl SyncHandler<Inside> for Lock {
    fn handle(&mut self, inside: Inside, ctx: &mut Context<Self>) -> Result<(), Failure> {
        Ok((inside.0)(&mut self.door, ctx).map_err(|error| Fault::msg(error.to_string()))?)
    }
}

#[derive(Clone)]
struct TooLong(Moment);
impl SyncHandler<StateTimeout<Door>> for Lock {
    fn handle(&mut self, timeout: StateTimeout<Door>, ctx: &mut Context<Self>) -> Result<(), Failure> {
        (self.late)(&mut self.door, &timeout, ctx);
        ctx.system().events().publish(TooLong(ctx.now()));
        Ok(())
    }
}

/// Runs the body of an example in a handler of a lock whose door is in this state.
#[allow(dead_code, reason = "not every example needs it")]
fn inside(first: Door, body: Body) {
    let env = SeededEnv::new(1);
    env.clone().block_on(async move {
        let system = ActorSystem::builder("doc").environment(env).start().await.expect("it starts");
        let door = move || Lock { door: Fsm::new(first.clone()), late: |_, _, _| () };
        let lock = system.spawn(door).await.expect("it starts");
        lock.ask(Inside(body)).await.expect("the body comes to its end");
        system.stop().await.expect("it stops");
    });
}

/// Opens a door by `body`, and runs `late` when it has been open for too long: after which time.
#[allow(dead_code, reason = "not every example needs it")]
fn open_until(body: Body, late: Late) -> Duration {
    let env = SeededEnv::new(1);
    env.clone().block_on(async move {
        let system = ActorSystem::builder("doc").environment(env).start().await.expect("it starts");
        let (ends, began) = (system.events().subscribe::<TooLong>(), system.now());
        let lock = system.spawn(move || Lock { door: Fsm::new(Door::Open), late }).await.expect("it starts");
        lock.ask(Inside(body)).await.expect("the body comes to its end");
        let TooLong(end) = ends.next().await.expect("it is not lost");
        system.stop().await.expect("it stops");
        end.since(began)
    })
}
