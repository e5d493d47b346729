// The workloads of the benchmark on GoAkt: `goakt list` names those it offers,
// `goakt run WORKLOAD --ops N …` measures one and prints one line of JSON,
// `goakt serve WORKLOAD` is the second process of a workload between two.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
)

// A pass runs so many operations to completion and says how many were handled.
type pass func(count uint64) (handled uint64)

// What sets up a workload. Passes are called several times on the same actors.
type setUp func(size sizes) pass

var workloads = map[string]setUp{
	"tell":              tell,
	"tell/outside":      tellOutside,
	"tell/bounded":      tellBounded,
	"tell/telemetry":    tellTelemetry,
	"fan-in":            fanIn,
	"fan-out":           fanOut,
	"pairs":             pairs,
	"ask":               ask,
	"ask/telemetry":     askTelemetry,
	"tokio-ask":         askMany,
	"tokio-ask/one":     askOne,
	"spawn":             spawn,
	"skynet":            skynet,
	"timers":            timersPending,
	"timers/fire":       timersFire,
	"timers/set-cancel": timersCancel,
	"restart":           restartError,
	"restart/panic":     restartPanic,
	"stash":             stash,
	"router":            routerRoundRobin,
	"router/hash":       routerHash,
	"topic":             topic,
	"events":            events,
	"stream":            streamToActor,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" {
		list()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	if len(os.Args) < 3 || os.Args[1] != "run" {
		fail("usage: goakt list | goakt run WORKLOAD --ops N --operations N --warm-up N --counted N")
	}
	name := os.Args[2]
	var size sizes
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	flags.Uint64Var(&size.ops, "ops", 0, "operations of the timed pass")
	flags.Uint64Var(&size.operations, "operations", 0, "what the timed pass is reported as")
	flags.Uint64Var(&size.warmUp, "warm-up", 0, "operations of the pass before it")
	flags.Uint64Var(&size.counted, "counted", 0, "operations of the pass in which allocations are counted")
	_ = flags.Parse(os.Args[3:])
	if isRemote(name) {
		fmt.Println(measureRemote(name, size).json())
		return
	}
	if name == "passivation" {
		fmt.Println(measureSlumber(size).json())
		return
	}
	start, known := workloads[name]
	if !known {
		fail("%s is not offered", name)
	}
	fmt.Println(measure(name, start(size), size).json())
}

func list() {
	names := append([]string{"passivation"}, remoteWorkloads...)
	for name := range workloads {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "goakt: "+format+"\n", values...)
	os.Exit(1)
}

// must ends the process: a measurement with an error in it is none.
func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}
