package panes

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Engines is the strip of targets that carry the workflows, worst first.
type Engines struct{}

// Name names the pane.
func (Engines) Name() string { return "engines" }

// Want is a title and a row for each target, up to a handful.
func (Engines) Want(f *model.Frame, w int, _ Look) layout.Want {
	n := len(servers(f))
	drop := 1
	if w < narrow {
		drop = 4
	}
	return layout.Want{Min: min(n, 2) + 1, Ideal: min(n, 4) + 1, Max: min(n, 10) + 1, Drop: drop}
}

// Render draws as many rows as there is room for, and says how many are left.
func (Engines) Render(f *model.Frame, size layout.Size, look Look) string {
	if size.H <= 0 {
		return ""
	}
	order := targetOrder(f, "", ByState)
	if serve := slices.DeleteFunc(slices.Clone(order), aside); len(serve) > 0 {
		order = serve
	}
	from, to, more := visible(len(order), 0, size.H-1)
	serving(f, order, to, look)
	t := fit(targetColumns(f, order[from:to], size.W, 6, look), size.W-1)
	out := []string{t.head(look)}
	for _, v := range order[from:to] {
		out = append(out, t.row(rowOf(v, f), conditionOf(v), false, look))
	}
	if more > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, moreTargets(order[to:])).String())
	}
	return lines(size.H, out...)
}

// serving puts a target of the chosen workflow, one that answers if there is one,
// on the last row shown when others leave none.
func serving(f *model.Frame, order []*model.TargetView, shown int, look Look) {
	w := chosenOne(f, look)
	if w == nil || shown == 0 {
		return
	}
	carries := func(t *model.TargetView) bool { return slices.Contains(w.Targets, t.Name) }
	for _, wanted := range []func(*model.TargetView) bool{
		func(t *model.TargetView) bool { return conditionOf(t) >= up && carries(t) }, carries,
	} {
		i := slices.IndexFunc(order, wanted)
		if i < 0 {
			continue
		}
		if i >= shown {
			t := order[i]
			copy(order[shown:i+1], order[shown-1:i])
			order[shown-1] = t
		}
		return
	}
}

// moreTargets says how many targets are not shown and how the worst of them is.
func moreTargets(rest []*model.TargetView) string {
	worst := quiet
	for _, t := range rest {
		worst = min(worst, conditionOf(t))
	}
	return fmt.Sprintf("+ %d more, the worst is %s", len(rest), targetWord(worst))
}

// row is a target with the frame's instant, from which ages are taken.
type row struct {
	t      *model.TargetView
	at     model.Instant
	window bool // there is one
}

func rowOf(t *model.TargetView, f *model.Frame) row { return row{t, f.At, f.CoveredS.OK()} }

// targetColumns is the columns of every table of targets, for the rows shown. Where
// room is short dropFor says when the column of how long gives way.
func targetColumns(f *model.Frame, shown []*model.TargetView, w, dropFor int, look Look) []column[row] {
	tpot, itl := targetTokens(f)
	title, tokenW := tokenTitle(tpot, itl, w)
	var longest, engine, models int
	for _, t := range shown {
		longest = max(longest, cells(unit.Escape(t.Name, look.ASCII)))
		engine = max(engine, cells(unit.Escape(engineText(t), look.ASCII)))
		for _, m := range t.Models[:min(len(t.Models), 1)] {
			models = max(models, cells(unit.Escape(m, look.ASCII))+len(" +99"))
		}
	}
	return []column[row]{
		{title: "TARGET", min: leastName(longest, w, 12), max: nameWidth(longest), left: true, about: targetAbout("row.target"), draw: func(r row, w int, k Look) cell {
			return cell{themes.Strong, k.foreign(r.t.Name, w)}
		}},
		{title: "STATE", min: stateW(w), left: true, about: targetAbout("target.state"), draw: drawTargetState},
		{title: "FOR", min: 5, drop: dropFor, about: targetAbout("target.state"), draw: drawFor},
		{title: "RUN", min: 4, drop: 2, about: targetAbout("running"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.count(r.t.Running, w)) }},
		{title: "WAIT", min: 4, about: targetAbout("waiting"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.count(r.t.Waiting, w)) }},
		{title: "KV", min: 5, drop: 1, about: targetAbout("kv_cache_usage"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.ratio(r.t.KVCacheUsage, w)) }},
		{title: "REQ/S", min: 5, drop: 7, about: targetAbout("requests_per_second"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.rate(r.t.RequestsPerSecond, w)) }},
		{title: "tok/s", min: 5, drop: 5, about: targetAbout("output_per_second"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.rate(r.t.OutputPerSecond, w)) }},
		{title: "TTFT p95", min: quantileW(w), drop: 3, about: targetAbout("ttft.p95"), draw: func(r row, w int, k Look) cell {
			return k.aged(r, k.quantile(begun(r.t.TTFT, r.window), slices.Contains(r.t.Missing, model.TTFT), w))
		}},
		{title: title, min: tokenW, drop: 4, about: targetTokenAbout, draw: func(r row, w int, k Look) cell { return drawToken(r, w, title, k) }},
		{title: "PREEMPT/S", min: 9, drop: 10, about: targetAbout("preemptions"), draw: func(r row, w int, k Look) cell {
			return k.aged(r, k.rate(r.t.PreemptionsPerSec, w))
		}},
		{title: "ENGINE", min: 12, max: nameWidth(engine), drop: 8, left: true, draw: drawEngine},
		{title: "MODELS", min: 10, max: nameWidth(models), drop: 9, left: true, draw: drawModels},
		{title: "POLL", min: 7, drop: 11, about: targetAbout("took"), draw: func(r row, w int, k Look) cell { return k.took(r.t.TookS, w) }},
		{title: "FAILED", min: 6, drop: 12, about: targetAbout("failed_polls"), draw: drawFailed},
	}
}

// targetAbout says what a column holds of its row's target.
func targetAbout(topic string) func(row) About {
	return func(r row) About { return About{topic, string(r.t.ID)} }
}

// targetTokenAbout is the metric per token that the target has.
func targetTokenAbout(r row) About {
	if r.t.TPOT == nil && r.t.ITL != nil {
		return targetAbout("itl.p95")(r)
	}
	return targetAbout("tpot.p95")(r)
}

func targetTokens(f *model.Frame) (tpot, itl bool) {
	for i := range f.Targets {
		t := &f.Targets[i]
		tpot = tpot || t.TPOT != nil
		itl = itl || t.TPOT == nil && t.ITL != nil
	}
	return tpot, itl
}

func drawToken(r row, w int, title string, k Look) cell {
	if r.t.TPOT != nil || r.t.ITL == nil {
		return k.aged(r, k.quantile(begun(r.t.TPOT, r.window), slices.Contains(r.t.Missing, model.TPOT), w))
	}
	c := k.quantile(begun(r.t.ITL, r.window), false, w)
	c.text = markITL(c.text, title)
	return k.aged(r, c)
}

// aged greys a value of a target that no longer answers: it is the last one
// seen, not the present one. Without colour the state beside it says so.
func (k Look) aged(r row, c cell) cell {
	switch conditionOf(r.t) {
	case down, stale:
		c.role = themes.Gone
	}
	return c
}

// stateW is the width of the states: of the longest word for a fault.
func stateW(screen int) int {
	if screen < narrow {
		return 9
	}
	return 11
}

func drawTargetState(r row, w int, k Look) cell {
	c := conditionOf(r.t)
	text := targetWord(c)
	if r.t.Fault != nil && c == down {
		text = r.t.Fault.Kind.Word()
	}
	return cell{conditionTable[c].role, k.cut(text, w)}
}

func drawFor(r row, w int, k Look) cell {
	c := conditionOf(r.t)
	if r.t.Since.IsZero() || c > stale {
		return cell{}
	}
	age := k.age(r.at.Sub(r.t.Since))
	if i := strings.IndexAny(age, "dhm"); cells(age) > w && i >= 0 {
		age = age[:i+1] // 12m, not 12m05s cut short
	}
	return cell{themes.Muted, k.cut(age, w)}
}

func engineText(t *model.TargetView) string {
	return strings.TrimSpace(string(t.Engine) + " " + string(t.Version))
}

func drawEngine(r row, w int, k Look) cell {
	if r.t.Engine == "" && r.t.Kind == model.GPUTarget {
		return cell{themes.Muted, k.cut(r.t.Kind, w)}
	}
	if r.t.Engine == "" {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	return cell{themes.Muted, k.clipped(unit.Escape(engineText(r.t), k.ASCII), w)}
}

func drawModels(r row, w int, k Look) cell {
	switch len(r.t.Models) {
	case 0:
		return cell{themes.Muted, unit.None(k.ASCII)}
	case 1:
		return cell{themes.Muted, k.foreign(r.t.Models[0], w)}
	default:
		more := fmt.Sprintf(" +%d", len(r.t.Models)-1)
		return cell{themes.Muted, k.foreign(r.t.Models[0], w-len(more)) + more}
	}
}

func drawFailed(r row, w int, k Look) cell {
	if r.t.FailedPolls == 0 {
		return cell{themes.Muted, "0"}
	}
	return cell{themes.Warn, k.cut(unit.Count(float64(r.t.FailedPolls)), w)}
}
