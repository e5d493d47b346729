//! The routes: each handler asks an actor, and each way in which an ask can end is a status code.

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use volary::prelude::*;
use volary::{Baggage, Readiness, TraceContext};

use crate::account::{Account, Audit, BadName, Bank, Deposit, Find, Look, NoSuchAccount, Open, Overdrawn, Withdraw};

#[derive(Clone)]
struct Service {
    bank: ActorRef<Bank>,
    readiness: Readiness,
}

pub(crate) fn routes(bank: ActorRef<Bank>, readiness: Readiness) -> Router {
    Router::new()
        .route("/accounts/{name}", get(statement))
        .route("/accounts/{name}/deposit/{cents}", post(deposit))
        .route("/accounts/{name}/withdraw/{cents}", post(withdraw))
        .route("/accounts/{name}/audit/{millis}", post(audit))
        .layer(from_fn(with_baggage))
        .route("/ready", get(ready))
        .with_state(Service { bank, readiness })
}

/// The trace of the request goes along with every message that its handler sends, and with those sent because of them.
/// A header that makes no sense is ignored, as the standard wants it.
async fn with_baggage(request: Request, next: Next) -> Response {
    let header = request
        .headers()
        .get("traceparent")
        .and_then(|value| value.to_str().ok());
    let trace: Option<TraceContext> = header.and_then(|text| text.parse().ok());
    match trace {
        Some(trace) => Baggage::new().with_trace(trace).around(next.run(request)).await,
        None => next.run(request).await,
    }
}

async fn ready(State(service): State<Service>) -> StatusCode {
    if service.readiness.is_ready() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

async fn statement(State(service): State<Service>, Path(name): Path<String>) -> Result<String, Refusal> {
    let account = find(&service, name).await?;
    let statement = account.ask(Look).await?;
    let by = statement.changed_by.as_deref().unwrap_or("nobody we know");
    Ok(format!("{} cents, changed by {by}\n", statement.cents))
}

async fn deposit(State(service): State<Service>, Path((name, cents)): Path<(String, u64)>) -> Result<String, Refusal> {
    let account = service.bank.ask(Open { name }).await?;
    Ok(format!("{} cents\n", account.ask(Deposit { cents }).await?))
}

async fn withdraw(State(service): State<Service>, Path((name, cents)): Path<(String, u64)>) -> Result<String, Refusal> {
    let account = find(&service, name).await?;
    Ok(format!("{} cents\n", account.ask(Withdraw { cents }).await?))
}

async fn audit(State(service): State<Service>, Path((name, millis)): Path<(String, u64)>) -> Result<String, Refusal> {
    let account = find(&service, name).await?;
    Ok(format!("{} cents\n", account.ask(Audit { millis }).await?))
}

async fn find(service: &Service, name: String) -> Result<ActorRef<Account>, Refusal> {
    Ok(service.bank.ask(Find { name }).await?)
}

/// An answer that is not the one hoped for.
struct Refusal {
    status: StatusCode,
    reason: String,
}

/// What a rejection is to the client. It is an answer of the actor's, so it is the actor's own code.
trait ToStatus: Rejection {
    fn to_status(&self) -> (StatusCode, String);
}

impl ToStatus for std::convert::Infallible {
    fn to_status(&self) -> (StatusCode, String) {
        match *self {}
    }
}

impl ToStatus for NoSuchAccount {
    fn to_status(&self) -> (StatusCode, String) {
        (StatusCode::NOT_FOUND, "no such account".to_owned())
    }
}

impl ToStatus for BadName {
    fn to_status(&self) -> (StatusCode, String) {
        (StatusCode::BAD_REQUEST, self.0.clone())
    }
}

impl ToStatus for Overdrawn {
    fn to_status(&self) -> (StatusCode, String) {
        let reason = format!("{} cents are missing", self.missing);
        (StatusCode::UNPROCESSABLE_ENTITY, reason)
    }
}

impl<R: ToStatus> From<AskError<R>> for Refusal {
    fn from(error: AskError<R>) -> Self {
        let reason = error.to_string();
        let status = match error {
            AskError::Rejected(rejection) => {
                let (status, reason) = rejection.to_status();
                return Refusal { status, reason };
            }
            AskError::Refused { .. } => StatusCode::FORBIDDEN,
            // Certainly not done: the client may come again.
            AskError::Full | AskError::Stopped => StatusCode::SERVICE_UNAVAILABLE,
            // Perhaps done.
            AskError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            AskError::Cycle(_) => StatusCode::LOOP_DETECTED,
            // Faults, unanswered questions, and what later versions may bring: the client need not know what broke.
            _ => {
                eprintln!("{reason}");
                let (status, reason) = (StatusCode::INTERNAL_SERVER_ERROR, "something broke".to_owned());
                return Refusal { status, reason };
            }
        };
        Refusal { status, reason }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, format!("{}\n", self.reason)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, 1.into());
        }
        response
    }
}
