package story

import (
	"cmp"
	"math"

	"slotop/model"
)

// signal is one row of the tables below: how a figure is read off a view, and which
// point stays when points are merged.
type signal[V any] struct {
	name string
	unit model.Unit
	keep Keep
	read func(*V) Point // nil in wide: no interval
	wide bool
}

// single is a figure without an interval.
func single[V any](name string, u model.Unit, k Keep, read func(*V) model.Reading) signal[V] {
	return signal[V]{name: name, unit: u, keep: k, read: func(v *V) Point {
		return Point{value(read(v)), math.NaN(), math.NaN(), math.NaN()}
	}}
}

// interval is a figure with one.
func interval[V any](name string, u model.Unit, k Keep, read func(*V) Point) signal[V] {
	return signal[V]{name: name, unit: u, keep: k, read: read, wide: true}
}

func value(r model.Reading) float64 {
	if v, ok := r.Get(); ok {
		return v
	}
	return math.NaN()
}

// quantile is a percentile of a window. What a server counted since its start has no
// place on a time axis.
func quantile(d *model.Dist, of func(*model.Dist) model.Estimate) Point {
	if d == nil || d.Basis == model.SinceStart || d.N == 0 {
		return nowhere
	}
	e := of(d)
	p := Point{value(e.Value), value(e.Lo), value(e.Hi), d.N}
	if e.Open {
		p.Value, p.Hi = math.NaN(), math.Inf(1)
	}
	return p
}

func p50(d *model.Dist) model.Estimate { return d.P50 }
func p95(d *model.Dist) model.Estimate { return d.P95 }
func p99(d *model.Dist) model.Estimate { return d.P99 }

// mean is the mean of a window; without requests there is none.
func mean(d *model.Dist) model.Reading {
	if d == nil || d.Basis == model.SinceStart {
		return model.Reading{}
	}
	return d.Mean
}

func goodput(g *model.GoodputView) Point {
	if g == nil {
		return nowhere
	}
	return Point{value(cmp.Or(g.Share.Point, g.Share.Lo)), value(g.Share.Lo), value(g.Share.Hi), g.N}
}

// workflowSignals are the series of a workflow.
var workflowSignals = []signal[model.WorkflowView]{
	interval("goodput", model.Ratio, KeepLowest, func(w *model.WorkflowView) Point { return goodput(w.Goodput) }),
	interval("ttft.p50", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TTFT, p50) }),
	interval("ttft.p95", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TTFT, p95) }),
	interval("ttft.p99", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TTFT, p99) }),
	interval("tpot.p50", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TPOT, p50) }),
	interval("tpot.p95", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TPOT, p95) }),
	interval("tpot.p99", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.TPOT, p99) }),
	interval("itl.p50", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.ITL, p50) }),
	interval("itl.p95", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.ITL, p95) }),
	interval("e2e.p50", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.E2E, p50) }),
	interval("e2e.p95", model.Seconds, KeepHighest, func(w *model.WorkflowView) Point { return quantile(w.E2E, p95) }),
	single("queue.mean", model.Seconds, KeepLast, func(w *model.WorkflowView) model.Reading { return mean(w.Queue) }),
	single("prefill.mean", model.Seconds, KeepLast, func(w *model.WorkflowView) model.Reading { return mean(w.Prefill) }),
	single("decode.mean", model.Seconds, KeepLast, func(w *model.WorkflowView) model.Reading { return mean(w.Decode) }),
	single("requests_per_second", model.PerSecond, KeepLast, func(w *model.WorkflowView) model.Reading { return w.Requests.PerSecond }),
	single("prompt_per_second", model.PerSecond, KeepLast, func(w *model.WorkflowView) model.Reading { return w.Tokens.PromptPerSecond }),
	single("output_per_second", model.PerSecond, KeepLast, func(w *model.WorkflowView) model.Reading { return w.Tokens.OutputPerSecond }),
	single("running", model.Number, KeepHighest, func(w *model.WorkflowView) model.Reading { return w.Requests.Running }),
	single("waiting", model.Number, KeepHighest, func(w *model.WorkflowView) model.Reading { return w.Requests.Waiting }),
	single("wait_now", model.Seconds, KeepHighest, func(w *model.WorkflowView) model.Reading { return w.WaitNow }),
	single("kv_cache_usage", model.Ratio, KeepHighest, func(w *model.WorkflowView) model.Reading { return w.KVCacheUsage }),
	single("prefix_cache_hit", model.Ratio, KeepLowest, func(w *model.WorkflowView) model.Reading { return w.PrefixCacheHit }),
	single("preemptions_per_second", model.PerSecond, KeepHighest, func(w *model.WorkflowView) model.Reading { return w.PreemptionsPerSec }),
	single("burn.5m", model.Times, KeepHighest, func(w *model.WorkflowView) model.Reading { return burn(w) }),
	single("budget.bad", model.Number, KeepLast, func(w *model.WorkflowView) model.Reading { return badSoFar(w) }),
	single("budget.judged", model.Number, KeepLast, func(w *model.WorkflowView) model.Reading { return judgedSoFar(w) }),
}

func burn(w *model.WorkflowView) model.Reading {
	if w.Budget == nil {
		return model.Reading{}
	}
	return w.Budget.Burn.M5
}

// badSoFar is how many requests of the budget's period were bad.
func badSoFar(w *model.WorkflowView) model.Reading {
	if w.Budget == nil {
		return model.Reading{}
	}
	return w.Budget.Bad
}

// judgedSoFar is how many requests of the budget's period were judged: the share of
// them that may be bad is what the budget allows.
func judgedSoFar(w *model.WorkflowView) model.Reading {
	if w.Budget == nil || !w.Budget.Allowed.OK() || w.Promised.Share >= 1 {
		return model.Reading{}
	}
	return model.Of(w.Budget.Allowed.Value / (1 - w.Promised.Share))
}

// engine is a target with what its accelerators do.
type engine struct {
	*model.TargetView
	use *model.UtilizationView // nil: not read directly
}

// targetSignals are the series of a target.
var targetSignals = []signal[engine]{
	single("answers", model.Ratio, KeepLowest, func(t *engine) model.Reading { return answers(t) }),
	single("requests_per_second", model.PerSecond, KeepLast, func(t *engine) model.Reading { return t.RequestsPerSecond }),
	single("output_per_second", model.PerSecond, KeepLast, func(t *engine) model.Reading { return t.OutputPerSecond }),
	single("running", model.Number, KeepHighest, func(t *engine) model.Reading { return t.Running }),
	single("waiting", model.Number, KeepHighest, func(t *engine) model.Reading { return t.Waiting }),
	single("kv_cache_usage", model.Ratio, KeepHighest, func(t *engine) model.Reading { return t.KVCacheUsage }),
	single("preemptions_per_second", model.PerSecond, KeepHighest, func(t *engine) model.Reading { return t.PreemptionsPerSec }),
	interval("ttft.p95", model.Seconds, KeepHighest, func(t *engine) Point { return quantile(t.TTFT, p95) }),
	interval("tpot.p95", model.Seconds, KeepHighest, func(t *engine) Point { return quantile(t.TPOT, p95) }),
	single("mfu", model.Ratio, KeepHighest, func(t *engine) model.Reading {
		return t.of(func(u *model.UtilizationView) model.Reading { return u.MFU })
	}),
	single("mbu", model.Ratio, KeepHighest, func(t *engine) model.Reading {
		return t.of(func(u *model.UtilizationView) model.Reading { return u.MBU })
	}),
	single("step", model.Seconds, KeepHighest, func(t *engine) model.Reading {
		return t.step(func(s *model.StepView) model.Reading { return s.Seconds })
	}),
	single("step.residual", model.Times, KeepHighest, func(t *engine) model.Reading {
		return t.step(func(s *model.StepView) model.Reading { return s.Residual })
	}),
}

func (t *engine) of(read func(*model.UtilizationView) model.Reading) model.Reading {
	if t.use == nil {
		return model.Reading{}
	}
	return read(t.use)
}

func (t *engine) step(read func(*model.StepView) model.Reading) model.Reading {
	return t.of(func(u *model.UtilizationView) model.Reading {
		if u.Step == nil {
			return model.Reading{}
		}
		return read(u.Step)
	})
}

// answers is 1 while a target answers, 0 while it does not, unknown before the first
// poll has ended.
func answers(t *engine) model.Reading {
	switch t.State {
	case "":
		return model.Reading{}
	case model.Down, model.StaleAt:
		return model.Of(0)
	default:
		return model.Of(1)
	}
}

// poolSignals are the series of a pool of engines.
var poolSignals = []signal[model.CapacityView]{
	single("load", model.Number, KeepHighest, func(c *model.CapacityView) model.Reading { return c.Load }),
	single("requests_per_second", model.PerSecond, KeepLast, func(c *model.CapacityView) model.Reading { return c.Rate }),
	single("at_objective_per_second", model.PerSecond, KeepLowest, func(c *model.CapacityView) model.Reading { return c.SLORate }),
	single("headroom", model.Ratio, KeepLowest, func(c *model.CapacityView) model.Reading { return c.Headroom }),
	single("power_w", model.Number, KeepHighest, func(c *model.CapacityView) model.Reading {
		if c.Energy == nil {
			return model.Reading{}
		}
		return c.Energy.PowerW
	}),
	single("per_million_output", model.Number, KeepHighest, func(c *model.CapacityView) model.Reading {
		if c.Cost == nil {
			return model.Reading{}
		}
		return c.Cost.PerMillion
	}),
}

// deviceSignals are the series of a device.
var deviceSignals = []signal[model.DeviceView]{
	ofDevice(model.Busy, model.Ratio, KeepHighest),
	ofDevice(model.SMActive, model.Ratio, KeepHighest),
	ofDevice(model.TensorActive, model.Ratio, KeepHighest),
	ofDevice(model.DRAMActive, model.Ratio, KeepHighest),
	ofDevice(model.MemUsed, model.Number, KeepHighest),
	ofDevice(model.Power, model.Number, KeepHighest),
	ofDevice(model.SMClock, model.Number, KeepLowest),
	ofDevice(model.MemClock, model.Number, KeepLowest),
	ofDevice(model.Temperature, model.Number, KeepHighest),
}

func ofDevice(m model.DeviceMetric, u model.Unit, k Keep) signal[model.DeviceView] {
	return single(m.String(), u, k, func(d *model.DeviceView) model.Reading {
		if d.Stale || d.State != model.DevicePresent {
			return model.Reading{}
		}
		return d.Values[m].Reading
	})
}
