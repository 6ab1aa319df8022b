package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/sources"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor [TARGET...]",
		Short: "What each target is, what cannot be computed, and how to get it",
		Long: "Looks at each target once: what it is, which signals it has, which figures, promises and\n" +
			"rules cannot be computed, and the flag, metric or setting that would enable each. Saved\n" +
			"pages are examined likewise. Without a target: those of the configuration, or what is\n" +
			"found on this host.\n\n" +
			"Exit code: 0 all that is promised can be judged, 4 something cannot, 1 no target\n" +
			"answered, 2 usage.",
		Example: "  slotop doctor\n  slotop doctor localhost:8000\n  slotop doctor -o json page.prom",
		RunE:    a.action(cobra.ArbitraryArgs, a.doctor),
	}
	a.promiseFlag(c)
	c.Flags().StringVarP(&a.flags.output, "output", "o", "text", "text or json")
	c.Flags().Var(span(&a.flags.timeout, minTimeout, maxEvery), "timeout", "how long the look may take (default 3s)")
	c.Flags().Var(columns(&a.flags.width), "width", "columns of the text (default: the terminal's, or 100)")
	c.Flags().BoolVar(&a.flags.ascii, "ascii", false, "write ASCII characters only")
	return c
}

func (a *app) doctor(ctx context.Context, args []string) error {
	if o := a.flags.output; o != "text" && o != "json" {
		return usageError(fmt.Errorf("-o %s: text or json", o))
	}
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return err
	}
	e, err := newExamination(s, opened)
	if err != nil {
		return errors.Join(err, sources.CloseAll(opened))
	}
	saved := plays(opened)
	if e.seen, err = look(ctx, opened, s.timeout, e.take); err != nil {
		return err
	}
	c := e.checkup()
	if !saved {
		c.Host = a.hostFacts(ctx, s)
	}
	if err := a.tellCheckup(c); err != nil {
		return err
	}
	switch {
	case c.Answered() == 0:
		return &withCode{exitFailed, errors.New("no target answered")}
	case !c.Told():
		return &withCode{code: exitUntold}
	}
	return nil
}

func (a *app) tellCheckup(c *report.Checkup) error {
	if a.flags.output == "json" {
		return report.CheckupJSON(a.out, c)
	}
	_, err := fmt.Fprint(a.out, report.CheckupText(c, a.textWidth(), a.flags.ascii || asciiOnly()))
	return err
}

// examination is a look at targets that also passes through the fold: what the fold
// cannot judge, the screen cannot either.
type examination struct {
	settings settings
	saved    bool
	fold     *fleet.Fleet
	last     model.Instant
	kept     []keptBatch // the last good one of each target
	seen     []*looked
	tells    map[string]*tells // by target
}

func newExamination(s settings, opened []sources.Opened) (*examination, error) {
	f, err := fleet.New(fleet.Config{Targets: targetsOf(opened), Every: time.Second, Window: s.window, Policy: s.policy})
	if err != nil {
		return nil, usageError(err)
	}
	return &examination{settings: s, saved: plays(opened), fold: f}, nil
}

// take passes an input to the fold.
func (e *examination) take(in model.Input) {
	e.last = in.At
	e.fold.Step(in)
	if in.Batch == nil || in.Batch.Fault != nil {
		return
	}
	e.kept = slices.DeleteFunc(e.kept, func(k keptBatch) bool { return k.Target == in.Batch.Target })
	e.kept = append(e.kept, keptBatch{doubled(in.Batch), in.At})
}

// keptBatch is a doubled batch and when it was had.
type keptBatch struct {
	model.Batch
	at model.Instant
}

// frame is what the fold makes of a second poll, by which all since the servers'
// start happened once more: rates, and the verdicts on them, need two polls and
// something in between.
func (e *examination) frame() *model.Frame {
	at := e.last.Add(time.Second)
	for i := range e.kept {
		k := &e.kept[i]
		if !k.Clock.IsZero() {
			k.Clock = k.Clock.Add(at.Sub(k.at)) // as the other side's clock would have gone on
		}
		e.fold.Step(model.Input{At: at, Batch: &k.Batch})
	}
	return e.fold.Step(model.Input{At: at})
}

// doubled is a batch that outlives the next poll and counts everything twice. Reports
// of requests are left out: a second time they would be others.
func doubled(b *model.Batch) model.Batch {
	c := *b
	c.Requests, c.Samples = nil, slices.Clone(b.Samples)
	for i := range c.Samples {
		s := &c.Samples[i]
		if s.Kind == model.Counter {
			s.Value *= 2
		}
		if s.Hist == nil {
			continue
		}
		own := *s.Hist
		own.Bounds, own.Counts = slices.Clone(own.Bounds), slices.Clone(own.Counts)
		for j := range own.Counts {
			own.Counts[j] *= 2
		}
		own.Sum.Value *= 2
		s.Hist = &own
	}
	return c
}

// checkup is what came of the look.
func (e *examination) checkup() *report.Checkup {
	frame := e.frame()
	e.tells = map[string]*tells{}
	c := &report.Checkup{Targets: []report.TargetCheckup{}, Promises: []report.PromiseCheckup{}, Host: []report.Fact{}, Watching: frame.Rules}
	for i := range frame.Targets {
		c.Targets = append(c.Targets, e.target(&frame.Targets[i], frame.Devices))
	}
	c.Promises = e.promises(frame)
	c.Blind = e.blindRules(frame)
	return c
}

func (e *examination) lookedAt(name string) *looked {
	i := slices.IndexFunc(e.seen, func(t *looked) bool { return t.target.Name == name })
	if i < 0 {
		return &looked{}
	}
	return e.seen[i]
}

// target says what is known of one target.
func (e *examination) target(v *model.TargetView, devices []model.DeviceView) report.TargetCheckup {
	t := e.lookedAt(v.Name)
	c := report.TargetCheckup{
		Name: v.Name, Kind: v.Kind, Engine: v.Engine, Version: v.Version, SkewS: v.SkewS, StepS: v.StepS, Replicas: v.Replicas,
		BadLines: v.BadLines, FirstBad: v.FirstBad, Dropped: v.Dropped,
		Models: nonNil(v.Models), Notes: nonNil(v.Notes), Signals: nonNil(v.Meanings),
		Shows: []string{}, Waits: []string{}, Lacks: []report.Lack{}, Devices: []report.DeviceCheckup{},
	}
	if !e.saved {
		c.TookS = v.TookS
	}
	if t.about == nil {
		c.Fault = cmp.Or(t.fault, &model.Fault{Kind: model.Timeout, Detail: "no answer within " + lookPatience.String()})
		return c
	}
	if c.Exact = t.byRequests(); !c.Exact && v.Engine == "" && v.Kind == model.EngineTarget {
		return c // its note says what it may be
	}
	own := &tells{about: t.about, has: t.signals, dialects: e.settings.opt.Dialects}
	e.tells[v.Name] = own
	if v.Kind == model.PrometheusTarget && len(t.signals) == 0 {
		c.Lacks = append(c.Lacks, report.Lack{
			What: "everything", Why: "it has no series of an engine or gateway that slotop knows", Metrics: []string{},
			Do: "let it scrape them, or name a server that does",
		})
		delete(e.tells, v.Name)
		return c
	}
	switch {
	case v.Kind == model.ProbeTarget:
		c.Shows = []string{"TTFT, first answer, TPOT, E2E latency and failures of its own requests, in no workflow's figures"}
	case c.Exact:
		c.Shows = []string{"TTFT, TPOT and E2E latency of each request that reports them", "goodput, exactly", "how requests ended"}
	default:
		own.figures(&c, figuresOf(v.Kind))
	}
	for i := range devices {
		if devices[i].Target == v.Name {
			c.Devices = append(c.Devices, own.device(&devices[i]))
		}
	}
	return c
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// figures sorts what may be shown of a target by whether it can be.
func (t *tells) figures(c *report.TargetCheckup, all []figure) {
	for _, f := range all {
		switch {
		case t.shows(f):
			c.Shows = append(c.Shows, f.name)
		case t.waits(f):
			c.Waits = append(c.Waits, f.name)
		case !f.bare:
			c.Lacks = append(c.Lacks, t.lack(f))
		}
	}
}

// promises says of each workflow what of its promise can be judged.
func (e *examination) promises(frame *model.Frame) []report.PromiseCheckup {
	out := []report.PromiseCheckup{}
	for _, s := range fitted(e.settings.policy, e.seen) {
		if s.everything && len(s.carriers) == 0 {
			continue // nobody promised anything, and nobody serves
		}
		p := report.PromiseCheckup{Workflow: s.name, Assumed: s.assumed, Every: s.everything, Says: s.says, Do: []string{}}
		why := lost(&s, frame)
		p.Says = append(p.Says, why...)
		if p.Lost = len(why) > 0 || len(s.carriers) == 0 && e.answered(); p.Lost {
			p.Do = e.remedies(&s)
		}
		out = append(out, p)
	}
	return out
}

// lost are the rows of a workflow that the fold cannot judge, and why.
func lost(s *fitSays, frame *model.Frame) []string {
	var rows []string
	for i := range frame.Workflows {
		w := &frame.Workflows[i]
		if !s.covers(w) {
			continue
		}
		switch {
		case w.Goodput != nil && w.Goodput.Verdict == model.CannotCompute:
			rows = append(rows, w.Name+" cannot be judged: "+string(w.Goodput.Why))
		case w.Deadline != nil && w.Deadline.Verdict == model.CannotCompute:
			rows = append(rows, w.Name+" cannot be judged by its deadline")
		}
	}
	return rows
}

func (e *examination) answered() bool {
	return slices.ContainsFunc(e.seen, func(t *looked) bool { return t.about != nil })
}

// remedies are what would let a promise be judged: for each of its bounds, what its
// targets lack.
func (e *examination) remedies(s *fitSays) []string {
	var out []string
	add := func(line string) {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, t := range s.carriers {
		own := e.tells[t.target.Name]
		if own == nil || t.byRequests() {
			continue
		}
		for _, o := range s.objectives {
			signal := o.Metric.Signal()
			if own.has[signal] {
				continue
			}
			if a := own.absence(signal); a.do != "" {
				add(fmt.Sprintf("for %s on %s: %s", o.Metric.Title(), t.target.Name, a.do))
			}
		}
		if !own.has[model.Finished] && !own.has[model.E2E] && !own.has[model.TPOT] {
			if a := own.absence(model.Finished); a.do != "" {
				add(fmt.Sprintf("for finished requests on %s: %s", t.target.Name, a.do))
			}
		}
	}
	if others := e.exportedBy(s); len(others) > 0 {
		add("promise what is exported: --slo '" + strings.Join(others, ",") + "'")
	}
	switch {
	case len(s.carriers) == 0:
		add("look at match: it must fit what the targets carry, and the labels that it names must be on their pages")
	case len(out) == 0:
		add(whateverTheServer)
	default:
		add("or " + whateverTheServer)
	}
	return out
}

// exportedBy are the bounds, as --slo takes them, that the carriers export and that
// are not promised, each with three dots for its value.
func (e *examination) exportedBy(s *fitSays) []string {
	var out []string
	for _, m := range model.Metrics {
		promised := slices.ContainsFunc(s.objectives, func(o model.Objective) bool { return o.Metric == m })
		exported := slices.ContainsFunc(s.carriers, func(t *looked) bool { return t.signals[m.Signal()] })
		if !promised && exported {
			out = append(out, string(m)+"=…")
		}
	}
	return out
}

// whateverTheServer is what lets a promise be judged behind any server.
const whateverTheServer = "let a gateway report its requests (events+http://GATEWAY/events), or measure from outside (openai+http://HOST:PORT?model=M)"

// ruleNeed is a rule that always watches, and what a target must tell for it.
type ruleNeed struct {
	name string
	on   func(t *tells, exact bool) bool // whether the target could ever make it fire
	kind string                          // of the targets that it is about
	why  string
}

func all(signals ...model.Signal) func(*tells, bool) bool {
	return func(t *tells, _ bool) bool {
		return !slices.ContainsFunc(signals, func(s model.Signal) bool { return !t.has[s] && !t.comes(s) })
	}
}

func either(signals ...model.Signal) func(*tells, bool) bool {
	return func(t *tells, exact bool) bool {
		return exact || slices.ContainsFunc(signals, func(s model.Signal) bool { return t.has[s] || t.comes(s) })
	}
}

// builtInRules are the rules that always watch, in the order of the fold's. Those
// without a need watch whatever answers; slo-burn is told by the fold itself.
var builtInRules = []ruleNeed{
	{name: "slo-burn"}, {name: "slo-burn-slow"},
	{name: "stalled", kind: model.EngineTarget, on: either(model.Running, model.Waiting), why: "neither running nor waiting requests are told"},
	{name: "down"}, {name: "restart"},
	{name: "kv-full", kind: model.EngineTarget, on: all(model.KVUsage, model.Preemptions), why: "it takes KV cache usage and preemptions"},
	{name: "predicted-breach", kind: model.EngineTarget, on: all(model.Waiting, model.TTFT), why: "it takes waiting requests and TTFT"},
	{name: "throttled", on: func(_ *tells, exact bool) bool { return exact }, why: "only reports of single requests tell of 429: events+http://GATEWAY/events"},
	{name: "deadline"},
	{name: "latency-changed", kind: model.EngineTarget, on: either(model.TTFT, model.TPOT, model.E2E), why: "no latency is told"},
	{name: "gpu-lost"}, {name: "gpu-telemetry"},
}

// blindRules are the rules that cannot be evaluated: everywhere, or on some targets.
func (e *examination) blindRules(frame *model.Frame) []report.RuleCheckup {
	out := unjudged(frame)
	for _, r := range builtInRules {
		if r.on == nil {
			continue
		}
		var blind, sees []string
		for i := range frame.Targets {
			v := &frame.Targets[i]
			own := e.tells[v.Name]
			if own == nil || len(figuresOf(v.Kind)) == 0 || r.kind != "" && v.Kind != r.kind {
				continue
			}
			if r.on(own, e.lookedAt(v.Name).byRequests()) {
				sees = append(sees, v.Name)
			} else {
				blind = append(blind, v.Name)
			}
		}
		switch {
		case len(blind) == 0, r.kind == "" && len(sees) > 0:
		case len(sees) == 0:
			out = append(out, report.RuleCheckup{Rule: r.name, Why: r.why})
		default:
			out = append(out, report.RuleCheckup{Rule: r.name, On: model.Text("on " + listed(blind)), Why: r.why})
		}
	}
	return out
}

// unjudged are the rules that the fold itself says it cannot evaluate: the burn of
// budgets, and the user's own.
func unjudged(frame *model.Frame) []report.RuleCheckup {
	out := []report.RuleCheckup{}
	for _, u := range frame.Unjudged {
		out = append(out, report.RuleCheckup{Rule: u.Rule, On: model.Text(strings.TrimSpace(string(u.Workflow) + " " + string(u.Target))), Why: u.Why})
	}
	return out
}
