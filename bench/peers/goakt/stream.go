// A stream into an actor. ToActor tells, and so the demand of the stream ends
// at the stage that forwards: it is the actor's mailbox, in which that stage
// waits for room, that has the actor set the pace.
package main

import (
	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/stream"
)

// How many elements wait for the actor at most: as many as GoAkt lets wait for a stage.
const window = 512

func streamToActor(sizes) pass {
	system, latch := startSystem(), newLatch()
	target := spawnActor(system, "sink", &sink{latch: latch}, actor.WithMailbox(actor.NewBoundedMailbox(window)))
	return func(count uint64) uint64 {
		latch.arm(1)
		numbers := stream.Unfold(put(1), func(value put) (put, put, bool) {
			if value == put(count) {
				return value, last, false
			}
			return value + 1, value, true
		})
		_, err := numbers.To(stream.ToActor[put](target)).Run(background, system)
		must(err)
		return latch.wait()
	}
}
