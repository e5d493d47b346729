//! From what was asked for to a schedule that is pending.

use std::sync::Arc;

use super::aim::{Aim, ToActor};
use super::alarm::{Alarm, Plan};
use super::error::ScheduleError;
use super::handle::{Schedule, ScheduleId};
use super::rhythm::Next;
use super::settings::check_name;
use super::task::Task;
use crate::actor::Message;
use crate::dispatch::Host;
use crate::reference::Recipient;
use crate::system::SystemCore;
use crate::tree::Path;

pub(super) fn checked_name(name: Option<&str>) -> Result<Option<Box<str>>, ScheduleError> {
    let Some(name) = name else { return Ok(None) };
    check_name(name)?;
    Ok(Some(name.into()))
}

pub(super) fn parse(path: &str) -> Result<Path, ScheduleError> {
    path.parse().map_err(|reason| ScheduleError::Path {
        path: path.to_owned(),
        reason,
    })
}

pub(super) fn schedule_for_actor<M: Message>(
    core: &Arc<SystemCore>,
    receiver: &Recipient<M>,
    plan: Option<Box<Plan<M>>>,
    first: Next,
    message: M,
) -> Result<Schedule, ScheduleError> {
    let cell = receiver.cell();
    if !std::ptr::eq(cell.system(), &**core) {
        let system = cell.system().handle().name().to_owned();
        return Err(ScheduleError::OtherSystem { system });
    }
    let aim = ToActor {
        id: cell.id,
        table: receiver.table(),
    };
    let alarm = schedule(core, aim, plan, first, message)?;
    if core.directory().get(cell.id).is_none() {
        // It may have looked into the book before this was in there.
        alarm.receiver_ended(cell);
    }
    Ok(Schedule::new(alarm))
}

pub(super) fn schedule<M: Message, A: Aim>(
    core: &Arc<SystemCore>,
    aim: A,
    plan: Option<Box<Plan<M>>>,
    first: Next,
    message: M,
) -> Result<Arc<Alarm<M, A>>, ScheduleError> {
    let id = ScheduleId(core.schedules().next_id());
    let sender = Host::with(|host| host.ambient().id).unwrap_or(0);
    let alarm = Arc::new(Alarm::new(Arc::downgrade(core), id, sender, aim, plan, first, message));
    core.schedules().enter(alarm.clone())?;
    alarm.arm(core);
    Ok(alarm)
}
