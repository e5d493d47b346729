use std::rc::Rc;
use std::sync::Mutex;

use volary::prelude::*;

/// State that cannot move between threads.
struct Cache {
    entries: Rc<Vec<u8>>,
}

#[actor]
impl Cache {
    fn size(&self) -> usize {
        self.entries.len()
    }
}

struct Clerk {
    ledger: std::sync::Arc<Mutex<u32>>,
}

#[actor]
impl Clerk {
    /// A message that cannot.
    fn file(&mut self, _paper: Rc<String>) {}

    /// A guard that is held while the handler waits.
    async fn book(&mut self, ctx: &mut Context<Self>) {
        let mut ledger = self.ledger.lock().unwrap();
        ctx.sleep(std::time::Duration::from_millis(1)).await;
        *ledger += 1;
    }
}

fn main() {}
