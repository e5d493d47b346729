%% A seeded generator that fits small integers: 64 bits would be bignums here.
-module(draw).
-export([new/1, below/2]).

new(Seed) -> (Seed * 2654435761 + 1) band 16#3FFFFFF.

%% A number below the bound, and what the next one is drawn from.
below(State, Bound) ->
    Next = (State * 1664525 + 1013904223) band 16#FFFFFFFF,
    {(Next bsr 8) rem Bound, Next}.
