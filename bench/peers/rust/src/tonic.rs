//! tonic: what one would write by hand. One bidirectional gRPC stream between the two processes, on which letters say
//! whom they are for; there, a task with a channel for each receiver. Answers come back on the stream and find the asker by
//! a number.
//!
//! Choices:
//! - Fields that are zero are not written, so a small letter that is told takes the same 100 bytes as everybody's.
//! - Channels of 1,024: tonic collects what is in the channel into one write, and senders wait for room.
//! - HTTP/2 windows of 8 MiB, since the defaults stop a large message several times.
//! - The code that `tonic-prost-build` would write is here by hand, so that no `protoc` is needed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::codegen::{Body, BoxFuture, Context, Poll, Service, StdError, http};
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use volary_bench_duet::remoting::Work;
use volary_bench_duet::{Remoting, case, parcel};

const ROOM: usize = 1_024;
const WINDOW: u32 = 8 << 20;
const PATH: &str = "/bench.Post/Exchange";

/// What travels on the stream, in either direction.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Letter {
    #[prost(fixed64, tag = "1")]
    number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    body: Bytes,
    #[prost(uint32, tag = "3")]
    receiver: u32,
    /// By which an answer finds its asker; 0 if it is told.
    #[prost(uint64, tag = "4")]
    question: u64,
    /// Whether it asks how many were handled.
    #[prost(bool, tag = "5")]
    how_many: bool,
}

type Answers = mpsc::Sender<Result<Letter, Status>>;

/// The service: one method.
#[derive(Clone)]
struct Post {
    receivers: usize,
}

impl NamedService for Post {
    const NAME: &'static str = "bench.Post";
}

impl<B> Service<http::Request<B>> for Post
where
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let exchange = Exchange(self.clone());
        let codec: ProstCodec<Letter, Letter> = ProstCodec::default();
        Box::pin(async move { Ok(Grpc::new(codec).streaming(exchange, request).await) })
    }
}

struct Exchange(Post);

impl StreamingService<Letter> for Exchange {
    type Response = Letter;
    type ResponseStream = ReceiverStream<Result<Letter, Status>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, request: Request<Streaming<Letter>>) -> Self::Future {
        let receivers = self.0.receivers;
        Box::pin(async move {
            let (answers, stream) = mpsc::channel(ROOM);
            let desks: Vec<_> = (0..receivers).map(|_| desk(answers.clone())).collect();
            let mut letters = request.into_inner();
            tokio::spawn(async move {
                while let Ok(Some(letter)) = letters.message().await {
                    let desk = &desks[letter.receiver as usize];
                    desk.send(letter).await.expect("the task lives");
                }
            });
            Ok(Response::new(ReceiverStream::new(stream)))
        })
    }
}

/// A task that takes letters one by one.
fn desk(answers: Answers) -> mpsc::Sender<Letter> {
    let (sender, mut letters) = mpsc::channel::<Letter>(ROOM);
    tokio::spawn(async move {
        let mut handled = 0;
        while let Some(mut letter) = letters.recv().await {
            if letter.question == 0 {
                std::hint::black_box(&letter.body);
                handled += 1;
                continue;
            }
            letter.body = parcel::answered(letter.body);
            if letter.how_many {
                letter.number = handled;
            }
            if answers.send(Ok(letter)).await.is_err() {
                return;
            }
        }
    });
    sender
}

/// Who waits for which answer.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<u64>>>>;

/// The calling side of the stream.
pub struct Stream {
    letters: mpsc::Sender<Letter>,
    waiting: Waiting,
    questions: Arc<AtomicU64>,
}

/// A receiver there.
#[derive(Clone)]
pub struct Desk {
    receiver: u32,
    letters: mpsc::Sender<Letter>,
    waiting: Waiting,
    questions: Arc<AtomicU64>,
}

impl Desk {
    async fn answer(&self, letter: Letter) -> u64 {
        let question = self.questions.fetch_add(1, Relaxed);
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().expect("the lock").insert(question, answer);
        let letter = Letter {
            receiver: self.receiver,
            question,
            ..letter
        };
        self.letters.send(letter).await.expect("the stream lives");
        answered.await.expect("an answer")
    }
}

impl Remoting for Stream {
    type Far = Desk;

    fn offers(workload: &str) -> bool {
        !matches!(
            workload,
            "remote-tell/mtls" | "remote-tell/zstd" | "remote-tell/slow-reader"
        )
    }

    async fn serve(workload: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let post = Post {
            receivers: case::receivers(workload),
        };
        let server = Server::builder()
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .add_service(post);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        address
    }

    async fn call(_: &str, invitation: &str) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{invitation}")).expect("an address");
        let endpoint = endpoint
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        let channel = endpoint.connect().await.expect("a connection");
        let (letters, stream) = mpsc::channel(ROOM);
        let mut grpc = tonic::client::Grpc::new(channel);
        grpc.ready().await.expect("a channel that is ready");
        let codec: ProstCodec<Letter, Letter> = ProstCodec::default();
        let request = Request::new(ReceiverStream::new(stream));
        let answers = grpc
            .streaming(request, http::uri::PathAndQuery::from_static(PATH), codec)
            .await;
        let mut answers = answers.expect("a stream").into_inner();
        let waiting = Waiting::default();
        let asked = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Ok(Some(letter)) = answers.message().await {
                let asker = asked.lock().expect("the lock").remove(&letter.question);
                let _ = asker.expect("somebody asked").send(letter.number);
            }
        });
        Self {
            letters,
            waiting,
            questions: Arc::new(AtomicU64::new(1)),
        }
    }

    async fn act(&self, work: Work) {
        tokio::spawn(work);
    }

    async fn far(&self, receiver: usize) -> Desk {
        Desk {
            receiver: receiver as u32,
            letters: self.letters.clone(),
            waiting: Arc::clone(&self.waiting),
            questions: Arc::clone(&self.questions),
        }
    }

    async fn tell(far: &Desk, number: u64, body: &Bytes) {
        let letter = Letter {
            number,
            body: body.clone(),
            receiver: far.receiver,
            ..Letter::default()
        };
        far.letters.send(letter).await.expect("the stream lives");
    }

    async fn ask(far: &Desk, number: u64, body: &Bytes) -> u64 {
        far.answer(Letter {
            number,
            body: body.clone(),
            ..Letter::default()
        })
        .await
    }

    async fn handled(far: &Desk) -> u64 {
        far.answer(Letter {
            how_many: true,
            ..Letter::default()
        })
        .await
    }
}
