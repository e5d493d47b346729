// For examples that see what actors do: an environment that shows them the start of alice's account. Behind `bank.rs`.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Watched<F> {
    env: SeededEnv,
    look: F,
    /// The body came to its end.
    looked: Arc<AtomicBool>,
}

impl<F: Fn(&Observed<'_>) + Send + Sync + 'static> Env for Watched<F> {
    fn observes(&self) -> bool {
        true
    }
    fn observe(&self, observed: &Observed<'_>) {
        if matches!(observed.what(), What::Started) && observed.path().to_string() == "/user/alice" {
            (self.look)(observed);
            self.looked.store(true, SeqCst);
        }
    }
    fn now(&self) -> Moment {
        self.env.now()
    }
    fn wall(&self) -> std::time::SystemTime {
        self.env.wall()
    }
    fn random(&self) -> u64 {
        self.env.random()
    }
    fn spawn(&self, task: BoxTask) {
        self.env.spawn(task);
    }
    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        self.env.spawn_thread(name, body)
    }
    fn parallelism(&self) -> usize {
        self.env.parallelism()
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        self.env.tokio()
    }
    fn is_simulated(&self) -> bool {
        true
    }
    fn attach(&self, driver: std::sync::Weak<dyn Driver>) -> std::io::Result<()> {
        self.env.attach(driver)
    }
    fn timer_changed(&self, next: Moment) {
        self.env.timer_changed(next);
    }
}

fn observed(look: impl Fn(&Observed<'_>) + Send + Sync + 'static) {
    let (env, looked) = (SeededEnv::new(1), Arc::<AtomicBool>::default());
    let watched = Watched { env: env.clone(), look, looked: looked.clone() };
    env.block_on(async move {
        let system = ActorSystem::builder("bank").environment(watched).start().await.expect("it starts");
        system.spawn(Account::default).named("alice").await.expect("it starts");
        system.stop().await.expect("it stops");
    });
    assert!(looked.load(SeqCst), "nobody looked, or the look failed");
}
