%% Request and reply: gen_server:call, one by one and by many to a crowd.
-module(ask).
-behaviour(gen_server).
-export([one_by_one/0, crowd/1]).
-export([init/1, handle_call/3, handle_cast/2]).

-define(CROWD, 1000).

init([]) -> {ok, 0}.
handle_call(Value, _From, Sum) -> {reply, Sum + Value, Sum + Value}.
handle_cast(_, Sum) -> {noreply, Sum}.

echo() -> element(2, {ok, _} = gen_server:start(?MODULE, [], [])).

one_by_one() ->
    {Pass, Echo} = {self(), echo()},
    fun(Count) ->
        Before = gen_server:call(Echo, 0),
        spawn(fun() -> latch:arrive(Pass, calls(Echo, Count, 0) - Before) end),
        latch:wait(1)
    end.

calls(_, 0, Sum) -> Sum;
calls(Echo, Left, _) -> calls(Echo, Left - 1, gen_server:call(Echo, 1)).

crowd(Clients) ->
    Pass = self(),
    Crowd = list_to_tuple([echo() || _ <- lists:seq(1, ?CROWD)]),
    fun(Count) ->
        [spawn(fun() -> latch:arrive(Pass, client(Crowd, Count div Clients, draw:new(Seed), 0)) end)
         || Seed <- lists:seq(1, Clients)],
        latch:wait(Clients) + Count rem Clients
    end.

client(_, 0, _, Replies) -> Replies;
client(Crowd, Left, Random, Replies) ->
    {Index, Next} = draw:below(Random, ?CROWD),
    true = gen_server:call(element(Index + 1, Crowd), 1) > 0,
    client(Crowd, Left - 1, Next, Replies + 1).
