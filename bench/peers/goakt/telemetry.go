// Metrics for OpenTelemetry, collected each second. GoAkt counts in any case;
// with metrics on, each collection reads what was counted from every actor.
package main

import (
	"time"

	"github.com/tochemey/goakt/v4/actor"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const interval = time.Second

type telemetry struct{ reader *metric.ManualReader }

// The provider has to be there before the option looks for it.
func startTelemetry() (telemetry, actor.Option) {
	it := telemetry{metric.NewManualReader()}
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(it.reader)))
	go func() {
		for range time.Tick(interval) {
			it.processed("")
		}
	}()
	return it, actor.WithMetrics()
}

// processed collects everything and says how many messages the actor of that name has had.
func (t telemetry) processed(name string) (count uint64) {
	var all metricdata.ResourceMetrics
	must(t.reader.Collect(background, &all))
	for _, scope := range all.ScopeMetrics {
		for _, it := range scope.Metrics {
			sum, ok := it.Data.(metricdata.Sum[int64])
			if !ok || it.Name != "actor.processed.count" {
				continue
			}
			for _, point := range sum.DataPoints {
				if its, _ := point.Attributes.Value("actor.name"); its.AsString() == name {
					count += uint64(point.Value)
				}
			}
		}
	}
	return count
}

// watched is run, and what was collected afterwards has to have all of it.
func watched(name string, run pass, by telemetry) pass {
	var total uint64
	return func(count uint64) uint64 {
		handled := run(count)
		total += handled
		if seen := by.processed(name); seen != total {
			fail("telemetry: %d of %d collected", seen, total)
		}
		return handled
	}
}

func tellTelemetry(sizes) pass {
	it, option := startTelemetry()
	return watched("sink", tellIn(startSystem(option)), it)
}

func askTelemetry(sizes) pass {
	it, option := startTelemetry()
	return watched("echo", askIn(startSystem(option)), it)
}
