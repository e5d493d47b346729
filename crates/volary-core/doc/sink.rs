// For examples of what a sink of telemetry is shown: alice is asked for a deposit, which begins a trace. Behind `bank.rs`.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Shown<S, B> {
    sample: S,
    begun: B,
    /// The body came to its end.
    looked: Arc<AtomicBool>,
}

impl<S, B> TelemetrySink for Shown<S, B>
where
    S: Fn(&Sample<'_>) -> bool + Send + Sync + 'static,
    B: Fn(&Begun) -> bool + Send + Sync + 'static,
{
    fn sample(&self, sample: &Sample<'_>) {
        self.looked.fetch_or((self.sample)(sample), SeqCst);
    }
    fn open_span(&self, begun: &Begun) -> Option<TraceContext> {
        self.looked.fetch_or((self.begun)(begun), SeqCst);
        None
    }
}

async fn ask_shown(sink: impl TelemetrySink, looked: Arc<AtomicBool>) -> Done {
    let builder = ActorSystem::builder("bank").ignore_environment();
    let builder = builder.telemetry(Telemetry::sampled(1.0).begin_traces()).telemetry_sink(sink);
    let system = builder.settings(|s| s.log_config(false)).start().await?;
    system.spawn(Account::default).named("alice").await?.ask(Deposit(5)).await?;
    system.stop().await?;
    assert!(looked.load(SeqCst), "nobody looked, or the look failed");
    Ok(())
}

#[allow(dead_code, reason = "each example has one of them")]
async fn sampled(look: impl Fn(&Sample<'_>) + Send + Sync + 'static) -> Done {
    let looked = Arc::<AtomicBool>::default();
    let sample = move |sample: &Sample<'_>| {
        look(sample);
        true
    };
    let begun = |_: &Begun| false;
    ask_shown(Shown { sample, begun, looked: looked.clone() }, looked).await
}

#[allow(dead_code, reason = "each example has one of them")]
async fn begun(look: impl Fn(&Begun) + Send + Sync + 'static) -> Done {
    let looked = Arc::<AtomicBool>::default();
    let begun = move |begun: &Begun| {
        look(begun);
        true
    };
    let sample = |_: &Sample<'_>| false;
    ask_shown(Shown { sample, begun, looked: looked.clone() }, looked).await
}
