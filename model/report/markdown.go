package report

import (
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/unit"
)

// Markdown is the whole frame as Markdown, for pasting: tables of workflows and their
// objectives, findings, alerts, targets, engines, GPUs and capacity. Numbers carry their
// units, names are escaped.
func Markdown(f *model.Frame) string {
	g := figures{f, "frame"}
	p := paper.Paper{Title: markdownTitle(f), Under: []paper.Text{paper.T(markdownOf(f))}}
	if f.Simulated {
		p.Badge = "SIMULATED"
	}
	add := func(title string, body ...paper.Block) {
		for _, b := range body {
			if t, table := b.(paper.Table); table && len(t.Rows) == 0 {
				return
			}
		}
		if len(body) > 0 {
			p.Body = append(p.Body, paper.Section{Title: title, Body: body})
		}
	}
	add("Workflows", g.workflows(""))
	add("Objectives", g.objectives())
	add("Findings", g.findings()...)
	add("Alerts", g.alerts())
	add("Targets", g.targetTable())
	add("Utilization", g.engines())
	add("GPUs", g.gpus())
	add("Capacity", g.pools())
	add("Stages", g.stageTable())
	return p.Markdown()
}

// markdownTitle is who is hurt, or that nobody is.
func markdownTitle(f *model.Frame) string {
	if len(f.Workflows) == 0 {
		return "slotop"
	}
	w := &f.Workflows[0]
	return "slotop: " + w.Name + " " + conditionWord(w)
}

func markdownOf(f *model.Frame) string {
	at := unit.None(false)
	if !f.At.IsZero() {
		at = f.At.Wall.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return strings.Join([]string{at, window(f), plural(len(f.Targets), "target")}, ", ")
}

func right(heads ...string) []paper.Column {
	out := make([]paper.Column, len(heads))
	for i, h := range heads {
		out[i] = paper.Column{Head: h, Right: true}
	}
	return out
}

func left(heads ...string) []paper.Column {
	out := make([]paper.Column, len(heads))
	for i, h := range heads {
		out[i] = paper.Column{Head: h}
	}
	return out
}

// objectives is a row for each bound of each workflow, with goodput and budget.
func (g figures) objectives() paper.Table {
	t := paper.Table{Columns: append(left("Workflow", "Objective", "Verdict"), right("Kept", "Promised", "n", "Goodput", "Burn 5 min", "Budget left")...)}
	for i := range g.frame.Workflows {
		w := &g.frame.Workflows[i]
		burn, left := model.Reading{}, model.Reading{}
		if b := w.Budget; b != nil {
			burn, left = b.Burn.M5, b.Remaining
		}
		for _, o := range w.Objectives {
			bound := o.Metric.Title() + " " + unit.Limit(o.MaxS)
			if w.AssumedObjectives {
				bound += " (assumed)"
			}
			t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
				paper.T(w.Name), paper.T(bound), paper.T(o.Verdict.Word()), paper.T(unit.Share(o.Share, false)), paper.T(unit.Promised(o.Target)),
				g.read(measuredOn(o), unit.Integer), g.share(w.Goodput), g.read(burn, unit.Number), g.read(left, unit.Percent),
			}})
		}
	}
	return t
}

// measuredOn is how many requests an objective was measured on, unknown without any.
func measuredOn(o model.ObjectiveView) model.Reading {
	if o.N <= 0 {
		return model.Missing(model.NoTraffic)
	}
	return model.Of(o.N)
}

// findings is what is wrong, why, and what to try.
func (g figures) findings() []paper.Block {
	var out []paper.Block
	for i := range g.frame.Findings {
		d := &g.frame.Findings[i]
		items := []paper.Text{}
		add := func(word string, texts ...string) {
			for _, s := range texts {
				if s != "" {
					items = append(items, paper.Strong(word).And(paper.T(" "+s)))
				}
			}
		}
		add("symptom", string(d.Symptom))
		add("cause", string(d.Cause))
		add("binding", string(d.Binding))
		add("evidence", d.Evidence...)
		add("not", d.Not...)
		add("against", d.Against...)
		add("try", d.Try...)
		out = append(out, paper.Section{Title: d.ID + " " + d.Title + ", confidence " + string(d.Confidence), Body: []paper.Block{paper.List{Items: items}}})
	}
	return out
}

func (g figures) alerts() paper.Table {
	t := paper.Table{Columns: append(left("State", "Severity", "Rule", "Of", "What", "Since UTC"), right("Now", "Worst", "Limit")...)}
	for i := range g.frame.Alerts {
		a := &g.frame.Alerts[i]
		of := string(a.Workflow)
		if of == "" {
			of = string(a.Target)
		}
		in := func(r model.Reading) paper.Text {
			return g.read(r, func(v float64) string { return unit.Measured(v, a.Unit) })
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(string(a.State)), paper.T(string(a.Severity)), paper.T(a.Rule), paper.T(of), paper.T(a.Text), paper.T(unit.Clock(a.Since, false)),
			in(a.Value), in(a.Peak), in(a.Limit),
		}})
	}
	return t
}

// targetTable is a row for every target, in the order given.
func (g figures) targetTable() paper.Table {
	t := paper.Table{Columns: append(left("Target", "State", "Engine"), right("Running", "Waiting", "KV", "Req/s", "Output tok/s", "TTFT p95", "TPOT p95", "Preemptions/s", "Polls failed")...)}
	for i := range g.frame.Targets {
		v := &g.frame.Targets[i]
		engine := strings.TrimSpace(string(v.Engine) + " " + string(v.Version))
		if engine == "" {
			engine = v.Kind
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(v.Name), paper.T(targetWord(v)), paper.T(engine), g.read(v.Running, unit.Count), g.read(v.Waiting, unit.Count),
			g.read(v.KVCacheUsage, unit.Percent), g.read(v.RequestsPerSecond, unit.Rate), g.read(v.OutputPerSecond, unit.Rate),
			g.dist(v.TTFT, p95), g.dist(v.TPOT, p95), g.read(v.PreemptionsPerSec, unit.Rate), paper.T(unit.Integer(float64(v.FailedPolls))),
		}})
	}
	return t
}

func (g figures) engines() paper.Table {
	t := paper.Table{Columns: append(left("Engine", "Hardware", "Bound", "By"), right("MFU", "MBU", "Step", "Slowdown", "Busy")...)}
	for i := range g.frame.Utilization {
		u := &g.frame.Utilization[i]
		var step, slow model.Reading
		if u.Step != nil {
			step, slow = u.Step.Seconds, u.Step.Residual
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(u.Target), paper.T(string(u.Device)), paper.T(string(u.Bound)), paper.T(string(u.Basis)), g.read(u.MFU, unit.Ratio), g.read(u.MBU, unit.Ratio),
			g.read(step, unit.Milliseconds), g.read(slow, unit.Times), g.read(u.Busy, unit.Percent),
		}})
	}
	return t
}

func (g figures) gpus() paper.Table {
	t := paper.Table{Columns: append(left("GPU", "Name", "State", "Held back", "Runs"), right("Busy", "Tensor", "DRAM", "Memory", "Power", "SM clock", "Temperature")...)}
	for i := range g.frame.Devices {
		d := &g.frame.Devices[i]
		read := func(m model.DeviceMetric, format func(float64) string) paper.Text {
			return g.read(d.Values[m].Reading, format)
		}
		memory := read(model.MemUsed, unit.Bytes)
		if used, all := d.Values[model.MemUsed], d.Values[model.MemTotal]; used.OK() && all.OK() {
			memory = paper.T(unit.BytesOf(used.Value, all.Value))
		}
		state := string(d.State)
		if d.Stale {
			state = "stale"
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(d.UUID), paper.T(string(d.Name)), paper.T(state), paper.T(strings.Join(d.Throttled, ", ")), paper.T(strings.Join(d.Engines, ", ")),
			read(model.Busy, unit.Percent), read(model.TensorActive, unit.Percent), read(model.DRAMActive, unit.Percent), memory,
			read(model.Power, unit.Watts), read(model.SMClock, unit.Hertz), read(model.Temperature, func(c float64) string { return unit.Celsius(c, false) }),
		}})
	}
	return t
}

func (g figures) pools() paper.Table {
	t := paper.Table{Columns: append(left("Pool", "Binds first"), right("Load", "Req/s now", "An objective breaks", "KV cache full", "Queues never end", "More req/s", "Ready", "Needed", "Per million good tokens")...)}
	for i := range g.frame.Capacity {
		c := &g.frame.Capacity[i]
		good := paper.Text(nil)
		if v := c.Cost; v != nil {
			good = g.span(v.PerMillionGood, func(x float64) string { return unit.Money(v.Currency, x) })
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(c.Pool), paper.T(firstBinding(c)), g.read(c.Load, unit.Load), g.read(c.Rate, unit.Rate), g.read(c.SLORate, unit.Rate), g.read(c.KVRate, unit.Rate),
			g.read(c.MaxRate, unit.Rate), g.read(c.More, unit.Rate), paper.T(unit.Integer(float64(c.Replicas.Ready))), g.read(c.Replicas.Needed, unit.Count), good,
		}})
	}
	return t
}

// span says a range, or one number where its ends read alike.
func (g figures) span(r model.Range, format func(float64) string) paper.Text {
	if !r.Lo.OK() || !r.Hi.OK() {
		return g.read(model.Reading{}, format)
	}
	lo, hi := format(r.Lo.Value), format(r.Hi.Value)
	if lo == hi {
		return paper.T(lo)
	}
	return paper.T(lo + "–" + hi)
}

func (g figures) stageTable() paper.Table {
	t := paper.Table{Columns: append(left("Stage", "From UTC", "Workflow"), right("n", "Req/s", "Output tok/s", "TTFT p50", "TTFT p95", "TPOT p95", "E2E p95", "Goodput")...)}
	for i := range g.frame.Stages {
		s := &g.frame.Stages[i]
		for j := range s.Workflows {
			w := &s.Workflows[j]
			t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
				paper.T(s.Name), paper.T(unit.Clock(s.From, false)), paper.T(w.Name), g.read(w.Finished, unit.Integer), g.read(w.PerSecond, unit.Rate),
				g.read(w.OutputPerSecond, unit.Rate), g.dist(w.TTFT, p50), g.dist(w.TTFT, p95), g.dist(w.TPOT, p95), g.dist(w.E2E, p95), g.share(w.Goodput),
			}})
		}
	}
	return t
}
