// Warm up, time one pass, read memory, then count allocations in a pass of its
// own; the same steps as the Rust bench takes. The Go runtime compiles ahead of
// time, so the warm-up only fills pools.
package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// How long actors settle before their memory is read.
const settle = 300 * time.Millisecond

type sizes struct{ ops, operations, warmUp, counted uint64 }

type record struct {
	OpsPerSec     float64  `json:"ops_per_sec"`
	NsPerOp       float64  `json:"ns_per_op"`
	AllocsPerOp   *float64 `json:"allocs_per_op"`
	BytesPerActor *float64 `json:"bytes_per_actor"`
	PeakBytes     float64  `json:"peak_bytes"`

	P50Us          *float64 `json:"p50_us"`
	P99Us          *float64 `json:"p99_us"`
	P999Us         *float64 `json:"p999_us"`
	CPUUsPerOp     *float64 `json:"cpu_us_per_op"`
	FarCPUUsPerOp  *float64 `json:"far_cpu_us_per_op"`
	FarAllocsPerOp *float64 `json:"far_allocs_per_op"`
}

func (r record) json() string {
	text, err := json.Marshal(r)
	must(err)
	return string(text)
}

func measure(name string, run pass, size sizes) record {
	checked := func(count uint64) {
		if handled := run(count); handled != count {
			fail("%s: %d of %d handled", name, handled, count)
		}
	}
	checked(size.warmUp)
	before := resident()
	start := time.Now()
	checked(size.ops)
	seconds := time.Since(start).Seconds()

	var bytes *float64
	if name == "spawn" || name == "timers" {
		bytes = grownSince(before, size.ops)
	}
	peak := field("VmHWM:")
	allocations := mallocs(func() { checked(size.counted) })
	result := timed(seconds, size.operations)
	result.AllocsPerOp = share(allocations, size.counted*size.operations/size.ops)
	result.BytesPerActor = bytes
	result.PeakBytes = peak
	return result
}

func timed(seconds float64, operations uint64) record {
	count := float64(operations)
	return record{OpsPerSec: count / seconds, NsPerOp: seconds * 1e9 / count}
}

func share(total float64, count uint64) *float64 {
	value := total / float64(count)
	return &value
}

func grownSince(before float64, count uint64) *float64 {
	time.Sleep(settle)
	return share(max(resident()-before, 0), count)
}

func mallocs(work func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

func resident() float64 { return field("VmRSS:") }

// A field of /proc/self/status in bytes; zero where there is no such file.
func field(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name); found {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024
		}
	}
	return 0
}
