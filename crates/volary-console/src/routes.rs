//! Which path is answered with what.

use volary_core::ActorSystem;

use crate::exposition::exposition;
use crate::request::{Malformed, Method, Request};
use crate::response::{Response, Status};

pub(crate) async fn answer(system: &ActorSystem, request: &Request) -> Response {
    let known = ["/health", "/ready", "/metrics"].contains(&request.path.as_str());
    if known && request.method == Method::Other {
        return Response::text(Status::MethodNotAllowed, "only GET and HEAD are answered here");
    }
    match request.path.as_str() {
        "/health" => Response::text(Status::Ok, "alive"),
        "/ready" if system.is_ready() => Response::text(Status::Ok, "ready"),
        "/ready" => Response::text(Status::Unavailable, "stopping"),
        "/metrics" => metrics(system.clone()).await,
        _ => Response::text(Status::NotFound, "there are /health, /ready and /metrics"),
    }
}

/// On a thread for such things: it looks at every actor.
async fn metrics(system: ActorSystem) -> Response {
    match tokio::task::spawn_blocking(move || exposition(&system)).await {
        Ok(text) => Response::exposition(text),
        Err(_) => Response::text(Status::Internal, "the figures could not be read"),
    }
}

pub(crate) fn refusal(malformed: Malformed) -> Response {
    match malformed {
        Malformed::Syntax => Response::text(Status::BadRequest, "this is not a request of HTTP/1.1"),
        Malformed::TooLarge => Response::text(Status::HeadTooLarge, "the head of the request is too large"),
        Malformed::Version => Response::text(Status::Version, "only HTTP/1.1 and HTTP/1.0 are spoken here"),
    }
}

pub(crate) fn too_slow() -> Response {
    Response::text(Status::RequestTimeout, "the request took too long to arrive")
}
