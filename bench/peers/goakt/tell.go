// Fire and forget: one to one, from outside, bounded, many to one, one to many.
package main

import (
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
)

const (
	capacity = 1_024
	senders  = 8
	receives = 10_000
)

func tell(sizes) pass { return tellIn(startSystem()) }

// The ring buffer of the bounded mailbox has the sender wait for room.
func tellBounded(sizes) pass {
	return tellIn(startSystem(), actor.WithMailbox(actor.NewBoundedMailbox(capacity)))
}

func tellIn(system actor.ActorSystem, options ...actor.SpawnOption) pass {
	latch := newLatch()
	sender := spawnActor(system, "sender", &job{})
	target := spawnActor(system, "sink", &sink{latch: latch}, options...)
	return func(count uint64) uint64 {
		latch.arm(1)
		must(actor.Tell(background, sender, work(func(self *actor.PID) { tellAll(self, target, count) })))
		return latch.wait()
	}
}

func tellAll(from, to *actor.PID, count uint64) {
	for value := put(1); value < put(count); value++ {
		send(from, to, value)
	}
	send(from, to, last)
}

// A goroutine that is no actor.
func tellOutside(sizes) pass {
	system, latch := startSystem(), newLatch()
	target := spawnActor(system, "sink", &sink{latch: latch})
	return func(count uint64) uint64 {
		latch.arm(1)
		go func() {
			for value := put(1); value < put(count); value++ {
				must(actor.Tell(background, target, value))
			}
			must(actor.Tell(background, target, last))
		}()
		return latch.wait()
	}
}

func fanIn(sizes) pass {
	system, latch := startSystem(), newLatch()
	target := spawnActor(system, "sink", &sink{latch: latch})
	var crowd []*actor.PID
	for index := range senders {
		crowd = append(crowd, spawnActor(system, "sender-"+strconv.Itoa(index), &job{}))
	}
	return func(count uint64) uint64 {
		latch.arm(senders)
		share := count / senders
		for _, sender := range crowd {
			must(actor.Tell(background, sender, work(func(self *actor.PID) { tellAll(self, target, share) })))
		}
		return latch.wait() + count%senders
	}
}

func fanOut(sizes) pass {
	system, latch := startSystem(), newLatch()
	sender := spawnActor(system, "sender", &job{})
	var sinks []*actor.PID
	for index := range receives {
		sinks = append(sinks, spawnActor(system, "sink-"+strconv.Itoa(index), &sink{latch: latch}))
	}
	return func(count uint64) uint64 {
		rounds := max(count/receives, 1)
		latch.arm(receives)
		must(actor.Tell(background, sender, work(func(self *actor.PID) {
			for round := put(1); round < put(rounds); round++ {
				for _, to := range sinks {
					send(self, to, round)
				}
			}
			for _, to := range sinks {
				send(self, to, last)
			}
		})))
		if handled := latch.wait(); handled != rounds*receives {
			fail("fan-out: %d of %d handled", handled, rounds*receives)
		}
		return count
	}
}
