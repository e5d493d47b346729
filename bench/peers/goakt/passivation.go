// Actors that sleep: grains, GoAkt's virtual actors. A PoisonPill deactivates
// one at once, the next message activates it. Falling asleep and waking up are
// timed; in between, memory is read.
package main

import (
	"context"
	"strconv"
	"time"

	"github.com/tochemey/goakt/v4/actor"
)

var asleep, awake = newLatch(), newLatch()

type dormant struct{}

func (*dormant) OnActivate(context.Context, *actor.GrainProps) error { return nil }

func (*dormant) OnReceive(ctx *actor.GrainContext) {
	if _, ok := ctx.Message().(put); ok {
		awake.arrive(1)
	}
	ctx.NoErr()
}

func (*dormant) OnDeactivate(context.Context, *actor.GrainProps) error {
	asleep.arrive(1)
	return nil
}

type slumber struct {
	system actor.ActorSystem
	crowd  []*actor.GrainIdentity
	next   uint64
}

func (s *slumber) gather(count uint64) {
	s.crowd = make([]*actor.GrainIdentity, 0, count)
	for range count {
		name := "sleeper-" + strconv.FormatUint(s.next, 10)
		s.next++
		factory := func(context.Context) (actor.Grain, error) { return &dormant{}, nil }
		identity, err := s.system.GrainIdentity(background, name, factory, actor.WithLongLivedGrain())
		must(err)
		s.crowd = append(s.crowd, identity)
	}
	s.wake()
}

func (s *slumber) sleep() { s.tellEach(asleep, new(actor.PoisonPill)) }

func (s *slumber) wake() { s.tellEach(awake, put(1)) }

func (s *slumber) tellEach(latch *latch, message any) {
	latch.arm(uint64(len(s.crowd)))
	for _, identity := range s.crowd {
		must(s.system.TellGrain(background, identity, message))
	}
	if handled := latch.wait(); handled != uint64(len(s.crowd)) {
		fail("passivation: %d of %d", handled, len(s.crowd))
	}
}

func measureSlumber(size sizes) record {
	crowd := &slumber{system: startSystem()}
	crowd.gather(size.warmUp)
	crowd.sleep()
	crowd.wake()

	before := resident()
	crowd.gather(size.ops)
	start := time.Now()
	crowd.sleep()
	falling := time.Since(start)
	bytes := grownSince(before, size.ops)
	start = time.Now()
	crowd.wake()
	waking := time.Since(start)
	peak := field("VmHWM:")

	crowd.gather(size.counted)
	allocations := mallocs(func() {
		crowd.sleep()
		crowd.wake()
	})
	result := timed((falling + waking).Seconds(), size.operations)
	result.AllocsPerOp = share(allocations, size.counted)
	result.BytesPerActor = bytes
	result.PeakBytes = peak
	return result
}
