// Timers that are pending, go off, and are cancelled: ActorSystem.ScheduleOnce.
package main

import (
	"strconv"
	"time"

	"github.com/tochemey/goakt/v4/actor"
)

const (
	far  = time.Hour
	near = 10 * time.Millisecond
)

func timersPending(sizes) pass {
	system := startSystem()
	target := spawnActor(system, "sink", &sink{latch: newLatch()})
	return func(count uint64) uint64 {
		for range count {
			must(system.ScheduleOnce(background, last, target, far))
		}
		return count
	}
}

func timersFire(sizes) pass {
	system, latch := startSystem(), newLatch()
	target := spawnActor(system, "sink", &sink{latch: latch})
	return func(count uint64) uint64 {
		latch.arm(count)
		for range count {
			must(system.ScheduleOnce(background, last, target, near))
		}
		return latch.wait()
	}
}

func timersCancel(sizes) pass {
	system := startSystem()
	target := spawnActor(system, "sink", &sink{latch: newLatch()})
	var next uint64
	return func(count uint64) uint64 {
		for range count {
			reference := strconv.FormatUint(next, 10)
			next++
			must(system.ScheduleOnce(background, last, target, far, actor.WithReference(reference)))
			must(system.CancelSchedule(reference))
		}
		return count
	}
}
