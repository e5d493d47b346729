%% Messages put aside: what a gen_statem postpones comes back when its state
%% changes, before anything newer.
-module(stash).
-behaviour(gen_statem).
-export([set_up/0, init/1, callback_mode/0, closed/3, opened/3]).

-define(ASIDE, 1000).

set_up() ->
    Pass = self(),
    {ok, Hoarder} = gen_statem:start(?MODULE, Pass, []),
    fun(Count) ->
        spawn(fun() -> put_all(Hoarder, 1, Count) end),
        latch:wait(1)
    end.

put_all(Hoarder, Value, Count) when Value =:= Count ->
    gen_statem:cast(Hoarder, last),
    gen_statem:cast(Hoarder, open);
put_all(Hoarder, Value, Count) ->
    gen_statem:cast(Hoarder, Value),
    Value rem ?ASIDE =:= 0 andalso gen_statem:cast(Hoarder, open),
    put_all(Hoarder, Value + 1, Count).

callback_mode() -> state_functions.

%% Whom to report to, how many are aside, how many were handled.
init(Pass) -> {ok, closed, {Pass, 0, 0}}.

closed(cast, open, Data) -> {next_state, opened, Data};
closed(cast, _, {Pass, Aside, Handled}) -> {keep_state, {Pass, Aside + 1, Handled}, [postpone]}.

opened(cast, last, {Pass, 1, Handled}) ->
    latch:arrive(Pass, Handled + 1),
    {next_state, closed, {Pass, 0, 0}};
opened(cast, _, {Pass, 1, Handled}) -> {next_state, closed, {Pass, 0, Handled + 1}};
opened(cast, _, {Pass, Aside, Handled}) -> {keep_state, {Pass, Aside - 1, Handled + 1}}.
