package report

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// Outcome is what a check comes to.
type Outcome string

// The outcomes, best first.
const (
	CheckMet    Outcome = "met"
	CheckMissed Outcome = "missed"
	CheckUntold Outcome = "could_not_tell"
)

func (o Outcome) word() string { return strings.ReplaceAll(string(o), "_", " ") }

// CheckOptions say what of a frame is judged.
type CheckOptions struct {
	Only        func(workflow string) bool // nil judges all workflows
	Expected    []string                   // workflows that must be in the frame: what is not there cannot be told
	MinRequests float64                    // a workflow with fewer cannot be told
}

// Check is a frame as a gate sees it: what each workflow was promised, and
// whether it was kept.
type Check struct {
	Outcome Outcome
	Why     string // in one sentence
	Rows    []CheckRow

	frame *model.Frame
	all   bool // no workflow was left out
}

// CheckRow is one workflow of a check.
type CheckRow struct {
	Name    string
	Outcome Outcome
	Why     string // of an outcome other than met, a part of a sentence

	cause []string            // of a miss, as far as anybody can tell: sentences
	flow  *model.WorkflowView // nil where nothing was seen of it
	hush  bool                // what its objectives say does not count either
}

// Judge makes a gate of a frame. A miss counts for more than what cannot be
// told: whatever else is found out, the promise was broken.
func Judge(f *model.Frame, opt CheckOptions) *Check {
	c := &Check{frame: f, all: true}
	seen := map[string]bool{}
	for i := range f.Workflows {
		w := &f.Workflows[i]
		seen[w.Name] = true
		if opt.Only != nil && !opt.Only(w.Name) {
			c.all = false
			continue
		}
		r := judgeRow(w, opt.MinRequests)
		if r.Outcome == CheckMissed {
			r.cause = causeOfMiss(f.LeadOf(w.Name))
		}
		c.Rows = append(c.Rows, r)
	}
	for _, name := range opt.Expected {
		if !seen[name] && (opt.Only == nil || opt.Only(name)) {
			seen[name] = true
			c.Rows = append(c.Rows, CheckRow{Name: name, Outcome: CheckUntold, Why: "no request of it was seen"})
		}
	}
	c.conclude()
	return c
}

// causeOfMiss is why a promise was broken and what to try, or why that cannot be told.
func causeOfMiss(l model.Lead) []string {
	switch {
	case l.Finding == nil && l.Pool == nil:
		return nil
	case l.Finding == nil:
		return []string{"cause: " + l.Pool.Verdict()}
	}
	sure := "confidence " + string(l.Finding.Confidence)
	if n, ok := l.Finding.N.Get(); ok {
		sure += ", n " + unit.Integer(n)
	}
	out := []string{"because: " + l.Finding.Because() + " (" + sure + ")"}
	if try := strings.Join(l.Finding.Try, ", or "); try != "" {
		out = append(out, "try: "+try)
	}
	return out
}

func judgeRow(w *model.WorkflowView, least float64) CheckRow {
	r := CheckRow{Name: w.Name, flow: w}
	g := w.Goodput
	switch {
	case g == nil:
		r.Outcome, r.Why = CheckUntold, "its goodput is not known"
	case g.N < least && g.Verdict != model.CannotCompute:
		r.Outcome, r.hush = CheckUntold, true
		r.Why = fmt.Sprintf("%s judged, fewer than the %s asked for", plural(g.N, "request"), unit.Integer(least))
	case g.Verdict == model.Met && w.Replicas.Fresh < w.Replicas.Total:
		r.Outcome, r.hush = CheckUntold, true
		r.Why = fmt.Sprintf("only %d of its %s answered to the end", w.Replicas.Fresh, plural(w.Replicas.Total, "target"))
	default:
		r.Outcome, r.Why = outcomeOf(g.Verdict), whyGoodput(w)
	}
	if d := w.Deadline; d != nil && !r.hush {
		r.add(outcomeOf(d.Verdict), whyDeadline(d))
	}
	return r
}

// add takes another finding of the row in: the worse one decides.
func (r *CheckRow) add(o Outcome, why string) {
	if o == CheckMissed && r.Outcome != CheckMissed || o == CheckUntold && r.Outcome == CheckMet {
		r.Outcome, r.Why = o, why
	}
}

func outcomeOf(v model.Verdict) Outcome {
	switch v {
	case model.Met:
		return CheckMet
	case model.Missed:
		return CheckMissed
	default:
		return CheckUntold
	}
}

// whyGoodput says why a goodput is not called met, "" where it is.
func whyGoodput(w *model.WorkflowView) string {
	g := w.Goodput
	switch g.Verdict {
	case model.Met:
		return ""
	case model.Missed:
		p := &page{}
		s := "goodput " + p.share(g.Share, " of "+plural(g.N, "request")) + ", promised " + unit.Promised(g.Target.Value)
		for _, o := range w.Objectives {
			if o.Verdict == model.Missed {
				s += "; " + o.Metric.Title() + " " + unit.Limit(o.MaxS) + " was kept by " + p.share(o.Share, "")
			}
		}
		if g.Of.Failed > 0 {
			s += "; " + unit.Integer(g.Of.Failed) + " failed"
		}
		return s
	case model.NoData:
		return because("no request in the window", g.Why)
	case model.CannotCompute:
		return because("goodput cannot be computed", g.Why)
	default:
		share := (&page{}).share(g.Share, " of "+plural(g.N, "request"))
		if share == "" {
			return because("its goodput is not known", g.Why)
		}
		return because("goodput "+share+" is no proof either way, promised "+unit.Promised(g.Target.Value), g.Why)
	}
}

func because(what string, why model.Text) string {
	if why == "" {
		return what
	}
	return what + ": " + string(why)
}

func whyDeadline(d *model.DeadlineView) string {
	switch d.Verdict {
	case model.Met:
		return ""
	case model.Missed:
		return fmt.Sprintf("its deadline of %s cannot be kept: %s to go, %s left",
			unit.Period(d.DeadlineS), unit.Reading(d.NeedsS, unit.Duration), unit.Reading(d.LeftS, unit.Duration))
	default:
		return "whether its deadline of " + unit.Period(d.DeadlineS) + " is kept cannot be told"
	}
}

// plural is a number of things.
func plural[N int | float64](n N, noun string) string {
	s := unit.Integer(float64(n)) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// conclude sums the rows up.
func (c *Check) conclude() {
	c.Outcome = CheckUntold
	switch missed, untold := c.with(CheckMissed), c.with(CheckUntold); {
	case len(c.Rows) == 0 || !anyAnswer(c.frame.Targets):
		c.Why = "could not tell: " + c.nothing()
	case len(missed) > 0:
		c.Outcome, c.Why = CheckMissed, sentence(missed)
	case len(untold) > 0:
		c.Why = sentence(untold)
	case len(c.Rows) == 1:
		c.Outcome, c.Why = CheckMet, "met: "+c.Rows[0].Name
	default:
		c.Outcome, c.Why = CheckMet, "met: all "+plural(len(c.Rows), "workflow")
	}
}

func (c *Check) with(o Outcome) (rows []*CheckRow) {
	for i := range c.Rows {
		if c.Rows[i].Outcome == o {
			rows = append(rows, &c.Rows[i])
		}
	}
	return rows
}

func anyAnswer(targets []model.TargetView) bool {
	return slices.ContainsFunc(targets, func(t model.TargetView) bool { return t.Polls > t.FailedPolls })
}

// Sentence is the outcome and its reason in one line that is safe to print.
func (c *Check) Sentence(ascii bool) string {
	p := page{ascii: ascii}
	return p.safe(c.Why)
}

// sentence names the first of the rows and why.
func sentence(rows []*CheckRow) string {
	s := rows[0].Outcome.word() + ": " + rows[0].Name + ": " + rows[0].Why
	if len(rows) > 1 {
		s += fmt.Sprintf(" (and %d more)", len(rows)-1)
	}
	return s
}

// nothing says why there is nothing to judge.
func (c *Check) nothing() string {
	switch targets := c.frame.Targets; {
	case anyAnswer(targets) && len(c.frame.Workflows) > 0:
		return "no workflow of that name was seen; there are " + names(c.frame.Workflows)
	case anyAnswer(targets):
		return "no target has named a model or reported a request"
	default:
		for i := range targets {
			if f := targets[i].Fault; f != nil {
				return "no target answered: " + targets[i].Name + ": " + f.Kind.Word() + ": " + f.Detail
			}
		}
		return "no target answered"
	}
}

// maxNames bounds the names in a sentence.
const maxNames = 5

func names(flows []model.WorkflowView) string {
	var all []string
	for i := range flows {
		all = append(all, flows[i].Name)
	}
	if more := len(all) - maxNames; more > 0 {
		all = append(all[:maxNames], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
