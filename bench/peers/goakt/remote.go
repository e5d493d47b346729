// Workloads between two processes over loopback: this process calls, the same
// program is started once more to serve. See ../../duet for how the two speak
// beside what is measured.
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/remote"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	host        = "127.0.0.1"
	remotePairs = 1_000
	// How many large messages are under way beside small ones, and alone.
	largeBeside = 4
	largeAlone  = 8
	largeBytes  = 1 << 20
	// As a bytes field in a message this is 100 bytes long.
	smallBytes = 98
	lookAgain  = time.Millisecond
)

// What is offered; encryption and compression are measured for Volary alone.
var remoteWorkloads = []string{
	"remote-tell/one", "remote-tell/many", "remote-ask/64", "remote-ask/one",
	"remote-mixed/alone", "remote-mixed", "remote-bulk",
}

func isRemote(name string) bool { return strings.HasPrefix(name, "remote-") }

func receivers(name string) int {
	switch name {
	case "remote-tell/many":
		return remotePairs
	case "remote-mixed":
		return 2
	default:
		return 1
	}
}

// desk counts what it is told and says how many that were.
type desk struct {
	quiet
	handled uint64
}

func (d *desk) Receive(ctx *actor.ReceiveContext) {
	switch ctx.Message().(type) {
	case *wrapperspb.BytesValue:
		d.handled++
	case *wrapperspb.UInt64Value:
		ctx.Response(wrapperspb.UInt64(d.handled))
	}
}

// mirror answers with what it was asked with, a large body left out.
type mirror struct{ quiet }

func (*mirror) Receive(ctx *actor.ReceiveContext) {
	if question, ok := ctx.Message().(*wrapperspb.BytesValue); ok {
		if len(question.Value) > smallBytes {
			question = wrapperspb.Bytes(question.Value[:8])
		}
		ctx.Response(question)
	}
}

// A port that was free a moment ago: the configuration wants one.
func freePort() int {
	listener, err := net.Listen("tcp", host+":0")
	must(err)
	defer func() { must(listener.Close()) }()
	return listener.Addr().(*net.TCPAddr).Port
}

func startNode() (actor.ActorSystem, int) {
	port := freePort()
	return startSystem(actor.WithRemote(remote.NewConfig(host, port))), port
}

// serve brings up the actors of a workload and answers questions about this
// process until stdin ends.
func serve(name string) {
	system, port := startNode()
	for index := range receivers(name) {
		var it actor.Actor = &desk{}
		if !strings.HasPrefix(name, "remote-tell/") {
			it = &mirror{}
		}
		spawnActor(system, deskName(index), it)
	}
	answerQuestions(fmt.Sprintf("%d", port))
}

func deskName(index int) string { return "desk-" + strconv.Itoa(index) }

// caller is the measuring side.
type caller struct {
	name      string
	from, far []*actor.PID
	told      uint64
	latencies *latencies
}

func call(name, invitation string) *caller {
	port, err := strconv.Atoi(invitation)
	must(err)
	system, _ := startNode()
	c := &caller{name: name}
	for index := range max(receivers(name), 64) {
		c.from = append(c.from, spawnActor(system, "sender-"+strconv.Itoa(index), &job{}))
	}
	for index := range receivers(name) {
		far, err := c.from[0].RemoteLookup(background, host, port, deskName(index))
		must(err)
		c.far = append(c.far, far)
	}
	return c
}

func (c *caller) pass(count uint64) {
	switch c.name {
	case "remote-tell/one":
		c.tell(1, count)
	case "remote-tell/many":
		c.tell(remotePairs, count)
	case "remote-ask/64":
		c.ask(64, count, small())
	case "remote-bulk":
		c.ask(largeAlone, count, make([]byte, largeBytes))
	case "remote-mixed":
		c.besideLarge(count)
	default:
		c.ask(1, count, small())
	}
}

func small() []byte { return []byte(strings.Repeat("volary-", smallBytes/7)) }

// Each sender tells its receiver, and then asks whether it has handled everything.
func (c *caller) tell(pairs int, count uint64) {
	share := count / uint64(pairs)
	c.told += share
	var all sync.WaitGroup
	for index := range pairs {
		from, far := c.from[index], c.far[index]
		all.Go(func() {
			body := small()
			for range share {
				send(from, far, wrapperspb.Bytes(body))
			}
			for handled := uint64(0); handled != c.told; {
				answer, err := from.Ask(background, far, wrapperspb.UInt64(0), patience)
				must(err)
				handled = answer.(*wrapperspb.UInt64Value).Value
				if handled != c.told {
					time.Sleep(lookAgain)
				}
			}
		})
	}
	all.Wait()
}

func (c *caller) ask(askers int, count uint64, body []byte) {
	var all sync.WaitGroup
	for index := range askers {
		from, kept := c.from[index], c.latencies.one()
		all.Go(func() {
			for range count / uint64(askers) {
				start := time.Now()
				answerTo(from, c.far[0], body)
				kept.add(time.Since(start))
			}
		})
	}
	all.Wait()
}

func (c *caller) besideLarge(count uint64) {
	var over atomic.Bool
	var all sync.WaitGroup
	large := make([]byte, largeBytes)
	for index := range largeBeside {
		from := c.from[index+1]
		all.Go(func() {
			for !over.Load() {
				answerTo(from, c.far[1], large)
			}
		})
	}
	c.ask(1, count, small())
	over.Store(true)
	all.Wait()
}

func answerTo(from, far *actor.PID, body []byte) {
	answer, err := from.Ask(background, far, wrapperspb.Bytes(body), patience)
	must(err)
	if _, ok := answer.(*wrapperspb.BytesValue); !ok {
		fail("not an answer: %v", answer)
	}
}

func measureRemote(name string, size sizes) record {
	executable, err := os.Executable()
	must(err)
	there, invitation := startPartner(executable, "serve", name)
	defer there.end()
	c := call(name, invitation)
	c.latencies = &latencies{}
	c.pass(size.warmUp)

	c.latencies = &latencies{}
	kept := c.latencies
	farBefore, before, start := there.usage(), cpuMicros(), time.Now()
	c.pass(size.ops)
	seconds, after, farAfter := time.Since(start).Seconds(), cpuMicros(), there.usage()
	peak := field("VmHWM:")

	c.latencies = &latencies{}
	farBeforeCounted := there.usage()
	allocations := mallocs(func() { c.pass(size.counted) })
	farAllocations := there.usage().Allocations - farBeforeCounted.Allocations

	result := timed(seconds, size.ops)
	result.AllocsPerOp = share(allocations, size.counted)
	result.FarAllocsPerOp = share(farAllocations, size.counted)
	result.CPUUsPerOp = share(after-before, size.ops)
	result.FarCPUUsPerOp = share(farAfter.CPUUs-farBefore.CPUUs, size.ops)
	result.P50Us, result.P99Us, result.P999Us = kept.percentiles()
	result.PeakBytes = peak
	return result
}
