//! What nodes ask of each other, as a node that is asked takes it: the first byte says which operation, the rest are its
//! particulars. Each is answered, and the connection stays.

use bytes::Bytes;
use volary_wire::native::{Frame, Operation};

use super::super::{Node, OPERATIONS, Stranger};

thread_local! {
    static ENDS: std::cell::RefCell<(Node, Stranger)> = {
        let node = Node::start();
        let stranger = Stranger::enter(&node);
        (node, stranger).into()
    };
}

pub fn operations(data: &[u8]) {
    let Some((which, payload)) = data.split_first() else {
        return;
    };
    let which = usize::from(*which) % OPERATIONS.len();
    ENDS.with_borrow_mut(|(node, stranger)| {
        let answer = node.block_on(async {
            let operation = Operation {
                correlation: 1,
                name: OPERATIONS[which].into(),
                payload: Bytes::copy_from_slice(payload),
            };
            stranger.say(&Frame::Operation(operation)).await;
            stranger.hear().await
        });
        let Frame::Answer(answer) = answer else {
            panic!("not an answer: {answer:?}");
        };
        assert!(answer.status <= 5 && answer.status != 2, "{answer:?}");
        if answer.status == 0 && OPERATIONS[..which].contains(&"node-metrics") {
            node.settle();
        }
    });
}
