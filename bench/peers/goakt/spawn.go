// A million named actors, each told one message, and a tree that sums itself up.
package main

import (
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
)

func spawn(sizes) pass {
	system, latch := startSystem(), newLatch()
	var next uint64
	return func(count uint64) uint64 {
		latch.arm(count)
		sinks := make([]*actor.PID, 0, count)
		for range count {
			sinks = append(sinks, spawnActor(system, "sink-"+strconv.FormatUint(next, 10), &sink{latch: latch}))
			next++
		}
		for _, to := range sinks {
			must(actor.Tell(background, to, last))
		}
		return latch.wait()
	}
}

type grow struct{ first, leaves uint64 }

type total uint64

// node spawns ten children; when they have reported it reports and stops.
// Names are unique in a GoAkt system, so a node is named for its leaves.
type node struct {
	quiet
	parent  *actor.PID
	missing int
	sum     total
	prefix  string
}

func (n *node) Receive(ctx *actor.ReceiveContext) {
	switch message := ctx.Message().(type) {
	case grow:
		n.grow(ctx, message)
	case total:
		n.sum += message
		n.missing--
		if n.missing == 0 {
			n.report(ctx, n.sum)
		}
	}
}

func (n *node) grow(ctx *actor.ReceiveContext, part grow) {
	if part.leaves == 1 {
		n.report(ctx, total(part.first))
		return
	}
	n.missing = 10
	// SpawnChild asks the new actor for a sign of life and waits for it. Handlers that do this on all
	// dispatcher workers at once would wait for each other, so a goroutine does.
	go spawnTen(ctx.Self(), n.prefix, part)
}

func spawnTen(parent *actor.PID, prefix string, part grow) {
	share := part.leaves / 10
	for index := range uint64(10) {
		first := part.first + index*share
		name := prefix + "-" + strconv.FormatUint(share, 10) + "-" + strconv.FormatUint(first, 10)
		child, err := parent.SpawnChild(background, name, &node{parent: parent, prefix: prefix}, actor.WithLongLived())
		must(err)
		send(parent, child, grow{first, share})
	}
}

func (n *node) report(ctx *actor.ReceiveContext, sum total) {
	send(ctx.Self(), n.parent, sum)
	ctx.Shutdown()
}

// top takes the sum of the whole tree.
type top struct {
	quiet
	latch *latch
}

func (t *top) Receive(ctx *actor.ReceiveContext) {
	if sum, ok := ctx.Message().(total); ok {
		t.latch.arrive(uint64(sum))
	}
}

func skynet(sizes) pass {
	system, latch := startSystem(), newLatch()
	root := spawnActor(system, "top", &top{latch: latch})
	var grown int
	return func(leaves uint64) uint64 {
		latch.arm(1)
		grown++
		prefix := "tree" + strconv.Itoa(grown)
		first := spawnActor(system, prefix, &node{parent: root, prefix: prefix})
		must(actor.Tell(background, first, grow{0, leaves}))
		if sum := latch.wait(); sum != leaves*(leaves-1)/2 {
			fail("skynet: the sum is %d", sum)
		}
		return leaves
	}
}
