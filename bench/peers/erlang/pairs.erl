%% Sixty-four pairs tell a falling number back and forth.
-module(pairs).
-export([set_up/0]).

-define(PAIRS, 64).

set_up() ->
    Pass = self(),
    Firsts = [pair(Pass) || _ <- lists:seq(1, ?PAIRS)],
    fun(Count) ->
        Share = max(Count div ?PAIRS, 2),
        %% A served ball n is handled n + 1 times.
        [First ! Share - 1 || First <- Firsts],
        Expected = Share * ?PAIRS,
        Expected = latch:wait(2 * ?PAIRS),
        Count
    end.

pair(Pass) ->
    First = spawn(fun() -> receive {other, Other} -> player(Pass, Other, 0) end end),
    Second = spawn(fun() -> player(Pass, First, 0) end),
    First ! {other, Second},
    First.

player(Pass, Other, Handled) ->
    receive
        0 ->
            latch:arrive(Pass, Handled + 1),
            player(Pass, Other, 0);
        1 ->
            latch:arrive(Pass, Handled + 1),
            Other ! 0,
            player(Pass, Other, 0);
        Ball ->
            Other ! Ball - 1,
            player(Pass, Other, Handled + 1)
    end.
