//! Settings: from code, from TOML, from the environment; and what a mistake looks like.
//!
//! `cargo run --example settings`, or `VOLARY_THROUGHPUT=64 cargo run --example settings`

use std::time::Duration;

use volary::prelude::*;

const FILE: &str = r#"
ask-timeout = "2s"
stop-grace = "500ms"

[app]                       # the program's own settings live here
region = "eu"
db.url = "postgres://bank:hunter2@db/accounts"
"#;

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("shop")
        .toml_str("shop.toml", FILE) // `.file("shop.toml")` reads a file
        .settings(|s| s.ask_timeout(Duration::from_secs(1))) // code wins over the environment, and that over files
        .start()
        .await?;
    for setting in system.settings().effective() {
        println!("{setting}");
    }
    println!("\nregion is {:?}", system.settings().app("region"));
    system.stop().await?;

    // All mistakes are found at once, before anything runs; each is named with what would be right.
    let mistaken = ActorSystem::builder("shop")
        .toml_str(
            "shop.toml",
            "ask-timeuot = \"2s\"\nthroughput = 1000\nstop-grace = \"soon\"",
        )
        .start()
        .await;
    println!("\n{}", mistaken.expect_err("there are three mistakes"));
    Ok(())
}
