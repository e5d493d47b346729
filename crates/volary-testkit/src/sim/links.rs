//! What a scenario does to the links between nodes, and to the connections on them.

use super::chaos;
use super::{HalfClose, Link, Node, Sim};

impl Sim {
    /// Says what all links do that nothing else was said of.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.set_network(Link::default().loss(1.0));
    /// assert!(!reaches(&sim, &a, &b).await);
    /// # }); }
    /// ```
    pub fn set_network(&self, link: Link) {
        self.world.inner().network.set_usual(link);
    }

    /// Says what the link from one node to another does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.set_link(&a, &b, Link::default().loss(1.0));
    /// assert!(!reaches(&sim, &a, &b).await);
    /// assert!(reaches(&sim, &b, &a).await);
    /// # }); }
    /// ```
    pub fn set_link(&self, from: &Node, to: &Node, link: Link) {
        self.world.inner().network.set_link(from.number, to.number, link);
    }

    /// Nothing of `from` reaches `to` any more; what `to` sends still arrives.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.cut(&a, &b);
    /// assert!(!reaches(&sim, &a, &b).await);
    /// assert!(reaches(&sim, &b, &a).await);
    /// # }); }
    /// ```
    pub fn cut(&self, from: &Node, to: &Node) {
        chaos::set_cut(from, to, true);
    }

    /// Nodes of `side` and all others do not reach each other any more.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.partition(&[&a]);
    /// assert!(!reaches(&sim, &a, &b).await);
    /// assert!(!reaches(&sim, &b, &a).await);
    /// # }); }
    /// ```
    pub fn partition(&self, side: &[&Node]) {
        let inside = |node: &Node| side.iter().any(|one| one.number == node.number);
        for one in side {
            for other in self.nodes().iter().filter(|other| !inside(other)) {
                chaos::set_cut(one, other, true);
                chaos::set_cut(other, one, true);
            }
        }
    }

    /// Mends all links that were cut.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.partition(&[&a]);
    /// sim.heal();
    /// assert!(reaches(&sim, &a, &b).await);
    /// # }); }
    /// ```
    pub fn heal(&self) {
        {
            let inner = &mut *self.world.inner();
            inner.network.heal();
            inner.release_streams();
        }
        self.world.note(None, format_args!("all links are mended"));
    }

    /// Resets all connections between two nodes: both ends of each see
    /// [`ConnectionReset`](std::io::ErrorKind::ConnectionReset).
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.reset(&a, &b);
    /// # });
    /// ```
    pub fn reset(&self, one: &Node, other: &Node) {
        chaos::reset(one, other);
    }

    /// Takes the direction from one node to another away, of all connections there are between them. The other direction
    /// lives, and so do connections that are made later.
    ///
    /// ```
    /// # use volary_testkit::{Sim, sim::HalfClose};
    /// # Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.half_close(&a, &b, HalfClose::Silent);
    /// # });
    /// ```
    pub fn half_close(&self, from: &Node, to: &Node, how: HalfClose) {
        chaos::half_close(from, to, how);
    }
}
