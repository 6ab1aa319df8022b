package fleet

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

var edges = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}

// server is an engine whose counters all move at every poll.
type server struct {
	id      model.TargetID
	samples []model.Sample
}

func newServer(id string) *server {
	s := &server{id: model.TargetID(id)}
	labels := model.Labels(model.LabelModel, "chat", model.LabelEngine, "0")
	for _, info := range model.Signals {
		sample := model.Sample{Signal: info.Signal, Kind: info.Kind, Labels: labels}
		if info.Signal == model.ProcessStart {
			sample.Value = 1e9
		}
		if info.Kind == model.Histogram {
			sample.Hist = &model.Buckets{Bounds: edges, Counts: make([]float64, len(edges)+1), Sum: model.Of(0)}
		}
		s.samples = append(s.samples, sample)
	}
	return s
}

func (s *server) move(n int) {
	for i := range s.samples {
		sample := &s.samples[i]
		switch {
		case sample.Hist != nil:
			for j := range sample.Hist.Counts {
				sample.Hist.Counts[j] += float64(j * (1 + n%3))
			}
			sample.Hist.Sum.Value += 1.25
		case sample.Kind == model.Counter:
			sample.Value += float64(10 + n%7)
		case sample.Signal != model.ProcessStart:
			sample.Value = float64(n%11) / 11
		}
	}
}

func servers(n int) ([]*server, []string) {
	out, names := make([]*server, n), make([]string, n)
	for i := range out {
		names[i] = "t" + strconv.Itoa(i)
		out[i] = newServer(names[i])
	}
	return out, names
}

// BenchmarkFold is one poll of every target and one frame: the budget is 0.3 ms
// for 1 target and 25 ms for 1,000.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			list, names := servers(n)
			bench := newBench(b, time.Second, names...)
			round := func(i int) {
				for _, s := range list {
					s.move(i)
					bench.f.Step(model.Input{At: bench.at, Batch: &model.Batch{Target: s.id, Samples: s.samples, About: about}})
				}
				bench.tick()
				bench.pass(time.Second)
			}
			for i := range 70 {
				round(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				round(i)
			}
		})
	}
}

// Memory must not grow with time: a virtual day at a poll a second.
func TestMemoryIsFlatOverADay(t *testing.T) {
	if testing.Short() {
		t.Skip("a virtual day takes some seconds")
	}
	list, names := servers(1)
	b := newBench(t, time.Second, names...)
	hours := make([]uint64, 0, 24)
	for i := range 24 * 3600 {
		list[0].move(i)
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: list[0].id, Samples: list[0].samples, About: about}})
		if i%10 == 0 {
			b.tick()
		}
		b.pass(time.Second)
		if i%3600 == 3599 {
			hours = append(hours, heap())
		}
	}
	t.Logf("heap after each hour: %v KiB", hours)
	// The rings and charts are full after two hours.
	if grown := int64(hours[23]) - int64(hours[2]); grown > 256 {
		t.Errorf("heap grew by %d KiB between hour 3 and hour 24: %v", grown, hours)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 10
}

// Engines that name each process in a label leave a trail of dead series.
func TestChurningSeriesAreForgotten(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 3 * 3600 {
		worker := "w" + strconv.Itoa(i/20)
		sample := func(s model.Signal, k model.Kind, v float64) model.Sample {
			return model.Sample{Signal: s, Kind: k, Value: v, Labels: model.Labels(model.LabelModel, "chat", model.LabelEngine, worker)}
		}
		b.poll("a", sample(model.OutputTokens, model.Counter, float64(i%20)), sample(model.Running, model.Gauge, 1), counter(model.Preemptions, float64(i)))
		b.pass(time.Second)
	}
	target := b.f.byID["a"]
	if n := len(target.cols.slots); n > 800 {
		t.Errorf("%d slots remembered", n)
	}
	if target.cols.width != target.ring.Width() || target.restarts != 0 {
		t.Errorf("width %d, ring %d, restarts %d", target.cols.width, target.ring.Width(), target.restarts)
	}
	f := b.tick()
	near(t, "preemptions survive the clearing", workflowNamed(t, f, "chat").PreemptionsPerSec, 1)
	near(t, "output", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 0.95)
}
