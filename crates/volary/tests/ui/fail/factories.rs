use volary::prelude::*;

struct Session {
    lines: std::sync::mpsc::Receiver<String>,
}

#[actor]
impl Session {
    fn line(&mut self) -> Option<String> {
        self.lines.try_recv().ok()
    }
}

async fn spawn(system: ActorSystem) {
    // A value, where a factory is wanted.
    let (_, lines) = std::sync::mpsc::channel();
    let _ = system.spawn(Session { lines }).await;
    // A factory that can be called once.
    let (_, lines) = std::sync::mpsc::channel();
    let _ = system.spawn(move || Session { lines }).await;
}

fn main() {}
