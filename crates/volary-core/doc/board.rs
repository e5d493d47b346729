// For examples of subscribers that are too slow: a board of prices, for which one of them may wait. What it handles beside them
// is up to the example. Behind `bank.rs`.

#[derive(Clone)]
struct Price(#[allow(dead_code, reason = "nobody reads the board")] u32);
impl Message for Price {
    type Reply = ();
    type Rejection = Infallible;
}

/// Answered with how many prices the board was too slow for.
struct Lost;
impl Message for Lost {
    type Reply = u64;
    type Rejection = Infallible;
}

#[derive(Default)]
struct Board {
    lost: u64,
}
impl Actor for Board {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Missed>();
    }
}
impl SyncHandler<Price> for Board {
    fn handle(&mut self, _: Price, _: &mut Context<Self>) -> Result<(), Failure> {
        Ok(())
    }
}
impl SyncHandler<Lost> for Board {
    fn handle(&mut self, _: Lost, _: &mut Context<Self>) -> Result<u64, Failure> {
        Ok(self.lost)
    }
}

async fn board() -> Result<(ActorSystem, ActorRef<Board>), Anything> {
    let (system, _) = bank().await?;
    let board = system.spawn(Board::default).await?;
    let one = SubscriptionOptions::new().capacity(1);
    system.events().subscribe_actor_with::<Price>(&board.recipient(), one);
    Ok((system, board))
}
