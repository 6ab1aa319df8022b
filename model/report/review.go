package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/unit"
)

// maxReviewed is how many pools a review tells of in full.
const maxReviewed = 8

// review is how much room each pool has at its objectives, what binds first, and what
// a good token costs.
func (d *dossier) review() (title string, body []paper.Block) {
	f := d.s.Last
	pools := f.Capacity[:min(len(f.Capacity), maxReviewed)]
	body = append(body, d.reviewSummary(pools))
	if len(pools) > 0 {
		body = append(body, d.reviewFacts(&pools[0]))
	}
	for i := range pools {
		body = append(body, d.pool(&pools[i], i, len(pools) > 1))
	}
	if n := len(f.Capacity) - maxReviewed; n > 0 {
		body = append(body, paper.Para{Text: paper.Toned(plural(n, "pool")+" more, less full or not known.", paper.Quiet)})
	}
	body = append(body, d.wholeTime(), d.overTime())
	body = append(body, d.use()...)
	body = append(body, paper.Section{Title: "At the end in figures", Body: append([]paper.Block{
		d.last().workflows("Workflows at " + d.time(f.At)),
	}, d.last().targets("Targets at "+d.time(f.At))...)})
	return d.reviewTitle(pools), append(body, d.quality())
}

func (d *dossier) reviewTitle(pools []model.CapacityView) string {
	if len(pools) == 0 {
		return "Capacity: not known"
	}
	c := &pools[0]
	more, ok := c.More.Get()
	switch {
	case !ok:
		return "Capacity of " + c.Pool + ": load not known"
	case more > 0:
		return "Room for " + unit.Rate(more) + " req/s more: " + c.Pool
	default:
		return "No room: " + c.Pool + ", load " + unit.Load(c.Load.Value)
	}
}

func (d *dossier) reviewSummary(pools []model.CapacityView) paper.Block {
	tone := paper.Good
	var items []paper.Text
	for i := range pools {
		c := &pools[i]
		text, but := c.Sentence, c.Why
		if !c.Load.OK() {
			if text, tone = "load not known", paper.Warn; c.Why != "" {
				text, but = text+": "+string(c.Why), ""
			}
		}
		if v, ok := c.More.Get(); ok && v <= 0 {
			tone = paper.Breach
		}
		line := paper.Strong(c.Pool + ": ").And(paper.T(text + "."))
		if first := firstBinding(c); first != "" && !strings.Contains(text, first) && !strings.Contains(text, "first") {
			line = line.And(paper.T(" Binds first: " + first + "."))
		}
		if but != "" {
			line = line.And(paper.T(" But " + string(but) + "."))
		}
		items = append(items, line)
	}
	if len(items) == 0 {
		tone = paper.Warn
		items = append(items, paper.T("No pool is known: capacity needs engines that are watched directly and traffic of a minute."))
	}
	if names := d.hurt(); len(names) > 0 {
		tone = paper.Breach
		items = append(items, paper.T("In this time promises were broken: ").And(paper.Strong(strings.Join(names, ", ")), paper.T(". The figures below are of a service in trouble; see the incident report.")))
	}
	return paper.Notice{Tone: tone, Body: []paper.Block{paper.List{Items: items}}}
}

// ofPool reads a figure of the last frame's pool.
func (d *dossier) ofPool(c *model.CapacityView, r model.Reading, format func(float64) string, path ...string) paper.Text {
	return d.last().read(r, format, append([]string{"capacity", c.Pool}, path...)...)
}

func (d *dossier) reviewFacts(c *model.CapacityView) paper.Facts {
	items := []paper.Fact{
		{Name: "Load factor", Value: d.ofPool(c, c.Load, unit.Load, "load"), Note: paper.T("planning limit " + unit.Number(model.PlanningLimit) + ", model"), Tone: loadTone(c.Load)},
		{Name: "Requests now", Value: d.ofPool(c, c.Rate, rate, "requests_per_second"), Note: paper.T(seenRange(c))},
		{Name: "Room", Value: d.ofPool(c, c.More, moreRate, "more_requests_per_second"), Note: paper.T("of this mix, up to the planning limit or what binds before")},
		{Name: "Where an objective breaks", Value: d.ofPool(c, c.SLORate, rate, "at_objective_per_second"), Note: paper.T("model")},
	}
	if v := c.Cost; v != nil {
		price := func(x float64) string { return unit.Money(v.Currency, x) }
		items = append(items, paper.Fact{Name: "A million good tokens", Value: rangeText(v.PerMillionGood, price), Note: paper.T(unit.Reading(v.PerMillion, price) + " for any million")})
	}
	if v := c.Energy; v != nil {
		items = append(items, paper.Fact{Name: "Energy of a million tokens", Value: d.ofPool(c, v.WhPerMillion, unit.WattHours, "energy", "wh_per_million_output"), Note: paper.T(string(v.Note))})
	}
	return paper.Facts{Items: items}
}

// loadTone marks a load factor: above the planning limit tails grow.
func loadTone(load model.Reading) paper.Tone {
	switch v, ok := load.Get(); {
	case !ok:
		return paper.Quiet
	case v > model.PlanningLimit:
		return paper.Breach
	case v > 0.6:
		return paper.Warn
	default:
		return paper.Good
	}
}

func moreRate(v float64) string {
	if v > 0 {
		return "+" + rate(v)
	}
	return rate(v)
}

func seenRange(c *model.CapacityView) string {
	lo, hi := c.Observed.Lo, c.Observed.Hi
	if !lo.OK() || !hi.OK() {
		return "of all workflows"
	}
	return "seen: " + unit.Rate(lo.Value) + "–" + unit.Rate(hi.Value) + " req/s"
}

// rangeText is a range in words: one number where both ends read alike.
func rangeText(r model.Range, format func(float64) string) paper.Text {
	lo, hi := r.Lo, r.Hi
	switch {
	case !lo.OK() && !hi.OK():
		return paper.Toned("not known", paper.Quiet)
	case !lo.OK():
		return paper.T("≤ " + format(hi.Value))
	case !hi.OK():
		return paper.T("≥ " + format(lo.Value))
	case format(lo.Value) == format(hi.Value):
		return paper.T(format(lo.Value))
	default:
		return paper.T(format(lo.Value) + "–" + format(hi.Value))
	}
}

// pool is one pool in full.
func (d *dossier) pool(c *model.CapacityView, i int, several bool) paper.Block {
	title := "Headroom"
	if several {
		title = c.Pool
	}
	body := []paper.Block{}
	if several && i > 0 {
		body = append(body, d.reviewFacts(c))
	}
	body = append(body, paper.Para{Text: paper.T("The pool has " + plural(len(c.Targets), "engine") + " and serves " + strings.Join(c.Workflows, ", ") +
		". What is marked model is computed from what a step of the engines was learned to cost; above a load of " + unit.Number(model.PlanningLimit) + " it is optimistic, because traffic fluctuates.")})
	body = append(body, d.rateTable(c), d.plan(c))
	body = append(body, d.expected(c)...)
	body = append(body, d.knee(c)...)
	body = append(body, d.levers(c)...)
	body = append(body, d.moneyTables(c)...)
	return paper.Section{Title: title, Body: body}
}

// rateTable are the rates at which something ends.
func (d *dossier) rateTable(c *model.CapacityView) paper.Block {
	t := paper.Table{Caption: "Requests per second of this mix, and what ends where", Columns: []paper.Column{{Head: "Rate"}, {Head: "Req/s", Right: true}, {Head: "How it is known", Wide: true}}}
	for _, row := range []struct {
		name string
		r    model.Reading
		key  string
		how  string
	}{
		{"now", c.Rate, "requests_per_second", "measured: what arrived in the last minute"},
		{"an objective breaks", c.SLORate, "at_objective_per_second", "model, from TPOT at the load"},
		{"the KV cache is full", c.KVRate, "kv_requests_per_second", "model, from context lengths"},
		{"queues never end", c.MaxRate, "max_requests_per_second", "model: a second of requests takes a second of machine"},
	} {
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T(row.name), d.ofPool(c, row.r, unit.Rate, row.key), paper.T(row.how)}})
	}
	t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T("seen in this time"), rangeText(c.Observed, unit.Rate), paper.T("measured, blocks of a minute")}})
	if first := firstBinding(c); first != "" {
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T("binds first"), nil, paper.Strong(first)}})
	}
	return t
}

// plan is how many replicas there must be, now and for the forecast, and what the worst
// hour spent.
func (d *dossier) plan(c *model.CapacityView) paper.Block {
	r := &c.Replicas
	now := paper.Strong("Replicas ").And(paper.T(unit.Integer(float64(r.Ready))+" ready, needed now "), d.ofPool(c, r.Needed, unit.Integer, "replicas", "needed"))
	if r.Why != "" {
		now = now.And(paper.T(", " + string(r.Why)))
	}
	items := []paper.Text{now}
	if r.Forecast.OK() {
		items = append(items, paper.Strong("Forecast ").And(d.ofPool(c, r.Then, unit.Integer, "replicas", "needed_for_forecast"), paper.T(" replicas for "),
			d.ofPool(c, r.Forecast, rate, "replicas", "forecast_per_second"), paper.T(", as configured")))
	} else {
		items = append(items, paper.Strong("Forecast ").And(paper.T("none: write forecast: {"+exampleFlow(c)+": 25} in the configuration, in requests/s")))
	}
	burn := paper.Strong("Worst burn ")
	if c.WorstBurn.OK() {
		burn = burn.And(d.ofPool(c, c.WorstBurn, unit.Number, "worst_burn"), paper.T(", the highest of an hour as far as it was seen; 1 spends what is allowed"))
	} else {
		burn = burn.And(paper.Toned("not known", paper.Quiet), paper.T(": no hour was seen that could be judged"))
	}
	return paper.List{Items: append(items, burn)}
}

func exampleFlow(c *model.CapacityView) string {
	if len(c.Workflows) > 0 {
		return c.Workflows[0]
	}
	return "chat"
}

// expected holds what the model says of now against what is measured.
func (d *dossier) expected(c *model.CapacityView) []paper.Block {
	e := c.Expected
	if e == nil {
		return nil
	}
	t := paper.Table{Caption: "The model held against what is measured: where the two part, it is not to be trusted at other rates", Columns: []paper.Column{
		{Head: "Figure"}, {Head: "Model", Right: true}, {Head: "Measured", Wide: true},
	}}
	running, kv := model.Reading{}, model.Reading{}
	for i := range d.s.Last.Targets {
		v := &d.s.Last.Targets[i]
		if !slices.Contains(c.Targets, v.Name) {
			continue
		}
		if v.Running.OK() {
			running = model.Of(running.Value + v.Running.Value)
		}
		if v.KVCacheUsage.OK() {
			kv = model.Of(max(kv.Value, v.KVCacheUsage.Value))
		}
	}
	t.Rows = append(t.Rows,
		paper.Row{Cells: []paper.Text{paper.T("TPOT, mean"), d.ofPool(c, e.TPOT, unit.Milliseconds, "expected", "tpot_s"), paper.T(d.meanTPOT(c))}},
		paper.Row{Cells: []paper.Text{paper.T("running"), d.ofPool(c, e.Running, unit.Count, "expected", "running"), known(running, unit.Count)}},
		paper.Row{Cells: []paper.Text{paper.T("KV cache usage"), d.ofPool(c, e.KVUse, unit.Percent, "expected", "kv_cache_usage"), known(kv, unit.Percent).And(paper.T(", the fullest"))}},
	)
	return []paper.Block{t}
}

// meanTPOT are the measured means of the pool's workflows: they are not one number.
func (d *dossier) meanTPOT(c *model.CapacityView) string {
	var parts []string
	for i := range d.s.Last.Workflows {
		w := &d.s.Last.Workflows[i]
		if slices.Contains(c.Workflows, w.Name) && w.TPOT != nil && w.TPOT.Mean.OK() {
			parts = append(parts, unit.Milliseconds(w.TPOT.Mean.Value)+" "+w.Name)
		}
	}
	if len(parts) == 0 {
		return "not known"
	}
	if len(parts) > maxSources {
		parts = append(parts[:maxSources], plural(len(parts)-maxSources, "other"))
	}
	return strings.Join(parts, ", ")
}

// knee is the highest rate at which each workflow surely kept its promise, as it was
// seen, with a picture of goodput against the rate.
func (d *dossier) knee(c *model.CapacityView) []paper.Block {
	if len(c.Knees) == 0 {
		return nil
	}
	t := paper.Table{Caption: "The knee as it was seen, in blocks of a minute: nothing is told of rates that were not seen", Columns: []paper.Column{
		{Head: "Workflow"}, {Head: "Kept its promise up to", Right: true}, {Head: "Blocks", Right: true}, {Head: "Seen, req/s", Right: true}, {Head: "Above that"},
	}}
	var figures []paper.Figure
	for i := range c.Knees {
		k := &c.Knees[i]
		above := "not seen to fail"
		if k.Reached {
			above = "failed"
		}
		up := paper.Toned("not surely at any rate", paper.Quiet)
		if k.Rate.OK() {
			up = d.ofPool(c, k.Rate, rate, "knees", k.Workflow, "requests_per_second")
		}
		fig, ok := d.against(c, k)
		if ok && len(figures) < maxHurt {
			figures = append(figures, fig)
		}
		if k.Missed {
			above += "; missed below too, so not for the rate alone"
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T(k.Workflow), up, paper.T(unit.Integer(float64(k.Blocks))), rangeText(k.Observed, unit.Rate), paper.T(above)}})
	}
	body := []paper.Block{t}
	if len(figures) > 0 {
		body = append(body, paper.Figures{Items: figures})
	}
	return []paper.Block{paper.Section{Title: "The knee", Body: body}}
}

// against is a workflow's goodput against the pool's rate, a point a window.
func (d *dossier) against(c *model.CapacityView, k *model.KneeView) (paper.Figure, bool) {
	good, pool := d.s.Workflow(k.Workflow).Of("goodput"), d.s.Pool(c.Pool).Of("requests_per_second")
	view := d.viewOf(k.Workflow)
	if good == nil || pool == nil || !good.Known() || !pool.Known() {
		return paper.Figure{}, false
	}
	s := &paper.Scatter{XName: "requests per second of the pool", YName: "goodput", XFormat: unit.Number, YFormat: unit.Percent, Top: 1, Name: "goodput of a window, with its interval"}
	s.Limit, s.Promise = limitOf(view, shot{promise: true})
	if s.Limit > 0 {
		s.Promise = "promised " + s.Promise
	}
	if k.Rate.OK() {
		s.Rule, s.RuleName = k.Rate.Value, "knee "+rate(k.Rate.Value)
	}
	// Windows that overlap would show the same requests again and again.
	every := max(1, int(math.Ceil(d.s.Last.WindowS/d.s.Axis.Step.Seconds())))
	for i := every; i < good.Len(); i += every {
		p, x := good.At(i), pool.At(i)
		if !p.Known() || !x.Known() {
			continue
		}
		y := p.Value
		if math.IsNaN(y) {
			y = p.Lo
		}
		s.Points = append(s.Points, paper.Spot{X: x.Value, Y: y, Lo: p.Lo, Hi: p.Hi, Quiet: p.N < fewRequests, Says: d.time(d.s.Axis.At(i)) + ": " + rate(x.Value) + ", " + unit.Percent(y)})
	}
	if len(s.Points) == 0 {
		return paper.Figure{}, false
	}
	lowest := slices.MinFunc(s.Points, func(a, b paper.Spot) int { return cmp.Compare(a.Y, b.Y) })
	fastest := slices.MaxFunc(s.Points, func(a, b paper.Spot) int { return cmp.Compare(a.X, b.X) })
	says := fmt.Sprintf("%s of %s. Lowest %s at %s; at the highest rate, %s, %s.", plural(len(s.Points), "window"), unit.Limit(d.s.Last.WindowS),
		unit.Percent(lowest.Y), rate(lowest.X), rate(fastest.X), unit.Percent(fastest.Y))
	if n := d.s.Axis.Merged; n > 1 {
		says += " Each stands for up to " + plural(n, "poll") + ": the lowest goodput of them, at the rate of the last."
	}
	return paper.Figure{Title: "Goodput of " + k.Workflow + " against the rate of the pool", Picture: s, Says: []paper.Text{paper.T(says)}}, true
}

// fewRequests is below how many requests a window proves nothing of a share.
const fewRequests = 30

// levers are what one change would buy.
func (d *dossier) levers(c *model.CapacityView) []paper.Block {
	if len(c.Levers) == 0 {
		return nil
	}
	t := paper.Table{Caption: "What one change would buy, by the model", Columns: []paper.Column{{Head: "Change"}, {Head: "More req/s", Right: true}, {Head: "Load then", Right: true}}}
	for i := range c.Levers {
		v := &c.Levers[i]
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(v.Change), d.ofPool(c, v.Rate, moreRate, "levers", v.Change, "more_requests_per_second"), d.ofPool(c, v.Load, unit.Load, "levers", v.Change, "load_then"),
		}})
	}
	return []paper.Block{paper.Section{Title: "What a change would buy", Body: []paper.Block{t}}}
}

// wholeTime are each workflow's figures over all of the time, or over each stage that
// was marked: percentiles of all requests in it, and not of the last window.
func (d *dossier) wholeTime() paper.Block {
	t := paper.Table{Caption: "Over the whole of each stretch, not over a window", Columns: []paper.Column{
		{Head: "Workflow"}, {Head: "Stretch", Wide: true}, {Head: "Requests", Right: true}, {Head: "Req/s", Right: true}, {Head: "Output tok/s", Right: true},
		{Head: "TTFT p50", Right: true}, {Head: "TTFT p95", Right: true}, {Head: "TPOT p50", Right: true}, {Head: "TPOT p95", Right: true}, {Head: "Goodput", Right: true}, {Head: "Promised", Right: true},
	}}
	stages := d.s.Stages()
	for i := range stages {
		s := &stages[i]
		for k := range s.Workflows {
			t.Rows = append(t.Rows, d.stageRow(s, &s.Workflows[k], len(stages) == 1))
		}
	}
	if len(t.Rows) == 0 {
		return paper.Section{Title: "Per workflow", Body: []paper.Block{paper.Para{Text: paper.T("No workflow was seen.")}}}
	}
	return paper.Section{Title: "Per workflow", Body: append([]paper.Block{t}, d.budgets())}
}

func (d *dossier) stageRow(s *model.StageView, w *model.StageWorkflow, only bool) paper.Row {
	stretch := s.Name
	if s.Name == d.from.Whole {
		stretch = "before the first mark"
		if only {
			stretch = "the whole time"
		}
	}
	until := d.s.Last.At
	if !s.To.IsZero() {
		until = s.To
	}
	stretch += ", " + unit.Duration(until.Sub(s.From).Seconds())
	promised := paper.Toned(unit.None(false), paper.Quiet)
	if w.Goodput != nil && w.Goodput.Target.OK() {
		promised = paper.T(unit.Promised(w.Goodput.Target.Value))
	}
	g := d.last()
	at := func(path ...string) []string { return append([]string{"stages", s.Name, "workflows", w.Name}, path...) }
	return paper.Row{Cells: []paper.Text{
		paper.T(w.Name), paper.T(stretch), g.read(w.Finished, unit.Integer, at("finished")...), g.read(w.PerSecond, unit.Rate, at("per_second")...),
		g.read(w.OutputPerSecond, unit.Rate, at("output_per_second")...),
		g.dist(w.TTFT, p50, at("ttft", "p50")...), g.dist(w.TTFT, p95, at("ttft", "p95")...), g.dist(w.TPOT, p50, at("tpot", "p50")...), g.dist(w.TPOT, p95, at("tpot", "p95")...),
		g.share(w.Goodput, at("goodput")...), promised,
	}}
}

// budgets are what is left of each workflow's error budget, and the worst burn seen.
func (d *dossier) budgets() paper.Block {
	t := paper.Table{Caption: "Error budgets, as far as slotop was there to see", Columns: []paper.Column{
		{Head: "Workflow"}, {Head: "Left", Right: true}, {Head: "Bad", Right: true}, {Head: "Allowed so far", Right: true}, {Head: "Burn now, 5 min", Right: true}, {Head: "Worst burn, 5 min", Right: true}, {Head: "Period"},
	}}
	g := d.last()
	for i := range d.s.Last.Workflows {
		w := &d.s.Last.Workflows[i]
		b := w.Budget
		if b == nil {
			continue
		}
		at := func(path ...string) []string { return append([]string{"workflows", w.Name, "budget"}, path...) }
		worst := paper.Toned(unit.None(false), paper.Quiet)
		if s := d.s.Workflow(w.Name).Of("burn.5m"); s != nil {
			if k, p, ok := s.Extreme(); ok {
				worst = paper.T(unit.Number(p.Value) + " at " + d.time(d.s.Axis.At(k)))
			}
		}
		left := g.read(b.Remaining, unit.Percent, at("remaining")...)
		if b.Remaining.OK() && b.Remaining.Value <= 0 {
			left = left.In(paper.Breach)
		}
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(w.Name), left, g.read(b.Bad, unit.Integer, at("bad")...), g.read(b.Allowed, unit.Integer, at("allowed")...),
			g.read(b.Burn.M5, unit.Number, at("burn", "5m")...), worst, paper.T(unit.Period(b.PeriodS) + ", " + unit.Duration(b.ObservedS) + " seen"),
		}})
	}
	if len(t.Rows) == 0 {
		return paper.Para{Text: paper.T("No error budget: nothing was promised that can be computed.")}
	}
	return t
}

// overTime are the pictures of the pools and of the workflows.
func (d *dossier) overTime() paper.Block {
	var figures []paper.Figure
	for i := range d.s.Pools[:min(len(d.s.Pools), maxReviewed)] {
		p := &d.s.Pools[i]
		if s := p.Of("load"); s != nil && s.Known() {
			c := d.bare("")
			c.Format, c.Limit, c.Promise = unit.Number, model.PlanningLimit, "planning limit "+unit.Number(model.PlanningLimit)
			c.Lines = []paper.Line{d.lineOf(s, "load factor, model", "")}
			figures = append(figures, paper.Figure{Title: "Load factor of " + p.Name, Picture: c, Says: []paper.Text{paper.T(d.says(s, shot{name: "load", format: unit.Load}))}})
		}
		if s := p.Of("requests_per_second"); s != nil && s.Known() {
			c := d.bare("")
			c.Format = unit.Number
			c.Lines = []paper.Line{d.lineOf(s, "requests/s", "")}
			if o := p.Of("at_objective_per_second"); o != nil && o.Known() {
				c.Lines = append(c.Lines, d.lineOf(o, "where an objective breaks, model", ""))
			}
			figures = append(figures, paper.Figure{Title: "Requests of " + p.Name, Picture: c, Says: []paper.Text{paper.T(d.says(s, shot{name: "requests/s", format: unit.Number}))}})
		}
	}
	body := []paper.Block{paper.Figures{Items: figures}}
	for i := range d.s.Last.Workflows[:min(len(d.s.Last.Workflows), maxReviewed)] {
		name := d.s.Last.Workflows[i].Name
		body = append(body, paper.Section{Title: name, Body: []paper.Block{paper.Figures{Items: d.charts(name, false)}}})
	}
	return paper.Section{Title: "Over time", Body: body}
}
