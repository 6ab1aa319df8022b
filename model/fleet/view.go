package fleet

import (
	"math"
	"slices"
	"strings"

	"slotop/model"
)

// dress writes the part of the target's view that changes only with its data.
func (t *target) dress(ty *tally) {
	v := model.TargetView{
		Name: t.spec.Name, ID: t.spec.ID, Kind: t.kind(), Simulated: t.spec.Simulated,
		Running:           ty.levelOf(model.Running),
		Waiting:           ty.levelOf(model.Waiting),
		KVCacheUsage:      ty.levelOf(model.KVUsage),
		RequestsPerSecond: requestRate(ty),
		OutputPerSecond:   ty.rateOf(model.OutputTokens),
		ReportedOutput:    ty.levelOf(model.ReportedOutput),
		PreemptionsPerSec: ty.rateOf(model.Preemptions),
		TTFT:              ty.distOf(model.TTFT),
		TPOT:              ty.distOf(model.TPOT),
		ITL:               ty.distOf(model.ITL),
		Models:            []string{},
		Missing:           []model.Signal{},
		Notes:             []string{},
		Meanings:          []model.Meaning{},
		Engines:           t.engines(),
		GPUs:              []string{},
	}
	if a := t.about; a != nil {
		v.Engine, v.Version = model.Text(a.Engine), model.Text(a.Version)
		v.Models = orEmpty(a.Models)
		v.Missing = ty.missing()
		v.Meanings = orEmpty(a.Meanings)
		v.Notes = orEmpty(slices.Concat(a.Notes, notes(ty), t.ownNotes()))
		v.Replicas = a.Replicas
	}
	if s := t.step(); s > 0 {
		v.StepS = model.Of(s.Seconds())
	}
	t.view = v
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// notes say what a reader of the target's numbers must know.
func notes(ty *tally) []string {
	var out []string
	if ty.coarse() {
		out = append(out, "bucket bounds differ within the window: percentiles use the common ones")
	}
	if ty.partial {
		out = append(out, "a histogram lost a bucket line: no percentile from it")
	}
	if ty.repaired {
		out = append(out, "bucket counts were not monotone and were repaired")
	}
	return out
}

// ownNotes are about the target itself.
func (t *target) ownNotes() []string {
	var out []string
	if t.alternates {
		out = append(out, "several servers answer at this address in turn: their counters cannot be compared, watch each by its own address")
	}
	if n := t.crowd.note(); n != "" {
		out = append(out, n)
	}
	if t.follows != nil {
		out = append(out, doubts(t.follows.Stats())...)
	}
	return out
}

// requestRate is finished requests per second, or started ones where the server
// does not count what it finished.
func requestRate(ty *tally) model.Reading {
	for _, s := range []model.Signal{model.Finished, model.Started} {
		if ty.has(s) {
			return ty.rateOf(s)
		}
	}
	return ty.rateOf(model.TTFT)
}

// see completes the view with what changes at every poll and tick.
func (t *target) see() model.TargetView {
	v := t.view
	v.State, v.Since, v.LastGoodAt = t.state, t.since, t.lastGood
	v.Polls, v.FailedPolls, v.Restarts, v.RestartedAt = t.polls, t.failed, t.restarts, t.restartedAt
	v.SkewS = t.skew
	v.BadLines, v.FirstBad, v.Dropped = t.badLines, model.Text(t.firstBad), t.refused+t.unplaced
	if t.polls > 0 {
		v.TookS = model.Of(t.took.Seconds())
	}
	if t.fault != nil {
		v.Fault = &model.FaultView{Fault: *t.fault, LastGoodAt: t.lastGood}
	}
	return v
}

// seeFlight fills in what is in flight at a target that reports requests one by one.
func (t *target) seeFlight(v *model.TargetView) {
	if t.tellsFlight && t.fresh() {
		v.Running, v.Waiting = orZero(v.Running, t.flight.Running()), orZero(v.Waiting, model.Of(t.flight.Queued.Value))
	}
}

// engines lists the data-parallel engines the page tells apart.
func (t *target) engines() []model.EngineView {
	byID := map[string]*levels{}
	for _, sl := range t.cols.slots {
		if sl.engine == "" || sl.kind != model.Gauge {
			continue
		}
		if byID[sl.engine] == nil {
			byID[sl.engine] = &levels{}
		}
		t.addGauge(byID[sl.engine], sl)
	}
	out := make([]model.EngineView, 0, len(byID))
	for id, ty := range byID {
		out = append(out, model.EngineView{
			ID: id, Running: ty.levelOf(model.Running), Waiting: ty.levelOf(model.Waiting),
			KVCacheUsage: ty.levelOf(model.KVUsage),
		})
	}
	slices.SortFunc(out, func(a, b model.EngineView) int { return compareIDs(a.ID, b.ID) })
	return out
}

// compareIDs orders 2 before 10.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func nan32(r model.Reading) float32 {
	if v, ok := r.Get(); ok {
		return float32(v)
	}
	return float32(math.NaN())
}
