package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/themes"
)

// This file is what the headline says of targets: those in trouble, one line for a
// hundred of them, and the last restart.

func inCondition(f *model.Frame, c condition) []*model.TargetView {
	var out []*model.TargetView
	for _, t := range servers(f) {
		if conditionOf(t) == c {
			out = append(out, t)
		}
	}
	return out
}

// targetTrouble is a line for each kind of trouble that targets are in: one
// line for a hundred of them.
func targetTrouble(f *model.Frame, look Look) [][]part {
	var out [][]part
	for _, c := range []condition{down, stalled, stale} {
		list := inCondition(f, c)
		switch {
		case len(list) == 0:
		case len(list) == 1:
			out = append(out, oneInTrouble(f, list[0], c, look))
		case c == down:
			out = append(out, append(manyDown(f, list, look), faultSummary(list, look)...))
		default:
			out = append(out, []part{{segs: []seg{
				{conditionTable[c].role, fmt.Sprintf("%s %d of %d targets %s", look.mark(c), len(list), len(servers(f)), targetWord(c))},
				{themes.Muted, ", the first since " + earliest(list)},
			}}})
		}
	}
	return out
}

func oneInTrouble(f *model.Frame, t *model.TargetView, c condition, look Look) []part {
	head := part{segs: []seg{
		{conditionTable[c].role, look.mark(c) + " "},
		{themes.Strong, look.foreign(t.Name, 30)},
		{conditionTable[c].role, " " + targetWord(c)},
		{themes.Muted, " since " + hms(t.Since)},
	}}
	switch {
	case c == stalled:
		return []part{head, say(0, themes.Text, stalledText(f, t, look))}
	case t.Fault != nil:
		return []part{head, {segs: []seg{
			{themes.Text, t.Fault.Kind.Word()},
			{themes.Muted, ": " + look.sentence(t.Fault.Detail, 400)},
		}}}
	default:
		return []part{head}
	}
}

// stalledText is the alert's own sentence where there is one.
func stalledText(f *model.Frame, t *model.TargetView, look Look) string {
	for _, a := range f.Alerts {
		if string(a.Target) == t.Name && a.Rule == "stalled" {
			return look.sentence(a.Text, 200)
		}
	}
	return look.count(t.Running, 12).text + " running, " + look.count(t.Waiting, 12).text + " waiting, nothing moves"
}

func manyDown(f *model.Frame, list []*model.TargetView, look Look) []part {
	return []part{{segs: []seg{
		{conditionTable[down].role, fmt.Sprintf("%s %d of %d targets down", look.mark(down), len(list), len(servers(f)))},
		{themes.Muted, " since " + earliest(list)},
	}}}
}

func allDown(f *model.Frame, list []*model.TargetView, look Look) []part {
	if len(list) == 1 {
		t := list[0]
		return []part{{segs: []seg{
			{conditionTable[down].role, look.mark(down) + " "},
			{themes.Strong, look.foreign(t.Name, 40)},
			{conditionTable[down].role, " down"},
			{themes.Muted, " since " + hms(t.Since)},
		}}}
	}
	return manyDown(f, list, look)
}

// faultSummary counts the faults of targets, most frequent first, and shows one.
func faultSummary(list []*model.TargetView, look Look) []part {
	counts := map[model.FaultKind]int{}
	var kinds []model.FaultKind
	for _, t := range list {
		if t.Fault == nil {
			continue
		}
		if counts[t.Fault.Kind] == 0 {
			kinds = append(kinds, t.Fault.Kind)
		}
		counts[t.Fault.Kind]++
	}
	slices.SortStableFunc(kinds, func(a, b model.FaultKind) int { return counts[b] - counts[a] })
	if len(list) == 1 && len(kinds) == 1 {
		return []part{{segs: []seg{
			{themes.Text, kinds[0].Word()}, {themes.Muted, ": " + look.sentence(list[0].Fault.Detail, 400)},
		}}}
	}
	var words []string
	for _, k := range kinds {
		words = append(words, fmt.Sprintf("%d %s", counts[k], k.Word()))
	}
	return []part{say(1, themes.Text, strings.Join(words, ", "))}
}

// recent is how long a restart is worth a line.
const recent = 10 * time.Minute

// restarts names the target that restarted last.
func restarts(f *model.Frame, look Look) [][]part {
	var last *model.TargetView
	for i := range f.Targets {
		t := &f.Targets[i]
		if t.RestartedAt.IsZero() || f.At.Sub(t.RestartedAt) > recent {
			continue
		}
		if last == nil || t.RestartedAt.Mono > last.RestartedAt.Mono {
			last = t
		}
	}
	if last == nil {
		return nil
	}
	return [][]part{{{segs: []seg{
		{themes.Warn, look.pick("↻", "R") + " "},
		{themes.Strong, look.foreign(last.Name, 30)},
		{themes.Warn, " restarted"},
		{themes.Muted, " at " + hms(last.RestartedAt) + ", " + look.age(f.At.Sub(last.RestartedAt)) + " ago"},
	}}}}
}

func earliest(list []*model.TargetView) string {
	at := list[0].Since
	for _, t := range list[1:] {
		if t.Since.Mono < at.Mono {
			at = t.Since
		}
	}
	return hms(at)
}

// hms is the time of day of an instant.
func hms(i model.Instant) string {
	if i.IsZero() {
		return "the start"
	}
	return i.Wall.UTC().Format("15:04:05")
}
