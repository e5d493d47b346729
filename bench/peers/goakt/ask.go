// Request and reply: actor asks actor one by one, and goroutines ask a crowd.
package main

import (
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
)

const (
	crowdSize = 1_000
	clients   = 64
)

// echo replies with how often it was asked.
type echo struct {
	quiet
	asked put
}

func (e *echo) Receive(ctx *actor.ReceiveContext) {
	if value, ok := ctx.Message().(put); ok {
		e.asked += value
		ctx.Response(e.asked)
	}
}

func ask(sizes) pass { return askIn(startSystem()) }

func askIn(system actor.ActorSystem) pass {
	latch := newLatch()
	asker, target := spawnActor(system, "asker", &job{}), spawnActor(system, "echo", &echo{})
	var before put
	return func(count uint64) uint64 {
		latch.arm(1)
		must(actor.Tell(background, asker, work(func(self *actor.PID) {
			var sum put
			for range count {
				reply, err := self.Ask(background, target, put(1), patience)
				must(err)
				sum = reply.(put)
			}
			asked := sum - before
			before = sum
			latch.arrive(uint64(asked))
		})))
		return latch.wait()
	}
}

func askMany(sizes) pass { return askCrowd(clients) }

func askOne(sizes) pass { return askCrowd(1) }

func askCrowd(tasks uint64) pass {
	system, latch := startSystem(), newLatch()
	var crowd [crowdSize]*actor.PID
	for index := range crowd {
		crowd[index] = spawnActor(system, "echo-"+strconv.Itoa(index), &echo{})
	}
	return func(count uint64) uint64 {
		latch.arm(tasks)
		for task := range tasks {
			go func() {
				random := newRandom(task)
				var replies uint64
				for range count / tasks {
					reply, err := actor.Ask(background, crowd[random.below(crowdSize)], put(1), patience)
					must(err)
					if reply.(put) > 0 {
						replies++
					}
				}
				latch.arrive(replies)
			}()
		}
		return latch.wait() + count%tasks
	}
}
