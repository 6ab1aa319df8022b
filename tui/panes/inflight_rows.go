package panes

import (
	"cmp"
	"fmt"
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// carriers is the targets that serve a workflow, worst first: what fails, then the
// fullest cache, then the longest queue. What stands before the engines and has no
// cache comes last.
func carriers(f *model.Frame, w *model.WorkflowView) []*model.TargetView {
	var out []*model.TargetView
	for i := range f.Targets {
		if t := &f.Targets[i]; slices.Contains(w.Targets, t.Name) {
			out = append(out, t)
		}
	}
	before := func(t *model.TargetView) int {
		if t.Kind == model.GatewayTarget || t.Kind == model.ProbeTarget {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *model.TargetView) int {
		return cmp.Or(
			cmp.Compare(min(conditionOf(a), up), min(conditionOf(b), up)), cmp.Compare(before(a), before(b)),
			compareBy(a, b, ByKV), compareBy(a, b, ByWaiting), naturalCompare(a.Name, b.Name))
	})
	return out
}

// carrierRows is a row a target, as many as there is room for.
func carrierRows(f *model.Frame, carry []*model.TargetView, size layout.Size, look Look) []string {
	if size.H <= 0 {
		return nil
	}
	if len(carry) == 0 {
		return []string{look.line(size.W).pad(indent).put(themes.Muted, "no target of it is watched any more").String()}
	}
	_, to, more := visible(len(carry), 0, size.H-1)
	title := "TARGET"
	if size.H <= fewRows && more > 0 { // a line that counts the others would be one of them
		to, more = size.H-1, 0
		title = fmt.Sprintf("WORST %d OF %d", to, len(carry))
	}
	t := fit(carrierColumns(title, carry[:to], size.W, look), size.W-1)
	out := []string{t.head(look)}
	for _, v := range carry[:to] {
		out = append(out, t.row(rowOf(v, f), conditionOf(v), false, look))
	}
	if more > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, moreTargets(carry[to:])).String())
	}
	return out
}

// fewRows is a height in which each line is a row.
const fewRows = 4

func carrierColumns(title string, shown []*model.TargetView, w int, look Look) []column[row] {
	longest := 0
	for _, t := range shown {
		longest = max(longest, cells(unit.Escape(t.Name, look.ASCII)))
	}
	about := func(topic string) func(row) About { return func(r row) About { return About{topic, r.t.Name} } }
	return []column[row]{
		{title: title, min: max(leastName(longest, w, 12), len(title)), max: nameWidth(longest), left: true, about: about("row.target"), draw: func(r row, w int, k Look) cell {
			return cell{themes.Strong, k.foreign(r.t.Name, w)}
		}},
		{title: "STATE", min: stateW(w), drop: 5, left: true, draw: drawTargetState},
		{title: "WAITING", min: 7, about: about("waiting"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.count(r.t.Waiting, w)) }},
		{title: "RUNNING", min: 7, about: about("running"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.count(r.t.Running, w)) }},
		{title: "KV", min: 5, about: about("kv_cache_usage"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.ratio(r.t.KVCacheUsage, w)) }},
		{title: "", min: meterCells, max: 2 * meterCells, drop: 4, left: true, near: true, draw: drawMeter},
		{title: "PREEMPT/S", min: 9, drop: 3, about: about("preemptions"), draw: func(r row, w int, k Look) cell {
			return k.aged(r, k.alarmed(k.rate(r.t.PreemptionsPerSec, w), r.t.PreemptionsPerSec))
		}},
		{title: "REQ/S", min: 5, drop: 7, about: about("requests_per_second"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.rate(r.t.RequestsPerSecond, w)) }},
		{title: "tok/s", min: 5, drop: 6, about: about("output_per_second"), draw: func(r row, w int, k Look) cell { return k.aged(r, k.rate(r.t.OutputPerSecond, w)) }},
		{title: "ENGINES", min: 7, drop: 8, draw: func(r row, _ int, _ Look) cell {
			return cell{themes.Muted, unit.Integer(float64(max(len(r.t.Engines), 1)))}
		}},
	}
}

// drawMeter is a target's KV cache as a bar.
func drawMeter(r row, w int, k Look) cell {
	v, ok := r.t.KVCacheUsage.Get()
	if !ok {
		return cell{}
	}
	role := themes.Meter
	if v >= kvNearlyFull {
		role = themes.Warn
	}
	full, empty := chart.Meter(v, w, k.ASCII)
	return k.aged(r, cell{role, full + empty})
}

// flowRows is a row a workflow with what is under way of it, around the cursor.
func flowRows(f *model.Frame, size layout.Size, look Look) []string {
	if size.H <= 0 {
		return nil
	}
	at := chosen(f, look)
	from, to, more := visible(len(f.Workflows), at, size.H-1)
	t := fit(flowColumns(f.Workflows[from:to], size.W, look), size.W-1)
	out := []string{t.head(look)}
	for i := from; i < to; i++ {
		w := &f.Workflows[i]
		out = append(out, t.row(w, of(w), i == at, look))
	}
	if more > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, fmt.Sprintf("+ %d more", more)).String())
	}
	return out
}

func flowColumns(shown []model.WorkflowView, w int, look Look) []column[*model.WorkflowView] {
	longest := 0
	for i := range shown {
		longest = max(longest, cells(unit.Escape(shown[i].Name, look.ASCII)))
	}
	type wv = *model.WorkflowView
	about := func(topic string) func(wv) About { return func(r wv) About { return About{topic, r.Name} } }
	return []column[wv]{
		{title: "WORKFLOW", min: leastName(longest, w, 10), max: nameWidth(longest), left: true, draw: drawName, about: about("row.workflow")},
		{title: "WAIT NOW", min: 8, about: about("wait_now"), draw: drawWaitNow},
		{title: "WAITING", min: 7, about: about("waiting"), draw: func(r wv, w int, k Look) cell { return k.count(r.Requests.Waiting, w) }},
		{title: "RUNNING", min: 7, about: about("running"), draw: func(r wv, w int, k Look) cell { return k.count(r.Requests.Running, w) }},
		{title: "KV", min: 5, drop: 3, about: about("kv_cache_usage"), draw: func(r wv, w int, k Look) cell { return k.ratio(r.KVCacheUsage, w) }},
		{title: "PREEMPT/S", min: 9, drop: 2, about: about("preemptions"), draw: func(r wv, w int, k Look) cell {
			return k.settled(r, k.alarmed(k.rate(r.PreemptionsPerSec, w), r.PreemptionsPerSec))
		}},
		{title: "HITS", min: 5, drop: 1, about: about("prefix_cache_hit"), draw: func(r wv, w int, k Look) cell { return k.settled(r, k.ratio(r.PrefixCacheHit, w)) }},
		{title: "REQ/S", min: 5, drop: 4, about: about("requests_per_second"), draw: func(r wv, w int, k Look) cell { return k.rate(r.Requests.PerSecond, w) }},
	}
}

// drawWaitNow is the wait of a request that arrives now.
func drawWaitNow(r *model.WorkflowView, w int, k Look) cell {
	v, ok := r.WaitNow.Get()
	if !ok {
		return k.absent(r.WaitNow.State, w)
	}
	if v == 0 {
		return cell{themes.Muted, "none"}
	}
	_, role := againstPromise(r, v, false, k)
	return cell{role, k.pick("≈", "~") + unit.DurationShort(v)}
}
