// What examples of dependencies share, in lines that are not shown there.

#[allow(unused_imports, reason = "not every example needs all")]
use volary_core::*;

struct Database(&'static str);

impl Dependency for Database {
    const KIND: &'static str = "shop.Database";

    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.0.into())
    }
    fn from_bytes(_: &[u8]) -> Result<Self, Fault> {
        Ok(Database("db:5432"))
    }
}
