//! Options of an actor as they travel.

use std::time::Duration;

use volary_core::{
    Backoff, ChildrenPolicy, DependencyBytes, Directive, Dispatcher, MailboxDescription, Passivation, PropsDescription,
    Reentrancy, Strategy, SupervisionDescription,
};

use super::message::{
    BackoffMessage, DependencyMessage, LimitMessage, PassivationMessage, PropsMessage, SupervisionMessage,
};

/// An option that nodes of this version cannot say or do not understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {option} is not one that this version knows")]
pub(super) struct UnknownOption {
    pub(super) option: &'static str,
}

type Known<T> = Result<T, UnknownOption>;

const fn unknown<T>(option: &'static str) -> Known<T> {
    Err(UnknownOption { option })
}

pub(super) fn write(props: &PropsDescription) -> Known<PropsMessage> {
    let (mailbox, capacity) = match props.mailbox {
        MailboxDescription::Unbounded => (0, 0),
        MailboxDescription::Segmented => (1, 0),
        MailboxDescription::Bounded(capacity) => (2, capacity as u64),
        MailboxDescription::BoundedRefusing(capacity) => (3, capacity as u64),
        _ => return unknown("mailbox"),
    };
    let (dispatcher, dispatcher_name) = match &props.dispatcher {
        Dispatcher::Default => (0, String::new()),
        Dispatcher::Blocking => (1, String::new()),
        Dispatcher::Pinned => (2, String::new()),
        Dispatcher::Named(name) => (3, name.clone()),
        _ => return unknown("dispatcher"),
    };
    let reentrancy = match props.reentrancy {
        reentrancy if reentrancy.is_off() => 1,
        reentrancy if reentrancy.holds_others() => 2,
        _ => 0,
    };
    let dependencies = props.dependencies.iter().map(|one| DependencyMessage {
        kind: one.kind.clone(),
        bytes: one.bytes.clone().into(),
    });
    Ok(PropsMessage {
        mailbox,
        capacity,
        dispatcher,
        dispatcher_name,
        on_fault: directive_number(props.on_fault)?,
        supervision: props.supervision.as_ref().map(write_supervision).transpose()?,
        stash: props.stash.map(|capacity| capacity as u64),
        role: props.role.clone().unwrap_or_default(),
        reentrancy,
        in_flight: Some(props.reentrancy.most() as u64),
        passivation: Some(write_passivation(&props.passivation)),
        dependencies: dependencies.collect(),
    })
}

pub(super) fn read(message: &PropsMessage) -> Known<PropsDescription> {
    let mut props = PropsDescription::default();
    let capacity = size(message.capacity);
    props.mailbox = match message.mailbox {
        0 => MailboxDescription::Unbounded,
        1 => MailboxDescription::Segmented,
        2 => MailboxDescription::Bounded(capacity),
        3 => MailboxDescription::BoundedRefusing(capacity),
        _ => return unknown("mailbox"),
    };
    props.dispatcher = match message.dispatcher {
        0 => Dispatcher::Default,
        1 => Dispatcher::Blocking,
        2 => Dispatcher::Pinned,
        3 => Dispatcher::Named(message.dispatcher_name.clone()),
        _ => return unknown("dispatcher"),
    };
    props.on_fault = directive(message.on_fault)?;
    props.supervision = message.supervision.as_ref().map(read_supervision).transpose()?;
    props.stash = message.stash.map(size);
    props.role = Some(message.role.clone()).filter(|role| !role.is_empty());
    props.reentrancy = match (message.reentrancy, message.in_flight) {
        (0, None) => Reentrancy::all(),
        (0, Some(most)) => Reentrancy::all().at_most(size(most)),
        (1, _) => Reentrancy::off(),
        (2, None) => Reentrancy::hold_others(),
        (2, Some(most)) => Reentrancy::hold_others().at_most(size(most)),
        _ => return unknown("reentrancy"),
    };
    props.passivation = message
        .passivation
        .as_ref()
        .map_or_else(Passivation::never, read_passivation);
    let dependencies = message.dependencies.iter().map(|one| DependencyBytes {
        kind: one.kind.clone(),
        bytes: one.bytes.to_vec(),
    });
    props.dependencies = dependencies.collect();
    Ok(props)
}

pub(super) fn write_passivation(passivation: &Passivation) -> PassivationMessage {
    PassivationMessage {
        allowed: passivation.is_allowed(),
        idle_nanos: passivation.idle().map(nanos),
        messages: passivation.messages(),
        ends: passivation.is_ending(),
    }
}

pub(super) fn read_passivation(message: &PassivationMessage) -> Passivation {
    if !message.allowed {
        return Passivation::never();
    }
    let mut passivation = match message.idle_nanos {
        Some(idle) => Passivation::after(Duration::from_nanos(idle)),
        None => Passivation::on_demand(),
    };
    if let Some(messages) = message.messages {
        passivation = passivation.or_after_messages(messages);
    }
    if message.ends {
        passivation.ending()
    } else {
        passivation
    }
}

fn write_supervision(supervision: &SupervisionDescription) -> Known<SupervisionMessage> {
    let backoff = supervision.backoff.as_ref().map(|backoff| BackoffMessage {
        first_nanos: nanos(backoff.first()),
        longest_nanos: nanos(backoff.longest()),
        jitter: backoff.jitter_part(),
        quiet_nanos: nanos(backoff.quiet_time()),
    });
    let limit = supervision.limit.map(|(restarts, window)| LimitMessage {
        restarts,
        window_nanos: nanos(window),
    });
    Ok(SupervisionMessage {
        strategy: match supervision.strategy {
            Strategy::OneForOne => 0,
            Strategy::OneForAll => 1,
            Strategy::RestForOne => 2,
            _ => return unknown("supervision strategy"),
        },
        on_panic: supervision.on_panic.map(directive_number).transpose()?,
        otherwise: directive_number(supervision.otherwise)?,
        limit,
        backoff,
        children: match supervision.children {
            ChildrenPolicy::Stop => 0,
            ChildrenPolicy::Keep => 1,
            _ => return unknown("policy for children"),
        },
    })
}

fn read_supervision(message: &SupervisionMessage) -> Known<SupervisionDescription> {
    let mut supervision = SupervisionDescription::default();
    supervision.strategy = match message.strategy {
        0 => Strategy::OneForOne,
        1 => Strategy::OneForAll,
        2 => Strategy::RestForOne,
        _ => return unknown("supervision strategy"),
    };
    supervision.on_panic = message.on_panic.map(directive).transpose()?;
    supervision.otherwise = directive(message.otherwise)?;
    let limit = message.limit.as_ref();
    supervision.limit = limit.map(|limit| (limit.restarts, Duration::from_nanos(limit.window_nanos)));
    supervision.backoff = message.backoff.as_ref().map(|backoff| {
        let [first, longest, quiet] =
            [backoff.first_nanos, backoff.longest_nanos, backoff.quiet_nanos].map(Duration::from_nanos);
        Backoff::new(first, longest).jitter(backoff.jitter).reset_after(quiet)
    });
    supervision.children = match message.children {
        0 => ChildrenPolicy::Stop,
        1 => ChildrenPolicy::Keep,
        _ => return unknown("policy for children"),
    };
    Ok(supervision)
}

fn directive_number(directive: Directive) -> Known<u32> {
    Ok(match directive {
        Directive::Restart => 0,
        Directive::Resume => 1,
        Directive::Stop => 2,
        Directive::Suspend => 3,
        Directive::Escalate => 4,
        _ => return unknown("directive"),
    })
}

fn directive(number: u32) -> Known<Directive> {
    Ok(match number {
        0 => Directive::Restart,
        1 => Directive::Resume,
        2 => Directive::Stop,
        3 => Directive::Suspend,
        4 => Directive::Escalate,
        _ => return unknown("directive"),
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use volary_core::{MailboxKind, Props, Supervision};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn travels(props: Props) {
        let described = PropsDescription::of(&props).expect("it is data");
        let bytes = write(&described).expect("it is known").encode_to_vec();
        let message = PropsMessage::decode(&bytes[..]).expect("it was just written");
        assert_eq!(read(&message), Ok(described));
    }

    #[test]
    fn options_arrive_as_they_were() {
        travels(Props::new());
        for mailbox in [
            MailboxKind::Segmented,
            MailboxKind::Bounded(7),
            MailboxKind::BoundedRefusing(8),
        ] {
            travels(Props::new().mailbox(mailbox));
        }
        for dispatcher in [
            Dispatcher::Blocking,
            Dispatcher::Pinned,
            Dispatcher::Named("io".to_owned()),
        ] {
            travels(Props::new().dispatcher(dispatcher));
        }
        let directives = [
            Directive::Restart,
            Directive::Resume,
            Directive::Stop,
            Directive::Suspend,
            Directive::Escalate,
        ];
        for directive in directives {
            travels(Props::new().on_fault(directive));
            travels(Props::new().supervision(Supervision::new().on_panic(directive).otherwise(directive)));
        }
        for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
            let backoff = Backoff::new(SECOND, 9 * SECOND).jitter(0.25).reset_after(20 * SECOND);
            let supervision = Supervision::new().strategy(strategy).limit(3, SECOND).backoff(backoff);
            travels(Props::new().supervision(supervision.children(ChildrenPolicy::Keep)));
        }
        for reentrancy in [
            Reentrancy::off(),
            Reentrancy::all().at_most(3),
            Reentrancy::hold_others(),
        ] {
            travels(Props::new().reentrancy(reentrancy).stash(12).role("billing"));
        }
        for passivation in [
            Passivation::on_demand(),
            Passivation::after(SECOND),
            Passivation::after_messages(5).ending(),
            Passivation::after(SECOND).or_after_messages(9),
        ] {
            travels(Props::new().passivation(passivation));
        }
    }

    /// What a message says of these options in numbers.
    fn number_of(props: Props, number: impl Fn(&PropsMessage) -> u32) -> u32 {
        let described = PropsDescription::of(&props).expect("it is data");
        number(&write(&described).expect("it is known"))
    }

    #[test]
    fn r6_every_option_has_the_number_that_it_ever_had() {
        let mailboxes = [
            MailboxKind::Unbounded,
            MailboxKind::Segmented,
            MailboxKind::Bounded(7),
            MailboxKind::BoundedRefusing(8),
        ];
        for (number, mailbox) in (0..).zip(mailboxes) {
            assert_eq!(number_of(Props::new().mailbox(mailbox), |props| props.mailbox), number);
        }
        let dispatchers = [
            Dispatcher::Default,
            Dispatcher::Blocking,
            Dispatcher::Pinned,
            Dispatcher::Named("io".to_owned()),
        ];
        for (number, dispatcher) in (0..).zip(dispatchers) {
            let props = Props::new().dispatcher(dispatcher);
            assert_eq!(number_of(props, |props| props.dispatcher), number);
        }
        let reentrancies = [Reentrancy::all(), Reentrancy::off(), Reentrancy::hold_others()];
        for (number, reentrancy) in (0..).zip(reentrancies) {
            let props = Props::new().reentrancy(reentrancy);
            assert_eq!(number_of(props, |props| props.reentrancy), number);
        }
        let directives = [
            Directive::Restart,
            Directive::Resume,
            Directive::Stop,
            Directive::Suspend,
            Directive::Escalate,
        ];
        for (number, of_it) in (0..).zip(directives) {
            assert_eq!((directive_number(of_it), directive(number)), (Ok(number), Ok(of_it)));
        }
        let supervised = |supervision, number: fn(&SupervisionMessage) -> u32| {
            let props = Props::new().supervision(supervision);
            number_of(props, |props| props.supervision.as_ref().map_or(99, number))
        };
        let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
        for (number, strategy) in (0..).zip(strategies) {
            let supervision = Supervision::new().strategy(strategy);
            assert_eq!(supervised(supervision, |supervision| supervision.strategy), number);
        }
        for (number, children) in (0..).zip([ChildrenPolicy::Stop, ChildrenPolicy::Keep]) {
            let supervision = Supervision::new().children(children);
            assert_eq!(supervised(supervision, |supervision| supervision.children), number);
        }
    }

    #[test]
    fn what_a_later_version_says_is_not_guessed() {
        let later = PropsMessage {
            mailbox: 9,
            ..PropsMessage::default()
        };
        assert_eq!(read(&later).map(drop), unknown("mailbox"));
        let later = PropsMessage {
            on_fault: 9,
            ..PropsMessage::default()
        };
        assert_eq!(read(&later).map(drop), unknown("directive"));
    }
}
