package fleet

import (
	"slices"

	"slotop/model"
	"slotop/model/diagnose"
)

// gpuMetrics are what the diagnosis compares of a GPU, the last place being how often
// it had a reason to run slower than it could.
var gpuMetrics = [...]model.DeviceMetric{
	model.SMActive, model.TensorActive, model.DRAMActive, model.Power, model.SMClock,
}

const (
	atThrottle = len(gpuMetrics)
	numMeters  = atThrottle + 1
	// mostGPUs bounds the devices of one engine that are compared.
	mostGPUs = 16
)

// meters are means of a device's readings.
type meters [numMeters]diagnose.Mean

func (m *meters) merge(o *meters) {
	for i := range m {
		m[i].N += o[i].N
		m[i].Sum += o[i].Sum
	}
}

// metered is a device's readings in blocks, oldest first.
type metered struct {
	open   meters
	heard  model.Instant
	at     []int64
	blocks []meters
}

// quietGPU is what a device was like in the quiet blocks of an engine on it.
type quietGPU struct {
	on     *device
	blocks []meters
}

// readMeters takes in the readings of the devices that engines run on, once each.
func (ds *devices) readMeters() {
	for _, d := range ds.list {
		if len(d.joints) == 0 || d.view.Stale || d.view.State != model.DevicePresent {
			continue
		}
		at := d.heard()
		if at == d.metered.heard {
			continue
		}
		d.metered.heard = at
		for i, m := range gpuMetrics {
			readMean(&d.metered.open[i], orNaN(d.view.Values[m].Reading))
		}
		if d.view.Throttled != nil {
			slowed := 0.0
			if len(d.view.Throttled) > 0 {
				slowed = 1
			}
			readMean(&d.metered.open[atThrottle], slowed)
		}
	}
}

// closeBlock ends the open block of every device.
func (ds *devices) closeBlock(at int64) {
	for _, d := range ds.list {
		m := &d.metered
		if m.open == (meters{}) {
			continue
		}
		m.at, m.blocks, m.open = append(m.at, at), append(m.blocks, m.open), meters{}
		if more := len(m.at) - mostRecent; more > 0 {
			m.at, m.blocks = slices.Delete(m.at, 0, more), slices.Delete(m.blocks, 0, more)
		}
	}
}

// between is the mean over the blocks from first to last.
func (m *metered) between(first, last int64) meters {
	var sum meters
	for i, at := range m.at {
		if at >= first && at <= last {
			sum.merge(&m.blocks[i])
		}
	}
	return sum
}

// compared are the devices that each engine runs on, as many as are compared.
func (f *Fleet) compared() map[*target][]*device {
	on := f.runningOn()
	for t, list := range on {
		on[t] = list[:min(len(list), mostGPUs)]
	}
	return on
}

// quieten adds a quiet block to what the engine's devices were like.
func (t *target) quieten(on []*device, at int64) {
	t.quiets = slices.DeleteFunc(t.quiets, func(q quietGPU) bool { return !slices.Contains(on, q.on) })
	for _, d := range on {
		i := slices.IndexFunc(t.quiets, func(q quietGPU) bool { return q.on == d })
		if i < 0 {
			i = len(t.quiets)
			t.quiets = append(t.quiets, quietGPU{on: d})
		}
		if sum := d.metered.between(at, at); sum != (meters{}) {
			t.quiets[i].blocks = appendQuiet(t.quiets[i].blocks, sum)
		}
	}
}

// gpuFacts is what is known of the engine's devices from block first to last.
func (t *target) gpuFacts(on []*device, first, last int64) []diagnose.GPU {
	var out []diagnose.GPU
	for _, d := range on {
		now, before := d.metered.between(first, last), meters{}
		if i := slices.IndexFunc(t.quiets, func(q quietGPU) bool { return q.on == d }); i >= 0 {
			for k := range t.quiets[i].blocks {
				before.merge(&t.quiets[i].blocks[k])
			}
		}
		shift := func(i int) diagnose.Shift {
			return diagnose.Shift{Before: model.Of(before[i].Value()), Now: model.Of(now[i].Value())}
		}
		out = append(out, diagnose.GPU{
			Name: d.name(), SM: shift(0), Tensor: shift(1), DRAM: shift(2),
			Power: shift(3), Clock: shift(4), Throttled: shift(atThrottle), Reasons: d.view.Throttled,
		})
	}
	return out
}

// appendQuiet appends to what is kept of quiet blocks, of which the oldest goes.
func appendQuiet[T any](list []T, one T) []T {
	if len(list) >= diagnose.BaselineBlocks {
		list = slices.Delete(list, 0, len(list)-diagnose.BaselineBlocks+1)
	}
	return append(list, one)
}
