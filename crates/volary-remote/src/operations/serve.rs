//! Does what another node asks for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;

use bytes::Bytes;
use prost::Message;
use volary_core::{Address, AnyRef, Path, Props, SpawnError};
use volary_wire::native::{Answer, Frame, Operation};

use super::message::{
    ActorMetricsAnswer, ActorRequest, AddressAnswer, ChildrenAnswer, CountAnswer, KindAnswer, KindsAnswer, NamesAnswer,
    NodeMetricsAnswer, SpawnProblem, SpawnRequest, StatusAnswer, Told, ok, problem, spawn_problem,
};
use super::{OperationName, Status, forbid, props};
use crate::link::Link;
use crate::shared::Shared;

/// How many children are listed.
const CHILDREN: usize = 10_000;
/// How many actors may be starting at the wish of others.
const STARTING: usize = 1_024;

/// What an operation comes to, now or when an actor has started.
pub(super) enum Served {
    Now(Told),
    Later(Pin<Box<dyn Future<Output = Told> + Send>>),
}

/// Does what came by a connection, if its peer has the right to it, and answers if that is wanted.
pub(crate) fn serve(link: &Arc<Link>, operation: &Operation) {
    let (peer, correlation) = (link.peer.clone(), operation.correlation);
    let shared = &peer.shared;
    let name = operation.name.as_str();
    if let Some(known) = OperationName::parse(name)
        && !link.rights.allows(known.right())
    {
        let right = known.right();
        let why = match correlation {
            // Whoever told a reference to stop waits for no answer: here it is seen which operation that was.
            0 => format!("the operation `{known}` was not done: {:?}", Status::Forbidden),
            _ => format!("it has no right to {right}"),
        };
        return forbid(link, right, correlation, &why);
    }
    let answer = {
        let (peer, name) = (peer.clone(), name.to_owned());
        move |(status, payload): Told| {
            let write = |status: Status, payload| {
                let status = status as u8;
                peer.write_if_connected(&Frame::Answer(Answer {
                    correlation,
                    status,
                    payload,
                }))
            };
            if correlation != 0 {
                if let Err(why) = write(status, payload) {
                    let (status, payload) = problem(Status::Failed, format!("the answer cannot be sent: {why}"));
                    let _ = write(status, payload); // it is short
                }
            } else if !matches!(status, Status::Ok | Status::Nobody) {
                // Whoever told a reference to stop waits for no answer.
                let why = format!("the operation `{name}` was not done: {status:?}");
                peer.shared.report_refused(&peer.node, &why);
            }
        }
    };
    match perform(shared, name, &operation.payload) {
        Served::Now(told) => answer(told),
        Served::Later(told) => {
            let link = link.clone();
            shared.system.world().spawn(Box::pin(async move {
                if let Some(told) = link.closing().or(told).await {
                    answer(told);
                }
            }));
        }
    }
}

/// Does it, whoever asks.
pub(super) fn perform(shared: &Arc<Shared>, name: &str, payload: &Bytes) -> Served {
    let Some(operation) = OperationName::parse(name) else {
        return Served::Now((Status::Unknown, Bytes::new()));
    };
    let told = match operation {
        OperationName::Spawn => return spawn(shared, payload),
        OperationName::Kinds => kinds(shared),
        OperationName::NodeMetrics => {
            let system = &shared.system;
            let peers = shared.peer_count();
            ok(&NodeMetricsAnswer::new(
                system.name(),
                system.uptime(),
                &system.metrics(),
                peers,
            ))
        }
        _ => match ActorRequest::decode(payload.clone()) {
            Err(error) => problem(Status::BadRequest, error),
            Ok(request) => match find(shared, &request.who) {
                Err(text) => problem(Status::BadRequest, text),
                Ok(None) => (Status::Nobody, Bytes::new()),
                Ok(Some(actor)) => on_actor(shared, operation, &actor),
            },
        },
    };
    Served::Now(told)
}

/// Whoever an address of this node, or a path, leads to.
fn find(shared: &Shared, who: &str) -> Result<Option<AnyRef>, String> {
    let address = if who.starts_with('/') {
        let path: Path = who.parse().map_err(|error| format!("{who}: {error}"))?;
        Address::local(shared.system.name(), path).map_err(|error| format!("{who}: {error}"))?
    } else {
        who.parse().map_err(|error| format!("{who}: {error}"))?
    };
    Ok(shared.local(&address))
}

fn outside(shared: &Shared, actor: &AnyRef) -> String {
    shared.resolver.outside_address(&actor.address()).to_string()
}

fn kinds(shared: &Shared) -> Told {
    ok(&KindsAnswer {
        kinds: shared.registry.kinds().map(|kind| kind.name.to_string()).collect(),
        spawnable: shared.spawnables.names().map(str::to_owned).collect(),
    })
}

fn on_actor(shared: &Shared, operation: OperationName, actor: &AnyRef) -> Told {
    match operation {
        OperationName::Lookup => ok(&AddressAnswer {
            address: outside(shared, actor),
        }),
        OperationName::Parent => ok(&AddressAnswer {
            address: actor
                .parent()
                .map(|parent| outside(shared, &parent))
                .unwrap_or_default(),
        }),
        OperationName::Kind => {
            let registered = shared.registry.kind_of(actor.actor_type());
            ok(&KindAnswer {
                kind: registered.map(|kind| kind.name.to_string()).unwrap_or_default(),
                actor_type: actor.info().actor_type.to_owned(),
                role: actor.role().unwrap_or_default().to_owned(),
            })
        }
        OperationName::Children => {
            let children = actor.children();
            ok(&ChildrenAnswer {
                addresses: children
                    .iter()
                    .take(CHILDREN)
                    .map(|child| outside(shared, child))
                    .collect(),
                total: children.len() as u64,
            })
        }
        OperationName::Status => ok(&StatusAnswer::from(actor.status())),
        OperationName::Stash => ok(&CountAnswer {
            count: actor.info().stashed as u64,
        }),
        OperationName::Dependencies => ok(&NamesAnswer {
            names: actor.dependency_kinds().into_iter().map(str::to_owned).collect(),
        }),
        OperationName::Passivation => ok(&props::write_passivation(&actor.passivation())),
        OperationName::ActorMetrics => {
            let info = actor.info();
            ok(&ActorMetricsAnswer {
                waiting: info.waiting as u64,
                stashed: info.stashed as u64,
                taken: info.taken,
                children: info.children as u64,
            })
        }
        _ => control(operation, actor),
    }
}

fn control(operation: OperationName, actor: &AnyRef) -> Told {
    if !Path::user().is_ancestor_of(&actor.path()) {
        return problem(
            Status::Forbidden,
            "only what lives below /user can be told that from outside",
        );
    }
    match operation {
        OperationName::Stop => actor.stop(),
        OperationName::Drain => actor.drain(),
        OperationName::Kill => actor.kill(),
        OperationName::Restart => actor.restart(),
        OperationName::Reinstate => actor.reinstate(),
        OperationName::Passivate => {
            if !actor.passivation().is_allowed() {
                return problem(Status::Failed, "it was started without passivation");
            }
            actor.passivate();
        }
        _ => return (Status::Unknown, Bytes::new()),
    }
    (Status::Ok, Bytes::new())
}

fn spawn(shared: &Arc<Shared>, payload: &Bytes) -> Served {
    let request = match SpawnRequest::decode(payload.clone()) {
        Ok(request) => request,
        Err(error) => return Served::Now(problem(Status::BadRequest, error)),
    };
    let (parent, props) = match prepare(shared, &request) {
        Ok(prepared) => prepared,
        Err(told) => return Served::Now(told),
    };
    if shared.starting.fetch_add(1, AcqRel) >= STARTING {
        shared.starting.fetch_sub(1, AcqRel);
        return Served::Now(problem(Status::Failed, "too many actors are starting; try again later"));
    }
    let ticket = Ticket(shared.clone());
    let name = Some(request.name).filter(|name| !name.is_empty());
    let starting = shared
        .spawnables
        .start(&request.kind, &parent, name, props, request.argument);
    let Some(starting) = starting else {
        let known: Vec<&str> = shared.spawnables.names().collect();
        let text = format!("it is not spawnable there; these are: [{}]", known.join(", "));
        return Served::Now(spawn_problem(SpawnProblem::UnknownKind, text));
    };
    Served::Later(Box::pin(async move {
        let started = starting.await;
        match started {
            Ok(actor) => ok(&AddressAnswer {
                address: outside(&ticket.0, &actor),
            }),
            Err(error) => spawn_problem(problem_of(&error), error),
        }
    }))
}

/// Below whom, and with which options.
fn prepare(shared: &Shared, request: &SpawnRequest) -> Result<(AnyRef, Props), Told> {
    let parent = if request.parent.is_empty() {
        "/user"
    } else {
        &request.parent
    };
    let parent = find(shared, parent).map_err(|text| problem(Status::BadRequest, text))?;
    let parent = parent.ok_or((Status::Nobody, Bytes::new()))?;
    let path = parent.path();
    if path != Path::user() && !Path::user().is_ancestor_of(&path) {
        return Err(problem(Status::Forbidden, "actors can be started below /user only"));
    }
    let Some(message) = &request.props else {
        return Ok((parent, Props::new()));
    };
    let described = props::read(message).map_err(|error| problem(Status::BadRequest, error))?;
    let props = described.props(&shared.spawnables.dependencies);
    let props = props.map_err(|error| spawn_problem(SpawnProblem::Options, error))?;
    Ok((parent, props))
}

fn problem_of(error: &SpawnError) -> SpawnProblem {
    match error {
        SpawnError::Name { .. } => SpawnProblem::Name,
        SpawnError::Duplicate { .. } => SpawnProblem::Taken,
        SpawnError::Stopping { .. } | SpawnError::Asleep { .. } => SpawnProblem::Parent,
        SpawnError::Start { .. } => SpawnProblem::Start,
        SpawnError::UnknownDispatcher { .. }
        | SpawnError::Capacity { .. }
        | SpawnError::Stash
        | SpawnError::Option { .. }
        | SpawnError::Supervision(_) => SpawnProblem::Options,
        _ => SpawnProblem::Other,
    }
}

/// One of those who may be starting.
struct Ticket(Arc<Shared>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.starting.fetch_sub(1, AcqRel);
    }
}
