// For examples that look at a message by a tap: alice is asked for a deposit of 5, and the body of the example sees it. Behind
// `bank.rs`.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Eye<F> {
    look: F,
    /// The body came to its end.
    looked: AtomicBool,
}

impl<F: Fn(&Input<'_>) + Send + Sync + 'static> Tap for Eye<F> {
    fn input(&self, input: &Input<'_>) -> Passage {
        (self.look)(input);
        self.looked.store(true, SeqCst);
        Passage::Handle
    }
}

async fn tapped(look: impl Fn(&Input<'_>) + Send + Sync + 'static) -> Done {
    let (system, alice) = bank().await?;
    let eye = Arc::new(Eye { look, looked: AtomicBool::new(false) });
    let tapped = alice.tap(eye.clone())?;
    alice.ask(Deposit(5)).await?;
    drop(tapped);
    system.stop().await?;
    assert!(eye.looked.load(SeqCst), "nobody looked, or the look failed");
    Ok(())
}
