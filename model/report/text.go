package report

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// Options say how text is written.
type Options struct {
	Width int  // cells; 0 means 80, and less than 40 is taken as 40
	ASCII bool // nothing but printable ASCII
}

const (
	defaultWidth = 80
	leastWidth   = 40
)

// Text writes the frame for people: plain lines of at most the given width,
// without escape sequences, worst first.
func Text(f *model.Frame, opt Options) string {
	p := newPage(f, opt)
	p.head(f)
	p.total(f)
	p.alerts(f.Alerts)
	p.diagnosis(f)
	p.workflows(f)
	p.cannotEvaluate(f.Unjudged)
	p.stages(f.Stages)
	p.history(f.AlertLog, f.LogDropped)
	p.targets(f.Targets)
	p.utilization(f.Utilization)
	p.capacity(f.Capacity)
	p.gpus(f)
	p.explain()
	return p.b.String()
}

func newPage(f *model.Frame, opt Options) *page {
	width := opt.Width
	if width == 0 {
		width = defaultWidth
	}
	return &page{width: max(width, leastWidth), ascii: opt.ASCII, at: f.At}
}

func (p *page) head(f *model.Frame) {
	at := unit.None(p.ascii)
	if !f.At.IsZero() {
		at = f.At.Wall.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	simulated := ""
	if f.Simulated {
		simulated = "SIMULATED"
	}
	p.flow("slotop  ", "  ", at, window(f), plural(len(f.Targets), "target"), simulated)
}

// leastCoverage is the part of a window below which its numbers are partial.
const leastCoverage = 0.7

func window(f *model.Frame) string {
	s := "window " + unit.Limit(f.WindowS)
	covered, ok := f.CoveredS.Get()
	switch {
	case !ok:
		return s + ", nothing covered yet"
	case covered < leastCoverage*f.WindowS:
		return s + ", partial: " + unit.Duration(covered) + " covered"
	default:
		return s + ", " + unit.Duration(covered) + " covered"
	}
}

// targetWord is the state of a target; one that does not answer as it should has
// the word of its fault: a server that wants a key is not down.
func targetWord(v *model.TargetView) string {
	if v.State == model.Down && v.Fault != nil {
		return v.Fault.Kind.Word()
	}
	return stateWord(v.State)
}

func stateWord(s model.State) string {
	switch s {
	case "":
		return "starting"
	case model.Stalled:
		return "STALLED"
	default:
		return string(s)
	}
}

// mayServe reports whether requests of users may pass through a target, or through
// one that it finds.
func mayServe(t model.TargetView) bool {
	return t.Kind != model.GPUTarget && t.Kind != model.ProbeTarget
}

func (p *page) workflows(f *model.Frame) {
	flows := f.Workflows
	p.line("")
	if len(flows) == 0 {
		why := "no target serves requests"
		if slices.ContainsFunc(f.Targets, mayServe) {
			why = "no target has named a model yet"
		}
		p.line("WORKFLOW  none: " + why)
		return
	}
	gap, of := gapColumn(flows)
	t := p.table(
		column{head: "WORKFLOW"},
		column{head: "STATE", min: widestCondition(flows), left: true},
		column{head: "REQ/S", min: 5, drop: 3},
		column{head: "GOODPUT", min: 8, drop: 1},
		column{head: "TTFT p95", min: 8},
		column{head: gap + " p95", min: 8, drop: 2},
		column{head: "RUN", min: 4, drop: 4},
		column{head: "WAIT", min: 4},
		column{head: "KV", min: 5, drop: 6},
		column{head: "TOK/S", min: 5, drop: 5},
	)
	for i := range flows {
		w := &flows[i]
		has := func(s model.Signal) bool { return !slices.Contains(w.Missing, s) }
		d, signal := of(w)
		p.row(t,
			p.name(title(w), t.name), conditionWord(w),
			p.cell(w.Requests.PerSecond, unit.Rate),
			p.goodputCell(w.Goodput),
			p.quantile(w.TTFT, has(model.TTFT)),
			p.quantile(d, has(signal)),
			p.cell(w.Requests.Running, unit.Count),
			p.cell(w.Requests.Waiting, unit.Count),
			p.cell(w.KVCacheUsage, unit.Percent),
			p.cell(w.Tokens.OutputPerSecond, unit.Rate),
		)
	}
	for i := range flows {
		p.workflow(&flows[i])
	}
}

// conditionWord is the word of the screen.
func conditionWord(w *model.WorkflowView) string {
	if w.Condition == model.IsPartial {
		return fmt.Sprintf("%d of %d up", w.Replicas.Fresh, w.Replicas.Total)
	}
	return w.Condition.Word()
}

func widestCondition(flows []model.WorkflowView) int {
	n := 0
	for i := range flows {
		n = max(n, unit.Width(conditionWord(&flows[i])))
	}
	return n
}

// gapColumn chooses what the table shows of the time between tokens: ITL, or
// TPOT where no server exports gaps. One column never mixes the two.
func gapColumn(flows []model.WorkflowView) (string, func(*model.WorkflowView) (*model.Dist, model.Signal)) {
	itl := slices.ContainsFunc(flows, func(w model.WorkflowView) bool { return w.ITL != nil })
	tpot := slices.ContainsFunc(flows, func(w model.WorkflowView) bool { return w.TPOT != nil })
	if tpot && !itl {
		return "TPOT", func(w *model.WorkflowView) (*model.Dist, model.Signal) { return w.TPOT, model.TPOT }
	}
	return "ITL", func(w *model.WorkflowView) (*model.Dist, model.Signal) { return w.ITL, model.ITL }
}

// workflow is one workflow in full.
func (p *page) workflow(w *model.WorkflowView) {
	p.line("")
	state := conditionWord(w)
	if !w.Since.IsZero() {
		state += " since " + p.ago(w.Since)
	}
	p.flow("", ", ", p.name(title(w), p.width), state, fmt.Sprintf("%d of %s fresh", w.Replicas.Fresh, plural(w.Replicas.Total, "target")))
	r := &w.Requests
	p.flow("  requests  ", ", ",
		"started "+count(r.Started), "finished "+count(r.Finished), "failed "+count(r.Failed),
		"cancelled "+count(r.Cancelled), "unaccounted "+count(r.Unaccounted), covers(r.Basis))
	p.ends(r)
	if w.Phases != nil {
		p.phases(w.Phases)
	}
	p.flow("  tokens    ", ", ",
		"prompt "+perSecond(w.Tokens.PromptPerSecond), "output "+perSecond(w.Tokens.OutputPerSecond), p.known(w.Tokens.Output),
		"cached prompt share "+unit.Reading(w.Tokens.CachedPromptShare, unit.Ratio))
	p.flow("  cache     ", ", ",
		"KV usage "+unit.Reading(w.KVCacheUsage, unit.Percent),
		"prefix hits "+unit.Reading(w.PrefixCacheHit, func(v float64) string { return unit.Ratio(v) + " of prompt tokens" }),
		"preemptions "+perSecond(w.PreemptionsPerSec))
	p.latencies(w)
	if w.Outside != nil {
		p.outside(w.Outside)
	}
	p.promise(w)
	p.absent("  ", w.Missing)
	p.notes("  ", w.Notes)
}

// title is a workflow's name, and how many it stands for.
func title(w *model.WorkflowView) string {
	if w.Members > 0 {
		return w.Name + " (" + unit.Integer(float64(w.Members)) + ")"
	}
	return w.Name
}

func count(r model.Reading) string { return unit.Reading(r, unit.Integer) }

func perSecond(r model.Reading) string {
	return unit.Reading(r, func(v float64) string { return unit.Rate(v) + "/s" })
}

// covers says over what requests were counted.
func covers(b model.Basis) string {
	if b == model.OverWindow {
		return "in the window"
	}
	return basis(b)
}

// basis names what is not the window.
func basis(b model.Basis) string {
	switch b {
	case model.SinceStart:
		return "since start"
	case model.FromEvents:
		return "from events"
	default:
		return ""
	}
}

// dist is a distribution in pieces: percentiles with what the buckets allow to
// say, the mean, how many, and over what.
func (p *page) dist(d *model.Dist, exported bool) []string {
	switch {
	case d == nil && !exported:
		return []string{model.Unsupported.String()}
	case d == nil:
		return []string{model.Unknown.String()}
	case d.N == 0:
		return []string{model.NoTraffic.String(), basis(d.Basis)}
	}
	var out []string
	if !d.P50.Exists() && !d.P95.Exists() && !d.P99.Exists() {
		why := "no percentile: only sum and count are exported"
		if d.Partial {
			why = "no percentile: a bucket line was lost"
		}
		out = append(out, why)
	} else {
		out = append(out, p.estimate("p50 ", d.P50), p.estimate("p95 ", d.P95), p.estimate("p99 ", d.P99))
	}
	coarse := ""
	if d.Fidelity == model.Coarse {
		coarse = "common buckets only"
	}
	return append(out, "n "+unit.Integer(d.N), "mean "+unit.Reading(d.Mean, unit.Duration), coarse, basis(d.Basis))
}

func (p *page) estimate(label string, e model.Estimate) string {
	s := label + unit.Estimate(e, p.ascii)
	if e.Exists() && !e.Enough {
		p.few = true
		s += " " + few
	}
	return s
}

// absent lists what the server could export and does not.
func (p *page) absent(indent string, signals []model.Signal) {
	if len(signals) == 0 {
		return
	}
	titles := make([]string, len(signals))
	for i, s := range signals {
		titles[i] = s.Title()
	}
	p.sentence(indent+"not exported: ", strings.Join(titles, ", "))
}

func (p *page) notes(indent string, notes []string) {
	for _, n := range notes {
		p.sentence(indent+"note: ", p.safe(n))
	}
}
