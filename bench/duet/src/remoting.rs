//! What a library supplies so that the programs can run on it between two processes.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// A future for an actor to await inside its handler.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A library in one of the two processes. All futures run on a tokio runtime with two workers.
pub trait Remoting: Send + Sync + Sized + 'static {
    /// An actor of the other process, as this one knows it.
    type Far: Clone + Send + Sync + 'static;

    /// Whether the library can do this workload at all.
    fn offers(workload: &str) -> bool;

    /// In the process that serves: brings up what the workload needs, which then lives as long as the process, and hands
    /// back an invitation: a line by which the other process finds it.
    fn serve(workload: &str) -> impl Future<Output = String> + Send;

    /// In the measuring process: follows the invitation.
    fn call(workload: &str, invitation: &str) -> impl Future<Output = Self> + Send;

    /// Starts an actor here that awaits `work` in its handler (a task, where a library has no actors).
    fn act(&self, work: Work) -> impl Future<Output = ()> + Send;

    /// The actor there of that number.
    fn far(&self, receiver: usize) -> impl Future<Output = Self::Far> + Send;

    /// Tells it a parcel, waiting for room if there is none. Never loses one.
    fn tell(far: &Self::Far, number: u64, body: &Bytes) -> impl Future<Output = ()> + Send;

    /// Asks it with a parcel and hands back the number of the answer.
    fn ask(far: &Self::Far, number: u64, body: &Bytes) -> impl Future<Output = u64> + Send;

    /// Asks how many told parcels it has handled in its life.
    fn handled(far: &Self::Far) -> impl Future<Output = u64> + Send;
}
