//! Faults on plain tokio: a task works on state of its own until it fails, a
//! second one awaits its `JoinHandle` and starts the next. The receiver is
//! lent through a lock, so that it survives a panic; each task takes it once.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

use super::{Tokio, Tx, send};
use crate::features::Restarting;
use crate::fragile::{Broken, Fragile, Fragility};
use crate::latch::LAST;

type Inbox = Arc<Mutex<mpsc::UnboundedReceiver<u64>>>;

async fn work(inbox: Inbox, mut fragile: Fragile) -> Result<(), Broken> {
    let mut inbox = inbox.lock().await;
    while let Some(value) = inbox.recv().await {
        fragile.handle(value)?;
    }
    Ok(())
}

async fn supervise(inbox: Inbox, fragility: Fragility) {
    loop {
        let worker = tokio::spawn(work(inbox.clone(), Fragile::build(fragility)));
        if let Ok(Ok(())) = worker.await {
            return;
        }
    }
}

impl Restarting for Tokio {
    type Fallible = Tx<u64>;

    async fn fallible(&self, fragility: Fragility) -> Tx<u64> {
        let start = move |inbox| supervise(Arc::new(Mutex::new(inbox)), fragility);
        self.at(0, start).await
    }

    fn fail(worker: &Tx<u64>, faults: u64) {
        (0..faults).for_each(|value| send(worker, value));
        send(worker, LAST);
    }
}
