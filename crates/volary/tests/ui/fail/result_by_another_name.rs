use volary::prelude::*;

/// An alias that does not say what it is.
type Booked<T> = std::result::Result<T, Fault>;

struct Account;

#[actor]
impl Account {
    fn book(&mut self) -> Booked<i64> {
        Err(Fault::msg("the ledger is gone"))
    }

    fn two(&mut self) -> (Booked<i64>, u8) {
        (Ok(1), 2)
    }

    fn text(&mut self) -> Option<String> {
        None
    }
}

fn main() {}
