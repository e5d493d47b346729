%% A gen_server that fails at every message but the last. A mailbox dies with its
%% process, so each incarnation tells itself its one message.
-module(fragile).
-behaviour(gen_server).
-export([report_to/1, start_link/2, init/1, handle_call/3, handle_cast/2]).

report_to(Pass) -> persistent_term:put(?MODULE, Pass).

start_link(Left, How) -> gen_server:start_link(?MODULE, {Left, How}, []).

%% The first one starts before there is a pass.
init({Left, How}) ->
    case persistent_term:get(?MODULE, none) of
        none -> ok;
        Pass ->
            counters:add(Left, 2, 1),
            gen_server:cast(self(), {next, Pass})
    end,
    {ok, {Left, How}}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast({next, Pass}, {Left, How} = State) ->
    case counters:get(Left, 1) of
        1 ->
            latch:arrive(Pass, counters:get(Left, 2)),
            {noreply, State};
        Faults ->
            counters:put(Left, 1, Faults - 1),
            fail(How, State)
    end.

fail(stop, State) -> {stop, broken, State};
fail(crash, _) -> error(broken).
