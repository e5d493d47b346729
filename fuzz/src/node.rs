//! A node that lasts as long as its target, on the thread of the target, without a socket.

use std::future::Future;

use tokio::runtime::{Builder, Runtime};
use volary_core::{ActorRef, ActorSystem, Address, Path};
use volary_remote::transport::Memory;
use volary_remote::{Remote, Rights};

use super::Desk;

pub struct Node {
    runtime: Runtime,
    pub network: Memory,
    pub system: ActorSystem,
    pub remote: Remote,
}

impl Node {
    /// One that lets everybody do everything.
    #[must_use]
    pub fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let network = Memory::default();
        let (system, remote) = runtime.block_on(async {
            let system = ActorSystem::builder("fuzzed")
                .ignore_environment()
                .settings(|settings| settings.log_config(false).workers(2))
                .start()
                .await
                .expect("the settings are right");
            let remote = Remote::builder()
                .kind::<Desk>()
                .spawnable::<Desk>(|_| Ok(Desk))
                .rights(|_| Rights::all())
                .transport(network.clone())
                .start(&system, "127.0.0.1:4242")
                .await
                .expect("nobody else is on this network");
            (system, remote)
        });
        let node = Node {
            runtime,
            network,
            system,
            remote,
        };
        node.settle();
        node
    }

    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Ends whoever lives here, and begins anew with one desk: so each input finds what the one before it found.
    pub fn settle(&self) -> ActorRef<Desk> {
        self.block_on(async {
            let user = Address::local(self.system.name(), Path::user()).expect("a name and a path");
            let user = self.system.find(&user).expect("it is always there");
            for child in user.children() {
                child.kill();
                child.terminated().await;
            }
            self.system
                .spawn(|| Desk)
                .named("desk")
                .await
                .expect("the name is free")
        })
    }
}
