//! Measured messages under Miri.

use super::*;
use crate::mailbox::{Envelope, Freight};

/// In a simulation times travel in boxes; here they are put into the word as threads that count do.
#[test]
fn miri_times_in_the_word_around_every_way_a_handler_can_end() {
    let drops = Drops::default();
    let tokens = drops.clone();
    let measured = |builder: SystemBuilder| builder.telemetry(Telemetry::sampled(0.0));
    in_system_with(measured, |system| async move {
        let props = Props::new().mailbox(MailboxKind::BoundedRefusing(2));
        let worker = system.spawn(worker).props(props).await.unwrap();
        let timed = |job| {
            let envelope = Envelope {
                carried: Some(Freight::sent_at(system.now())),
                ..Envelope::OUTSIDE
            };
            crate::reference::offer(worker.cell(), worker.table_for::<Job>(), envelope, job)
        };
        for what in [Do::Answer, Do::Suspend, Do::Panic, Do::SuspendThenPanic] {
            assert!(timed(Job(what, tokens.token())).is_ok());
            system.sleep(HOUR).await;
        }
        assert_eq!(system.readings().kinds[0].took.count(), 4);
        // One is suspended, two wait, one is refused; then all of them end with the actor.
        for _ in 0..3 {
            assert!(timed(Job(Do::Suspend, tokens.token())).is_ok());
            system.sleep(Duration::from_millis(1)).await;
        }
        assert!(timed(Job(Do::Suspend, tokens.token())).is_err());
        worker.kill();
        worker.terminated().await;
        assert!(timed(Job(Do::Suspend, tokens.token())).is_err());
    });
    assert_eq!(drops.count(), 9);
}
