// Faults: each incarnation fails at its one message and is restarted. What waits
// in a mailbox is refused while an actor is down, so each incarnation tells
// itself the next message when it has started.
package main

import (
	"errors"
	"sync/atomic"

	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/supervisor"
)

var errBroken = errors.New("broken on purpose")

type fault func(ctx *actor.ReceiveContext)

type fragile struct {
	quiet
	outstanding atomic.Uint64
	starts      atomic.Uint64
	latch       *latch
	fault       fault
}

func (f *fragile) Receive(ctx *actor.ReceiveContext) {
	switch message := ctx.Message().(type) {
	case *actor.PostStart:
		f.starts.Add(1)
		f.next(ctx.Self())
	case work:
		f.next(ctx.Self())
	case put:
		if message != last {
			f.fault(ctx)
			return
		}
		f.latch.arrive(f.starts.Swap(0))
	}
}

// next tells the incarnation its message, if there is any left.
func (f *fragile) next(self *actor.PID) {
	left := f.outstanding.Load()
	if left == 0 {
		return
	}
	f.outstanding.Store(left - 1)
	if left == 1 {
		send(self, self, last)
	} else {
		send(self, self, put(left))
	}
}

func restartError(sizes) pass {
	return restarts(func(ctx *actor.ReceiveContext) { ctx.Err(errBroken) })
}

func restartPanic(sizes) pass {
	return restarts(func(*actor.ReceiveContext) { panic("broken on purpose") })
}

func restarts(fault fault) pass {
	system, latch := startSystem(), newLatch()
	it := &fragile{latch: latch, fault: fault}
	always := supervisor.NewSupervisor(supervisor.WithAnyErrorDirective(supervisor.RestartDirective))
	pid := spawnActor(system, "fragile", it, actor.WithSupervisor(always))
	// The first start is no restart.
	latch.arm(1)
	it.outstanding.Store(1)
	must(actor.Tell(background, pid, work(nil)))
	latch.wait()
	return func(count uint64) uint64 {
		latch.arm(1)
		it.outstanding.Store(count + 1)
		must(actor.Tell(background, pid, work(nil)))
		return latch.wait()
	}
}
