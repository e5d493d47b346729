// Sixty-four pairs tell a falling number back and forth.
package main

import (
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
)

const pairCount = 64

type meet struct{ other *actor.PID }

type player struct {
	quiet
	other   *actor.PID
	handled uint64
	both    *latch
}

func (p *player) Receive(ctx *actor.ReceiveContext) {
	switch message := ctx.Message().(type) {
	case put:
		p.handled++
		if message > 1 {
			send(ctx.Self(), p.other, message-1)
			return
		}
		// The last two balls: each side says how many it had.
		handled := p.handled
		p.handled = 0
		p.both.arrive(handled)
		if message == 1 {
			send(ctx.Self(), p.other, put(0))
		}
	case meet:
		p.other = message.other
	}
}

func pairs(sizes) pass {
	system, latch := startSystem(), newLatch()
	var firsts []*actor.PID
	for index := range pairCount {
		name := strconv.Itoa(index)
		first := spawnActor(system, "first-"+name, &player{both: latch})
		second := spawnActor(system, "second-"+name, &player{both: latch, other: first})
		must(actor.Tell(background, first, meet{second}))
		firsts = append(firsts, first)
	}
	return func(count uint64) uint64 {
		latch.arm(2 * pairCount)
		// A served ball n is handled n + 1 times.
		share := max(count/pairCount, 2)
		for _, first := range firsts {
			must(actor.Tell(background, first, put(share-1)))
		}
		if handled := latch.wait(); handled != share*pairCount {
			fail("pairs: %d of %d handled", handled, share*pairCount)
		}
		return count
	}
}
