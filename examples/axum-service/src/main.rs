//! An HTTP service in front of actors: `cargo run`, then
//!
//! ```text
//!   curl -X POST localhost:8080/accounts/ada/deposit/500
//!   curl -X POST localhost:8080/accounts/ada/withdraw/700      422, and how much is missing
//!   curl localhost:8080/accounts/ada                           the balance, and the trace that changed it last
//!   curl localhost:8080/ready                                  503 as soon as the service is told to end
//! ```
//!
//! - `account.rs`: the actors. They know nothing of HTTP.
//! - `http.rs`: the routes. Handlers ask actors, and every way in which an ask can end is a status code.
//! - here: start, and an end in order.

mod account;
mod http;

use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{ShutdownHook, shutdown};

use crate::account::Bank;

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("bank")
        // A client that has waited this long gets a 504. The whole end takes less than what a process gets between
        // SIGTERM and SIGKILL.
        .settings(|s| {
            s.ask_timeout(Duration::from_millis(500))
                .shutdown_timeout(Duration::from_secs(20))
                .drain_timeout(Duration::from_secs(5))
        })
        .start()
        .await?;
    let bank = system.spawn(|| Bank).named("bank").await?;

    let address = variable("ADDRESS").unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(&address).await?;
    println!("listening on {}", listener.local_addr()?);
    let routes = http::routes(bank, system.readiness());
    let (close, closed) = oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        axum::serve(listener, routes)
            .with_graceful_shutdown(async { drop(closed.await) })
            .await
    });

    // When the first hook runs, `/ready` says 503 already. The balancer needs a moment to notice; until then requests
    // are served as before. Then the listener closes, requests under way are finished, and after that actors stop.
    let notice = variable("NOTICE_MILLIS")
        .and_then(|text| text.parse().ok())
        .unwrap_or(2_000);
    let clock = system.clone();
    let hook = ShutdownHook::once(shutdown::INTAKE, "http", move || async move {
        println!("not ready any more");
        clock.sleep(Duration::from_millis(notice)).await;
        drop(close);
        server.await??;
        Ok::<(), volary::Error>(())
    });
    system.on_shutdown(hook.timeout(Duration::from_secs(10)))?;

    system.run_until_signal().await?;
    println!("ended in order");
    Ok(())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
