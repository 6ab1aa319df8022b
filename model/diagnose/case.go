package diagnose

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"slotop/model"
)

const (
	confirmed = 2  // evaluations in a row in which something must be true, or untrue
	patience  = 30 // evaluations for which a finding stands on what is not known any more
	mostTold  = 8  // findings of a pool; more would hide the first
	settledIn = 60 // evaluations after which what moved, and hurts nobody, is normal
)

// Case is the diagnosis of one pool over time. Its zero value is ready. It keeps
// what hysteresis needs and nothing else.
type Case struct {
	streaks   map[string]int // evaluations in a row in which something was true, by key
	standing  map[string]stood
	harmless  int // evaluations in a row in which something moved and nothing was wrong
	lost      int // engines that stopped answering, as of the last evaluation
	since     int // evaluations since their number changed
	disturbed bool
}

// stood is a finding that was told: for how many evaluations it has not been known
// again, and for how many it was untrue.
type stood struct {
	view   model.FindingView
	order  float64
	blind  int
	untrue int
}

// Evaluate says what is wrong with the pool. It is called once for each completed
// block. Findings are ordered: causes with the largest first, what binds, symptoms.
// What could not be looked at again keeps what was found: silence is not recovery.
func (c *Case) Evaluate(f *Facts) (model.DiagnosisView, []model.FindingView) {
	if why := unseen(f); why != "" {
		return c.blindly(f, why)
	}
	c.miss(f)
	s := newScene(f, memory{c.holds, c.again, c.lost > 0 && c.since <= NowBlocks})
	told, blind := s.ask(c.holds)
	c.count(s, told)
	standing := c.stand(s, told, blind)
	findings, left := ordered(standing)
	v := s.view(findings, c.holds)
	if left > 0 {
		v.Why = also(v.Why, plural(left, "weaker finding is", "weaker findings are")+" not shown")
	}
	c.disturb(s, told)
	return v, findings
}

// Disturbed reports whether the baseline must stand still: something changed at
// the last evaluation, confirmed or not yet, or users feel something.
func (c *Case) Disturbed() bool { return c.disturbed }

// miss counts for how long the engines that do not answer have been the same ones.
func (c *Case) miss(f *Facts) {
	c.since++
	if lost := f.Silent - f.Awaited; lost != c.lost {
		c.lost, c.since = lost, 0
	}
}

// holds reports whether what the key names was true often enough to count, and has
// not been untrue as often since.
func (c *Case) holds(key string) bool {
	_, stands := c.standing[key]
	return stands || c.streaks[key] >= confirmed
}

// again reports whether what the key names was true at the last evaluation.
func (c *Case) again(key string) bool { return c.streaks[key] > 0 }

// unseen is why nothing can be looked at, "" where it can.
func unseen(f *Facts) string {
	switch {
	case len(f.Engines) == 0 && f.Silent > 0:
		return "no engine of it answers"
	case !f.Settled:
		return "less than a minute is known of it"
	}
	for i := range f.Flows {
		if len(f.Flows[i].Now) > 0 {
			return ""
		}
	}
	if len(f.Engines) > 0 {
		return ""
	}
	return "nobody reports a request of it"
}

// blindly repeats what stood.
func (c *Case) blindly(f *Facts, why string) (model.DiagnosisView, []model.FindingView) {
	for _, key := range slices.Sorted(maps.Keys(c.standing)) {
		c.age(key)
	}
	findings, _ := ordered(c.standing)
	v := heading(f)
	v.State, v.Why = model.CannotTell, model.Text(why)
	v.Sentence = "cannot tell: " + why
	c.disturbed = c.disturbed || len(findings) > 0
	return v, findings
}

// age lets go of what nobody has known of for too long.
func (c *Case) age(key string) {
	old := c.standing[key]
	if old.blind++; old.blind > patience {
		delete(c.standing, key)
		return
	}
	c.standing[key] = old
}

// count lengthens the streaks of what is true, and ends all others.
func (c *Case) count(s *scene, told []telling) {
	next := map[string]int{}
	for _, key := range s.truths() {
		next[key] = c.streaks[key] + 1
	}
	for i := range told {
		next[told[i].key] = c.streaks[told[i].key] + 1
	}
	c.streaks = next
}

// stand is the findings that are true for the second time at least, those that were
// and cannot be looked at now, and those that are untrue for the first time: what
// takes their place is not confirmed before the second. Where nothing is felt any more
// nothing does.
func (c *Case) stand(s *scene, told []telling, blind map[string]bool) map[string]stood {
	next := map[string]stood{}
	for i := range told {
		t := &told[i]
		if !c.holds(t.key) {
			continue
		}
		view := t.view
		view.Since = s.f.At.Add(-Block * time.Duration(c.streaks[t.key]-1))
		if old, known := c.standing[t.key]; known {
			view.Since = old.view.Since
		}
		next[t.key] = stood{view: view, order: t.order}
	}
	for _, key := range slices.Sorted(maps.Keys(c.standing)) {
		old := c.standing[key]
		if blind[old.view.ID] {
			old.blind++
		} else {
			old.untrue++
		}
		gone := old.untrue >= confirmed || old.untrue > 0 && !s.matters()
		if _, again := next[key]; again || old.blind > patience || gone {
			continue
		}
		next[key] = old
	}
	c.standing = next
	return next
}

// ordered is the findings in the order in which they are read, and how many are
// left out because there are too many.
func ordered(standing map[string]stood) (out []model.FindingView, left int) {
	keys := slices.Sorted(maps.Keys(standing))
	slices.SortStableFunc(keys, func(a, b string) int {
		x, y := standing[a], standing[b]
		return cmp.Or(
			x.view.Layer.Rank()-y.view.Layer.Rank(),
			cmp.Compare(finite(y.order), finite(x.order)),
		)
	})
	for _, key := range keys[:min(len(keys), mostTold)] {
		out = append(out, standing[key].view)
	}
	return out, len(keys) - len(out)
}

func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// disturb says whether the baseline stands still. What moved and hurts nobody for
// ten minutes is the new normal.
func (c *Case) disturb(s *scene, told []telling) {
	wrong := len(told) > 0 || len(c.standing) > 0 || s.matters()
	if wrong || !s.anyMoved() {
		c.harmless = 0
		c.disturbed = wrong
		return
	}
	c.harmless++
	c.disturbed = c.harmless <= settledIn
}
