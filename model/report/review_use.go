package report

import (
	"math"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/unit"
)

// moneyTables are what tokens cost in money and in energy, and what was wasted.
func (d *dossier) moneyTables(c *model.CapacityView) []paper.Block {
	t := paper.Table{Caption: "Output tokens; a good one is of a request that met every objective", Columns: []paper.Column{{Head: "What"}, {Head: "Figure", Right: true}, {Head: "How it is known", Wide: true}}}
	row := func(name string, v paper.Text, how string) {
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T(name), v, paper.T(how)}})
	}
	if v := c.Cost; v != nil {
		price := func(x float64) string { return unit.Money(v.Currency, x) }
		row("the pool, an hour", d.ofPool(c, v.PerHour, price, "cost", "per_hour"), string(v.Note))
		row("a million tokens", d.ofPool(c, v.PerMillion, price, "cost", "per_million_output"), "at the present rate")
		row("a million good tokens", rangeText(v.PerMillionGood, price), "goodput is an interval, and so is this")
	} else {
		row("cost", paper.Toned("not known", paper.Quiet), "no price: write prices: {gpu_hour: …} in the configuration")
	}
	if v := c.Energy; v != nil {
		row("power", d.ofPool(c, v.PowerW, unit.Watts, "energy", "power_w"), plural(v.Boards, "board")+": "+string(v.Note))
		row("a million tokens", d.ofPool(c, v.WhPerMillion, unit.WattHours, "energy", "wh_per_million_output"), "at the present rate")
		row("tokens a joule", d.ofPool(c, v.TokensPerJoule, unit.Number, "energy", "output_tokens_per_joule"), "")
		row("good tokens a joule", rangeText(v.GoodPerJoule, unit.Number), "goodput is an interval, and so is this")
	} else {
		row("energy", paper.Toned("not known", paper.Quiet), "nobody tells the power of its boards: watch nvml: or a GPU exporter beside the engines")
	}
	body := []paper.Block{t}
	if len(c.Waste) > 0 {
		body = append(body, d.waste(c))
	}
	return []paper.Block{paper.Section{Title: "Cost, energy and waste", Body: body}}
}

// waste is work that helped nobody.
func (d *dossier) waste(c *model.CapacityView) paper.Block {
	t := paper.Table{Caption: "Work that helped nobody, over the last window", Columns: []paper.Column{
		{Head: "Kind"}, {Head: "n", Right: true}, {Head: "Tokens/s", Right: true}, {Head: "Share of the tokens", Right: true}, {Head: "How it is known", Wide: true},
	}}
	for i := range c.Waste {
		w := &c.Waste[i]
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(w.Kind), d.ofPool(c, w.N, unit.Integer, "waste", w.Kind, "n"), d.ofPool(c, w.Tokens, unit.Rate, "waste", w.Kind, "tokens_per_second"),
			d.ofPool(c, w.Share, unit.Ratio, "waste", w.Kind, "share"), paper.T(string(w.Note)),
		}})
	}
	return t
}

// use is how much of their accelerators the targets use, and what a step is spent on.
func (d *dossier) use() []paper.Block {
	all := d.s.Last.Utilization
	if len(all) == 0 {
		return nil
	}
	t := paper.Table{Caption: "Compute and bandwidth at the end", Columns: []paper.Column{
		{Head: "Target"}, {Head: "Accelerator"}, {Head: "MFU", Right: true}, {Head: "MBU", Right: true}, {Head: "By"}, {Head: "Intensity", Right: true}, {Head: "Ridge", Right: true}, {Head: "What it means", Wide: true},
	}}
	g := d.last()
	for i := range all[:min(len(all), maxReviewed)] {
		u := &all[i]
		at := func(path ...string) []string { return append([]string{"utilization", u.Target}, path...) }
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(u.Target), paper.T(string(u.Device)), g.read(u.MFU, unit.Ratio, at("mfu")...), g.read(u.MBU, unit.Ratio, at("mbu")...), paper.T(basisWord(u.Basis)),
			g.read(u.Intensity, unit.Intensity, at("intensity")...), g.read(u.Ridge, unit.Intensity, at("ridge")...), paper.T(u.Sentence),
		}})
	}
	body := []paper.Block{t}
	var figures []paper.Figure
	if fig, ok := d.steps(all); ok {
		figures = append(figures, fig)
	}
	for i := range all[:min(len(all), maxRoofs)] {
		if fig, ok := roof(&all[i]); ok {
			figures = append(figures, fig)
		}
	}
	body = append(body, paper.Figures{Items: append(figures, d.machines()...)})
	return []paper.Block{paper.Section{Title: "What the machines do", Body: body}}
}

// maxRoofs is how many rooflines are drawn.
const maxRoofs = 2

// basisWord is how a figure of utilization is known.
func basisWord(b model.UtilizationBasis) string {
	switch b {
	case model.ByGPM:
		return "hardware counters (GPM)"
	case model.ByDCGM:
		return "hardware counters (DCGM)"
	case model.ByEngine:
		return "the engine's estimate"
	case model.ByShape:
		return "the model's shape"
	case model.ByExporter:
		return "hardware counters"
	default:
		return unit.None(false)
	}
}

// steps is what a mean step of each engine is spent on.
func (d *dossier) steps(all []model.UtilizationView) (paper.Figure, bool) {
	b := &paper.Bars{Parts: []string{"weights and launches", "KV reads", "prompts", "sequences", "unexplained"}, Format: unit.Milliseconds}
	var says []paper.Text
	g := d.last()
	for i := range all[:min(len(all), maxReviewed)] {
		u := &all[i]
		s := u.Step
		if s == nil || !s.Seconds.OK() || !s.Fixed.OK() {
			continue
		}
		b.Rows = append(b.Rows, paper.Bar{Name: u.Target, Sum: s.Seconds.Value, Parts: []float64{s.Fixed.Value, s.KV.Value, s.Prefill.Value, s.Sequences.Value, s.Unexplained.Value}})
		at := func(path string) []string { return []string{"utilization", u.Target, "step", path} }
		says = append(says, paper.T(u.Target+": ").And(
			g.read(s.Seconds, unit.Milliseconds, at("seconds")...), paper.T(" = weights and launches "), g.read(s.Fixed, unit.Milliseconds, at("fixed")...),
			paper.T(", KV reads "), g.read(s.KV, unit.Milliseconds, at("kv")...), paper.T(", prompts "), g.read(s.Prefill, unit.Milliseconds, at("prefill")...),
			paper.T(", sequences "), g.read(s.Sequences, unit.Milliseconds, at("sequences")...), paper.T(", unexplained "), g.read(s.Unexplained, unit.Milliseconds, at("unexplained")...),
			paper.T("; "), g.read(s.Residual, func(v float64) string { return unit.Multiple(v, false) }, at("residual")...), paper.T(" of what the load explains.")))
	}
	return paper.Figure{Title: "What a step is spent on", Picture: b, Says: says}, len(b.Rows) > 0
}

// roof is a target on its roofline.
func roof(u *model.UtilizationView) (paper.Figure, bool) {
	peak, ok := u.PeakFLOPs.Get()
	bytes, also := u.PeakBytes.Get()
	if !ok || !also || bytes <= 0 || peak <= 0 || u.Point == nil || !u.Point.Intensity.OK() {
		return paper.Figure{}, false
	}
	r := &paper.Roofline{Peak: peak, Bandwidth: bytes, Flops: unit.FLOPs, Intensity: func(v float64) string { return unit.Number(v) }}
	place := func(name string, p *model.PointView, quiet bool) {
		if p != nil && p.Intensity.OK() && p.FLOPs.OK() {
			r.Points = append(r.Points, paper.Place{Name: name, X: p.Intensity.Value, Y: p.FLOPs.Value, Quiet: quiet, NameToTheLow: quiet})
		}
	}
	place("now", u.Point, false)
	place("prompts", u.Prefill, true)
	place("decode", u.Decode, true)
	for i := range u.Trail {
		if p := &u.Trail[i]; p.Intensity.OK() && p.FLOPs.OK() && !math.IsNaN(p.FLOPs.Value) {
			r.Points = append(r.Points, paper.Place{X: p.Intensity.Value, Y: p.FLOPs.Value, Past: true, Quiet: true})
		}
	}
	says := "Now " + unit.FLOPs(u.Point.FLOPs.Value) + " at " + unit.Intensity(u.Point.Intensity.Value) + "; the ridge is at " + unit.Reading(u.Ridge, unit.Intensity) + ". Both axes are by powers of ten."
	return paper.Figure{Title: "Roofline of " + u.Target + ", one GPU", Picture: r, Says: []paper.Text{paper.T(says)}}, true
}
