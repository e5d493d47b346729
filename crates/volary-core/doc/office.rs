// What examples of receipts share, in lines that are not shown there: an office that adds up the tickets it hears of.

#[allow(unused_imports, reason = "not every example needs all")]
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
#[allow(unused_imports, reason = "as above")]
use volary_core::foreign::{Receipt, Receipts, Received};

#[derive(Default)]
struct Office(AtomicU64);
impl Received for Office {
    fn received(&self, ticket: u64) {
        self.0.fetch_add(ticket, SeqCst);
    }
}
