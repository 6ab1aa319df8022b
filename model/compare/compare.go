// Package compare says of two stretches of load how their figures differ, and which of
// the differences are larger than chance and the buckets of histograms allow.
//
// A figure is compared by the interval of its change. What widens it: how few requests
// there were; that requests share their fate, seen from how much the stretches of one
// stage differ from one another (Korn and Graubard, Confidence intervals for proportions
// with small expected number of positive counts estimated from survey data, Survey
// Methodology 24, 1998); and the buckets that latencies and goodput are read from.
// Shares are compared by Newcombe's hybrid score interval (Statistics in Medicine 17,
// 1998, method 10), rates as counts of the same process given their sum (Przyborowski and
// Wilenski, Biometrika 31, 1940) with Wilson's interval, quantiles by their order
// statistics, whatever the distribution, squared and added (Zou and Donner, Statistics in
// Medicine 27, 2008). The figures of one comparison are many, so that chance has many
// turns: Holm's procedure (Scandinavian Journal of Statistics 6, 1979) keeps the risk of
// a single false word in the whole comparison at Risk, however the figures hang together.
//
// It refuses to call a difference of two points one: what is not larger than its error
// is noise.
package compare

import (
	"slices"

	"slotop/model"
)

// Risk is the chance that a comparison of the same with itself calls anything different.
const Risk = 0.05

// Verdict says whether a figure differs.
type Verdict string

// The verdicts on B against A. Noise: the difference is not larger than the sampling
// error and the brackets allow.
const (
	Higher     Verdict = "higher"
	Lower      Verdict = "lower"
	Noise      Verdict = "noise"
	CannotTell Verdict = "cannot_tell"
)

// Word is the verdict as people say it.
func (v Verdict) Word() string {
	if v == CannotTell {
		return "cannot tell"
	}
	return string(v)
}

// Sense says for whom a change is good.
type Sense string

// The senses of a change. A rate tells what was asked of a service as much as how it
// answered: less load is neither better nor worse.
const (
	Better  Sense = "better"
	Worse   Sense = "worse"
	Neither Sense = ""
)

// Comparison is two stages, figure by figure.
type Comparison struct {
	A         Side       `json:"a"`
	B         Side       `json:"b"`
	Simulated bool       `json:"simulated"` // a side or both, as whoever compares knows
	Risk      float64    `json:"risk"`      // of one false word in all of it
	Compared  int        `json:"compared"`  // figures that were
	Workflows []Workflow `json:"workflows"`
	Notes     []string   `json:"notes"` // what makes the two less alike than their names
}

// Side is one of the stages.
type Side struct {
	Name    string        `json:"name"`
	From    model.Instant `json:"from"`
	LastedS model.Reading `json:"lasted_s"`
	UnseenS float64       `json:"unseen_s"` // of them, something was not read
}

// Workflow is a workflow's figures in both stages. One that is in one of them only has
// no rows.
type Workflow struct {
	Name  string   `json:"name"`
	Only  string   `json:"only_in"` // "a" or "b"; "": it is in both
	A     Basis    `json:"a"`
	B     Basis    `json:"b"`
	Rows  []Row    `json:"figures"`
	Notes []string `json:"notes"`
}

// Basis is what a workflow's figures of one stage rest on.
type Basis struct {
	Requests model.Reading `json:"requests"` // that finished
	Batches  int           `json:"stretches"`
	BatchS   float64       `json:"stretch_s"`
}

// Row is one figure.
type Row struct {
	Figure  Figure  `json:"figure"`
	A       Value   `json:"a"`
	B       Value   `json:"b"`
	Change  Change  `json:"change"`
	Verdict Verdict `json:"verdict"`
	Sense   Sense   `json:"sense"`
	Why     string  `json:"why"` // of a verdict that is none
}

// Value is a figure of one stage. Lo and Hi are the 95 % interval of what the service
// does at that load: the bracket and the sampling error. N is what it was counted on.
type Value struct {
	Point model.Reading `json:"point"`
	Lo    model.Reading `json:"lo"`
	Hi    model.Reading `json:"hi"`
	N     model.Reading `json:"n"`
	// Seen is the stage's own number with its bracket, of a latency; and of a share.
	Seen  model.Estimate `json:"-"`
	Share model.Share    `json:"-"`
}

// Change is B against A: a factor, or of shares a difference, 0.05 being five points.
// Lo and Hi are the interval by which the verdict was given: it excludes what would be
// no change where the figure differs, and its level is that of Holm's step.
type Change struct {
	Point model.Reading `json:"point"`
	Lo    model.Reading `json:"lo"`
	Hi    model.Reading `json:"hi"`
}

// Stages compares two stages. The later one is usually b: changes are said of it. Of one
// that is open it must be said until when it is meant.
func Stages(a, b *model.StageView) Comparison {
	c := Comparison{A: sideOf(a), B: sideOf(b), Risk: Risk, Workflows: []Workflow{}, Notes: []string{}}
	for _, name := range names(a, b) {
		c.Workflows = append(c.Workflows, c.workflow(name, Find(a, name), Find(b, name)))
	}
	c.note(a, b)
	c.judge(a, b)
	return c
}

func sideOf(s *model.StageView) Side {
	out := Side{Name: s.Name, From: s.From, UnseenS: s.UnseenS}
	if !s.To.IsZero() {
		out.LastedS = model.Of(s.To.Sub(s.From).Seconds())
	}
	return out
}

// Until is a stage as far as it has come: an open one ends at now.
func Until(s *model.StageView, now model.Instant) *model.StageView {
	if !s.To.IsZero() {
		return s
	}
	sofar := *s
	sofar.To = now
	return &sofar
}

// Find is a workflow of a stage, nil where it has none of that name.
func Find(s *model.StageView, name string) *model.StageWorkflow {
	i := slices.IndexFunc(s.Workflows, func(w model.StageWorkflow) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Workflows[i]
}

// names are the workflows of either, in their order.
func names(a, b *model.StageView) []string {
	var out []string
	for _, s := range []*model.StageView{a, b} {
		for i := range s.Workflows {
			out = append(out, s.Workflows[i].Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Row is the row of a figure, nil where there is none of that key.
func (w *Workflow) Row(key string) *Row {
	i := slices.IndexFunc(w.Rows, func(r Row) bool { return r.Figure.Key == key })
	if i < 0 {
		return nil
	}
	return &w.Rows[i]
}

// Of is the part of the comparison that a workflow is, nil where it is in neither stage.
func (c *Comparison) Of(name string) *Workflow {
	i := slices.IndexFunc(c.Workflows, func(w Workflow) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Workflows[i]
}

// Count is how many figures differ, and of them how many are worse.
func (c *Comparison) Count() (differ, worse int) {
	for i := range c.Workflows {
		for _, r := range c.Workflows[i].Rows {
			if r.Verdict == Higher || r.Verdict == Lower {
				differ++
			}
			if r.Sense == Worse {
				worse++
			}
		}
	}
	return differ, worse
}

// workflow has the rows of which both sides know the figure, or one of them does.
func (c *Comparison) workflow(name string, a, b *model.StageWorkflow) Workflow {
	w := Workflow{Name: name, Rows: []Row{}, Notes: []string{}}
	switch {
	case a == nil:
		w.Only = "b"
		return w
	case b == nil:
		w.Only = "a"
		return w
	}
	a, b = counted(a), counted(b)
	w.A, w.B = basisOf(a), basisOf(b)
	for _, f := range Figures {
		r := Row{Figure: f, A: f.value(a, c.A.LastedS.Value), B: f.value(b, c.B.LastedS.Value), Verdict: CannotTell}
		if !r.A.known() && !r.B.known() {
			continue
		}
		r.Why = f.obstacle(a, b, &r)
		w.Rows = append(w.Rows, r)
	}
	w.note(a, b)
	return w
}

// counted is the workflow with what it was counted on, be it nothing.
func counted(w *model.StageWorkflow) *model.StageWorkflow {
	if w.Sampled != nil {
		return w
	}
	bare := *w
	bare.Sampled = &model.Sampled{}
	return &bare
}

func basisOf(w *model.StageWorkflow) Basis {
	return Basis{Requests: w.Finished, Batches: w.Sampled.Batches, BatchS: w.Sampled.BatchS}
}

func (v Value) known() bool { return v.Point.OK() || v.Lo.OK() || v.Hi.OK() }

// open is a row that can be judged, with the way to get the interval of its change.
type open struct {
	row    *Row
	change func(level float64) interval
}

// judge gives every row its verdict, by Holm's step-down procedure: the more figures
// are seen to differ, the fewer are left that chance could have made up.
func (c *Comparison) judge(a, b *model.StageView) {
	var left []open
	for i := range c.Workflows {
		w := &c.Workflows[i]
		for k := range w.Rows {
			if r := &w.Rows[k]; r.Why == "" {
				f := r.Figure
				wa, wb := Find(a, w.Name), Find(b, w.Name)
				left = append(left, open{r, func(level float64) interval {
					return f.change(wa, wb, spans{c.A.LastedS.Value, c.B.LastedS.Value}, level)
				}})
			}
		}
	}
	c.Compared = len(left)
	for again := true; again && len(left) > 0; {
		level := Risk / float64(len(left))
		before := len(left)
		left = slices.DeleteFunc(left, func(o open) bool { return o.row.take(o.change(level)) })
		again = len(left) < before
	}
	for i := range c.Workflows {
		c.Workflows[i].excuse()
	}
}

// excuse takes back that more or fewer good requests are better or worse where there were
// more or fewer requests, of which no other share was good: that is the load, and no service.
func (w *Workflow) excuse() {
	all, good, share := w.Row("requests_per_second"), w.Row("good_per_second"), w.Row("goodput")
	if all != nil && good != nil && good.Verdict == all.Verdict && (share == nil || share.Sense != good.Sense) {
		good.Sense = Neither
	}
}

// take settles a row by the interval of its change, and reports whether it differs.
func (r *Row) take(i interval) bool {
	r.Change = i.change(r.Figure.Unit == Share)
	switch {
	case i.lo > 0 || i.lo == 0 && i.halfOpen:
		r.Verdict = Higher
	case i.hi < 0 || i.hi == 0 && i.halfOpen:
		r.Verdict = Lower
	case i.why != "":
		r.Verdict, r.Why = CannotTell, i.why
		return false
	default:
		r.Verdict, r.Why = Noise, ""
		return false
	}
	r.Why = ""
	if up := r.Figure.Up; up != Neither {
		r.Sense = up
		if r.Verdict == Lower {
			r.Sense = map[Sense]Sense{Better: Worse, Worse: Better}[up]
		}
	}
	return true
}
