%% A million processes under names, each told one message, and a tree that sums
%% itself up. Registered names are atoms, of which there can be a million only
%% if one asks for it, so the names are keys of a public table.
-module(spawning).
-export([named/0, skynet/0]).

named() ->
    Pass = self(),
    Names = ets:new(names, [set, public]),
    Next = counters:new(1, []),
    fun(Count) ->
        First = counters:get(Next, 1),
        counters:add(Next, 1, Count),
        Sinks = [born(Pass, Names, Index) || Index <- lists:seq(First, First + Count - 1)],
        [Sink ! last || Sink <- Sinks],
        latch:wait(Count)
    end.

born(Pass, Names, Index) ->
    Sink = tell:sink(Pass),
    true = ets:insert_new(Names, {<<"sink-", (integer_to_binary(Index))/binary>>, Sink}),
    Sink.

skynet() ->
    fun(Leaves) ->
        Root = self(),
        spawn(fun() -> node(Root, 0, Leaves) end),
        Expected = Leaves * (Leaves - 1) div 2,
        Expected = latch:wait(1),
        Leaves
    end.

node(Parent, First, 1) -> latch:arrive(Parent, First);
node(Parent, First, Leaves) ->
    {Me, Share} = {self(), Leaves div 10},
    [spawn(fun() -> node(Me, First + Index * Share, Share) end) || Index <- lists:seq(0, 9)],
    latch:arrive(Parent, latch:wait(10)).
