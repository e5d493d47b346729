//! Coordinated shutdown, as a service behind a load balancer wants it: readiness turns false, the listener closes, what was
//! taken in is worked off, the actors stop, and what they used is closed.
//!
//! `cargo run -p volary --example shutdown`

use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{HookRecovery, PhasePlace, ShutdownHook, shutdown};

/// Works off one order after the other.
struct Kitchen;

#[actor]
impl Kitchen {
    async fn cook(&mut self, number: u32, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(50)).await;
        println!("order {number} is done");
    }

    fn stopped(&mut self) {
        println!("the kitchen is closed");
    }
}

/// Every connection is an order, until somebody closes the door.
async fn take_orders(listener: TcpListener, kitchen: ActorRef<Kitchen>, mut closed: oneshot::Receiver<()>) {
    let mut number = 0;
    loop {
        tokio::select! {
            biased;
            _ = &mut closed => return,
            accepted = listener.accept() => {
                number += 1;
                if accepted.is_ok() && kitchen.tell(Cook { number }).is_err() {
                    return;
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("restaurant")
        // Less than what the process gets between SIGTERM and SIGKILL.
        .settings(|s| {
            s.shutdown_timeout(Duration::from_secs(20))
                .drain_timeout(Duration::from_secs(5))
        })
        .shutdown_phase("accounts", PhasePlace::before(shutdown::ACTORS))
        .on_shutdown(ShutdownHook::new("accounts", "till", || async {
            println!("the till is counted")
        }))
        .on_shutdown(
            ShutdownHook::new(shutdown::AFTER_ACTORS, "database", || async {
                Err("the connection was reset") // in the error of the stop, which goes on
            })
            .timeout(Duration::from_secs(2))
            .recovery(HookRecovery::RetrySkip {
                attempts: 3,
                delay: Duration::from_millis(10),
            }),
        )
        .start()
        .await?;
    let kitchen = system.spawn(|| Kitchen).named("kitchen").await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (close, closed) = oneshot::channel();
    let door = tokio::spawn(take_orders(listener, kitchen, closed));
    let readiness = system.readiness();
    system.on_shutdown(ShutdownHook::once(shutdown::INTAKE, "door", move || async move {
        println!("ready: {}; the door is closed", readiness.is_ready());
        let _ = close.send(());
        door.await
    }))?;

    for _ in 0..3 {
        TcpStream::connect(address).await?;
    }
    system.sleep(Duration::from_millis(20)).await;
    // A service waits for SIGTERM or Ctrl-C instead: `system.run_until_signal().await`. A second one hurries it.
    if let Err(error) = system.stop().await {
        println!("{error}");
    }
    Ok(())
}
