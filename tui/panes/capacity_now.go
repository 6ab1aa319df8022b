package panes

import (
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file says on the sheet of a pool what is seen of its workflows now: how fast their
// budgets go, and how much of their prompts the cache has.

// worstBurn is how fast the budget went in the worst hour; before an hour was seen, in
// the longest stretch that was.
func (s *sheet) worstBurn(f *model.Frame, c *model.CapacityView) {
	if c.WorstBurn.OK() {
		s.facts("worst burn", part{segs: []seg{seg(s.look.times(c.WorstBurn)), {themes.Muted, " in the worst hour"}}}.of("worst_burn", c.Pool), say(0, themes.Muted, "1 spends what is allowed"))
		return
	}
	for _, span := range []struct {
		words, topic string
		of           func(model.Burn) model.Reading
	}{
		{"last 30 min", "burn.30m", func(b model.Burn) model.Reading { return b.M30 }},
		{"last 5 min", "burn.5m", func(b model.Burn) model.Reading { return b.M5 }},
		{"last 2 min", "burn.2m", func(b model.Burn) model.Reading { return b.M2 }},
	} {
		who, worst := "", model.Reading{}
		for i := range f.Workflows {
			w := &f.Workflows[i]
			if w.Budget == nil || !slices.Contains(c.Workflows, w.Name) {
				continue
			}
			if v := span.of(w.Budget.Burn); v.OK() && (!worst.OK() || v.Value > worst.Value) {
				who, worst = w.Name, v
			}
		}
		if worst.OK() {
			s.facts("worst burn", part{segs: []seg{seg(s.look.times(worst)), {themes.Muted, " in the " + span.words + ", " + s.look.foreign(who, 24)}}}.of(span.topic, who),
				say(0, themes.Muted, "no whole hour is seen yet"))
			return
		}
	}
	s.prose("worst burn", themes.Muted, "not known yet: no budget of its workflows was watched for long enough")
}

// hits is the share of prompt tokens that each workflow finds in the cache now: what the
// first lever is added to.
func (s *sheet) hits(f *model.Frame, c *model.CapacityView) {
	var ps []part
	for i := range f.Workflows {
		if w := &f.Workflows[i]; w.PrefixCacheHit.OK() && slices.Contains(c.Workflows, w.Name) && len(ps) < mostHits {
			ps = append(ps, part{segs: []seg{{themes.Muted, s.look.foreign(w.Name, 24) + " "}, {themes.Text, unit.Ratio(w.PrefixCacheHit.Value)}}}.of("prefix_cache_hit", w.Name))
		}
	}
	if len(ps) > 0 {
		s.facts("hits now", ps...)
	}
}

// mostHits is how many workflows of a pool have their hits told here: screen 3 has all.
const mostHits = 4
