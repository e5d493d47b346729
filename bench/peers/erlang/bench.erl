%% The workloads of the benchmark on Erlang/OTP: `list` names those it offers,
%% `run WORKLOAD --ops N …` measures one and prints one line of JSON.
-module(bench).
-export([main/0]).

main() ->
    logger:set_primary_config(level, none),
    try
        command(init:get_plain_arguments())
    catch
        _:Reason:Stack ->
            io:format(standard_error, "erlang: ~p~n~p~n", [Reason, Stack]),
            erlang:halt(1)
    end.

command(["list"]) ->
    [io:format("~s~n", [Name]) || Name <- names()],
    erlang:halt(0);
command(["run", Name | Options]) ->
    Sizes = sizes(Options, #{}),
    io:format("~s~n", [measure:run(Name, set_up(Name), Sizes)]),
    erlang:halt(0, [{flush, true}]).

sizes(["--" ++ Key, Value | Rest], Sizes) -> sizes(Rest, Sizes#{Key => list_to_integer(Value)});
sizes([], Sizes) -> Sizes.

names() ->
    ["tell", "fan-in", "fan-out", "pairs", "ask", "tokio-ask", "tokio-ask/one", "spawn", "skynet", "timers",
     "timers/fire", "timers/set-cancel", "restart", "restart/panic", "stash", "topic", "events"].

%% A function that runs so many operations and returns how many were handled.
set_up("tell") -> tell:one_to_one();
set_up("fan-in") -> tell:fan_in();
set_up("fan-out") -> tell:fan_out();
set_up("pairs") -> pairs:set_up();
set_up("ask") -> ask:one_by_one();
set_up("tokio-ask") -> ask:crowd(64);
set_up("tokio-ask/one") -> ask:crowd(1);
set_up("spawn") -> spawning:named();
set_up("skynet") -> spawning:skynet();
set_up("timers") -> timing:pending();
set_up("timers/fire") -> timing:fire();
set_up("timers/set-cancel") -> timing:set_and_cancel();
set_up("restart") -> restart:set_up(stop);
set_up("restart/panic") -> restart:set_up(crash);
set_up("stash") -> stash:set_up();
set_up("topic") -> topic:set_up();
set_up("events") -> events:set_up();
set_up(Name) -> error({not_offered, Name}).
