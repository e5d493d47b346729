use std::time::{Duration, Instant};
use std::sync::atomic::{AtomicU64, Ordering::*};
use volary::prelude::*;
static DONE: AtomicU64 = AtomicU64::new(0);
struct Sink { n: u64, target: u64 }
#[actor]
impl Sink {
    fn add(&mut self, by: u64) -> u64 { self.n += by; if self.n >= self.target { DONE.store(self.n, Release); } self.n }
}
struct Source { to: ActorRef<Sink> }
#[actor]
impl Source {
    fn blast(&mut self, n: u64) { for _ in 0..n { let _ = self.to.tell(Add { by: 1 }); } }
    async fn asks(&mut self, n: u64) -> u64 { let mut s = 0; for _ in 0..n { s = self.to.ask(Add { by: 1 }).await.unwrap(); } s }
}
struct Ping { peer: Option<ActorRef<Ping>>, left: u64 }
#[actor]
impl Ping {
    fn set(&mut self, peer: ActorRef<Ping>) { self.peer = Some(peer); }
    fn ball(&mut self) { if self.left == 0 { DONE.fetch_add(1, AcqRel); return } self.left -= 1; let _ = self.peer.as_ref().unwrap().tell(Ball); }
}
fn wait(n: u64) { while DONE.load(Acquire) < n { std::thread::sleep(Duration::from_micros(50)); } DONE.store(0, Release); }
fn rate(name: &str, n: u64, t: Instant) { let e = t.elapsed(); println!("{name}: {:.2} M/s  {:.1} ns", n as f64 / e.as_secs_f64() / 1e6, e.as_nanos() as f64 / n as f64); }
#[tokio::main(worker_threads = 2)]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("x").start().await?;
    for _ in 0..3 {
        let n = 10_000_000;
        let sink = system.spawn(move || Sink { n: 0, target: n }).await?;
        let s2 = sink.clone();
        let source = system.spawn(move || Source { to: s2.clone() }).await?;
        let t = Instant::now(); source.tell(Blast { n })?; tokio::task::block_in_place(|| wait(n)); rate("tell", n, t);
        let sink = system.spawn(move || Sink { n: 0, target: n }).await?;
        let t = Instant::now(); { let s = sink.clone(); std::thread::spawn(move || for _ in 0..n { let _ = s.tell(Add { by: 1 }); }); } tokio::task::block_in_place(|| wait(n)); rate("tell/outside", n, t);
        let m = 1_000_000;
        let sink = system.spawn(move || Sink { n: 0, target: u64::MAX }).await?;
        let s2 = sink.clone();
        let source = system.spawn(move || Source { to: s2.clone() }).await?;
        let t = Instant::now(); source.ask(Asks { n: m }).timeout(Duration::from_secs(60)).await?; rate("ask", m, t);
        let t = Instant::now(); for _ in 0..m { sink.ask(Add { by: 1 }).await?; } rate("ask from task", m, t);
        let mut v = vec![];
        for _ in 0..64 { let a = system.spawn(move || Ping { peer: None, left: n / 128 }).await?; let b = system.spawn(move || Ping { peer: None, left: n / 128 }).await?; a.tell(Set { peer: b.clone() })?; b.tell(Set { peer: a.clone() })?; v.push(a); }
        let t = Instant::now(); for a in &v { a.tell(Ball)?; } tokio::task::block_in_place(|| wait(64)); rate("pairs", n, t);
        let sink = system.spawn(move || Sink { n: 0, target: n }).await?;
        let mut v = vec![]; for _ in 0..8 { let s = sink.clone(); v.push(system.spawn(move || Source { to: s.clone() }).await?); }
        let t = Instant::now(); for s in &v { s.tell(Blast { n: n / 8 })?; } tokio::task::block_in_place(|| wait(n)); rate("fan-in", n, t);
        let mut sinks = vec![]; for i in 0..m { sinks.push(system.spawn(move || Sink{n: 0, target: u64::MAX}).named(format!("s{i}")).start()?); if i == 0 {} }
        for s in &sinks { s.stop(); }
        for s in &sinks { s.terminated().await; }
        let t = Instant::now(); let mut sinks = vec![]; for i in 0..m { sinks.push(system.spawn(move || Sink{n: 0, target: u64::MAX}).named(format!("s{i}")).await?); } rate("spawn named", m, t);
        for s in &sinks { s.stop(); }
        for s in &sinks { s.terminated().await; }
    }
    println!("{:?}", system.metrics());
    system.stop().await?;
    Ok(())
}
