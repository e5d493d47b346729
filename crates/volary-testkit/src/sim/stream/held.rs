//! How many connections the programs of a node have in their hands.

use super::super::node::Node;
use super::super::trace::NodeNumber;
use super::connections::Connections;

impl Node {
    /// How many ends of connections the programs of this node have in their hands: those that they make, have made or have
    /// accepted, until they are dropped. What should have been closed is seen here.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let (a, b) = (sim.node("a"), sim.node("b"));
    /// let listener = b.listen(80)?;
    /// let stream = a.connect("b", 80).await?;
    /// assert_eq!((a.open_connections(), b.open_connections()), (1, 0));
    /// let accepted = listener.accept().await?;
    /// assert_eq!((a.open_connections(), b.open_connections()), (1, 1));
    /// drop(stream);
    /// assert_eq!(a.open_connections(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.world.inner().connections.held_by(self.number)
    }
}

impl Connections {
    /// How many ends of connections a node holds.
    fn held_by(&self, node: NodeNumber) -> usize {
        let ends = self.open.values().flat_map(|connection| &connection.ends);
        ends.filter(|end| end.node == node && end.is_held).count()
    }
}
