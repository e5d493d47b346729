// One publisher and a hundred subscribers of an event stream. A subscriber is a
// queue, and nothing tells its reader that an event is in it, so a goroutine
// looks into it and sleeps for a moment when there is none. After each thousand
// that were published everybody is waited for.
package main

import (
	"time"

	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/eventstream"
)

const (
	listeners = 100
	atOnce    = 1_000
	glance    = 100 * time.Microsecond
)

// listen reads up to the last event and reports how many there were.
func listen(to eventstream.Subscriber, latch *latch) {
	var sum, handled uint64
	for {
		for event := range to.Iterator() {
			value := event.Payload().(put)
			sum += uint64(value)
			handled++
			if value == last {
				latch.arrive(handled)
				return
			}
		}
		time.Sleep(glance)
	}
}

func events(sizes) pass {
	system, latch, stream := startSystem(), newLatch(), eventstream.New()
	var crowd []eventstream.Subscriber
	for range listeners {
		it := stream.AddSubscriber()
		stream.Subscribe(it, "news")
		crowd = append(crowd, it)
	}
	sender := spawnActor(system, "publisher", &job{})
	return func(count uint64) uint64 {
		for left := max(count/listeners, 1); left > 0; {
			round := min(left, atOnce)
			left -= round
			latch.arm(listeners)
			for _, it := range crowd {
				go listen(it, latch)
			}
			must(actor.Tell(background, sender, work(func(*actor.PID) {
				for value := put(1); value < put(round); value++ {
					stream.Publish("news", value)
				}
				stream.Publish("news", last)
			})))
			if handled := latch.wait(); handled != round*listeners {
				fail("events: %d of %d delivered", handled, round*listeners)
			}
		}
		return count
	}
}
