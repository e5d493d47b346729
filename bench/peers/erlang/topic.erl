%% One publisher and ten thousand members of a process group: whoever publishes
%% looks the members up and sends to each.
-module(topic).
-export([set_up/0]).

-define(SUBSCRIBERS, 10000).

set_up() ->
    Pass = self(),
    {ok, _} = pg:start(?MODULE),
    ok = pg:join(?MODULE, news, [tell:sink(Pass) || _ <- lists:seq(1, ?SUBSCRIBERS)]),
    fun(Count) ->
        Rounds = max(Count div ?SUBSCRIBERS, 1),
        spawn(fun() -> publish(Rounds) end),
        Expected = Rounds * ?SUBSCRIBERS,
        Expected = latch:wait(?SUBSCRIBERS),
        Count
    end.

publish(0) -> ok;
publish(Left) ->
    Message = case Left of 1 -> last; _ -> Left end,
    [Member ! Message || Member <- pg:get_local_members(?MODULE, news)],
    publish(Left - 1).
