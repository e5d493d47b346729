//! The chapters of the book, so that their programs are run.
//!
//! They are here and not in the facade because many of them use the test kit. Those that need features
//! of the facade, `wire.md` and `observability.md`, are there.

macro_rules! chapters {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[doc = include_str!(concat!("../../../docs/book/src/", $file))]
            struct $name;
        )*
    };
}

chapters! {
    FirstHour: "first-hour.md",
    MessagesAndReplies: "messages-and-replies.md",
    Failure: "failure.md",
    Time: "time.md",
    Routing: "routing.md",
    WhatActorsNeed: "what-actors-need.md",
    Streams: "streams.md",
    Settings: "settings.md",
    Testing: "testing.md",
    FindTheRace: "find-the-race.md",
    Performance: "performance.md",
    ComingFromGoAkt: "coming-from-goakt.md",
    ComingFromAkka: "coming-from-akka.md",
    ComingFromKameo: "coming-from-kameo.md",
}
