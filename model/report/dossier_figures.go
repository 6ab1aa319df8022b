package report

import (
	"net/url"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/unit"
)

// figures says the numbers of one frame in words, each with its path in the frame's
// JSON.
type figures struct {
	frame *model.Frame
	name  string // of the frame: worst, last
}

func (d *dossier) worst() figures { return figures{d.s.Worst, "worst"} }
func (d *dossier) last() figures  { return figures{d.s.Last, "last"} }

// key is a path in the JSON of the frame. What stands in a list is called by its name.
func (g figures) key(path ...string) string {
	for i, s := range path {
		path[i] = url.PathEscape(s)
	}
	return g.name + "/" + strings.Join(path, "/")
}

// read says a reading, or why there is none.
func (g figures) read(r model.Reading, format func(float64) string, path ...string) paper.Text {
	if !r.OK() {
		return paper.Toned(unit.Reading(r, format), paper.Quiet)
	}
	return paper.Say(format(r.Value), g.key(path...), r)
}

// dist says a percentile of a distribution.
func (g figures) dist(d *model.Dist, of func(*model.Dist) model.Estimate, path ...string) paper.Text {
	switch {
	case d == nil:
		return paper.Toned(unit.None(false), paper.Quiet)
	case d.N == 0:
		return paper.Toned(model.NoTraffic.String(), paper.Quiet)
	case !of(d).Exists():
		return paper.Toned("no percentile", paper.Quiet)
	}
	e := of(d)
	text := unit.Estimate(e, false)
	if !e.Enough {
		text += " " + few
	}
	v := e.Value
	if !v.OK() {
		v = e.Lo
	}
	return paper.Say(text, g.key(path...), v)
}

func p50(d *model.Dist) model.Estimate { return d.P50 }
func p95(d *model.Dist) model.Estimate { return d.P95 }

// share says a goodput, with the tone of its verdict.
func (g figures) share(v *model.GoodputView, path ...string) paper.Text {
	if v == nil {
		return paper.Toned(unit.None(false), paper.Quiet)
	}
	if !v.Share.Hi.OK() && !v.Share.Lo.OK() {
		return paper.Toned(v.Verdict.Word(), paper.Quiet)
	}
	at := v.Share.Point
	if !at.OK() {
		at = v.Share.Lo
	}
	t := paper.Say(unit.Share(v.Share, false), g.key(append(path, "share")...), at)
	if v.Verdict == model.Missed {
		return t.In(paper.Breach)
	}
	return t
}

func rate(v float64) string { return unit.Rate(v) + "/s" }

// condition is a workflow's condition as a word with its tone.
func condition(w *model.WorkflowView) paper.Text {
	switch w.Condition {
	case model.IsDown, model.IsStalled, model.IsStale, model.IsMissed:
		return paper.Toned(conditionWord(w), paper.Breach)
	case model.IsPartial, model.IsAtRisk:
		return paper.Toned(conditionWord(w), paper.Warn)
	case model.IsMet:
		return paper.Toned(conditionWord(w), paper.Good)
	default:
		return paper.Toned(conditionWord(w), paper.Quiet)
	}
}

// workflows is a table of every workflow's figures at the frame.
func (g figures) workflows(caption string) paper.Block {
	t := paper.Table{Caption: caption, Columns: []paper.Column{
		{Head: "Workflow"}, {Head: "State"}, {Head: "Req/s", Right: true}, {Head: "Goodput", Right: true}, {Head: "n", Right: true},
		{Head: "TTFT p50", Right: true}, {Head: "TTFT p95", Right: true}, {Head: "TPOT p50", Right: true}, {Head: "TPOT p95", Right: true},
		{Head: "Running", Right: true}, {Head: "Waiting", Right: true}, {Head: "KV", Right: true}, {Head: "Output tok/s", Right: true},
	}}
	for i := range g.frame.Workflows {
		w := &g.frame.Workflows[i]
		at := func(path ...string) []string { return append([]string{"workflows", w.Name}, path...) }
		n := paper.Text(nil)
		if w.Goodput != nil {
			n = g.read(model.Of(w.Goodput.N), unit.Integer, at("goodput", "n")...)
		}
		row := paper.Row{Cells: []paper.Text{
			paper.T(title(w)), condition(w), g.read(w.Requests.PerSecond, unit.Rate, at("requests", "per_second")...),
			g.share(w.Goodput, at("goodput")...), n,
			g.dist(w.TTFT, p50, at("ttft", "p50")...), g.dist(w.TTFT, p95, at("ttft", "p95")...),
			g.dist(w.TPOT, p50, at("tpot", "p50")...), g.dist(w.TPOT, p95, at("tpot", "p95")...),
			g.read(w.Requests.Running, unit.Count, at("requests", "running")...), g.read(w.Requests.Waiting, unit.Count, at("requests", "waiting")...),
			g.read(w.KVCacheUsage, unit.Percent, at("kv_cache_usage")...), g.read(w.Tokens.OutputPerSecond, unit.Rate, at("tokens", "output_per_second")...),
		}}
		if slices.Contains([]model.Condition{model.IsDown, model.IsStalled, model.IsMissed}, w.Condition) {
			row.Tone = paper.Breach
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return paper.Para{Text: paper.T("No workflow: no target has named a model yet.")}
	}
	return t
}

// maxTargetRows bounds the table of targets; those that are well come last.
const maxTargetRows = 40

// targets is a table of the targets at the frame, the ones in trouble first.
func (g figures) targets(caption string) []paper.Block {
	t := paper.Table{Caption: caption, Columns: []paper.Column{
		{Head: "Target"}, {Head: "State"}, {Head: "Engine"}, {Head: "Req/s", Right: true}, {Head: "TTFT p95", Right: true}, {Head: "TPOT p95", Right: true},
		{Head: "Running", Right: true}, {Head: "Waiting", Right: true}, {Head: "KV", Right: true}, {Head: "Output tok/s", Right: true},
	}}
	order := make([]*model.TargetView, len(g.frame.Targets))
	for i := range g.frame.Targets {
		order[i] = &g.frame.Targets[i]
	}
	slices.SortStableFunc(order, func(a, b *model.TargetView) int { return b.State.Rank() - a.State.Rank() })
	for _, v := range order[:min(len(order), maxTargetRows)] {
		at := func(path ...string) []string { return append([]string{"targets", v.Name}, path...) }
		state := paper.T(targetWord(v))
		if v.State.Rank() > model.Up.Rank() {
			state = state.In(paper.Breach)
		}
		engine := strings.TrimSpace(string(v.Engine) + " " + string(v.Version))
		if engine == "" {
			engine = v.Kind
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(v.Name), state, paper.T(engine), g.read(v.RequestsPerSecond, unit.Rate, at("requests_per_second")...),
			g.dist(v.TTFT, p95, at("ttft", "p95")...), g.dist(v.TPOT, p95, at("tpot", "p95")...),
			g.read(v.Running, unit.Count, at("running")...), g.read(v.Waiting, unit.Count, at("waiting")...),
			g.read(v.KVCacheUsage, unit.Percent, at("kv_cache_usage")...), g.read(v.OutputPerSecond, unit.Rate, at("output_per_second")...),
		}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	out := []paper.Block{t}
	if n := len(order) - maxTargetRows; n > 0 {
		out = append(out, paper.Para{Text: paper.Toned(plural(n, "target")+" more, in no worse a state", paper.Quiet)})
	}
	return out
}
