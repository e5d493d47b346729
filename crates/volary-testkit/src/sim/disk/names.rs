//! The names on a disk: which file is where, and what a crash would leave of that.
//!
//! A change of a name is certain when one of the directories that it touches is synced, and so are the changes before it that
//! led to it: no sync leaves a file under two names. Of the others a crash keeps the first few, in their order, as a file
//! system with a journal does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::super::choice::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Directory,
    File(u64),
}

/// A path as all names are kept: from the root, and without detours.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => drop(clean.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    clean
}

/// One step, done as a whole or not at all: a name goes, a name comes, or both.
#[derive(Debug, Clone)]
struct Change {
    gone: Option<(PathBuf, Entry)>,
    new: Option<(PathBuf, Entry)>,
}

impl Change {
    fn apply(&self, names: &mut Table) {
        if let Some((path, entry)) = &self.gone
            && names.get(path) == Some(entry)
        {
            names.remove(path);
        }
        if let Some((path, entry)) = &self.new {
            names.insert(path.clone(), *entry);
        }
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.gone.iter().chain(&self.new).map(|(path, _)| path)
    }

    fn touches(&self, directory: &Path) -> bool {
        self.paths().any(|path| path.parent() == Some(directory))
    }
}

type Table = BTreeMap<PathBuf, Entry>;

#[derive(Debug, Default)]
pub(super) struct Names {
    live: Table,
    certain: Table,
    unsynced: Vec<Change>,
}

impl Names {
    pub(super) fn get(&self, path: &Path) -> Option<Entry> {
        if path == Path::new("/") {
            return Some(Entry::Directory);
        }
        self.live.get(path).copied()
    }

    pub(super) fn has_directory(&self, path: &Path) -> bool {
        self.get(path) == Some(Entry::Directory)
    }

    /// Names straight in a directory.
    pub(super) fn within(&self, directory: &Path) -> impl Iterator<Item = &PathBuf> {
        self.live.keys().filter(move |path| path.parent() == Some(directory))
    }

    pub(super) fn put(&mut self, path: PathBuf, entry: Entry) {
        self.change(None, Some((path, entry)));
    }

    pub(super) fn remove(&mut self, path: PathBuf, entry: Entry) {
        self.change(Some((path, entry)), None);
    }

    pub(super) fn rename(&mut self, from: PathBuf, to: PathBuf, entry: Entry) {
        if from != to {
            self.change(Some((from, entry)), Some((to, entry)));
        }
    }

    fn change(&mut self, gone: Option<(PathBuf, Entry)>, new: Option<(PathBuf, Entry)>) {
        let change = Change { gone, new };
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self, directory: &Path) {
        let mut led_here = BTreeSet::new();
        let (mut synced, mut others) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut self.unsynced).into_iter().rev() {
            if change.touches(directory) || change.paths().any(|path| led_here.contains(path)) {
                led_here.extend(change.paths().cloned());
                synced.push(change);
            } else {
                others.push(change);
            }
        }
        synced.iter().rev().for_each(|change| change.apply(&mut self.certain));
        others.reverse();
        self.unsynced = others;
    }

    /// Says how many changes were forgotten, of how many.
    pub(super) fn crash(&mut self, random: &mut Random) -> (usize, usize) {
        let changes = std::mem::take(&mut self.unsynced);
        if changes.is_empty() {
            return (0, 0);
        }
        let kept = random.below(changes.len() as u64 + 1) as usize;
        changes[..kept]
            .iter()
            .for_each(|change| change.apply(&mut self.certain));
        self.live.clear();
        // What lies in a directory that is not there cannot be reached. Parents come first in the order of paths.
        for (path, entry) in &self.certain {
            let parent = path.parent().unwrap_or(Path::new("/"));
            if parent == Path::new("/") || self.live.get(parent) == Some(&Entry::Directory) {
                self.live.insert(path.clone(), *entry);
            }
        }
        self.certain.clone_from(&self.live);
        (changes.len() - kept, changes.len())
    }

    /// Whether a file has a name, or had one that a crash could bring back.
    pub(super) fn knows(&self, file: u64) -> bool {
        let is_it = |entry: &Entry| *entry == Entry::File(file);
        self.live.values().chain(self.certain.values()).any(is_it)
    }

    /// The name of a file, for timelines.
    pub(super) fn name_of(&self, file: u64) -> Option<&Path> {
        let named = self.live.iter().find(|(_, entry)| **entry == Entry::File(file));
        named.map(|(path, _)| path.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PathBuf {
        absolute(Path::new(text))
    }

    #[test]
    fn paths_are_the_same_however_they_are_written() {
        assert_eq!(path("data/./log/../x"), PathBuf::from("/data/x"));
        assert_eq!(path("/data//x"), PathBuf::from("/data/x"));
    }

    #[test]
    fn a_rename_is_whole_and_lost_unless_a_directory_of_it_is_synced() {
        let (mut before, mut after) = (0, 0);
        for seed in 0..50 {
            let mut names = Names::default();
            names.put(path("old"), Entry::File(1));
            names.put(path("new"), Entry::File(2));
            names.sync(Path::new("/"));
            names.rename(path("new"), path("old"), Entry::File(2));
            names.crash(&mut Random::new(seed, 9));
            match (names.get(&path("old")), names.get(&path("new"))) {
                (Some(Entry::File(1)), Some(Entry::File(2))) => before += 1,
                (Some(Entry::File(2)), None) => after += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(before > 5 && after > 5, "{before} {after}");
    }

    #[test]
    fn a_name_made_after_a_rename_does_not_lose_the_renamed_file() {
        for seed in 0..50 {
            let mut names = Names::default();
            names.put(path("a"), Entry::Directory);
            names.put(path("b"), Entry::Directory);
            names.put(path("a/x"), Entry::File(1));
            names.sync(Path::new("/"));
            names.sync(Path::new("/a"));
            names.rename(path("a/x"), path("b/y"), Entry::File(1));
            names.put(path("a/x"), Entry::File(2));
            names.sync(Path::new("/a"));
            names.crash(&mut Random::new(seed, 9));
            assert_eq!(names.get(&path("b/y")), Some(Entry::File(1)));
            assert_eq!(names.get(&path("a/x")), Some(Entry::File(2)));
        }
    }

    #[test]
    fn a_file_never_has_two_names_whichever_directory_was_synced() {
        for synced in ["/a", "/b", "/c"] {
            for seed in 0..50 {
                let mut names = Names::default();
                for directory in ["a", "b", "c"] {
                    names.put(path(directory), Entry::Directory);
                }
                names.sync(Path::new("/"));
                names.put(path("a/x"), Entry::File(1));
                names.rename(path("a/x"), path("b/y"), Entry::File(1));
                names.rename(path("b/y"), path("c/z"), Entry::File(1));
                names.sync(Path::new(synced));
                names.crash(&mut Random::new(seed, 9));
                let found = ["a/x", "b/y", "c/z"].map(|name| names.get(&path(name)));
                let count = found.iter().flatten().count();
                assert!(count <= 1, "{synced}: {found:?}");
                assert!(synced == "/a" || found[2].is_some(), "{synced}: {found:?}");
            }
        }
    }
}
