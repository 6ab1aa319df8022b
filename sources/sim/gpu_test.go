package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// boards is what the boards say of the given span.
func boards(t *testing.T, o Options, from, to time.Duration) []model.Device {
	t.Helper()
	s := service(t, o)
	s.Advance(from)
	g := s.GPUs()
	s.Advance(to)
	return g.Read(nil)
}

func reading(t *testing.T, d model.Device, m model.DeviceMetric) float64 {
	t.Helper()
	if d.Readings[m].Status != model.Measured {
		t.Fatalf("%s of %s: %s", m, d.UUID, d.Readings[m].Status)
	}
	return d.Readings[m].Value
}

// What the counters of a board say is what the engine on it estimates of itself,
// with the excess that an estimate does not know.
func TestBoardsDoTheWorkOfTheirEngines(t *testing.T) {
	s := service(t, Options{Seed: 5})
	s.Advance(100 * time.Second)
	g := s.GPUs()
	before := []totals{s.replicas[0].totals, s.replicas[1].totals}
	s.Advance(160 * time.Second)
	for i, d := range g.Read(nil) {
		now, machine := s.replicas[i].totals, s.options.Machine
		near(t, "tensor active", reading(t, d, model.TensorActive),
			tensorExcess*(now.flops-before[i].flops)/60/machine.PeakFLOPs, 0.01)
		near(t, "DRAM active", reading(t, d, model.DRAMActive),
			memoryExcess*(now.bytes-before[i].bytes)/60/machine.Bandwidth, 0.01)
		near(t, "power", reading(t, d, model.Power), (now.gpu.joules-before[i].gpu.joules)/60, 0.01)
		if d.From[model.TensorActive] != model.FromCounters || d.From[model.Busy] != model.FromDriver {
			t.Errorf("%s: from %v", d.UUID, d.From)
		}
	}
}

func TestBoardsInIncidents(t *testing.T) {
	quiet := boards(t, Options{Seed: 1}, 60*time.Second, 120*time.Second)[0]
	for _, c := range []struct {
		id           string
		slower, hot  bool // clocks and reasons
		tensor, busy float64
	}{{"S4", true, true, 1.2, 0}, {"S10", false, false, 0, -0.2}, {"S5", false, false, 1.3, 0}} {
		d := boards(t, Options{Seed: 1, Scenario: c.id, At: 60 * time.Second}, 90*time.Second, 150*time.Second)[0]
		clock := reading(t, d, model.SMClock) / reading(t, d, model.SMClockMax)
		if (clock < 0.9) != c.slower || slices.Contains(d.Throttle, model.ThrottleHWThermal) != c.hot {
			t.Errorf("%s: clock %.2f of the highest, throttled %v", c.id, clock, d.Throttle)
		}
		if got := reading(t, d, model.TensorActive) / reading(t, quiet, model.TensorActive); got < c.tensor {
			t.Errorf("%s: tensor cores %.2f times as active", c.id, got)
		}
		if got := reading(t, d, model.Busy) - reading(t, quiet, model.Busy); c.busy < 0 && got > c.busy {
			t.Errorf("%s: busy by %.2f more", c.id, got)
		}
		if p := reading(t, d, model.Power); p <= boardAwake || p > boardLimit {
			t.Errorf("%s: %.0f W", c.id, p)
		}
	}
}

// Until its replica is there a board sleeps; without anything to do it is awake.
func TestBoardsRest(t *testing.T) {
	standby := boards(t, Options{Seed: 1, Scenario: "S6"}, 30*time.Second, 40*time.Second)[1]
	still := boards(t, Options{Workflows: []Workflow{{Name: "none", Prompt: fixed(1), Output: fixed(1)}}}, 30*time.Second, 40*time.Second)[0]
	for _, c := range []struct {
		d     model.Device
		watts float64
		holds bool
	}{{standby, boardAsleep, false}, {still, boardAwake, true}} {
		if p, used := reading(t, c.d, model.Power), reading(t, c.d, model.MemUsed); p != c.watts || (used > 0) != c.holds {
			t.Errorf("%.1f W, %.0f bytes used", p, used)
		}
		for _, m := range []model.DeviceMetric{model.Busy, model.SMActive, model.TensorActive, model.DRAMActive} {
			if v := reading(t, c.d, m); v != 0 {
				t.Errorf("%s %v", m, v)
			}
		}
	}
}

// Energy is the sum of all that was read as power, over restarts and however time
// is cut up.
func TestEnergyIsPowerOverTime(t *testing.T) {
	o := Options{Seed: 3, Restarts: []Restart{{Replica: 0, At: 20 * time.Second, Down: 10 * time.Second}}}
	s := service(t, o)
	g := s.GPUs()
	if d := g.Read(nil)[0]; d.Readings[model.Power].Status != model.NotReady || d.Readings[model.Busy].Status != model.NotReady {
		t.Errorf("a reading of no time: %+v", d.Readings[model.Power])
	}
	var joules float64
	var last model.Device
	for at := 700 * time.Millisecond; at <= 49*time.Second; at += 700 * time.Millisecond {
		s.Advance(at)
		last = g.Read(nil)[0]
		joules += 0.7 * reading(t, last, model.Power)
	}
	near(t, "energy", reading(t, last, model.Energy)-earlierJoules, joules, 1e-4)
	whole := boards(t, o, 0, 49*time.Second)[0]
	if a, b := reading(t, whole, model.Energy), reading(t, last, model.Energy); math.Abs(a-b) > 0.01 {
		t.Errorf("%v J in one go, %v J in parts", a, b)
	}
}
