//! The disk of a node: it outlives crashes, and what was not synced may not.
//!
//! `contents.rs` is one file, `names.rs` the directories, `machine.rs` both with faults, all pure; here is what programs call.

mod contents;
mod fault;
mod machine;
mod names;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use volary::{Disk, DiskFile, OpenMode};

pub use fault::DiskFault;
pub(crate) use machine::Machine;

use super::choice::Random;
use super::node::Node;
use super::trace::NodeNumber;
use super::world::World;

/// The disk of a [`Node`]: a [`Disk`] that survives the node's crash, except for what was not synced. That is lost, kept or
/// torn then, as the seed has it; a name that was made, changed or removed without a
/// [`sync_dir`](Disk::sync_dir) may be forgotten.
///
/// Actors reach the same disk by `system.disk()`. Files are kept in memory, and longer ones than 1 GiB refused as
/// [`FileTooLarge`](io::ErrorKind::FileTooLarge).
///
/// ```
/// use std::path::Path;
/// use volary::{Disk, OpenMode};
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim| async move {
///     let node = sim.node("a");
///     let disk = node.disk();
///     let log = disk.open(Path::new("/log"), OpenMode::Create)?;
///     log.append(b"certain")?;
///     log.sync()?;
///     disk.sync_dir(Path::new("/"))?;
///     log.append(b", and perhaps")?;
///     node.crash();
///     node.restart().await;
///     let log = disk.open(Path::new("/log"), OpenMode::Existing)?;
///     let mut certain = [0; 7];
///     log.read_at(0, &mut certain)?;
///     assert_eq!(&certain, b"certain");
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct SimDisk {
    world: Arc<World>,
    node: NodeNumber,
    /// Programs of a node that has crashed do not write any more; whoever looks on from outside still can.
    incarnation: Option<u64>,
}

impl Node {
    /// Its disk, also while the node is down.
    ///
    /// ```
    /// # use volary::Disk;
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let names = sim.node("a").disk().list("/".as_ref()).unwrap();
    /// assert!(names.is_empty());
    /// # });
    /// ```
    #[must_use]
    pub fn disk(&self) -> SimDisk {
        SimDisk {
            world: self.world.clone(),
            node: self.number,
            incarnation: None,
        }
    }
}

impl SimDisk {
    /// The disk as programs of one incarnation of the node have it.
    pub(crate) fn of(world: &Arc<World>, node: NodeNumber, incarnation: u64) -> Self {
        SimDisk {
            world: world.clone(),
            node,
            incarnation: Some(incarnation),
        }
    }

    /// From now on something is wrong with it.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use volary::{Disk, OpenMode};
    /// # use volary_testkit::{Sim, sim::DiskFault};
    /// # Sim::new(1).run(|sim| async move {
    /// let disk = sim.node("a").disk();
    /// disk.suffer(DiskFault::Full);
    /// let full = disk.open(Path::new("/log"), OpenMode::Create).unwrap_err();
    /// assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    /// # });
    /// ```
    pub fn suffer(&self, fault: DiskFault) {
        self.world.inner().node_mut(self.node).disk.suffer(fault);
        self.world.note(Some(self.node), format_args!("its disk {fault}"));
    }

    /// That is over.
    ///
    /// ```
    /// # use volary_testkit::{Sim, sim::DiskFault};
    /// # Sim::new(1).run(|sim| async move {
    /// # let disk = sim.node("a").disk();
    /// disk.suffer(DiskFault::SyncError);
    /// disk.recover(DiskFault::SyncError);
    /// # });
    /// ```
    pub fn recover(&self, fault: DiskFault) {
        self.world.inner().node_mut(self.node).disk.recover(fault);
        self.world
            .note(Some(self.node), format_args!("no longer: its disk {fault}"));
    }

    /// Everything that was wrong with it is over.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// sim.node("a").disk().recover_all();
    /// # });
    /// ```
    pub fn recover_all(&self) {
        self.world.inner().node_mut(self.node).disk.recover_all();
        self.world.note(Some(self.node), format_args!("its disk is well"));
    }

    /// Does something with the disk, and lets the node wait if it is slow.
    fn call<R>(&self, amount: usize, call: impl FnOnce(&mut Machine, &mut Random) -> io::Result<R>) -> io::Result<R> {
        let (result, slow) = {
            let inner = &mut *self.world.inner();
            let state = &mut inner.nodes[self.node.0 as usize];
            if self.incarnation.is_some_and(|mine| mine != state.incarnation) {
                return Err(io::Error::other("the node has crashed, and this was before"));
            }
            let result = call(&mut state.disk, &mut inner.chance);
            inner.trace.absorb(amount as u64 * 2 + u64::from(result.is_ok()));
            (result, inner.nodes[self.node.0 as usize].disk.slowness())
        };
        if let Some(time) = slow {
            self.world.hold_up(self.node, time);
        }
        result
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let number = self.call(0, |disk, _| disk.open(path, mode))?;
        let incarnation = self.world.inner().nodes[self.node.0 as usize].incarnation;
        Ok(Box::new(SimFile {
            disk: SimDisk::of(&self.world, self.node, incarnation),
            number,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(1, |disk, _| disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(2, |disk, _| disk.remove(path))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.call(3, |disk, _| disk.list(directory))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(4, |disk, _| disk.create_dir(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(5, |disk, _| disk.sync_dir(path))
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimDisk({})", self.world.inner().node_name(self.node))
    }
}

/// An open file; good until its node crashes.
struct SimFile {
    disk: SimDisk,
    number: u64,
}

impl DiskFile for SimFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let amount = buffer.len();
        self.disk
            .call(amount, |disk, random| disk.read(self.number, offset, buffer, random))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.call(bytes.len(), |disk, random| {
            disk.write(self.number, offset, bytes, random)
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.call(6, |disk, _| disk.length(self.number))
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.disk.call(7, |disk, _| disk.set_length(self.number, length))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(8, |disk, random| disk.sync(self.number, random))
    }
}

impl fmt::Debug for SimFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimFile({:?}, {})", self.disk, self.number)
    }
}
