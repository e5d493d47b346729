use volary::prelude::*;

struct Reader;

#[derive(Debug)]
struct NoError;

#[actor]
impl Reader {
    /// Neither a fault nor a rejection.
    fn number(&mut self, text: String) -> Result<u64, Fault> {
        Ok(text.parse::<u64>()?)
    }

    /// Not an error at all.
    fn nothing(&mut self) -> Result<(), Fault> {
        Err(NoError).or_fault()
    }
}

fn main() {}
