package report

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// widestState is the width of the longest state: cut, "not metrics" would read as
// an objective that was not met.
func widestState(targets []model.TargetView) int {
	widest := 8
	for i := range targets {
		widest = max(widest, len(targetWord(&targets[i])))
	}
	return widest
}

// targets is one row a target, and below it what is out of the ordinary.
func (p *page) targets(targets []model.TargetView) {
	p.line("")
	if len(targets) == 0 {
		p.line("TARGET  none")
		return
	}
	t := p.table(
		column{head: "TARGET"},
		column{head: "STATE", min: widestState(targets), left: true},
		column{head: "ENGINE", min: p.widestEngine(targets), left: true, drop: 6},
		column{head: "REQ/S", min: 5, drop: 3},
		column{head: "TTFT p95", min: 8, drop: 1},
		column{head: "RUN", min: 4},
		column{head: "WAIT", min: 4},
		column{head: "KV", min: 5, drop: 4},
		column{head: "TOK/S", min: 5, drop: 2},
	)
	for i := range targets {
		v := &targets[i]
		p.row(t,
			p.name(v.Name, t.name), targetWord(v), p.engine(v),
			p.cell(v.RequestsPerSecond, unit.Rate),
			p.quantile(v.TTFT, !slices.Contains(v.Missing, model.TTFT)),
			p.cell(v.Running, unit.Count), p.cell(v.Waiting, unit.Count),
			p.cell(v.KVCacheUsage, unit.Percent), p.cell(v.OutputPerSecond, unit.Rate),
		)
		p.target(v)
	}
}

// widestEngine is as wide as the longest engine and version, within a quarter of
// the page.
func (p *page) widestEngine(targets []model.TargetView) int {
	n := len("ENGINE")
	for i := range targets {
		n = max(n, unit.Width(p.engine(&targets[i])))
	}
	return min(n, p.width/4)
}

func (p *page) engine(v *model.TargetView) string {
	switch {
	case v.Engine == "" && v.Kind != model.EngineTarget:
		return v.Kind
	case v.Engine == "" && v.Polls > v.FailedPolls:
		return "unknown"
	case v.Engine == "":
		return unit.None(p.ascii)
	case v.Version == "":
		return p.safe(string(v.Engine))
	default:
		return p.safe(string(v.Engine) + " " + string(v.Version))
	}
}

// target writes the lines below a target's row; for a healthy one there are few.
func (p *page) target(v *model.TargetView) {
	const indent = "  "
	if v.State != model.Up && v.State != model.Idle && !v.Since.IsZero() {
		p.sentence(indent, targetWord(v)+" since "+p.ago(v.Since))
	}
	p.fault(indent, v)
	if v.FailedPolls > 0 {
		p.sentence(indent, fmt.Sprintf("%d of %s failed", v.FailedPolls, plural(v.Polls, "poll")))
	}
	if v.BadLines > 0 {
		p.sentence(indent, p.safe(string(v.FirstBad)))
	}
	if v.Dropped > 0 {
		p.sentence(indent, fmt.Sprintf("%d series refused by a limit", v.Dropped))
	}
	if v.Restarts > 0 {
		p.sentence(indent, "restarted "+plural(v.Restarts, "time")+", last at "+p.ago(v.RestartedAt))
	}
	if v.ReportedOutput.OK() {
		p.sentence(indent, "engine reports "+unit.Rate(v.ReportedOutput.Value)+" tok/s")
	}
	for _, e := range v.Engines {
		p.flow(indent+"engine ", "  ", p.safe(e.ID),
			"running "+unit.Reading(e.Running, unit.Count), "waiting "+unit.Reading(e.Waiting, unit.Count),
			"KV usage "+unit.Reading(e.KVCacheUsage, unit.Percent))
	}
	for _, m := range v.Meanings {
		if m.Measures != "" {
			p.sentence(indent, m.Signal.Title()+" from "+p.safe(m.Metric)+": "+p.safe(m.Measures))
		}
	}
	p.probe(indent, v)
	p.absent(indent, v.Missing)
	p.notes(indent, v.Notes)
}

func (p *page) fault(indent string, v *model.TargetView) {
	if v.Fault == nil {
		return
	}
	last := "; it never answered"
	if !v.Fault.LastGoodAt.IsZero() {
		last = "; last good answer at " + p.ago(v.Fault.LastGoodAt)
	}
	p.sentence(indent, strings.ReplaceAll(string(v.Fault.Kind), "_", " ")+": "+p.safe(v.Fault.Detail)+last)
}
