package panes

import (
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file is the table of what could have moved: arrivals, lengths, misses and
// the machine.

// factorLook is how a factor is called and how its values are written.
type factorLook struct {
	word   string
	format func(float64) string
}

func perSecond(v float64) string { return unit.Rate(v) + "/s" }

var factorLooks = map[model.Factor]factorLook{
	model.FactorArrivals:   {"arrival rate", perSecond},
	model.FactorPrompt:     {"prompt tokens", unit.Integer},
	model.FactorMiss:       {"cache misses", unit.Percent},
	model.FactorOutput:     {"output tokens", unit.Integer},
	model.FactorResidual:   {"step slowdown", unit.Times},
	model.FactorAcceptance: {"tokens a step", unit.Number},
	model.FactorRetries:    {"retries", unit.Percent},
	model.FactorSetting:    {"configuration", unit.Count},
	model.FactorReplicas:   {"replicas ready", unit.Number},
	model.FactorProvider:   {"provider", unit.Times},
	model.FactorOutside:    {"outside engine", unit.Duration},
}

// factorWord is the name of a factor on screen.
func factorWord(f model.Factor) string {
	if k, ok := factorLooks[f]; ok {
		return k.word
	}
	return strings.ReplaceAll(string(f), "_", " ")
}

// shortFactors are the names in a bracket that lists what else was looked at.
var shortFactors = map[model.Factor]string{
	model.FactorArrivals: "arrivals", model.FactorPrompt: "prompt", model.FactorMiss: "miss", model.FactorOutput: "output", model.FactorResidual: "machine",
}

// factors is a row a factor, those that moved first among equals.
func (s *sheet) factors(pool string, list []model.FactorView) {
	if len(list) == 0 {
		return
	}
	longest := 0
	for i := range list {
		longest = max(longest, cells(unit.Escape(string(list[i].Who), s.look.ASCII)))
	}
	t := fit(factorColumns(pool, longest), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for i := range list[:min(len(list), maxListed)] {
		v := &list[i]
		l := s.look.line(s.w).pad(1)
		if v.Moved {
			l.put(themes.Warn, s.look.pick("▸", ">"))
		}
		s.out = append(s.out, t.fill(l.pad(indent), v, s.look))
	}
	s.more(len(list) - maxListed)
}

func factorColumns(pool string, longest int) []column[*model.FactorView] {
	about := func(topic string) func(*model.FactorView) About {
		return func(v *model.FactorView) About { return About{topic, Within(pool, string(v.Factor))} }
	}
	value := func(v *model.FactorView, r model.Reading, w int, k Look) cell {
		format := unit.Number
		if l, ok := factorLooks[v.Factor]; ok {
			format = l.format
		}
		c := k.reading(r, w, format)
		c.text = unit.Sentence(c.text, k.ASCII)
		return cell{dimmed(v, c.role), c.text}
	}
	return []column[*model.FactorView]{
		{title: "FACTOR", min: 14, left: true, draw: func(v *model.FactorView, w int, k Look) cell {
			return cell{dimmed(v, themes.Strong), k.foreign(factorWord(v.Factor), w)}
		}},
		{title: "BEFORE", min: 7, drop: 2, about: about("factor.before"), draw: func(v *model.FactorView, w int, k Look) cell { return value(v, v.Before, w, k) }},
		{title: "NOW", min: 7, drop: 2, about: about("factor.now"), draw: func(v *model.FactorView, w int, k Look) cell { return value(v, v.Now, w, k) }},
		{title: "RATIO", min: 6, about: about("factor.ratio"), draw: func(v *model.FactorView, w int, k Look) cell {
			c := k.reading(v.Ratio, w, unit.Times)
			return cell{dimmed(v, c.role), unit.Sentence(c.text, k.ASCII)}
		}},
		{title: "WORK", min: 8, about: about("factor.work"), draw: func(v *model.FactorView, w int, k Look) cell {
			c := k.reading(v.Work, w, unit.More)
			return cell{dimmed(v, c.role), c.text}
		}},
		{title: "WHO", min: 3, max: min(nameWidth(longest)+6, 40), left: true, drop: 1, draw: drawWho},
	}
}

// dimmed sets back what did not move.
func dimmed(v *model.FactorView, role themes.Role) themes.Role {
	if v.Moved {
		return role
	}
	return themes.Muted
}

// drawWho is who moved a factor, and of how much of the change that is.
func drawWho(v *model.FactorView, w int, k Look) cell {
	text := ""
	switch {
	case v.Who != "":
		share := ""
		if s, ok := v.WhoShare.Get(); ok && s < 0.95 {
			share = " " + unit.Percent(s)
		}
		text = k.foreign(string(v.Who), w-cells(share)) + share
	case v.Mix:
		text = "the mix"
	}
	return cell{dimmed(v, themes.Text), k.cut(text, w)}
}
