package fleet

import (
	"math"
	"time"

	"slotop/model"
)

// counterBases are the readers of hardware counters, the most trusted first.
var counterBases = [...]model.UtilizationBasis{model.ByGPM, model.ByDCGM, model.ByExporter}

// counterBasis is whose counters a target passes on.
func counterBasis(t *target) model.UtilizationBasis {
	switch engine := t.view.Engine; {
	case engine == "dcgm-exporter":
		return model.ByDCGM
	case engine == "nvml" || t.spec.Simulated:
		return model.ByGPM
	default:
		return model.ByExporter
	}
}

// counted is the mean of a metric over the GPUs of which a basis tells it now, and
// how many those are.
func counted(on []*device, basis model.UtilizationBasis, m model.DeviceMetric) (mean float64, n int) {
	total := 0.0
	for _, d := range on {
		for _, tl := range d.tellings {
			r := tl.said.Readings[m]
			if tl.here() && d.state != model.DeviceLost && r.Status == model.Measured && tl.said.From[m] == model.FromCounters && counterBasis(tl.by) == basis {
				total, n = total+r.Value, n+1
				break
			}
		}
	}
	return total / float64(n), n
}

// minuteBlocks is how many blocks a mean is of: the last minute.
const minuteBlocks = 6

// recentMeans is what one basis said lately, in blocks of trailStep.
type recentMeans [minuteBlocks]struct {
	at           int64 // number of the block
	tensor, dram readings
}

// readings is how many there were, and their sum.
type readings struct{ n, sum float64 }

func (r *readings) add(v float64) {
	if !math.IsNaN(v) {
		r.n, r.sum = r.n+1, r.sum+v
	}
}

func (r *recentMeans) add(at time.Duration, tensor, dram float64) {
	i := int64(at / trailStep)
	b := &r[i%minuteBlocks]
	if b.at != i {
		b.at, b.tensor, b.dram = i, readings{}, readings{}
	}
	b.tensor.add(tensor)
	b.dram.add(dram)
}

// over is the means of the minute before an instant, NaN of nothing.
func (r *recentMeans) over(at time.Duration) (tensor, dram float64) {
	var t, d readings
	for _, b := range r {
		if int64(at/trailStep)-b.at < minuteBlocks {
			t.n, t.sum = t.n+b.tensor.n, t.sum+b.tensor.sum
			d.n, d.sum = d.n+b.dram.n, d.sum+b.dram.sum
		}
	}
	return t.sum / t.n, d.sum / d.n
}

// read notes what the counters say now.
func (u *utilizer) read(at time.Duration, on []*device) {
	u.heard = at
	for i, basis := range counterBases {
		tensor, _ := counted(on, basis, model.TensorActive)
		dram, _ := counted(on, basis, model.DRAMActive)
		u.means[i].add(at, tensor, dram)
	}
}
