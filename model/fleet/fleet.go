// Package fleet is the fold: it turns inputs into frames. It is the sole owner
// of everything slotop remembers, has one caller at a time and no locks, and
// never reads a clock: the same inputs always give the same frames.
//
// A page of counters becomes a row of numbers (target, turns, columns, crowd, count) and
// adds to what its workflows are judged by (told, ledger); reports of single
// requests are judged one by one (reports, reported, users). A tick sums the window
// (measure, tally, sides), says what each target does (state, view, doubts) and what
// its workflows' users get (workflow, reportview, promise, budget, condition, total),
// keeps the past (history, heat, events, stage, steady), and evaluates the rules (rules, userrules).
// What changed and why is asked once for each block of ten seconds (blocks, facts, steps,
// diagnosis).
// How much room pools have follows from what was learned of steps (capacity, capacity_*).
// GPUs are merged from all that tell of them, joined with the engines that run on
// them, and watched by rules of their own (devices, devices_*); how much of them each
// engine uses is measured, estimated or unknown (utilization, utilization_*).
package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/alert"
	"slotop/model/slo"
)

// Config is what the fold must know beforehand.
type Config struct {
	Targets []model.Target
	Every   time.Duration // poll interval, for staleness and stalls
	Window  time.Duration // span of every rate and percentile
	Policy  model.Policy  // what was promised, and the rules
}

// Limits of the viewer's choice of window.
const (
	MinWindow     = 5 * time.Second
	MaxWindow     = 30 * time.Minute
	DefaultWindow = time.Minute
)

// Reach is the longest window that can be asked for over a number of targets:
// a target's past costs about 150 KiB for half an hour of polls a second, and a
// fleet must fit in memory too.
func Reach(targets int) time.Duration {
	switch {
	case targets <= 50:
		return MaxWindow
	case targets <= 300:
		return 15 * time.Minute
	default:
		return 6 * time.Minute
	}
}

// maxWorkflows bounds the named rows; a label that carries an id per request
// must not cost memory for ever. What does not fit is summed as model.OtherName.
const maxWorkflows = 200

// maxPromised bounds all rows. Those that the operator named come on top of the
// others.
const maxPromised = 1000

// Fleet folds inputs into frames.
type Fleet struct {
	every   time.Duration
	window  time.Duration // as chosen
	span    time.Duration // of this frame's figures: the window, or longer
	reach   time.Duration // of the targets' rings
	targets []*target     // in the order given
	byID    map[model.TargetID]*target
	flows   map[string]*workflow
	found   map[slo.Origin]*workflow // where what was seen lately belongs
	policy  model.Policy
	promise *slo.Set
	book    *alert.Book
	devices devices
	stages  stages
	events  events
	started model.Instant
	now     time.Duration // of the input being taken
	grid    grid

	block     int64 // the open block of the diagnosis, see blocks
	asked     int64 // the open block when it was asked last
	lonely    bool  // there is one pool with engines
	calling   int   // workflows that keep single requests
	inquiries []*inquiry
	findings  []model.FindingView
	diagnoses []model.DiagnosisView
	room      room
}

// New checks the configuration and returns a fold without any history.
func New(c Config) (*Fleet, error) {
	if c.Every <= 0 {
		return nil, fmt.Errorf("poll interval %v: must be positive", c.Every)
	}
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	reach := Reach(len(c.Targets))
	if c.Window < MinWindow || c.Window > reach {
		return nil, fmt.Errorf("window %v: from %v to %v with %d targets", c.Window, MinWindow, reach, len(c.Targets))
	}
	promise, err := slo.NewSet(c.Policy)
	if err != nil {
		return nil, err
	}
	if err := checkRules(c.Policy.Rules); err != nil {
		return nil, err
	}
	for what, s := range map[string]float64{"grace": c.Policy.GraceS, "idle_clear": c.Policy.IdleClearS, "silence": c.Policy.SilentAfterS} {
		if !isSpan(s) {
			return nil, fmt.Errorf("%s of %v s: neither below 0 nor beyond a century", what, s)
		}
	}
	f := &Fleet{
		every:   c.Every,
		window:  c.Window,
		reach:   reach,
		byID:    make(map[model.TargetID]*target, len(c.Targets)),
		flows:   map[string]*workflow{},
		found:   map[slo.Origin]*workflow{},
		policy:  c.Policy,
		promise: promise,
		book:    alert.NewBook(),
		devices: newDevices(),
		grid:    grid{step: max(time.Second, c.Every)},
	}
	for _, spec := range c.Targets {
		if f.byID[spec.ID] != nil {
			return nil, fmt.Errorf("target %s is given twice", spec.Name)
		}
		f.watch(spec)
	}
	return f, nil
}

// Step takes one input. It returns a frame on a tick and nil otherwise.
func (f *Fleet) Step(in model.Input) *model.Frame {
	if f.started.IsZero() {
		f.started = in.At
	}
	f.now = in.At.Mono
	f.closeBlocks(in.At.Mono)
	switch {
	case in.Batch != nil:
		f.onBatch(in.At, in.Batch)
		return nil
	case in.Window != 0:
		f.setWindow(in.Window)
		return nil
	case in.Ack != "":
		f.book.Ack(in.Ack)
		return nil
	case in.Mark != "":
		f.onMark(in.At, in.Mark)
		return nil
	case in.Note != nil:
		f.onNote(in.At, in.Note)
		return nil
	case in.Join != nil:
		f.watch(*in.Join)
		return nil
	case in.Leave != "":
		f.leave(in.Leave, in.At)
		return nil
	default:
		return f.frame(in.At)
	}
}

func (f *Fleet) setWindow(w time.Duration) {
	f.window = min(max(w, MinWindow), f.reach)
	for _, t := range f.targets {
		t.dirty = true
	}
}

func (f *Fleet) onBatch(at model.Instant, b *model.Batch) {
	t := f.byID[b.Target]
	if t == nil {
		return // nobody declared it: no frame has a place for it
	}
	if b.Fault != nil {
		t.fail(at, b)
		return
	}
	before := t.about
	if t.take(at, b, f) {
		f.noteRestart(at, t)
	}
	f.markIncident(at, before, t.about)
	f.devices.take(at, t, b)
	t.keepReported(b.Reported)
	f.onRequests(at, t, b)
}

// keepReports is how long a workflow that only reports named is kept after the
// last one: until what fires of it may be resolved for want of requests.
func (f *Fleet) keepReports() time.Duration {
	return max(forgetEvents, seconds(f.policy.IdleClearS)+2*keepFiring)
}

// flowOf is the workflow that takes what comes from an origin, until there are
// too many.
func (f *Fleet) flowOf(o slo.Origin) *workflow {
	if w := f.found[o]; w != nil {
		return w
	}
	if len(f.found) >= maxFound {
		clear(f.found)
	}
	w := f.flowNamed(o)
	f.found[o] = w
	return w
}

// maxFound bounds the origins that are remembered; a label may differ with every
// request.
const maxFound = 1 << 14

func (f *Fleet) flowNamed(o slo.Origin) *workflow {
	name, spec := f.promise.Find(o)
	if w := f.flows[name]; w != nil {
		return w
	}
	// What was promised by name has a row however many others came first.
	if len(f.flows) >= maxWorkflows && !(f.promise.OneRow(name) && len(f.flows) < maxPromised) {
		name, spec = model.OtherName, slo.Assumed()
		if w := f.flows[name]; w != nil {
			return w
		}
	}
	w := newWorkflow(name, spec, len(f.flows), f.now, f.keepReports())
	w.history.events = f.events.ofAll()
	w.events.stage = f.stages.begun()
	f.flows[name] = w
	return w
}

// flowIf is flowOf without making one: nil where there is none.
func (f *Fleet) flowIf(o slo.Origin) *workflow {
	if w := f.found[o]; w != nil {
		return w
	}
	name, _ := f.promise.Find(o)
	return cmp.Or(f.flows[name], f.flows[model.OtherName])
}

func (f *Fleet) frame(at model.Instant) *model.Frame {
	f.span = f.spanned()
	fr := &model.Frame{
		Schema:    model.Schema,
		At:        at,
		WindowS:   f.span.Seconds(),
		Targets:   make([]model.TargetView, 0, len(f.targets)),
		Workflows: make([]model.WorkflowView, 0, len(f.flows)),
		Every:     f.every,
		Started:   f.started,
	}
	for _, w := range f.flows {
		w.begin()
	}
	for _, t := range f.targets {
		t.settle(at, f.every)
		t.measure(f.span)
		t.join(at.Mono)
		t.reportedTo(f)
		fr.Targets = append(fr.Targets, t.see())
		fr.Simulated = fr.Simulated || t.spec.Simulated
	}
	f.inFlight(at)
	for i, t := range f.targets {
		t.seeFlight(&fr.Targets[i])
		t.seeProbe(&fr.Targets[i], f.span, at.Mono)
	}
	fr.CoveredS = f.covered()
	f.forgetFlows(at)
	points, repeat := f.grid.advance(at.Mono, max(staleAfter(max(f.every, f.longestStep())), f.span))
	for _, w := range f.flows {
		fr.Workflows = append(fr.Workflows, w.see(at, f))
		w.record(&fr.Workflows[len(fr.Workflows)-1], points, repeat, f)
		if s := w.judged; s.Exact && s.ElapsedS > fr.CoveredS.Value {
			fr.CoveredS = model.Of(s.ElapsedS) // reports are counted in whole blocks
		}
	}
	slices.SortFunc(fr.Workflows, f.worstFirst)
	f.seeEvents(fr)
	fr.Goodput = f.total(fr.Workflows)
	fr.Stages = f.stages.see(f)
	f.seeDevices(fr)
	f.judge(fr)
	f.diagnose(fr)
	f.seeUtilization(fr)
	f.seeCapacity(fr)
	return fr
}

// covered is the longest span a fresh target's window really has: a replica that
// has just joined does not shorten what is known of the others.
func (f *Fleet) covered() model.Reading {
	longest := model.Reading{}
	for _, t := range f.targets {
		if !t.fresh() || t.ring.Len() < 2 {
			continue
		}
		if s := t.elapsed.Seconds(); !longest.OK() || s > longest.Value {
			longest = model.Of(s)
		}
	}
	return longest
}

// forgetFlows drops workflows that no target carries any more.
func (f *Fleet) forgetFlows(at model.Instant) {
	for name, w := range f.flows {
		if len(w.targets) == 0 && !w.events.recent(at.Mono) {
			delete(f.flows, name)
			clear(f.found)
			if w.story.calls.any {
				f.calling--
			}
		}
	}
}

// worstFirst orders workflows by their condition and then by how much they hurt
// in it.
func (f *Fleet) worstFirst(a, b model.WorkflowView) int {
	return cmp.Or(
		a.Condition.Rank()-b.Condition.Rank(),
		cmp.Compare(f.flows[b.Name].weight, f.flows[a.Name].weight),
		strings.Compare(a.Name, b.Name),
	)
}
