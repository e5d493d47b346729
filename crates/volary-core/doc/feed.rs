// For examples of sinks: gives one an element, and flushes it. Behind `bank.rs`.

use futures_sink::Sink;

async fn feed(sink: ActorSink<Deposit>, deposit: Deposit) -> Done {
    let mut sink = std::pin::pin!(sink);
    std::future::poll_fn(|task| sink.as_mut().poll_ready(task)).await?;
    sink.as_mut().start_send(deposit)?;
    Ok(std::future::poll_fn(|task| sink.as_mut().poll_flush(task)).await?)
}
