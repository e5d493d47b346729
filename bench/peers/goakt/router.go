// Sixteen routees behind a router, in turn and by the hash of a key.
package main

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tochemey/goakt/v4/actor"
)

const routees = 16

// How many messages each routee handled, a cache line apart.
var routed [routees]struct {
	handled atomic.Uint64
	_       [56]byte
}

// The router makes its routees itself, so they take their place when they start.
var place atomic.Uint64

type routee struct {
	quiet
	slot uint64
}

func (r *routee) PreStart(*actor.Context) error {
	r.slot = place.Add(1) - 1
	return nil
}

func (r *routee) Receive(ctx *actor.ReceiveContext) {
	if _, ok := ctx.Message().(put); ok {
		handled := &routed[r.slot].handled
		handled.Store(handled.Load() + 1)
	}
}

func routerRoundRobin(sizes) pass { return route(actor.WithRoutingStrategy(actor.RoundRobinRouting)) }

func routerHash(sizes) pass {
	return route(actor.WithConsistentHashRouter(func(message any) string {
		value, _ := message.(put)
		return strconv.FormatUint(uint64(value), 10)
	}))
}

func route(option actor.RouterOption) pass {
	system := startSystem()
	router, err := system.SpawnRouter(background, "router", routees, &routee{}, option)
	must(err)
	sender := spawnActor(system, "sender", &job{})
	await("the routees", func() bool { return place.Load() == routees })
	return func(count uint64) uint64 {
		before := routedTotal()
		must(actor.Tell(background, sender, work(func(self *actor.PID) {
			for value := range put(count) {
				send(self, router, actor.NewBroadcast(value))
			}
		})))
		await("the messages", func() bool { return routedTotal() >= before+count })
		return routedTotal() - before
	}
}

func routedTotal() (sum uint64) {
	for index := range routed {
		sum += routed[index].handled.Load()
	}
	return sum
}

// await looks often enough not to be seen in the figures.
func await(what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			fail("waited too long for %s", what)
		}
	}
}
