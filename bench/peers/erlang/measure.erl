%% Warm up, time one pass, read memory. The runtime compiles when it loads a
%% module, so the warm-up only grows heaps. It does not count allocations.
-module(measure).
-export([run/3]).

run(Name, Pass, #{"ops" := Ops, "operations" := Operations, "warm-up" := WarmUp}) ->
    checked(Pass, WarmUp),
    Before = status("VmRSS:"),
    Start = erlang:monotonic_time(nanosecond),
    checked(Pass, Ops),
    Nanos = erlang:monotonic_time(nanosecond) - Start,
    Bytes = bytes_per_actor(Name, Before, Ops),
    io_lib:format(
        "{\"ops_per_sec\":~.3f,\"ns_per_op\":~.3f,\"allocs_per_op\":null,\"bytes_per_actor\":~s,\"peak_bytes\":~b}",
        [Operations * 1.0e9 / Nanos, Nanos / Operations, Bytes, status("VmHWM:")]).

checked(Pass, Count) ->
    case Pass(Count) of
        Count -> ok;
        Handled -> error({handled, Handled, 'of', Count})
    end.

bytes_per_actor(Name, Before, Ops) when Name =:= "spawn"; Name =:= "timers" ->
    timer:sleep(300),
    io_lib:format("~.3f", [max(status("VmRSS:") - Before, 0) / Ops]);
bytes_per_actor(_, _, _) ->
    "null".

%% A field of the kernel's account in bytes.
status(Field) ->
    {ok, File} = file:open("/proc/self/status", [read]),
    Bytes = find(File, Field),
    ok = file:close(File),
    Bytes.

find(File, Field) ->
    {ok, Line} = file:read_line(File),
    case string:prefix(Line, Field) of
        nomatch -> find(File, Field);
        Rest -> 1024 * list_to_integer(hd(string:lexemes(Rest, "\t ")))
    end.
