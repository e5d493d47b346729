//! Recording a system at work.

use super::*;

#[test]
fn t7_recording_begins_and_ends_under_load_and_nothing_is_lost_or_reordered() {
    const SENDERS: u64 = 3;
    const MESSAGES: u64 = 20_000;

    struct Counter {
        next: [u64; SENDERS as usize],
        wrong: u64,
    }
    #[derive(Message)]
    struct Numbered(u64, u64);
    #[actor]
    impl Counter {
        #[handles]
        fn numbered(&mut self, numbered: Numbered, ctx: &mut Context<Self>) {
            let Numbered(sender, number) = numbered;
            self.wrong += u64::from(std::mem::replace(&mut self.next[sender as usize], number + 1) != number);
            let _ = ctx.random();
        }
        fn counted(&mut self) -> (u64, u64) {
            (self.next.iter().sum(), self.wrong)
        }
    }
    fn codecs() -> Codecs<Counter> {
        Codecs::new().message(
            |n: &Numbered| format!("{} {}", n.0, n.1).into_bytes(),
            |_| Err("not replayed".into()),
        )
    }

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    runtime.block_on(async {
        let system = ActorSystem::builder("load").start().await.unwrap();
        let counter = system
            .spawn(|| Counter {
                next: [0; SENDERS as usize],
                wrong: 0,
            })
            .await
            .unwrap();
        let over = Arc::new(AtomicU64::new(0));
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (counter, over) = (counter.clone(), over.clone());
                std::thread::spawn(move || {
                    for number in 0..MESSAGES {
                        counter.tell(Numbered(sender, number)).unwrap();
                        if number % 100 == 0 {
                            std::thread::yield_now();
                        }
                    }
                    over.fetch_add(1, SeqCst);
                })
            })
            .collect();
        let mut files = Vec::new();
        while over.load(SeqCst) < SENDERS {
            let recording: Recording = Recorder::new(codecs()).start(&counter).unwrap();
            // For as long as it takes to see something.
            while recording.turns() < 50 && over.load(SeqCst) < SENDERS {
                tokio::task::yield_now().await;
            }
            let file = TestFile::new();
            recording.finish(&file).unwrap();
            files.push(file);
        }
        for sender in senders {
            sender.join().unwrap();
        }
        assert_eq!(counter.ask(Counted).await.unwrap(), (SENDERS * MESSAGES, 0));
        let seen: usize = files.iter().map(check).sum();
        assert!(seen > 0, "nothing was recorded");
        system.stop().await.unwrap();
    });

    /// Within one recording nothing of any sender is missing, and each turn has its reading.
    fn check(file: &TestFile) -> usize {
        let count = Replay::open(file).unwrap().turns();
        let mut next = [None; SENDERS as usize];
        for line in file.text().lines().filter(|line| line.contains("::Numbered")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let bytes = fields[8].as_bytes()[1..].chunks(2);
            let text: String = bytes
                .map(|pair| char::from(u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()))
                .collect();
            let (sender, number) = text.split_once(' ').unwrap();
            let (sender, number): (usize, u64) = (sender.parse().unwrap(), number.parse().unwrap());
            assert!(next[sender].is_none_or(|next| next == number), "{next:?}, then {text}");
            next[sender] = Some(number + 1);
            assert!(
                fields[9].starts_with('r') && !fields[9].contains(',') || fields[10] == "open",
                "{line}"
            );
        }
        count
    }
}
