//! A message gets the parameters of the block that it needs, and no others.
#![deny(warnings)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use volary::prelude::*;

pub trait Keyed {
    type Key: Hash + Eq + Clone + Send + 'static;
    fn key(&self) -> Self::Key;
}

pub struct Cache<T: Keyed, E, const N: usize> {
    entries: HashMap<T::Key, Arc<T>>,
    last: Option<E>,
}

#[derive(Debug, Rejection)]
pub struct Full<T>(pub T);

#[actor]
impl<T: Keyed + Send + Sync + 'static, E: Send + From<T>, const N: usize> Cache<T, E, N>
where
    T: Debug + PartialEq<Arc<T>>,
    E: 'static + Into<u8>,
    Self: Send,
{
    pub fn put(&mut self, value: T) -> Result<(), Full<T>> {
        if self.entries.len() >= N {
            return Err(Full(value));
        }
        self.entries.insert(value.key(), Arc::new(value));
        Ok(())
    }

    /// `T` only occurs in a projection.
    pub fn drop_key(&mut self, key: T::Key) {
        self.entries.remove(&key);
    }

    /// `T` and `E` only occur in the reply, so there is a constructor.
    pub fn snapshot(&self, _limit: usize) -> Vec<Result<Arc<T>, E>> {
        Vec::new()
    }

    pub async fn last_error(&mut self, reply: ReplyTo<Option<E>>) {
        reply.send(self.last.take());
    }

    pub fn first(&self) -> [u8; N] {
        [0; N]
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

#[derive(Message)]
#[message(reply = Vec<T>, rejection = Full<T>)]
#[allow(dead_code)]
pub struct Sort<T: Debug>
where
    T: Ord,
{
    values: Vec<T>,
}

#[derive(PartialEq, Debug)]
pub struct User(u64);
impl Keyed for User {
    type Key = u64;
    fn key(&self) -> u64 {
        self.0
    }
}
impl PartialEq<Arc<User>> for User {
    fn eq(&self, other: &Arc<User>) -> bool {
        self.0 == other.0
    }
}
impl From<User> for u8 {
    fn from(user: User) -> u8 {
        user.0 as u8
    }
}

fn contract<M: Message<Reply = T, Rejection = R>, T, R>(_: M) {}
fn handles<M: Message>(_: M)
where
    Cache<User, u8, 4>: Respond<M>,
{
}

fn main() {
    contract::<Put<User>, (), Full<User>>(Put { value: User(1) });
    contract::<DropKey<User>, (), Infallible>(DropKey { key: 1 });
    contract::<Snapshot<User, u8>, Vec<Result<Arc<User>, u8>>, Infallible>(Snapshot::new(1));
    contract::<LastError<u8>, Option<u8>, Infallible>(LastError::new());
    contract::<First<3>, [u8; 3], Infallible>(First::<3>);
    contract::<Len, usize, Infallible>(Len);
    contract::<Sort<u8>, Vec<u8>, Full<u8>>(Sort { values: vec![1] });
    handles(Put { value: User(1) });
    handles(Snapshot::new(1));
    handles(First);
    handles(Len);
}
