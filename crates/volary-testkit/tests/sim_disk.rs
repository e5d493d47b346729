//! T5: the disk of a simulated node: what it keeps, loses and tears, and its faults.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod disk;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disk::{Care, Log};
use volary::prelude::*;
use volary::{Disk, OpenMode};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check, DiskFault, FailedRun, Node, Summary};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn path(text: &str) -> &Path {
    Path::new(text)
}

/// Appends numbers while the node crashes and its disk misbehaves; what was acknowledged must be there in the end, in order.
async fn number_log(sim: Sim, care: Care, chaos: Chaos) {
    let node = sim.node("a");
    let written = Arc::new(Mutex::new(Vec::<u64>::new()));
    let (next, shared) = (Arc::new(AtomicU64::new(1)), written.clone());
    node.boot(move |node| {
        let (next, written) = (next.clone(), shared.clone());
        async move {
            let here = node.clone();
            node.spawn(async move {
                loop {
                    if let Ok((mut log, _)) = Log::open(&here.disk(), care) {
                        loop {
                            let number = next.fetch_add(1, SeqCst);
                            let record = number.to_le_bytes().repeat(1 + number as usize % 200);
                            if log.append(&record).is_err() {
                                break;
                            }
                            written.lock().unwrap().push(number);
                            here.sleep(MS).await;
                        }
                    }
                    here.sleep(5 * MS).await;
                }
            });
        }
    })
    .await;
    sim.chaos(&chaos);
    sim.sleep(300 * MS).await;
    node.crash();
    node.disk().recover_all();
    let (_, records) = Log::open(&node.disk(), Care::Synced).unwrap();
    let found: Vec<u64> = records
        .iter()
        .map(|record| u64::from_le_bytes(record[..8].try_into().unwrap()))
        .collect();
    assert!(
        found.is_sorted_by(|one, two| one < two),
        "in order, each once: {found:?}"
    );
    let written = written.lock().unwrap();
    let missing = written.iter().find(|number| found.binary_search(number).is_err());
    assert_eq!(missing, None, "acknowledged and lost");
}

fn search(seeds: u64, care: Care, chaos: Chaos) -> Result<Summary, FailedRun> {
    let check = Check::new().seeds(seeds);
    check.run(move |sim| number_log(sim, care, chaos.clone()))
}

fn crashes() -> Chaos {
    Chaos::within(250 * MS).crashes(1..=3).lasting(20 * MS)
}

#[test]
fn t5_a_log_that_does_not_sync_loses_what_it_acknowledged() {
    let failed = search(50, Care::Careless, crashes()).unwrap_err();
    assert!(failed.why().contains("acknowledged and lost"), "{failed}");
    assert!(failed.timeline().contains("its disk"), "{failed}");
}

#[test]
fn t5_a_log_with_checksums_and_syncs_loses_nothing_in_two_thousand_seeds() {
    let summary = search(2_000, Care::Synced, crashes()).unwrap();
    assert_eq!(summary.seeds, 2_000);
}

#[test]
fn t5_nor_does_it_while_the_disk_fails() {
    let chaos = crashes().disk_faults(0..=4);
    search(500, Care::Synced, chaos).unwrap();
}

/// Which of the four things can happen to two unsynced records does, over many seeds.
#[test]
fn t5_what_was_not_synced_is_lost_kept_or_torn() {
    let seen = Mutex::new(std::collections::BTreeSet::new());
    Sim::check(200, |sim| {
        let seen = &seen;
        async move {
            let node = sim.node("a");
            let disk = node.disk();
            let file = disk.open(path("/x"), OpenMode::Create).unwrap();
            file.append(&[1; 600]).unwrap();
            file.sync().unwrap();
            disk.sync_dir(path("/")).unwrap();
            file.append(&[2; 1_500]).unwrap();
            node.crash();
            assert!(file.len().is_err(), "a file of a machine that has crashed");
            node.restart().await;
            let file = disk.open(path("/x"), OpenMode::Existing).unwrap();
            let mut room = vec![0; 3_000];
            let length = file.read_at(0, &mut room).unwrap();
            assert_eq!(room[..600], [1; 600]);
            let tail = &room[600..length];
            let what = match tail {
                [] => "lost",
                tail if tail.len() == 1_500 && tail.iter().all(|byte| *byte == 2) => "kept",
                tail if tail.iter().all(|byte| *byte == 2) => "torn",
                _ => "holes",
            };
            seen.lock().unwrap().insert(what);
        }
    });
    assert_eq!(seen.lock().unwrap().len(), 4, "{seen:?}");
}

#[test]
fn t5_names_that_were_not_synced_may_be_forgotten_and_a_rename_is_whole() {
    let seen = Mutex::new(std::collections::BTreeMap::new());
    Sim::check(200, |sim| {
        let seen = &seen;
        async move {
            let node = sim.node("a");
            let disk = node.disk();
            let write = |name: &str, text: &[u8]| {
                let file = disk.open(path(name), OpenMode::Create).unwrap();
                file.append(text).unwrap();
                file.sync().unwrap();
            };
            write("/snapshot", b"old");
            disk.sync_dir(path("/")).unwrap();
            write("/next", b"new");
            disk.rename(path("/next"), path("/snapshot")).unwrap();
            node.crash();
            let file = disk.open(path("/snapshot"), OpenMode::Existing).unwrap();
            let mut text = [0; 3];
            assert_eq!(file.read_at(0, &mut text).unwrap(), 3);
            let names = disk.list(path("/")).unwrap().len();
            *seen.lock().unwrap().entry((text, names)).or_insert(0) += 1;
        }
    });
    let seen = seen.into_inner().unwrap();
    let expected = [(*b"new", 1), (*b"old", 1), (*b"old", 2)];
    assert!(seen.keys().copied().eq(expected), "{seen:?}");
}

#[test]
fn t5_faults_of_a_disk_do_what_they_say() {
    Sim::check(50, |sim| async move {
        let disk = sim.node("a").disk();
        let file = disk.open(path("/x"), OpenMode::Create).unwrap();
        file.append(b"abc").unwrap();
        let mut room = [0; 3];

        disk.suffer(DiskFault::WriteError);
        assert_eq!(file.append(b"def").unwrap_err().kind(), ErrorKind::Other);
        disk.recover(DiskFault::WriteError);
        file.set_len(3).unwrap();

        disk.suffer(DiskFault::Full);
        assert_eq!(file.append(b"def").unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(file.len().unwrap(), 3);
        file.write_at(0, b"xyz").unwrap();
        disk.recover(DiskFault::Full);

        disk.suffer(DiskFault::BitRot);
        assert_eq!(file.read_at(0, &mut room).unwrap(), 3);
        let wrong: u32 = room.iter().zip(b"xyz").map(|(is, was)| (is ^ was).count_ones()).sum();
        assert_eq!(wrong, 1);
        disk.recover(DiskFault::BitRot);
        file.read_at(0, &mut room).unwrap();
        assert_eq!(&room, b"xyz", "it was the reading");

        disk.suffer(DiskFault::SyncError);
        assert!(file.sync().is_err());
        assert!(disk.sync_dir(path("/")).is_err());
        disk.recover_all();
        file.write_at(0, b"end").unwrap();
        file.sync().unwrap();
    });
}

struct Clerk {
    file: Option<Box<dyn volary::DiskFile>>,
}

#[actor]
impl Clerk {
    fn write(&mut self, text: Vec<u8>, ctx: &mut Context<Self>) -> Result<u64, Fault> {
        let disk = ctx.system().disk();
        let file = disk.open(Path::new("/clerk"), OpenMode::Create).map_err(Fault::new)?;
        let at = file.append(&text).map_err(Fault::new)?;
        self.file = Some(file);
        Ok(at)
    }
}

async fn clerk(node: &Node) -> ActorRef<Clerk> {
    node.start().await.spawn(|| Clerk { file: None }).await.unwrap()
}

#[test]
fn t5_actors_find_the_disk_of_their_node_and_a_slow_one_holds_it_up() {
    Sim::check(30, |sim| async move {
        let (a, b) = (sim.node("a"), sim.node("b"));
        let (first, second) = (clerk(&a).await, clerk(&b).await);
        first.ask(Write { text: b"one".to_vec() }).await.unwrap();
        assert_eq!(a.disk().list(path("/")).unwrap(), [path("/clerk")]);
        assert!(b.disk().list(path("/")).unwrap().is_empty());

        a.disk().suffer(DiskFault::Slow(SECOND));
        let began = sim.now();
        second.ask(Write { text: b"fast".to_vec() }).await.unwrap();
        assert!(sim.now() - began < 100 * MS);
        first.tell(Write { text: b"two".to_vec() }).unwrap();
        let ask = first
            .ask(Write {
                text: b"three".to_vec(),
            })
            .timeout(60 * SECOND);
        assert_eq!(ask.await.unwrap(), 6);
        first
            .ask(Write { text: Vec::new() })
            .timeout(60 * SECOND)
            .await
            .unwrap();
        assert!(sim.now() - began >= SECOND, "{:?}", sim.now() - began);
        a.disk().recover_all();
        sim.sleep(60 * SECOND).await;
        first.ask(Write { text: Vec::new() }).await.unwrap();
    });
}

#[test]
fn t5_a_fault_of_the_disk_that_matters_is_found_alone() {
    let failed = Check::new().seeds(300).run(|sim| async move {
        let node = sim.node("a");
        let disk = node.disk();
        let chaos = Chaos::within(SECOND)
            .disk_faults(0..=3)
            .pauses(0..=2)
            .clock_drifts(0..=2);
        sim.chaos(&chaos.bit_rot(0..=2));
        for _ in 0..40 {
            let file = disk.open(path("/x"), OpenMode::Create);
            assert!(file.is_ok(), "no file");
            let written = file.unwrap().write_at(0, b"x");
            assert!(written.is_ok(), "not written");
            sim.sleep(25 * MS).await;
        }
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.faults().len(), 1, "{failed}");
    assert!(failed.faults()[0].contains("the disk of a"), "{failed}");
}

#[test]
fn t5_what_a_failed_sync_has_lost_is_read_until_a_crash_and_not_after_it() {
    let lost = Arc::new(AtomicU64::new(0));
    let counted = lost.clone();
    Sim::check(300, move |sim| {
        let lost = counted.clone();
        async move {
            let node = sim.node("a");
            let (disk, log) = (node.disk(), path("/log"));
            let file = disk.open(log, OpenMode::CreateNew).unwrap();
            disk.sync_dir(path("/")).unwrap();
            disk.suffer(DiskFault::SyncError);
            file.append(b"x").unwrap();
            file.sync().unwrap_err();
            disk.recover_all();
            let in_memory = file.len().unwrap();
            file.sync().unwrap();
            node.crash();
            node.restart().await;
            let found = node.disk().open(log, OpenMode::Existing).unwrap().len().unwrap();
            assert!(found <= in_memory);
            lost.fetch_add(u64::from(in_memory == 1 && found == 0), SeqCst);
        }
    });
    // One failure in three leaves it in memory alone.
    assert!((50..200).contains(&lost.load(SeqCst)), "{lost:?}");
}

#[test]
fn t5_a_file_that_no_disk_could_hold_is_refused() {
    Sim::check(5, |sim| async move {
        let file = sim.node("a").disk().open(path("/log"), OpenMode::Create).unwrap();
        file.append(b"x").unwrap();
        for offset in [1 << 50, u64::MAX - 1, u64::MAX] {
            let refused = file.write_at(offset, b"yz").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FileTooLarge, "{offset}");
            let refused = file.set_len(offset).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FileTooLarge, "{offset}");
        }
        assert_eq!(file.len().unwrap(), 1);
    });
}
