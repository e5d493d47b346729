// For examples that look at a message from a layer: alice is asked for a deposit, and the body of the example sees it on its
// way out, on its way in, or when it was handled. Behind `bank.rs`.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Looks at one kind of what a layer sees.
struct Look<S, R, H> {
    sending: S,
    receiving: R,
    handled: H,
    /// The body came to its end.
    looked: Arc<AtomicBool>,
}

impl<S, R, H> Interceptor for Look<S, R, H>
where
    S: Fn(&mut Departing<'_>) -> bool + Send + Sync + 'static,
    R: Fn(&Arriving<'_>) -> bool + Send + Sync + 'static,
    H: Fn(&Handled<'_>) -> bool + Send + Sync + 'static,
{
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        self.looked.fetch_or((self.sending)(message), SeqCst);
        Verdict::Pass
    }
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        self.looked.fetch_or((self.receiving)(message), SeqCst);
        Verdict::Pass
    }
    fn handled(&self, handled: &Handled<'_>) {
        self.looked.fetch_or((self.handled)(handled), SeqCst);
    }
}

async fn ask_through(layer: impl Interceptor, looked: Arc<AtomicBool>) -> Done {
    let builder = ActorSystem::builder("bank").ignore_environment().intercept(layer);
    let system = builder.settings(|s| s.log_config(false)).start().await?;
    let alice = system.spawn(Account::default).named("alice").await?;
    alice.ask(Deposit(5)).await?;
    system.stop().await?;
    assert!(looked.load(SeqCst), "nobody looked, or the look failed");
    Ok(())
}

#[allow(dead_code, reason = "each example has one of them")]
async fn departing(look: impl Fn(&mut Departing<'_>) + Send + Sync + 'static) -> Done {
    let looked = Arc::<AtomicBool>::default();
    let sending = move |message: &mut Departing<'_>| {
        look(message);
        true
    };
    let (receiving, handled) = (|_: &Arriving<'_>| false, |_: &Handled<'_>| false);
    let layer = Look { sending, receiving, handled, looked: looked.clone() };
    ask_through(layer, looked).await
}

#[allow(dead_code, reason = "each example has one of them")]
async fn arriving(look: impl Fn(&Arriving<'_>) + Send + Sync + 'static) -> Done {
    let looked = Arc::<AtomicBool>::default();
    let receiving = move |message: &Arriving<'_>| {
        look(message);
        true
    };
    let (sending, handled) = (|_: &mut Departing<'_>| false, |_: &Handled<'_>| false);
    let layer = Look { sending, receiving, handled, looked: looked.clone() };
    ask_through(layer, looked).await
}

#[allow(dead_code, reason = "each example has one of them")]
async fn handled(look: impl Fn(&Handled<'_>) + Send + Sync + 'static) -> Done {
    let looked = Arc::<AtomicBool>::default();
    let handled = move |message: &Handled<'_>| {
        look(message);
        true
    };
    let (sending, receiving) = (|_: &mut Departing<'_>| false, |_: &Arriving<'_>| false);
    let layer = Look { sending, receiving, handled, looked: looked.clone() };
    ask_through(layer, looked).await
}
