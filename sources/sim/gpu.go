package sim

import (
	"fmt"
	"math"
	"time"

	"slotop/model"
)

// What a step makes the board do beyond the arithmetic and the bytes that it is for:
// tiles that are padded, activations that are written and read again.
const (
	tensorExcess = 1.06
	memoryExcess = 1.05
)

// Watts of an H100 SXM board. The three figures of a working board are for a unit
// that is active all the time at its usual clock.
const (
	boardLimit  = 700
	boardAsleep = 70  // no process has a context
	boardAwake  = 115 // one has, and does nothing
	smWatts     = 200
	tensorWatts = 950
	memoryWatts = 230
)

// The rest of the board.
const (
	boardName      = "NVIDIA H100 80GB HBM3"
	boardMemory    = 81559 << 20
	driverMemory   = 530 << 20
	contextMemory  = 800 << 20
	scratchMemory  = 2900 << 20 // activations
	smHertz        = 1980e6
	smHertzAsleep  = 345e6
	memoryHertz    = 2619e6
	earlierJoules  = 2.5e6 // since the driver was loaded, before the simulation
	slowdownDegree = 88    // Celsius
	smShare        = 0.93  // of the SMs that have a warp while a kernel runs
)

// activity adds up what a GPU did, in seconds in which a unit was active all the
// time, and in joules.
type activity struct {
	kernel, tensor, memory float64
	joules                 float64
}

func (a *activity) add(b activity, share float64) {
	a.kernel += product(b.kernel, share)
	a.tensor += product(b.tensor, share)
	a.memory += product(b.memory, share)
	a.joules += product(b.joules, share)
}

// activity is what a step that takes so long makes the GPU do. While the host
// prepares it no kernel runs. A unit's activity is counted in cycles of its own
// clock, so that a slower clock makes it look busier, and takes less power.
func (m *Machine) activity(w Work, took time.Duration) activity {
	wall := took.Seconds()
	host := (m.StepOverhead + time.Duration(w.Sequences)*m.SequenceOverhead).Seconds()
	a := activity{
		kernel: max(0, wall-host),
		tensor: tensorExcess * m.FLOPs(w) / (m.PeakFLOPs * m.SMClock),
		memory: memoryExcess * (m.ReadBytes(w) + m.WriteBytes(w)) / (m.Bandwidth * m.MemoryClock),
	}
	core := product(smWatts, a.kernel) + product(tensorWatts, a.tensor)
	joules := product(boardAwake, wall) + product(m.SMClock*m.SMClock, core) + product(memoryWatts*m.MemoryClock, a.memory)
	a.joules = min(joules, boardLimit*wall)
	return a
}

// did is what the replica's GPU did up to now since the simulation began. Of the
// step under way that is the part which has passed.
func (r *Replica) did(now time.Duration) activity {
	a := r.totals.gpu
	if r.stepEnd == never {
		a.joules += r.rested(now)
		return a
	}
	a.add(r.cost, float64(now-r.stepFrom)/float64(r.stepEnd-r.stepFrom))
	return a
}

// rested is the joules since the GPU has had nothing to do.
func (r *Replica) rested(now time.Duration) float64 {
	watts := float64(boardAsleep)
	if r.ready {
		watts = boardAwake
	}
	return product(watts, (now - r.idleFrom).Seconds())
}

// settle adds up what the GPU did until now, when its process comes or goes or a
// step begins or ends.
func (r *Replica) settle(now time.Duration) {
	r.totals.gpu = r.did(now)
	r.idleFrom = now
}

// GPUs reads the boards of a service, one a replica, as a driver with hardware
// counters does: what counts over time is a mean since the reading before. It
// belongs to one goroutine, that of the Sim.
type GPUs struct {
	sim  *Sim
	at   time.Duration // of the last reading
	last []activity
}

// GPUs is a reader of the boards that begins now.
func (s *Sim) GPUs() *GPUs {
	g := &GPUs{sim: s, at: s.now}
	for _, r := range s.replicas {
		g.last = append(g.last, r.did(s.now))
	}
	return g
}

// GPU names the replica's GPU: its UUID, the same in every simulation.
func (r *Replica) GPU() string {
	return fmt.Sprintf("GPU-51090000-51e0-4b00-8100-%012x", r.index+1)
}

// Read appends to dst what the boards say now. Without time since the last reading
// what counts over time is not ready.
func (g *GPUs) Read(dst []model.Device) []model.Device {
	elapsed := (g.sim.now - g.at).Seconds()
	for i, r := range g.sim.replicas {
		did := r.did(g.sim.now)
		b := board{model.Device{
			UUID: r.GPU(), Index: r.index, Name: boardName, Bus: fmt.Sprintf("00000000:%02X:00.0", 0x19+0x21*r.index),
			State: model.DevicePresent, ThrottleStatus: model.Measured,
		}}
		b.state(r)
		b.put(model.Energy, earlierJoules+did.joules, 1e3)
		b.over(g.last[i], did, elapsed)
		b.heat(r)
		g.last[i] = did
		dst = append(dst, b.Device)
	}
	g.at = g.sim.now
	return dst
}

// board is what a GPU says of itself.
type board struct{ model.Device }

// put notes a reading of so many steps a unit: drivers count in small ones.
func (b *board) put(m model.DeviceMetric, v, steps float64) {
	b.Readings[m], b.From[m] = model.Measure(math.Round(v*steps)/steps), model.FromDriver
	if m == model.SMActive || m == model.TensorActive || m == model.DRAMActive {
		b.From[m] = model.FromCounters
	}
}

// state is what can be read at any moment.
func (b *board) state(r *Replica) {
	var used, sm float64 = 0, smHertzAsleep
	if r.ready {
		pool := float64(r.limits.Blocks*r.limits.BlockSize) * r.machine.KVTokenBytes
		used, sm = r.machine.WeightBytes+scratchMemory+contextMemory+pool, smHertz*r.machine.SMClock
	}
	b.put(model.MemTotal, boardMemory, 1)
	b.put(model.MemReserved, driverMemory, 1)
	b.put(model.MemUsed, used, 1)
	b.put(model.PowerLimit, boardLimit, 1)
	b.put(model.SMClock, sm, 1e-6)
	b.put(model.SMClockMax, smHertz, 1e-6)
	b.put(model.MemClock, memoryHertz*r.machine.MemoryClock, 1e-6)
	b.put(model.MemClockMax, memoryHertz, 1e-6)
	b.put(model.DRAMPeak, r.machine.Bandwidth, 1)
}

// over is what counts over the time between two readings.
func (b *board) over(before, now activity, seconds float64) {
	for _, of := range []struct {
		metric model.DeviceMetric
		sum    float64
		steps  float64
	}{
		{model.Busy, now.kernel - before.kernel, 1e2},
		{model.SMActive, smShare * (now.kernel - before.kernel), 1e4},
		{model.TensorActive, now.tensor - before.tensor, 1e4},
		{model.DRAMActive, now.memory - before.memory, 1e4},
		{model.Power, now.joules - before.joules, 1e3},
	} {
		if seconds > 0 {
			b.put(of.metric, of.sum/seconds, of.steps)
			continue
		}
		b.Readings[of.metric].Status = model.NotReady
	}
}

// heat is how warm the board is at its power, and what it does about it. A board
// that cannot get rid of its heat lowers its clocks itself.
func (b *board) heat(r *Replica) {
	degrees := 30.0
	if p := b.Readings[model.Power]; p.Status == model.Measured {
		degrees += 0.06 * p.Value
	}
	if r.machine.SMClock < 1 {
		degrees = slowdownDegree
		b.Throttle = []string{model.ThrottleThermal, model.ThrottleHWThermal}
	}
	b.put(model.Temperature, degrees, 1)
}
