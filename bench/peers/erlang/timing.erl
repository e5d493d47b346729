%% Timers that are pending, go off, and are cancelled: erlang:send_after.
-module(timing).
-export([pending/0, fire/0, set_and_cancel/0]).

-define(FAR, 3600000).
-define(NEAR, 10).

pending() ->
    Sink = tell:sink(self()),
    fun(Count) -> set(Sink, Count, ?FAR) end.

fire() ->
    Sink = tell:sink(self()),
    fun(Count) ->
        set(Sink, Count, ?NEAR),
        latch:wait(Count)
    end.

set(Sink, Count, Delay) ->
    [erlang:send_after(Delay, Sink, last) || _ <- lists:seq(1, Count)],
    Count.

set_and_cancel() ->
    Sink = tell:sink(self()),
    fun(Count) ->
        [begin
             Timer = erlang:send_after(?FAR, Sink, last),
             true = is_integer(erlang:cancel_timer(Timer))
         end || _ <- lists:seq(1, Count)],
        Count
    end.
