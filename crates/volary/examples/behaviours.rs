//! Behaviours and stash: a connection that handles a line one way before the login and another way after it.
//!
//! `cargo run -p volary --example behaviours`

use volary::prelude::*;

#[derive(Default)]
struct Connection {
    user: Option<String>,
}

#[derive(Message)]
#[message(reply = String)]
struct Line(String);

#[actor]
impl Connection {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.becomes(before_login);
    }

    /// What a line means once somebody is logged in: the actor's own handler.
    #[handles]
    fn line(&mut self, Line(text): Line, ctx: &mut Context<Self>) -> Result<String, Failure> {
        let user = self.user.as_deref().unwrap_or("nobody");
        match text.as_str() {
            "LOCK" => ctx.becomes_stacked(locked),
            "LOGOUT" => ctx.becomes(before_login),
            _ => {}
        }
        Ok(format!("{user}: {text}"))
    }
}

/// Lines are put aside until somebody has logged in; their askers wait.
fn before_login(connection: &mut Connection, line: Line, ctx: &mut Context<Connection>) -> Result<String, Failure> {
    match line.0.strip_prefix("LOGIN ") {
        Some(user) => {
            connection.user = Some(user.to_owned());
            ctx.unbecome::<Line>();
            ctx.unstash_all();
            Ok(format!("welcome, {user}"))
        }
        None => Err(ctx.stash(line).map_err(Fault::from)?.into()),
    }
}

/// On top of what was there before: the right word takes it off again, and anything else is not handled.
async fn locked(_: &mut Connection, line: Line, ctx: &mut Context<Connection>) -> Result<String, Failure> {
    if line.0 == "OPEN" {
        ctx.unbecome_stacked::<Line>();
        return Ok("unlocked".to_owned());
    }
    Err(ctx.unhandled(line).into())
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("server").start().await?;
        let connection = system.spawn(Connection::default).await?;
        connection.tell(Line("hello?".to_owned()))?; // too early: put aside
        for text in ["LOGIN ada", "hello", "LOCK", "hello", "OPEN", "hello", "LOGOUT"] {
            match connection.ask(Line(text.to_owned())).await {
                Ok(answer) => println!("{text:10} -> {answer}"),
                Err(error) => println!("{text:10} -> {error}"),
            }
        }
        println!("{} lines were not handled", system.metrics().dead_letters);
        Ok(system.stop().await?)
    })
}
