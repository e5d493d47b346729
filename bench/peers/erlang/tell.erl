%% Fire and forget between plain processes: one to one, many to one, one to many.
-module(tell).
-export([one_to_one/0, fan_in/0, fan_out/0, sink/1]).

-define(SENDERS, 8).
-define(RECEIVERS, 10000).

%% A process that adds numbers and reports the last.
sink(Pass) -> spawn(fun() -> sink(Pass, 0, 0) end).

sink(Pass, Sum, Handled) ->
    receive
        last ->
            latch:arrive(Pass, Handled + 1),
            sink(Pass, 0, 0);
        Value ->
            sink(Pass, Sum + Value, Handled + 1)
    end.

one_to_one() ->
    Sink = sink(self()),
    fun(Count) ->
        spawn(fun() -> tell_all(Sink, Count) end),
        latch:wait(1)
    end.

tell_all(Sink, 1) -> Sink ! last;
tell_all(Sink, Left) ->
    Sink ! Left,
    tell_all(Sink, Left - 1).

fan_in() ->
    Sink = sink(self()),
    fun(Count) ->
        [spawn(fun() -> tell_all(Sink, Count div ?SENDERS) end) || _ <- lists:seq(1, ?SENDERS)],
        latch:wait(?SENDERS) + Count rem ?SENDERS
    end.

fan_out() ->
    Pass = self(),
    Sinks = [sink(Pass) || _ <- lists:seq(1, ?RECEIVERS)],
    fun(Count) ->
        Rounds = max(Count div ?RECEIVERS, 1),
        spawn(fun() -> rounds(Sinks, Rounds) end),
        Expected = Rounds * ?RECEIVERS,
        Expected = latch:wait(?RECEIVERS),
        Count
    end.

rounds(Sinks, 1) -> [Sink ! last || Sink <- Sinks];
rounds(Sinks, Left) ->
    [Sink ! Left || Sink <- Sinks],
    rounds(Sinks, Left - 1).
