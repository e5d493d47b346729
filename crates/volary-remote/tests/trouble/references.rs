//! Two references to one actor, of which one has ended or says more, are the same to the order of its messages.

use volary_core::ActorRef;

use crate::books::{End, balance_there};
use crate::counter::{Count, Counter};
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_a_large_message_is_not_passed_by_a_small_one_through_another_reference() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let mut child = Setup::of(&home).with("SILENCE", 10_000).start().await;
    let named: ActorRef<Counter> = home.far(&child, "a");
    let exact = home.remote.lookup(&child.node, "/user/a").await.unwrap().unwrap();
    let exact: ActorRef<Counter> = home.remote.actor(&exact).unwrap();
    assert_ne!(named.id(), exact.id());
    let mut writer = Writer::new(&home, &child.node, "a");
    for number in 0..20 {
        let count = |number, padding| Count {
            from: "writer".to_owned(),
            number,
            padding: vec![7; padding],
        };
        exact.tell(count(2 * number + 1, 200_000)).unwrap();
        named.tell(count(2 * number + 2, 0)).unwrap();
        writer.taken += 2;
    }
    until("all are handled", || child.handled() == 40).await;
    let lines = child.lines.all();
    let handled: Vec<&String> = lines.iter().filter(|line| line.starts_with("h ")).collect();
    let expected: Vec<String> = (1..=40).map(|number| format!("h a writer {number}")).collect();
    assert_eq!(handled, expected.iter().collect::<Vec<_>>());
    drop((named, exact));
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    home.stop().await;
}
