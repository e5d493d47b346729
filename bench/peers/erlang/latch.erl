%% How a pass learns of its end: receivers send how many messages they handled.
-module(latch).
-export([arrive/2, wait/1]).

-define(PATIENCE, 110000).

arrive(Pass, Handled) -> Pass ! {arrived, Handled}.

%% Waits for so many arrivals and adds up what they handled.
wait(Arrivals) -> wait(Arrivals, 0).

wait(0, Handled) -> Handled;
wait(Arrivals, Handled) ->
    receive
        {arrived, More} -> wait(Arrivals - 1, Handled + More)
    after ?PATIENCE -> error({arrivals_missing, Arrivals})
    end.
