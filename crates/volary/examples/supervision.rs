//! What happens when things go wrong: a rejection answers, a fault crashes, and a supervisor decides.
//!
//! `cargo run --example supervision`

use volary::prelude::*;

#[derive(Default)]
struct Parser {
    lines: u32,
}

#[derive(Debug, Rejection)]
struct Empty;

#[actor]
impl Parser {
    /// A rejection (`Empty`) is an answer to the asker. A fault (anything behind `or_fault`) crashes the actor.
    fn parse(&mut self, line: String) -> Result<i64, Failure<Empty>> {
        if line.is_empty() {
            return Err(Empty.into());
        }
        let number = line.parse().or_fault()?;
        self.lines += 1;
        Ok(number)
    }

    fn lines(&self) -> u32 {
        self.lines
    }
}

/// Watches, and answers when the time has come.
#[derive(Default)]
struct Nurse {
    asking: Option<ReplyTo<String>>,
}

#[actor]
impl Nurse {
    fn look_after(&mut self, parser: ActorRef<Parser>, reply: ReplyTo<String>, ctx: &mut Context<Self>) {
        ctx.watch(&parser);
        self.asking = Some(reply);
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        if let Some(reply) = self.asking.take() {
            reply.send(gone.path().to_string());
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("ward").start().await?;
    let parse = |line: &str| Parse { line: line.to_owned() };

    for directive in [Directive::Restart, Directive::Resume, Directive::Stop] {
        let name = format!("{directive:?}").to_lowercase();
        let parser = system.spawn(Parser::default).named(name).on_fault(directive).await?;
        println!("\non a fault: {directive:?}");
        for line in ["7", "", "seven"] {
            match parser.ask(parse(line)).await {
                Ok(number) => println!("  {line:?} is {number}"),
                Err(error) => println!("  {line:?}: {error}"),
            }
        }
        println!("  lines it remembers: {:?}", parser.ask(Lines).await);
    }

    let nurse = system.spawn(Nurse::default).await?;
    let patient = system.spawn(Parser::default).named("patient").await?;
    patient.stop(); // watching one that has ended already is fine, too
    let gone = nurse.ask(LookAfter { parser: patient }).await?;
    println!("\nthe nurse hears of the end of {gone}");
    println!("{} faults in all", system.metrics().faults);
    system.stop().await?;
    Ok(())
}
