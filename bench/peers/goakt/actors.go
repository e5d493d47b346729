// The actors and the latch that several workloads share.
package main

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/tochemey/goakt/v4/actor"
)

// The value of the message after which a receiver reports to the latch.
const last = put(math.MaxUint64)

// How long a pass may take, and an ask may wait.
const patience = 110 * time.Second

var background = context.Background()

func startSystem(options ...actor.Option) actor.ActorSystem {
	options = append(options, actor.WithLoggingDisabled())
	system, err := actor.NewActorSystem("bench", options...)
	must(err)
	must(system.Start(background))
	return system
}

// Actors live until stopped, as everybody else's do.
func spawnActor(system actor.ActorSystem, name string, it actor.Actor, options ...actor.SpawnOption) *actor.PID {
	pid, err := system.Spawn(background, name, it, append(options, actor.WithLongLived())...)
	must(err)
	return pid
}

// A countdown that receivers arrive at, and how many messages they handled.
type latch struct {
	left    atomic.Int64
	handled atomic.Uint64
	opened  chan struct{}
}

func newLatch() *latch { return &latch{opened: make(chan struct{}, 1)} }

func (l *latch) arm(count uint64) {
	l.handled.Store(0)
	l.left.Store(int64(count))
}

func (l *latch) arrive(handled uint64) {
	l.handled.Add(handled)
	if l.left.Add(-1) == 0 {
		l.opened <- struct{}{}
	}
}

func (l *latch) wait() uint64 {
	select {
	case <-l.opened:
		return l.handled.Load()
	case <-time.After(patience):
		fail("the pass did not end: %d arrivals missing", l.left.Load())
		return 0
	}
}

// quiet spares actors the hooks they have no use for.
type quiet struct{}

func (quiet) PreStart(*actor.Context) error { return nil }
func (quiet) PostStop(*actor.Context) error { return nil }

// work is done by a job in its handler.
type work func(self *actor.PID)

type job struct{ quiet }

func (*job) Receive(ctx *actor.ReceiveContext) {
	if do, ok := ctx.Message().(work); ok {
		do(ctx.Self())
	}
}

type put uint64

// sink adds numbers and reports the last.
type sink struct {
	quiet
	sum, handled uint64
	latch        *latch
}

func (s *sink) Receive(ctx *actor.ReceiveContext) {
	value, ok := ctx.Message().(put)
	if !ok {
		return
	}
	s.sum += uint64(value)
	s.handled++
	if value == last {
		handled := s.handled
		s.handled = 0
		s.latch.arrive(handled)
	}
}

// send is the call that costs least: PID.Tell with the sender it already has.
func send(from, to *actor.PID, message any) { must(from.Tell(background, to, message)) }
