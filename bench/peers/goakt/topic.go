// One publisher, a topic, ten thousand subscribers: GoAkt's topic actor.
package main

import (
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
)

const subscribers = 10_000

type subscriber struct {
	sink
	ready *latch
}

func (s *subscriber) Receive(ctx *actor.ReceiveContext) {
	switch ctx.Message().(type) {
	case work:
		send(ctx.Self(), ctx.ActorSystem().TopicActor(), actor.NewSubscribe("news"))
	case *actor.SubscribeAck:
		s.ready.arrive(1)
	default:
		s.sink.Receive(ctx)
	}
}

func topic(sizes) pass {
	system, latch, ready := startSystem(actor.WithPubSub()), newLatch(), newLatch()
	ready.arm(subscribers)
	for index := range subscribers {
		it := &subscriber{sink: sink{latch: latch}, ready: ready}
		pid := spawnActor(system, "subscriber-"+strconv.Itoa(index), it)
		must(actor.Tell(background, pid, work(nil)))
	}
	ready.wait()
	sender := spawnActor(system, "publisher", &job{})
	var published uint64
	return func(count uint64) uint64 {
		rounds := max(count/subscribers, 1)
		latch.arm(subscribers)
		must(actor.Tell(background, sender, work(func(self *actor.PID) {
			for round := uint64(1); round <= rounds; round++ {
				value := put(round)
				if round == rounds {
					value = last
				}
				// The topic actor drops an id it has seen before.
				published++
				send(self, system.TopicActor(), actor.NewPublish(strconv.FormatUint(published, 10), "news", value))
			}
		})))
		if handled := latch.wait(); handled != rounds*subscribers {
			fail("topic: %d of %d delivered", handled, rounds*subscribers)
		}
		return count
	}
}
