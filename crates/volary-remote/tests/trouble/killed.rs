//! The peer is killed, and comes back as another incarnation on the same port.

use volary_remote::PeerEvent;

use crate::books::{End, balance_there, dead_letters_at_home};
use crate::home::{Home, event, quick, until};
use crate::program::{Child, Setup};
use crate::writer::Writer;

const LIVES: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_after_a_kill_the_books_balance_and_the_next_incarnation_is_spoken_to() {
    let home = Home::start(quick()).await;
    let events = home.events();
    let mut lives: Vec<Child> = vec![Setup::of(&home).start().await];
    let node = lives[0].node.clone();
    let flows = ["a", "b"].map(|name| Writer::new(&home, &node, name).padded(20_000).flow());
    for life in 0..LIVES {
        let child = lives.last_mut().unwrap();
        home.watch(child).await;
        child.command("speak 1000000");
        until("traffic both ways", || {
            child.handled() > 500 && home.heard_of(child) > 200
        })
        .await;
        assert_eq!(home.heard.count("gone "), life);
        child.kill();
        lives.push(Setup::of(&home).with("AT", &node).start().await);
        let quarantined = event(&events, "the end of that incarnation", |event| {
            matches!(event, PeerEvent::Quarantined { .. })
        });
        assert_eq!(quarantined.await.node(), node);
        until("its speaker is gone", || home.heard.count("gone ") == life + 1).await;
        let (old, new) = (&lives[life], &lives[life + 1]);
        until("the next one handles", || new.handled() > 200).await;
        let word = format!("h guard {} ", old.speaker());
        let heard = home.heard.all();
        let end = heard.iter().rposition(|line| line.starts_with("gone ")).unwrap();
        assert!(
            !heard[end..].iter().any(|line| line.starts_with(&word)),
            "it speaks after its end"
        );
    }
    let [a, b] = flows;
    let (a, b) = (a.stop().await, b.stop().await);
    assert!(
        home.reading(&node).unconfirmed > 0,
        "the kills came while messages were under way"
    );
    let last = lives.len() - 1;
    let mut ends: Vec<(&mut Child, End)> = lives
        .iter_mut()
        .enumerate()
        .map(|(at, child)| (child, if at == last { End::Lives } else { End::Killed }))
        .collect();
    balance_there(&home, &[&a, &b], &mut ends).await;
    dead_letters_at_home(&home).await;
    assert_eq!(home.heard.count("gone "), LIVES, "each end is heard once");
    home.stop().await;
}
