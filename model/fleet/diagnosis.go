package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/unit"
)

// Limits of the diagnosis.
const (
	// mostFindings bounds those of a frame.
	mostFindings = 32
	// standsAtMost is for how long a baseline stands still while something is wrong, and
	// standsUnfelt for how long where no workflow misses its promise: then this is how
	// things are now.
	standsAtMost = time.Hour
	standsUnfelt = 10 * time.Minute
)

// inquiry is the diagnosis of one pool over time: its baseline, and what it came to.
type inquiry struct {
	matter diagnose.Case
	first  int64 // the block with which it began
	last   int64 // the newest that is complete
	left   int64 // the newest that is part of the baseline or was dropped

	baseline []int64 // blocks of the baseline, oldest first
	loud     []int64 // blocks that must not become part of it
	stands   model.Instant
	admits   bool // it stood still for so long that this is how things are now

	view     model.DiagnosisView
	findings []model.FindingView
}

// present is the first and the last block of the present minute.
func (q *inquiry) present() (first, last int64) {
	return q.last - diagnose.NowBlocks + 1, q.last
}

// diagnose asks once for each completed block what is wrong with each pool, and hangs
// what it came to on the frame. It does not depend on the viewer's window.
func (f *Fleet) diagnose(fr *model.Frame) {
	f.devices.readMeters()
	if f.asked != f.block || len(f.inquiries) == 0 {
		f.asked = f.block
		f.inquire(fr)
	}
	fr.Findings, fr.Diagnoses = f.findings, f.diagnoses
}

// inquire evaluates every pool.
func (f *Fleet) inquire(fr *model.Frame) {
	pools := f.pools()
	engines := 0
	for i := range pools {
		if pools[i].hasEngines() {
			engines++
		}
	}
	f.lonely = engines == 1
	if engines > 0 && engines < len(pools) {
		f.findBehind(pools)
	}
	gpus := f.compared()
	f.inquiries = f.inquiries[:0]
	asked := map[*inquiry]bool{}
	for i := range pools {
		p := &pools[i]
		q := f.inquiryOf(p, asked)
		asked[q] = true
		q.look(f, fr, p, gpus)
		f.inquiries = append(f.inquiries, q)
	}
	f.findings, f.diagnoses = gathered(f.inquiries)
}

// inquiryOf is the one that a pool's workflows have, the oldest of several. Where a
// pool came apart, its first part keeps it.
func (f *Fleet) inquiryOf(p *pool, taken map[*inquiry]bool) *inquiry {
	var q *inquiry
	for _, w := range p.flows {
		if old := w.story.asked; old != nil && !taken[old] && (q == nil || old.first < q.first) {
			q = old
		}
	}
	if q == nil {
		q = &inquiry{first: f.block, last: f.block - 1, left: f.block - 1}
		if begins := p.begins(); begins < q.first {
			q.first, q.last, q.left = begins, begins-1, begins-1
		}
	}
	for _, w := range p.flows {
		w.story.asked = q
	}
	return q
}

// begins is the first block that any of the pool's targets has.
func (p *pool) begins() int64 {
	first := int64(1 << 62)
	for _, t := range p.targets {
		if whole := &t.past.whole; len(whole.at) > 0 {
			first = min(first, whole.at[0])
		}
	}
	return first
}

// look evaluates the pool, if a block was completed.
func (q *inquiry) look(f *Fleet, fr *model.Frame, p *pool, gpus map[*target][]*device) {
	before := q.last
	q.last = max(q.last, p.complete(f))
	if q.last == before {
		if q.view.Pool == "" {
			q.waits(p)
		}
		return
	}
	p.note(before, q.last)
	q.settle(p, gpus, f)
	for _, t := range p.targets {
		if t.steps != nil {
			t.steps.look(q.last, f.endOf(q.last).Mono)
		}
	}
	facts := q.facts(f, fr, p, gpus)
	q.view, q.findings = q.matter.Evaluate(facts)
	q.dress(p)
	q.guard(facts, fr, p, before)
}

// complete is the newest block of which everyone told who is not late.
func (p *pool) complete(f *Fleet) int64 {
	newest := f.block - 1
	out := newest
	for _, t := range p.targets {
		whole := &t.past.whole
		n := len(whole.at)
		if n == 0 || !t.fresh() {
			continue
		}
		if late := newest - whole.at[n-1]; late <= patient(t.spacing(f.every)) {
			out = min(out, whole.at[n-1])
		}
	}
	return out
}

// note keeps with the newest block what is of the minute that it ends.
func (p *pool) note(after, last int64) {
	gaps := p.gaps()
	for _, w := range p.flows {
		for i := range w.story.noted {
			if n := &w.story.noted[i]; n.at > after && n.at <= last {
				n.gap = gaps[w]
			}
		}
	}
}

// settle lets blocks that are longer ago than the present and the pause become part
// of the baseline, if they were quiet. While there is little of a past the pause is
// shorter.
func (q *inquiry) settle(p *pool, gpus map[*target][]*device, f *Fleet) {
	p.countOthers(f.endOf(q.last))
	spare := int64(len(q.baseline)) + q.last - q.left - diagnose.NowBlocks - diagnose.LeastBaseline
	pause := min(diagnose.PauseBlocks, max(0, spare))
	through := q.last - diagnose.NowBlocks - pause
	for at := max(q.left+1, through-mostRecent); at <= through; at++ {
		quiet := q.quiet(at)
		if quiet && p.tells(at) {
			q.baseline = appendQuiet(q.baseline, at)
		}
		p.settle(at, f.endOf(at).Mono, quiet, gpus)
	}
	if through <= q.left {
		return
	}
	q.left = through
	for _, t := range p.targets {
		if t.steps != nil {
			t.steps.leave(through, q.quiet, min(mostSamples, int(f.reach/leastSample)))
		}
		t.past.each(func(one *part) { one.forget(through) })
	}
	for _, w := range p.flows {
		w.story.noted = slices.DeleteFunc(w.story.noted, func(n noted) bool { return n.at < through })
	}
	q.loud = slices.DeleteFunc(q.loud, func(at int64) bool { return at <= through })
}

// quiet reports whether a block may become part of the baseline.
func (q *inquiry) quiet(at int64) bool {
	if q.admits {
		return true
	}
	return q.stands.IsZero() && !slices.Contains(q.loud, at)
}

// tells reports whether anything is known of a block.
func (p *pool) tells(at int64) bool {
	for _, t := range p.targets {
		if t.past.whole.find(at) != nil {
			return true
		}
	}
	return slices.ContainsFunc(p.flows, func(w *workflow) bool {
		_, ok := w.reportedAt(at, nil)
		return ok
	})
}

// settle makes one block part of the baselines of all, or drops it.
func (p *pool) settle(at int64, end time.Duration, quiet bool, gpus map[*target][]*device) {
	for _, w := range p.flows {
		s := &w.story
		s.calls.leave(at, quiet)
		if !quiet {
			continue
		}
		if sums, ok := w.sumsAt(at, everyone); ok {
			s.base = appendQuiet(s.base, sums)
		}
		if edge, ok := w.edgeAt(at); ok {
			s.edge = appendQuiet(s.edge, edge)
		}
		if n := s.find(at); n != nil && n.gap != (diagnose.Gap{}) {
			s.gaps = appendQuiet(s.gaps, n.gap)
		}
	}
	if !quiet {
		return
	}
	for _, t := range p.targets {
		if s := t.past.whole.find(at); s != nil {
			t.past.base = appendQuiet(t.past.base, *s)
		}
		if t.steps != nil {
			t.steps.quiet(end)
		}
		if on := gpus[t]; len(on) > 0 {
			t.quieten(on, at)
		}
	}
}

func everyone(*target) bool { return true }

// guard decides whether the blocks that were just looked at may become part of the
// baseline: not while anything is wrong, unless that goes on for too long.
func (q *inquiry) guard(facts *diagnose.Facts, fr *model.Frame, p *pool, before int64) {
	// What moved against less than a baseline says nothing: it might be the beginning.
	moved := q.matter.Disturbed() && (len(q.baseline) >= diagnose.LeastBaseline || missed(facts))
	if !moved && facts.Silent == facts.Awaited && !p.alarmed(fr) {
		q.stands, q.admits = model.Instant{}, false
		return
	}
	if q.stands.IsZero() {
		q.stands = facts.At
	}
	stood := facts.At.Sub(q.stands)
	q.admits = stood >= standsAtMost || stood >= standsUnfelt && !missed(facts)
	for at := max(before+1, q.last-mostRecent); at <= q.last; at++ {
		q.loud = append(q.loud, at)
	}
}

// missed reports whether a promise of any workflow was missed over the present minute.
func missed(facts *diagnose.Facts) bool {
	return slices.ContainsFunc(facts.Flows, func(w diagnose.Flow) bool {
		return slices.ContainsFunc(w.Terms, func(o model.ObjectiveView) bool { return o.Verdict == model.Missed })
	})
}

// alarmed reports whether an alert of one of the pool's workflows is about to fire or
// does. What is no more than a note, as all that was only assumed, is none.
func (p *pool) alarmed(fr *model.Frame) bool {
	return slices.ContainsFunc(fr.Alerts, func(a model.AlertView) bool {
		active := a.State == model.AlertPending || a.State == model.AlertFiring
		return active && a.Severity != model.Note && slices.ContainsFunc(p.flows, func(w *workflow) bool { return string(a.Workflow) == w.name })
	})
}

// waits is what is said before anything was asked.
func (q *inquiry) waits(p *pool) {
	q.view = model.DiagnosisView{State: model.CannotTell, WindowS: (diagnose.NowBlocks * diagnose.Block).Seconds()}
	q.dress(p)
}

// dress completes the view with whom it is about, and says for how long there can be
// nothing to compare with.
func (q *inquiry) dress(p *pool) {
	v := &q.view
	v.Pool, v.Targets, v.Workflows, v.Factors = p.name, []string{}, []string{}, orEmpty(v.Factors)
	for _, t := range p.targets {
		v.Targets = append(v.Targets, t.spec.Name)
	}
	for _, w := range p.flows {
		v.Workflows = append(v.Workflows, w.name)
	}
	if v.State == model.CannotTell && len(q.baseline) < diagnose.LeastBaseline {
		v.Why = model.Text(q.lacks())
		v.Sentence = "cannot tell yet: " + string(v.Why)
	}
}

// lacks says why there is no baseline.
func (q *inquiry) lacks() string {
	if !q.stands.IsZero() {
		return "there was no quiet time yet to compare with"
	}
	missing := diagnose.NowBlocks + diagnose.LeastBaseline - int64(len(q.baseline)) - (q.last - q.left)
	return fmt.Sprintf("a baseline needs another %s", unit.Period(float64(max(1, missing))*diagnose.Block.Seconds()))
}

// gathered are the findings of all pools, causes first, and what each came to, the
// worst first.
func gathered(all []*inquiry) ([]model.FindingView, []model.DiagnosisView) {
	findings, diagnoses := []model.FindingView{}, make([]model.DiagnosisView, 0, len(all))
	for _, q := range all {
		findings = append(findings, q.findings...)
		diagnoses = append(diagnoses, q.view)
	}
	slices.SortStableFunc(findings, func(a, b model.FindingView) int { return a.Layer.Rank() - b.Layer.Rank() })
	slices.SortStableFunc(diagnoses, func(a, b model.DiagnosisView) int {
		return cmp.Compare(stateRank(a.State), stateRank(b.State))
	})
	return findings[:min(len(findings), mostFindings)], diagnoses
}

func stateRank(s model.DiagnosisState) int {
	return slices.Index([]model.DiagnosisState{model.Diagnosed, model.CannotTell, model.NoFinding}, s)
}
