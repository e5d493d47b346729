%% Faults: a gen_server under a supervisor without a limit of restarts.
-module(restart).
-behaviour(supervisor).
-export([set_up/1, init/1]).

set_up(How) ->
    %% How many messages are left, and how many incarnations there were.
    Left = counters:new(2, []),
    {ok, Supervisor} = supervisor:start_link(?MODULE, {Left, How}),
    Pass = self(),
    fragile:report_to(Pass),
    fun(Count) ->
        counters:put(Left, 1, Count + 1),
        Before = counters:get(Left, 2),
        [{_, Child, _, _}] = supervisor:which_children(Supervisor),
        gen_server:cast(Child, {next, Pass}),
        latch:wait(1) - Before
    end.

init({Left, How}) ->
    Flags = #{strategy => one_for_one, intensity => 1000000000, period => 1},
    {ok, {Flags, [#{id => fragile, start => {fragile, start_link, [Left, How]}}]}}.
