//! Replaying a recording into a fresh actor, on one thread.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use volary::{Actor, ActorRef, ActorSystem, Product, Props, SeededEnv};

use super::book::{Payload, Source, Turn};
use super::codecs::{Codecs, Fed};
use super::file::{self, FileError, Header};
use super::player::Player;

/// How much virtual time a handler may wait for something before the replay gives up.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Sees the number and the type of each message before it is sent.
type BeforeEach = Box<dyn FnMut(usize, &str)>;

const FIRST_WAIT: Duration = Duration::from_millis(1);

/// A recording that was read and waits to be replayed. Everything runs on the calling thread, so that a debugger can
/// step through it; the clock, the calendar and the randomness of the actor's context are those of the recording.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
/// # fn main() -> Done {
/// # let file = recorded()?;
/// let replay = Replay::open(&file)?; // deposits of 5 and 6
/// println!("{} messages to {}, {} are missing", replay.turns(), replay.path(), replay.dropped());
/// let replayed = replay.run(codecs(), Account::default, async |alice| alice.ask(Balance).await)?;
/// for divergence in &replayed.divergences {
///     println!("{divergence}");
/// }
/// assert_eq!(replayed.answer?, 11);
/// # Ok(()) }
/// ```
#[must_use = "`run` replays it"]
pub struct Replay {
    header: Header,
    turns: Vec<Turn>,
    props: Props,
    before_each: BeforeEach,
}

/// What a replay came to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
/// # fn main() -> Done {
/// # let file = recorded()?;
/// # let replay = Replay::open(&file)?;
/// let replayed: Replayed<()> = replay.run(codecs(), Account::default, async |_| ())?;
/// assert_eq!(replayed.turns, 2);
/// assert!(replayed.divergences.is_empty(), "it did the same again");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed<R> {
    /// How many messages were handled again.
    pub turns: usize,
    /// Where the actor did something else than it had done; empty if it did the same.
    pub divergences: Vec<Divergence>,
    /// What the closure given to [`Replay::run`] found.
    pub answer: R,
}

/// A turn in which the replayed actor read something else, or in which something else happened to it. Mostly the actor
/// began in another state, or its code has changed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
/// # fn main() -> Done {
/// # let file = recorded()?;
/// # let replay = Replay::open(&file)?;
/// let rich = || Account { cents: i64::MAX }; // where the deposits go too far
/// let replayed = replay.run(codecs(), rich, async |_| ())?;
/// let divergence: &Divergence = &replayed.divergences[0];
/// println!("look at message {}: {}", divergence.turn, divergence.what);
/// # assert!(divergence.message.ends_with("Deposit"), "{divergence}");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// The number of the message in the recording.
    pub turn: usize,
    /// Its type.
    pub message: String,
    /// What was different.
    pub what: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {} ({}): {}", self.turn, self.message, self.what)
    }
}

/// Why a replay did not come to its end.
///
/// ```
/// use volary_testkit::record::ReplayError;
/// let error = ReplayError::Redacted { turn: 3, message: "Withdraw".to_owned() };
/// assert_eq!(error.to_string(), "message 3 (Withdraw) was recorded without its content: give the recorder a codec for it");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// It is known that there was this message, not what it said. Record again, with a codec for it.
    Redacted {
        /// The number of the message.
        turn: usize,
        /// Its type.
        message: String,
    },
    /// There is no codec for this message here.
    NoCodec {
        /// The number of the message.
        turn: usize,
        /// Its type.
        message: String,
    },
    /// The decoder refused it.
    Decode {
        /// The number of the message.
        turn: usize,
        /// Its type.
        message: String,
        /// What the decoder said.
        error: super::CodecError,
    },
    /// The recording is of an actor of another type.
    OtherActor {
        /// The type that was recorded.
        recorded: String,
        /// The type that was to be replayed.
        given: &'static str,
    },
    /// The actor ended before this message, and did not when it was recorded.
    Ended {
        /// The number of the message.
        turn: usize,
    },
    /// The handler of this message waits for something that does not come: what the factory gave the actor must answer.
    Stuck {
        /// The number of the message.
        turn: usize,
    },
    /// The system or the actor could not be started, or the system not be stopped.
    System(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Redacted { turn, message } => write!(
                f,
                "message {turn} ({message}) was recorded without its content: give the recorder a codec for it"
            ),
            ReplayError::NoCodec { turn, message } => {
                write!(
                    f,
                    "message {turn} ({message}) has no codec: give the replay those of the recorder"
                )
            }
            ReplayError::Decode { turn, message, error } => {
                write!(f, "message {turn} ({message}) was not decoded: {error}")
            }
            ReplayError::OtherActor { recorded, given } => {
                write!(f, "the recording is of a {recorded}, and was given a {given}")
            }
            ReplayError::Ended { turn } => write!(f, "the actor ended before message {turn}"),
            ReplayError::Stuck { turn } => write!(
                f,
                "the handler of message {turn} waits for something that has not come within {PATIENCE:?} of virtual time"
            ),
            ReplayError::System(error) => write!(f, "{error}"),
        }
    }
}

impl Error for ReplayError {}

impl Replay {
    /// Reads a recording.
    ///
    /// ```
    /// assert!(volary_testkit::Replay::open("nowhere/to-be-found").is_err());
    /// ```
    ///
    /// # Errors
    /// If there is no such file, or any of it is not as it was written; the error says at which byte.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let (header, turns) = file::read(path.as_ref())?;
        Ok(Replay {
            header,
            turns,
            props: Props::new(),
            before_each: Box::new(|_, _| {}),
        })
    }

    /// Where the recorded actor lived.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// assert_eq!(Replay::open(&file)?.path(), "/user/alice");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn path(&self) -> &str {
        &self.header.path
    }

    /// How many messages there are.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// assert_eq!(Replay::open(&file)?.turns(), 2);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// How many messages are missing for want of room: the last ones, or the first ones if the recorder was told to keep
    /// the [last](super::Keep::Last).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// assert_eq!(Replay::open(&file)?.dropped(), 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.header.dropped
    }

    /// With what options the actor is started: those that it had, as far as they matter. Its mailbox need not be.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// let replay = Replay::open(&file)?.props(Props::new().on_fault(volary::Directive::Resume));
    /// let rich = || Account { cents: i64::MAX - 5 }; // where the second deposit goes too far, and changes nothing
    /// let replayed = replay.run(codecs(), rich, async |alice| alice.ask(Balance).await)?;
    /// assert_eq!(replayed.answer?, i64::MAX);
    /// # Ok(()) }
    /// ```
    pub fn props(mut self, props: Props) -> Self {
        self.props = props;
        self
    }

    /// Calls this with the number and the type of each message before it is sent: a good place for a breakpoint.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// # let seen = std::rc::Rc::new(std::cell::Cell::new(0));
    /// # let counted = seen.clone();
    /// let replay = Replay::open(&file)?.before_each(move |turn, message| {
    ///     println!("{turn}: {message}");
    ///     # counted.set(counted.get() + 1);
    /// });
    /// # replay.run(codecs(), Account::default, async |_| ())?;
    /// # assert_eq!(seen.get(), 2);
    /// # Ok(()) }
    /// ```
    pub fn before_each(mut self, look: impl FnMut(usize, &str) + 'static) -> Self {
        self.before_each = Box::new(look);
        self
    }

    /// Starts a fresh actor and gives it the messages of the recording one by one, each after the one before has been
    /// handled to its end. Then `look` may ask it for its state, with clocks that are the replay's own.
    ///
    /// Not to be called inside of an async runtime's thread if handlers block on one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # fn main() -> Done {
    /// # let file = recorded()?;
    /// # let replay = Replay::open(&file)?;
    /// let replayed = replay.run(codecs(), Account::default, async |alice| alice.ask(Balance).await)?;
    /// assert_eq!(replayed.answer?, 11);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If a message cannot be made again, or the actor does not come to the end of one.
    pub fn run<P, R>(
        self,
        codecs: Codecs<P::Actor>,
        factory: impl Fn() -> P + Send + Sync + 'static,
        look: impl AsyncFnOnce(ActorRef<P::Actor>) -> R,
    ) -> Result<Replayed<R>, ReplayError>
    where
        P: Product,
    {
        let given = std::any::type_name::<P::Actor>();
        if self.header.actor != given {
            return Err(ReplayError::OtherActor {
                recorded: self.header.actor,
                given,
            });
        }
        let env = SeededEnv::new(0);
        let start = async {
            let system = ActorSystem::builder("replay").environment(env.clone()).start().await?;
            let actor = system.spawn(factory).props(self.props).await?;
            Ok::<_, Box<dyn Error + Send + Sync>>((system, actor))
        };
        let (system, actor) = env.block_on(start).map_err(ReplayError::System)?;
        let player = Arc::new(Player::new(self.turns));
        let tapped = actor
            .tap(player.clone())
            .map_err(|error| ReplayError::System(error.into()))?;
        let stage = Stage {
            env: &env,
            actor: &actor,
            player: &player,
        };
        let played = stage.play(&codecs, self.before_each);
        drop(tapped);
        let answer = played.map(|()| env.block_on(look(actor.clone())));
        let stopped = env.block_on(system.stop());
        let replayed = Replayed {
            turns: player.position(),
            divergences: player.end(),
            answer: answer?,
        };
        stopped.map_err(|error| ReplayError::System(error.into()))?;
        Ok(replayed)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("path", &self.header.path)
            .field("turns", &self.turns.len())
            .finish_non_exhaustive()
    }
}

/// One actor, and everything that makes it move.
struct Stage<'a, A: Actor> {
    env: &'a SeededEnv,
    actor: &'a ActorRef<A>,
    player: &'a Player,
}

impl<A: Actor> Stage<'_, A> {
    fn play(&self, codecs: &Codecs<A>, mut before_each: BeforeEach) -> Result<(), ReplayError> {
        self.settle(0)?;
        loop {
            let number = self.player.position();
            let Some(turn) = self.player.turns().get(number) else {
                return Ok(());
            };
            if matches!(turn.origin, Source::Stash | Source::Answer) {
                // It would have come by itself with the turn before.
                self.player.skip("it did not come again");
                continue;
            }
            before_each(number, &turn.message);
            self.feed(codecs, number, turn)?;
            self.settle(number)?;
            if self.player.position() == number {
                return Err(ReplayError::Ended { turn: number });
            }
            if self.player.awaits_restart() {
                self.actor.restart();
                self.settle(number)?;
            }
        }
    }

    fn feed(&self, codecs: &Codecs<A>, number: usize, turn: &Turn) -> Result<(), ReplayError> {
        let message = || turn.message.clone();
        let Payload::Bytes(bytes) = &turn.payload else {
            return Err(ReplayError::Redacted {
                turn: number,
                message: message(),
            });
        };
        self.player.feed();
        match codecs.feed(&turn.message, bytes, self.actor) {
            Some(Ok(Fed::Taken)) => Ok(()),
            Some(Ok(Fed::Refused)) => Err(ReplayError::Ended { turn: number }),
            Some(Err(error)) => Err(ReplayError::Decode {
                turn: number,
                message: message(),
                error,
            }),
            None => Err(ReplayError::NoCodec {
                turn: number,
                message: message(),
            }),
        }
    }

    /// Runs until the actor has nothing to do. Virtual time passes only while it waits for something, since the readings
    /// of its context come from the recording anyway.
    fn settle(&self, turn: usize) -> Result<(), ReplayError> {
        let mut waited = Duration::ZERO;
        let mut wait = FIRST_WAIT;
        self.env.run_until_idle();
        while !self.is_settled() {
            if waited > PATIENCE {
                return Err(ReplayError::Stuck { turn });
            }
            self.env.advance(wait);
            waited += wait;
            wait *= 2;
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let status = self.actor.status();
        status.ended || !status.busy && self.actor.mailbox_len() == 0
    }
}
