// The second process of a workload: lines over stdin and stdout, processor
// time, and latencies.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long the second process may live in any case.
const life = 240 * time.Second

type usage struct {
	CPUUs       float64 `json:"cpu_us"`
	Allocations float64 `json:"allocations"`
}

func ownUsage() usage {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return usage{CPUUs: cpuMicros(), Allocations: float64(memory.Mallocs)}
}

// User and system time of this process.
func cpuMicros() float64 {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	micros := func(time syscall.Timeval) float64 { return float64(time.Sec)*1e6 + float64(time.Usec) }
	return micros(used.Utime) + micros(used.Stime)
}

func answerQuestions(invitation string) {
	time.AfterFunc(life, func() { os.Exit(3) })
	fmt.Println("ready " + invitation)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		text, err := json.Marshal(ownUsage())
		must(err)
		fmt.Println(string(text))
	}
	os.Exit(0)
}

type partner struct {
	process *exec.Cmd
	orders  io.WriteCloser
	lines   *bufio.Scanner
}

func startPartner(program string, arguments ...string) (*partner, string) {
	process := exec.Command(program, arguments...)
	process.Stderr = os.Stderr
	orders, err := process.StdinPipe()
	must(err)
	output, err := process.StdoutPipe()
	must(err)
	must(process.Start())
	p := &partner{process: process, orders: orders, lines: bufio.NewScanner(output)}
	invitation, ready := strings.CutPrefix(p.line(), "ready ")
	if !ready {
		fail("the second process does not serve")
	}
	return p, invitation
}

func (p *partner) line() string {
	if !p.lines.Scan() {
		fail("the second process has ended")
	}
	return p.lines.Text()
}

func (p *partner) usage() (used usage) {
	_, err := io.WriteString(p.orders, "usage\n")
	must(err)
	must(json.Unmarshal([]byte(p.line()), &used))
	return used
}

func (p *partner) end() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
}

// latencies keeps a list for each asker, so that they do not meet.
type latencies struct {
	lock  sync.Mutex
	lists []*series
}

type series struct{ values []time.Duration }

func (l *series) add(value time.Duration) { l.values = append(l.values, value) }

func (l *latencies) one() *series {
	l.lock.Lock()
	defer l.lock.Unlock()
	kept := &series{}
	l.lists = append(l.lists, kept)
	return kept
}

func (l *latencies) percentiles() (p50, p99, p999 *float64) {
	var all []time.Duration
	for _, kept := range l.lists {
		all = append(all, kept.values...)
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	slices.Sort(all)
	at := func(fraction float64) *float64 {
		value := float64(all[min(int(fraction*float64(len(all))), len(all)-1)].Nanoseconds()) / 1e3
		return &value
	}
	return at(0.5), at(0.99), at(0.999)
}
