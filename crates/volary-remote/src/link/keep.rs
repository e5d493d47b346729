//! Watches over a connection: says something when there is nothing to say, and ends it when the other side is silent.

use std::sync::Arc;

use volary_wire::native::Frame;

use super::Link;

pub(super) async fn keep(link: Arc<Link>) {
    let shared = link.peer.shared.clone();
    let silence = u64::try_from(shared.options.silence.as_nanos()).unwrap_or(u64::MAX);
    let mut nonce = 0;
    loop {
        if link
            .closing()
            .or(shared.system.sleep(shared.options.heartbeat))
            .await
            .is_none()
        {
            return;
        }
        if link.silent_for() >= silence {
            return link.close("the other side is silent");
        }
        nonce += 1;
        link.write_first(&Frame::Heartbeat { nonce });
        let unwanted = link.peer.outbound.lock().take_unwanted();
        for correlation in unwanted {
            link.write_first(&Frame::Cancel { correlation });
        }
        link.peer.sweep();
    }
}
