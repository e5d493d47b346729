//! What every disk does, the real and the simulated one alike.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use volary::{ActorSystem, Disk, OpenMode};
use volary_testkit::Sim;

/// One rule that a disk keeps, tried in a directory of its own.
type Rule = fn(&dyn Disk, &Path);

const RULES: &[(&str, Rule)] = &[
    ("open", opening),
    ("bytes", bytes),
    ("length", length),
    ("names", names),
    ("directories", directories),
    ("removed", removed),
];

fn try_all(disk: &dyn Disk, base: &Path) {
    for (name, rule) in RULES {
        let home = base.join(name);
        disk.create_dir(&home).unwrap();
        rule(disk, &home);
    }
}

fn kind<T>(result: std::io::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

fn opening(disk: &dyn Disk, home: &Path) {
    let path = home.join("x");
    assert_eq!(kind(disk.open(&path, OpenMode::Existing)), Some(ErrorKind::NotFound));
    assert_eq!(kind(disk.open(&path, OpenMode::CreateNew)), None);
    assert_eq!(
        kind(disk.open(&path, OpenMode::CreateNew)),
        Some(ErrorKind::AlreadyExists)
    );
    disk.open(&path, OpenMode::Existing).unwrap().append(b"kept").unwrap();
    assert_eq!(disk.open(&path, OpenMode::Create).unwrap().len().unwrap(), 4);
    let nowhere = home.join("no/where");
    assert_eq!(kind(disk.open(&nowhere, OpenMode::Create)), Some(ErrorKind::NotFound));
}

fn bytes(disk: &dyn Disk, home: &Path) {
    let file = disk.open(&home.join("x"), OpenMode::Create).unwrap();
    assert_eq!(file.append(b"hello").unwrap(), 0);
    assert_eq!(file.append(b" world").unwrap(), 5);
    file.write_at(0, b"J").unwrap();
    file.write_at(14, b"!").unwrap();
    file.write_at(99, b"").unwrap();
    file.sync().unwrap();
    let mut room = [7; 20];
    assert_eq!(file.read_at(0, &mut room).unwrap(), 15);
    assert_eq!(&room[..15], b"Jello world\0\0\0!");
    assert_eq!(room[15..], [7; 5]);
    assert_eq!(file.read_at(10, &mut room[..3]).unwrap(), 3);
    assert_eq!(file.read_at(15, &mut room).unwrap(), 0);
    assert_eq!(file.read_at(1_000, &mut room).unwrap(), 0);
    assert_eq!(file.read_at(u64::MAX, &mut room).unwrap(), 0);
    assert!(file.write_at(u64::MAX, b"x").is_err() && file.set_len(u64::MAX).is_err());
    let same = disk.open(&home.join("x"), OpenMode::Existing).unwrap();
    same.write_at(0, b"C").unwrap();
    file.read_at(0, &mut room[..1]).unwrap();
    assert_eq!(room[0], b'C', "two who hold it see the same file");
}

fn length(disk: &dyn Disk, home: &Path) {
    let file = disk.open(&home.join("x"), OpenMode::Create).unwrap();
    assert_eq!(file.len().unwrap(), 0);
    file.append(b"abcdef").unwrap();
    file.set_len(2).unwrap();
    file.set_len(4).unwrap();
    let mut room = [7; 6];
    assert_eq!(file.read_at(0, &mut room).unwrap(), 4);
    assert_eq!(&room[..4], b"ab\0\0");
    assert_eq!(file.append(b"x").unwrap(), 4);
}

fn names(disk: &dyn Disk, home: &Path) {
    let name = |text: &str| home.join(text);
    for (text, content) in [("b", "bb"), ("a", "a"), ("c", "ccc")] {
        let file = disk.open(&name(text), OpenMode::Create).unwrap();
        file.append(content.as_bytes()).unwrap();
    }
    assert_eq!(disk.list(home).unwrap(), [name("a"), name("b"), name("c")]);
    disk.rename(&name("c"), &name("a")).unwrap();
    assert_eq!(disk.list(home).unwrap(), [name("a"), name("b")]);
    assert_eq!(disk.open(&name("a"), OpenMode::Existing).unwrap().len().unwrap(), 3);
    assert_eq!(kind(disk.rename(&name("c"), &name("d"))), Some(ErrorKind::NotFound));
    assert_eq!(
        kind(disk.rename(&name("a"), &name("no/where"))),
        Some(ErrorKind::NotFound)
    );
    disk.rename(&name("a"), &name("a")).unwrap();
    disk.remove(&name("a")).unwrap();
    assert_eq!(kind(disk.remove(&name("a"))), Some(ErrorKind::NotFound));
    assert_eq!(disk.list(home).unwrap(), [name("b")]);
    disk.sync_dir(home).unwrap();
}

fn directories(disk: &dyn Disk, home: &Path) {
    let deep = home.join("one/two");
    disk.create_dir(&deep).unwrap();
    disk.create_dir(&deep).unwrap();
    disk.open(&deep.join("x"), OpenMode::CreateNew).unwrap();
    assert_eq!(disk.list(home).unwrap(), [home.join("one")]);
    assert_eq!(disk.list(&deep).unwrap(), [deep.join("x")]);
    assert_eq!(kind(disk.list(&home.join("none"))), Some(ErrorKind::NotFound));
    assert_eq!(kind(disk.sync_dir(&home.join("none"))), Some(ErrorKind::NotFound));
    assert_eq!(kind(disk.create_dir(&deep.join("x"))), Some(ErrorKind::AlreadyExists));
    let below = deep.join("x/y");
    let not_a_directory = Some(ErrorKind::NotADirectory);
    assert_eq!(kind(disk.open(&below, OpenMode::Create)), not_a_directory);
    assert_eq!(kind(disk.open(&below, OpenMode::Existing)), not_a_directory);
    assert_eq!(kind(disk.rename(&deep.join("x"), &below)), not_a_directory);
    assert_eq!(kind(disk.remove(&below)), not_a_directory);
    assert_eq!(kind(disk.list(&deep.join("x"))), not_a_directory);
    assert_eq!(kind(disk.sync_dir(&deep.join("x"))), not_a_directory);
    disk.rename(&deep.join("x"), &home.join("y")).unwrap();
    assert!(disk.list(&deep).unwrap().is_empty());
}

/// A file without a name is there for whoever holds it.
fn removed(disk: &dyn Disk, home: &Path) {
    let file = disk.open(&home.join("x"), OpenMode::Create).unwrap();
    file.append(b"abc").unwrap();
    disk.remove(&home.join("x")).unwrap();
    let mut room = [0; 3];
    assert_eq!(file.read_at(0, &mut room).unwrap(), 3);
    let other = disk.open(&home.join("x"), OpenMode::Create).unwrap();
    assert_eq!(other.len().unwrap(), 0);
    file.sync().unwrap();
}

/// A directory that is gone when the test is.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn the_real_disk_keeps_the_rules() {
    let base = Temporary(std::env::temp_dir().join(format!("volary-conformance-{}", std::process::id())));
    let system = ActorSystem::builder("real").start().await.unwrap();
    try_all(&*system.disk(), &base.0);
    system.stop().await.unwrap();
}

#[test]
fn the_simulated_disk_keeps_the_rules() {
    Sim::check(20, |sim| async move {
        let system = sim.node("a").start().await;
        try_all(&*system.disk(), Path::new("/base"));
        try_all(&sim.node("b").disk(), Path::new("/base"));
    });
}

#[test]
fn an_environment_without_a_disk_says_so() {
    let env = volary::SeededEnv::new(1);
    env.block_on(async {
        let system = ActorSystem::builder("none")
            .environment(env.clone())
            .start()
            .await
            .unwrap();
        let refused = system.disk().open(Path::new("/x"), OpenMode::Create);
        assert_eq!(kind(refused), Some(ErrorKind::Unsupported));
        system.stop().await.unwrap();
    });
}
