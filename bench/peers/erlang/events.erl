%% A hundred handlers of one event manager: gen_event. They are no processes of
%% their own; the manager calls one after the other for each event. After each
%% thousand that were published everybody is waited for.
-module(events).
-behaviour(gen_event).
-export([set_up/0]).
-export([init/1, handle_event/2, handle_call/2]).

-define(HANDLERS, 100).
-define(ROUND, 1000).

set_up() ->
    Pass = self(),
    {ok, Manager} = gen_event:start_link(),
    [ok = gen_event:add_handler(Manager, {?MODULE, Index}, Pass) || Index <- lists:seq(1, ?HANDLERS)],
    fun(Count) ->
        rounds(Manager, max(Count div ?HANDLERS, 1)),
        Count
    end.

rounds(_, 0) -> ok;
rounds(Manager, Left) ->
    Round = min(Left, ?ROUND),
    spawn(fun() -> publish(Manager, Round) end),
    Expected = Round * ?HANDLERS,
    Expected = latch:wait(?HANDLERS),
    rounds(Manager, Left - Round).

publish(Manager, 1) -> gen_event:notify(Manager, last);
publish(Manager, Left) ->
    gen_event:notify(Manager, Left),
    publish(Manager, Left - 1).

init(Pass) -> {ok, {Pass, 0, 0}}.

handle_event(last, {Pass, _, Handled}) ->
    latch:arrive(Pass, Handled + 1),
    {ok, {Pass, 0, 0}};
handle_event(Value, {Pass, Sum, Handled}) ->
    {ok, {Pass, Sum + Value, Handled + 1}}.

handle_call(_, State) -> {ok, ok, State}.
