// Messages put aside: a thousand at a time, taken back and handled. UnstashAll
// puts what was stashed behind what waits, so the actor tells by the number
// whether a message has been aside already.
package main

import "github.com/tochemey/goakt/v4/actor"

const aside = 1_000

type open struct{}

type hoarder struct {
	quiet
	// Numbers up to the first are handled, those up to the second were stashed.
	opened, stashed put
	handled         uint64
	latch           *latch
	end             put
}

func (h *hoarder) Receive(ctx *actor.ReceiveContext) {
	switch message := ctx.Message().(type) {
	case put:
		if message > h.opened {
			h.stashed = message
			ctx.Stash()
			return
		}
		h.handled++
		if h.handled == uint64(h.end) {
			h.latch.arrive(h.handled)
		}
	case open:
		h.opened = h.stashed
		ctx.UnstashAll()
	case work:
		h.opened, h.stashed, h.handled = 0, 0, 0
	}
}

func stash(sizes) pass {
	system, latch := startSystem(), newLatch()
	it := &hoarder{latch: latch}
	sender, target := spawnActor(system, "sender", &job{}), spawnActor(system, "hoarder", it, actor.WithStashing())
	return func(count uint64) uint64 {
		latch.arm(1)
		it.end = put(count)
		must(actor.Tell(background, target, work(nil)))
		must(actor.Tell(background, sender, work(func(self *actor.PID) {
			for value := put(1); value <= put(count); value++ {
				send(self, target, value)
				if value%aside == 0 || value == put(count) {
					send(self, target, open{})
				}
			}
		})))
		return latch.wait()
	}
}
