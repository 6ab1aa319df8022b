package fleet

import (
	"cmp"
	"math"
	"time"

	"slotop/model"
	"slotop/model/series"
)

const (
	// historyPoints is an hour at a step of a second: as much as a server tells of the
	// past at the start.
	historyPoints = 3600
	// leastPoints keeps ten minutes at a step of two seconds for the rows far
	// down, which nobody charts.
	leastPoints = 300
	// chartedRows is how many workflows get the long history, two thirds of a megabyte
	// each.
	chartedRows = 16
	// maxEvents bounds the marks on one workflow's charts.
	maxEvents = 64
)

// grid is the time axis that all histories share.
type grid struct {
	step time.Duration
	last int64 // index of the last point; the first tick makes point 0
	live bool
}

// advance moves the axis to now. It returns how many points are due and whether
// the ones skipped may repeat the present value: a late tick is no gap, nor is a past
// that a server tells in steps as long as the window that each figure is of.
func (g *grid) advance(now, hold time.Duration) (points int, repeat bool) {
	i := int64(now / g.step)
	if !g.live {
		g.live, g.last = true, i-1
	}
	points = int(max(0, i-g.last))
	g.last = max(g.last, i)
	return min(points, historyPoints), time.Duration(points)*g.step <= hold
}

// end is the instant of the last point.
func (g *grid) end(started model.Instant) model.Instant {
	at := time.Duration(g.last) * g.step
	return started.Add(at - started.Mono)
}

// The tracks of a history: distTracks for each distribution, then the others.
const distTracks = 5

const (
	trackTTFT = iota * distTracks
	trackTPOT
	trackITL
	trackE2E
	trackRequests
)

const (
	trackOutput = trackRequests + 1 + iota
	trackRunning
	trackWaiting
	trackKV
	trackGoodput
	trackGoodputLo
	trackGoodputHi
	trackPreemptions
	trackPrefixHit
	trackQueue
	trackPrefill
	trackDecode
	numTracks
)

// history is the past of one workflow on the grid.
type history struct {
	tracks [numTracks]*series.Track
	events events
	keep   int
}

func newHistory(rank int) *history {
	h := &history{keep: historyPoints}
	if rank >= chartedRows {
		h.keep = leastPoints
	}
	for i := range h.tracks {
		h.tracks[i] = series.NewTrack(h.keep)
	}
	return h
}

func (w *workflow) mark(e model.Event) { w.history.events.add(e, maxEvents) }

// record adds the points that are due and hangs the history on the view.
func (w *workflow) record(v *model.WorkflowView, points int, repeat bool, f *Fleet) {
	h := w.history
	now := h.sample(v, w.fresh > 0)
	gap := gapPoint()
	for i := range points {
		if i < points-1 && !repeat {
			h.append(&gap)
			continue
		}
		h.append(&now)
	}
	v.History = h.see(f.grid.step, f.grid.end(f.started))
	w.seeHeat(v.History, f.block, f.started)
}

type point [numTracks]float32

func gapPoint() (p point) {
	for i := range p {
		p[i] = float32(math.NaN())
	}
	return p
}

func (h *history) sample(v *model.WorkflowView, fresh bool) point {
	p := gapPoint()
	if !fresh {
		return p
	}
	putDist(p[trackTTFT:], v.TTFT)
	putDist(p[trackTPOT:], v.TPOT)
	putDist(p[trackITL:], v.ITL)
	putDist(p[trackE2E:], v.E2E)
	p[trackRequests] = nan32(v.Requests.PerSecond)
	p[trackOutput] = nan32(v.Tokens.OutputPerSecond)
	p[trackRunning] = nan32(v.Requests.Running)
	p[trackWaiting] = nan32(v.Requests.Waiting)
	p[trackKV] = nan32(v.KVCacheUsage)
	p[trackGoodput] = nan32(cmp.Or(v.Goodput.Share.Point, v.Goodput.Share.Lo))
	p[trackGoodputLo], p[trackGoodputHi] = nan32(v.Goodput.Share.Lo), nan32(v.Goodput.Share.Hi)
	p[trackPreemptions] = nan32(v.PreemptionsPerSec)
	p[trackPrefixHit] = nan32(v.PrefixCacheHit)
	p[trackQueue], p[trackPrefill], p[trackDecode] = mean32(v.Queue), mean32(v.Prefill), mean32(v.Decode)
	return p
}

// isOfNow: only a window has a place on the time axis. What a server counted since
// its start has none.
func isOfNow(d *model.Dist) bool { return d != nil && d.Basis != model.SinceStart }

func mean32(d *model.Dist) float32 {
	if !isOfNow(d) {
		return float32(math.NaN())
	}
	return nan32(d.Mean)
}

// putDist writes p50, p95 with its bracket, and p99.
func putDist(p []float32, d *model.Dist) {
	if !isOfNow(d) {
		return
	}
	p[0], p[4] = drawn(d.P50), drawn(d.P99)
	p[1], p[2], p[3] = nan32(d.P95.Value), nan32(d.P95.Lo), nan32(d.P95.Hi)
	switch {
	case d.P95.Open:
		p[1], p[3] = p[2], float32(math.Inf(1))
	case d.P95.Seen: // read off the requests themselves: there is no bracket to draw
		p[2], p[3] = p[1], p[1]
	}
}

// drawn is an estimate's value, and where it is open the least that it is.
func drawn(e model.Estimate) float32 {
	if e.Open {
		return nan32(e.Lo)
	}
	return nan32(e.Value)
}

func (h *history) append(p *point) {
	for i, v := range p {
		h.tracks[i].Append(v)
	}
}

func (h *history) see(step time.Duration, end model.Instant) *model.History {
	tail := func(i int) []float32 { return h.tracks[i].Tail(h.keep) }
	dist := func(i int) model.Track {
		return model.Track{P50: tail(i), P95: tail(i + 1), LoP95: tail(i + 2), HiP95: tail(i + 3), P99: tail(i + 4)}
	}
	return &model.History{
		Step: step, End: end,
		TTFT: dist(trackTTFT), TPOT: dist(trackTPOT), ITL: dist(trackITL), E2E: dist(trackE2E),
		Requests: tail(trackRequests), Output: tail(trackOutput),
		Running: tail(trackRunning), Waiting: tail(trackWaiting), KV: tail(trackKV),
		Goodput: tail(trackGoodput), GoodputLo: tail(trackGoodputLo), GoodputHi: tail(trackGoodputHi),
		Preemptions: tail(trackPreemptions), PrefixHit: tail(trackPrefixHit),
		Queue: tail(trackQueue), Prefill: tail(trackPrefill), Decode: tail(trackDecode),
		Events: h.events.see(),
	}
}
