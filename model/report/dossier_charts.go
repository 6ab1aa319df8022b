package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// chartPoints is how many points a chart has at most: one for every two pixels of a
// wide screen.
const chartPoints = 480

// shot is one chart of a subject's series.
type shot struct {
	title   string
	main    string // signal of the first line, with its interval
	name    string // of the first line
	band    string // of its interval; "": none is drawn
	others  []string
	names   []string // of the others
	format  func(float64) string
	say     func(float64) string // in sentences; nil: as format
	metric  model.Metric         // whose objective is drawn
	top     float64
	wide    bool
	promise bool // the promised share of goodput is drawn
	extra   bool // it helps to find a cause, and a review can do without
	seen    bool // its percentiles are read off single observations, and not off buckets
}

// shots are the charts of a workflow, in the order in which they are shown.
var shots = []shot{
	{title: "Goodput", main: "goodput", name: "goodput", band: "interval", format: unit.Percent, top: 1, promise: true},
	{title: "TTFT", main: "ttft.p95", name: "p95", band: "p95 lies within", others: []string{"ttft.p50"}, names: []string{"p50"}, format: unit.Limit, metric: model.MetricTTFT, wide: true},
	{title: "TPOT", main: "tpot.p95", name: "p95", band: "p95 lies within", others: []string{"tpot.p50"}, names: []string{"p50"}, format: unit.Limit, metric: model.MetricTPOT, wide: true},
	{title: "Requests", main: "requests_per_second", name: "finished/s", format: unit.Number},
	{title: "Output tokens", main: "output_per_second", name: "tokens/s", format: unit.Count},
	{title: "Running and waiting", main: "waiting", name: "waiting", others: []string{"running"}, names: []string{"running"}, format: unit.Count},
	{title: "KV cache usage, the fullest engine", main: "kv_cache_usage", name: "usage", format: unit.Percent, top: 1},
	{title: "Preemptions", main: "preemptions_per_second", name: "per second", format: unit.Number},
	{title: "Phases of a request, means", main: "queue.mean", name: "queue", others: []string{"prefill.mean", "decode.mean"}, names: []string{"prefill", "decode"}, format: unit.Limit, say: unit.Duration, wide: true, extra: true},
	{title: "Burn rate over 5 min", main: "burn.5m", name: "burn", format: unit.Number, extra: true},
}

// charts are a workflow's pictures, all of them or the first few and how TTFT was
// spread; those of which nothing is known are left out.
func (d *dossier) charts(name string, all bool) []paper.Figure {
	sub := d.s.Workflow(name)
	view := d.viewOf(name)
	var out []paper.Figure
	for _, s := range shots {
		if fig, ok := d.chart(sub, view, s); ok && (all || !s.extra) {
			out = append(out, fig)
		}
	}
	heats := d.heats(sub, view)
	if !all {
		heats = heats[:min(len(heats), 1)]
	}
	return append(out, heats...)
}

// viewOf is a workflow as it was last seen.
func (d *dossier) viewOf(name string) *model.WorkflowView {
	for _, f := range []*model.Frame{d.s.Last, d.s.Worst, d.s.First} {
		for i := range f.Workflows {
			if f.Workflows[i].Name == name {
				return &f.Workflows[i]
			}
		}
	}
	return &model.WorkflowView{Name: name}
}

func (d *dossier) chart(sub *story.Subject, view *model.WorkflowView, s shot) (paper.Figure, bool) {
	main := sub.Of(s.main)
	if main == nil || !main.Known() || s.main == "preemptions_per_second" && never(main) {
		return paper.Figure{}, false
	}
	c := d.bare(view.Name)
	c.Format, c.Top, c.Wide = s.format, s.top, s.wide
	c.Lines = append(c.Lines, d.lineOf(main, s.name, s.band))
	for i, other := range s.others {
		if one := sub.Of(other); one != nil && one.Known() {
			c.Lines = append(c.Lines, d.lineOf(one, s.names[i], ""))
		}
	}
	c.Limit, c.Promise = limitOf(view, s)
	if dist := view.Latency(s.metric); s.metric != "" && dist != nil {
		s.seen = dist.P95.Seen
	}
	return paper.Figure{Title: s.title + " of " + view.Name, Picture: c, Says: []paper.Text{paper.T(d.says(main, s))}}, true
}

// never reports whether a series is 0 throughout.
func never(s *story.Series) bool {
	_, p, _ := s.Extreme()
	return p.Value == 0
}

// limitOf is the bound or the share that was promised.
func limitOf(view *model.WorkflowView, s shot) (float64, string) {
	if s.promise && view.Goodput != nil && view.Goodput.Target.OK() {
		return view.Goodput.Target.Value, unit.Promised(view.Goodput.Target.Value)
	}
	for _, o := range view.Objectives {
		if s.metric != "" && o.Metric == s.metric {
			return o.MaxS, unit.Limit(o.MaxS)
		}
	}
	return 0, ""
}

// bare is a chart with the story's axis, marks and gaps and without lines. Breaches are
// those of a workflow; "" is none.
func (d *dossier) bare(workflow string) *paper.Chart {
	from, to := d.shown()
	c := &paper.Chart{From: from, To: to, Gaps: within(d.silences(), from, to)}
	for _, m := range d.marks(workflow) {
		if !m.At.Before(from) && !m.At.After(to) {
			c.Marks = append(c.Marks, m)
		}
	}
	for _, b := range d.breaches(workflow) {
		c.Spans = append(c.Spans, paper.Stretch{From: d.onAxis(b.From), To: d.onAxis(b.To)})
	}
	c.Spans = within(c.Spans, from, to)
	return c
}

// shown is the time that charts show: its first point and its last.
func (d *dossier) shown() (from, to time.Time) {
	return d.onAxis(d.s.Axis.At(d.begin)), d.onAxis(d.s.Axis.At(max(d.end-1, d.begin+1)))
}

// within are those stretches of which something is shown.
func within(all []paper.Stretch, from, to time.Time) []paper.Stretch {
	return slices.DeleteFunc(all, func(s paper.Stretch) bool { return s.To.Before(from) || s.From.After(to) })
}

// around lets charts show the breaches and as much time on both sides, where the story
// is much longer than that. It says so.
func (d *dossier) around() []paper.Block {
	if len(d.s.Breaches) == 0 {
		return nil
	}
	first, last := d.s.Breaches[0].From, d.s.Breaches[0].To
	for i := range d.s.Breaches {
		if to := d.s.Breaches[i].To; to.Mono > last.Mono {
			last = to
		}
	}
	pad := max(last.Sub(first), leastAround)
	begin, end := d.s.Axis.Index(first.Add(-pad)), d.s.Axis.Index(last.Add(pad))+1
	if 2*(end-begin) > d.s.Axis.N || end-begin < 2 {
		return nil
	}
	d.begin, d.end = begin, end
	text := "Charts show the breaches and as much time around them, " + d.when(d.s.Axis.At(begin), d.s.Axis.At(end-1), false) + " of " +
		d.when(d.s.First.At, d.s.Last.At, false) + ". The sentences under them are of all the time."
	return []paper.Block{paper.Para{Text: paper.Toned(text, paper.Quiet)}}
}

// leastAround is how much time around a breach shows what was before.
const leastAround = 10 * time.Minute

// onAxis is an instant on the chart's clock: that of the first frame, on which time
// runs evenly.
func (d *dossier) onAxis(at model.Instant) time.Time {
	return d.s.Axis.Start.Wall.Add(at.Sub(d.s.Axis.Start))
}

// letters stand for what happened on a chart.
var letters = []struct {
	kind   model.EventKind
	letter string
	text   string
}{
	{model.EventRestart, "R", "restart"}, {model.EventStage, "S", "stage"}, {model.EventIncident, "X", "incident begins"},
	{model.EventRecovery, "E", "incident ends"}, {model.EventDeploy, "D", "deployment"},
}

// marks are the events of a workflow and of all.
func (d *dossier) marks(workflow string) []paper.Mark {
	var out []paper.Mark
	for i := range d.s.Events {
		e := &d.s.Events[i]
		if e.Workflow != "" && string(e.Workflow) != workflow || e.Kind == model.EventStage && string(e.Target) == d.from.Whole {
			continue
		}
		for _, row := range letters {
			if row.kind == e.Kind {
				out = append(out, paper.Mark{At: d.onAxis(e.At), Letter: row.letter, Text: row.text})
			}
		}
	}
	return out
}

// silences are the gaps in which no target that serves requests answered: others leave
// lines whole.
func (d *dossier) silences() []paper.Stretch {
	serving := 0
	for i := range d.s.Last.Targets {
		if mayServe(d.s.Last.Targets[i]) {
			serving++
		}
	}
	type edge struct {
		at    model.Instant
		weigh int
	}
	var edges []edge
	var out []paper.Stretch
	for i := range d.s.Gaps {
		switch g := &d.s.Gaps[i]; {
		case g.Kind == story.GapPause:
			out = append(out, paper.Stretch{From: d.onAxis(g.From), To: d.onAxis(g.To)})
		case g.Kind == story.GapSilent && d.serves(g.Target):
			edges = append(edges, edge{g.From, 1}, edge{g.To, -1})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at.Mono, b.at.Mono) })
	silent := 0
	for i, e := range edges {
		silent += e.weigh
		if silent == serving && e.weigh > 0 && i+1 < len(edges) {
			out = append(out, paper.Stretch{From: d.onAxis(e.at), To: d.onAxis(edges[i+1].at)})
		}
	}
	return out
}

// serves reports whether a target may serve requests; one that left may have.
func (d *dossier) serves(name string) bool {
	i := slices.IndexFunc(d.s.Last.Targets, func(t model.TargetView) bool { return t.Name == name })
	return i < 0 || mayServe(d.s.Last.Targets[i])
}

// lineOf is a series as a chart's line.
func (d *dossier) lineOf(s *story.Series, name, band string) paper.Line {
	points, _ := s.Merged(d.begin, d.end, chartPoints)
	l := paper.Line{Name: name, Band: band}
	for _, p := range points {
		if band == "" && math.IsInf(p.Hi, 1) {
			p.Value = p.Lo // beyond what can be told is no gap
		}
		l.Y = append(l.Y, p.Value)
		if band != "" {
			l.Lo, l.Hi = append(l.Lo, p.Lo), append(l.Hi, p.Hi)
		}
	}
	return l
}

// says is in words what a line shows: its worst point, its first and its last.
func (d *dossier) says(s *story.Series, look shot) string {
	word := func(p story.Point) string { return look.word(p, s.Wide) }
	var parts []string
	for i := range s.Len() {
		if p := s.At(i); p.Known() {
			parts = append(parts, word(p)+" at "+d.time(d.s.Axis.At(i)))
			break
		}
	}
	if at, p, ok := s.Extreme(); ok && s.Keep != story.KeepLast {
		parts = append(parts, string(s.Keep)+" "+word(p)+" at "+d.time(d.s.Axis.At(at)))
	} else if at, p, ok := d.highest(s); ok {
		parts = append(parts, "highest "+word(p)+" at "+d.time(d.s.Axis.At(at)))
	}
	for i := s.Len() - 1; i >= 0; i-- {
		if p := s.At(i); p.Known() {
			parts = append(parts, word(p)+" at "+d.time(d.s.Axis.At(i)))
			break
		}
	}
	return look.name + ": " + strings.Join(parts, ", ") + "."
}

// word says a point; one with an interval as the frame's own figure is said everywhere.
func (s *shot) word(p story.Point, interval bool) string {
	format := s.say
	if format == nil {
		format = s.format
	}
	switch {
	case interval && s.promise:
		return unit.Share(model.Share{Lo: reading(p.Lo), Hi: reading(p.Hi), Point: reading(p.Value)}, false)
	case interval:
		return unit.Estimate(model.Estimate{Value: reading(p.Value), Lo: reading(p.Lo), Hi: reading(p.Hi), Open: math.IsInf(p.Hi, 1), Seen: s.seen}, false)
	default:
		return format(p.Value)
	}
}

// reading is a number of a series, unknown where there is none.
func reading(v float64) model.Reading {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return model.Reading{}
	}
	return model.Of(v)
}

// highest is the highest point of a series of which the last of several points is kept:
// where some were merged nobody knows it.
func (d *dossier) highest(s *story.Series) (at int, p story.Point, ok bool) {
	if d.s.Axis.Merged > 1 {
		return 0, p, false
	}
	for i := range s.Len() {
		if q := s.At(i); q.Known() && (!ok || q.Value > p.Value) {
			at, p, ok = i, q, true
		}
	}
	return at, p, ok
}

// heats are how a workflow's latencies were spread over time.
func (d *dossier) heats(sub *story.Subject, view *model.WorkflowView) []paper.Figure {
	var out []paper.Figure
	for _, one := range []struct {
		name   string
		metric model.Metric
	}{{"ttft", model.MetricTTFT}, {"tpot", model.MetricTPOT}} {
		if sub == nil || sub.Heats[one.name] == nil {
			continue
		}
		v := sub.Heats[one.name]
		columns, end := d.columns(v)
		h := &paper.Heat{From: d.onAxis(end.Add(-time.Duration(len(columns)) * v.Step)), To: d.onAxis(end), Bounds: v.Bounds, Format: unit.Limit}
		sum := 0.0
		for _, col := range columns {
			wide := make([]float64, len(col))
			for i, n := range col {
				wide[i] = float64(n)
				sum += float64(n)
			}
			if col == nil {
				wide = nil
			}
			h.Counts = append(h.Counts, wide)
		}
		if sum == 0 {
			continue
		}
		h.Limit, h.Promise = limitOf(view, shot{metric: one.metric})
		out = append(out, paper.Figure{
			Title: one.metric.Title() + " of " + view.Name + ", how it was spread", Picture: h,
			Says: []paper.Text{paper.T("A column is " + unit.Period(v.Step.Seconds()) + ", a row a bucket of the histogram; the stronger its colour, the more of the column's requests. " + unit.Count(sum) + " requests in all.")},
		})
	}
	return out
}

// columns are those of a distribution over time that are shown, and when the last ends.
func (d *dossier) columns(v *model.Heat) ([][]float32, model.Instant) {
	from, to := d.s.Axis.At(d.begin), d.s.Axis.At(d.end-1)
	late := max(0, int(v.End.Sub(to)/v.Step))
	late = min(late, len(v.Counts))
	counts := v.Counts[:len(v.Counts)-late]
	end := v.End.Add(-time.Duration(late) * v.Step)
	if early := len(counts) - int((end.Sub(from)+v.Step-1)/v.Step); early > 0 {
		counts = counts[min(early, len(counts)):]
	}
	return counts, end
}

// incidentCharts are the pictures of the workflows that were hurt, and of the machines.
func (d *dossier) incidentCharts() []paper.Block {
	names := d.hurt()
	if len(names) == 0 {
		for i := range d.s.Worst.Workflows {
			names = append(names, d.s.Worst.Workflows[i].Name)
		}
	}
	note := d.around()
	var body []paper.Block
	for _, name := range names[:min(len(names), maxHurt)] {
		if figures := d.charts(name, true); len(figures) > 0 {
			body = append(body, paper.Section{Title: name, Body: []paper.Block{paper.Figures{Items: figures}}})
		}
	}
	if figures := d.machines(); len(figures) > 0 {
		body = append(body, paper.Section{Title: "The machines", Body: []paper.Block{paper.Figures{Items: figures}}})
	}
	if len(body) == 0 {
		return nil
	}
	return []paper.Block{paper.Section{Title: "Over time", Body: append(note, body...)}}
}

// machineShots are what is shown of targets and devices.
var machineShots = []struct {
	shot
	devices bool
	least   float64 // a series that never passes it is not telling
	varies  float64 // nor one that moves by less than this share of its highest
}{
	{shot: shot{title: "Step time over what its load explains", main: "step.residual", format: unit.Number}, least: model.ResidualExplained},
	{shot: shot{title: "Requests waiting, by target", main: "waiting", format: unit.Count}, least: 1},
	{shot: shot{title: "KV cache usage, by target", main: "kv_cache_usage", format: unit.Percent, top: 1}, least: 0.8},
	{shot: shot{title: "SM clock, by GPU", main: model.SMClock.String(), format: unit.Hertz}, devices: true, varies: 0.05},
	{shot: shot{title: "Board power, by GPU", main: model.Power.String(), format: unit.Watts}, devices: true, varies: 0.2},
	{shot: shot{title: "Tensor pipe active, by GPU", main: model.TensorActive.String(), format: unit.Percent}, devices: true, varies: 0.2},
}

// machines are charts of the three targets or devices that stand out most; a chart on
// which nothing stands out is left out.
func (d *dossier) machines() []paper.Figure {
	var out []paper.Figure
	for _, m := range machineShots {
		from := d.s.Targets
		if m.devices {
			from = d.s.Devices
		}
		if fig, ok := d.standOut(from, m.shot, m.least, m.varies); ok {
			out = append(out, fig)
		}
	}
	return out
}

// standOut is a chart of the up to three subjects with the worst extremes.
func (d *dossier) standOut(from []story.Subject, s shot, least, varies float64) (paper.Figure, bool) {
	type one struct {
		name   string
		series *story.Series
		worst  float64
	}
	var all []one
	for i := range from {
		series := from[i].Of(s.main)
		if _, p, ok := series.Extreme(); ok && moves(series, varies) {
			all = append(all, one{d.called(from[i].Name), series, p.Value})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int {
		sign := 1
		if a.series.Keep == story.KeepLowest {
			sign = -1
		}
		switch {
		case a.worst > b.worst:
			return -sign
		case a.worst < b.worst:
			return sign
		default:
			return 0
		}
	})
	if len(all) == 0 || least > 0 && all[0].worst < least {
		return paper.Figure{}, false
	}
	c := d.bare("")
	c.Format, c.Top = s.format, s.top
	var says []paper.Text
	for _, x := range all[:min(len(all), maxLines)] {
		name := unit.TruncateLeft(x.name, 32, false)
		c.Lines = append(c.Lines, d.lineOf(x.series, name, ""))
		s.name = name
		says = append(says, paper.T(d.says(x.series, s)))
	}
	if n := len(all) - maxLines; n > 0 {
		says = append(says, paper.T(plural(n, "other")+" stand out less."))
	}
	return paper.Figure{Title: s.title, Picture: c, Says: says}, true
}

// moves reports whether a series varies by a share of its highest.
func moves(s *story.Series, share float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range s.Len() {
		if p := s.At(i); p.Known() {
			lo, hi = min(lo, p.Value), max(hi, p.Value)
		}
	}
	return hi-lo >= share*hi
}

// called is how people call a device, by what runs on it; a target has its own name.
func (d *dossier) called(name string) string {
	for i := range d.s.Last.Devices {
		v := &d.s.Last.Devices[i]
		if v.UUID != name {
			continue
		}
		if n, ok := v.Index.Get(); ok {
			name = "GPU " + unit.Integer(n)
		}
		if v.Host != "" {
			name += " of " + string(v.Host)
		}
		if len(v.Engines) > 0 {
			name += " (" + strings.Join(v.Engines, ", ") + ")"
		}
	}
	return name
}

// maxLines is how many lines can be told apart without colour.
const maxLines = 3
