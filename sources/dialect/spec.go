package dialect

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"slotop/model"

	"go.yaml.in/yaml/v4"
)

// spec is one dialect file as written. doc.go says what each key means.
type spec struct {
	Engine      string                     `yaml:"engine"`
	Kind        string                     `yaml:"kind"`
	Like        string                     `yaml:"like"`
	Also        []string                   `yaml:"also"`
	Priority    int                        `yaml:"priority"`
	Prefixes    []string                   `yaml:"prefixes"`
	Detect      condition                  `yaml:"detect"`
	Versions    []version                  `yaml:"versions"`
	Labels      *labelNames                `yaml:"labels"`
	LowerModels bool                       `yaml:"lower_models"`
	Only        string                     `yaml:"only"`
	Reasons     map[string][]string        `yaml:"reasons"`
	Failures    map[string][]string        `yaml:"failures"`
	Collected   bool                       `yaml:"collected"`
	Choose      *choice                    `yaml:"choose"`
	Lazy        *bool                      `yaml:"lazy"`
	Notes       []note                     `yaml:"notes"`
	Enable      []enabling                 `yaml:"enable"`
	Without     []model.Signal             `yaml:"without"`
	Signals     map[model.Signal]many[way] `yaml:"signals"`
	Devices     *deviceSpec                `yaml:"devices"`

	file   string // where it was read from, for errors
	shadow *spec  // what it replaces under the same engine name, nil for none
	only   matchers
}

// condition holds for a page on which some series matches one of Any (if there
// are any), some series matches each of All, and none matches any of None.
type condition struct {
	Any  []pattern `yaml:"any"`
	All  []pattern `yaml:"all"`
	None []pattern `yaml:"none"`
}

func (c condition) empty() bool { return len(c.Any)+len(c.All)+len(c.None) == 0 }

// version is a hint at the engine's version: the first whose condition holds.
type version struct {
	Say       string `yaml:"say"`
	condition `yaml:",inline"`
}

// note is a sentence shown with the target, always or when its condition holds.
type note struct {
	Say       string `yaml:"say"`
	condition `yaml:",inline"`
}

// labelNames says what the engine's labels mean.
type labelNames struct {
	Model  string   `yaml:"model"`
	Engine []string `yaml:"engine"`
	Ranks  []string `yaml:"ranks"`
	Copies []string `yaml:"copies"`
	Reason string   `yaml:"reason"`

	Failure      string   `yaml:"failure"`
	Workflow     string   `yaml:"workflow"`
	Adapter      string   `yaml:"adapter"`
	Placeholders []string `yaml:"placeholders"`
}

// choice tells apart rows of which each request appears in several.
type choice struct {
	Label  string  `yaml:"label"`
	Front  regex   `yaml:"front"`
	Step   regex   `yaml:"step"`
	Counts pattern `yaml:"counts"`
}

// way is one way of reading a signal off a page.
type way struct {
	Kind  string        `yaml:"kind"`
	From  many[pattern] `yaml:"from"`
	Sum   []pattern     `yaml:"sum"`
	Minus *pattern      `yaml:"minus"`
	Times *pattern      `yaml:"times"`
	Over  *pattern      `yaml:"over"`
	Read  []string      `yaml:"read"`
	Mean  *mean         `yaml:"mean"`
	Bare  bool          `yaml:"bare"`

	Ranges *ranges `yaml:"ranges"`
	Weight string  `yaml:"weight"`

	Scale     float64  `yaml:"scale"`
	Unset     *float64 `yaml:"unset"`
	Removed   *float64 `yaml:"removed"`
	Rows      string   `yaml:"rows"`
	IfCounted bool     `yaml:"if_counted"`
	Caution   *caution `yaml:"caution"`

	Measures string   `yaml:"measures"`
	AtFinish bool     `yaml:"at_finish"`
	Needs    string   `yaml:"needs"`
	Rare     bool     `yaml:"rare"`
	Unless   *pattern `yaml:"unless"`

	line, column int // where it stands in its file
}

// UnmarshalYAML reads a way and notes where it stands.
func (w *way) UnmarshalYAML(n *yaml.Node) error {
	type mapping way
	if err := n.Load((*mapping)(w)); err != nil {
		return err
	}
	w.line, w.column = n.Line, n.Column
	return nil
}

// mean reads a histogram of which only sum and count exist, as two counters.
type mean struct {
	Sum   many[pattern] `yaml:"sum"`
	Count many[pattern] `yaml:"count"`
}

// ranges reads a histogram of which each bucket is a counter of its own, and its
// edges the text of a label.
type ranges struct {
	From  many[pattern] `yaml:"from"`
	Label string        `yaml:"label"`
	Edges [][]float64   `yaml:"edges"`
}

// caution is said of a histogram whose mean is too small to be what its name says.
type caution struct {
	Below float64 `yaml:"below"`
	Say   string  `yaml:"say"`
}

// pattern is a selector in a file.
type pattern struct{ selector }

// UnmarshalYAML reads the selector's text.
func (p *pattern) UnmarshalYAML(n *yaml.Node) error {
	var err error
	p.selector, err = parseSelector(n.Value)
	return err
}

// regex is an anchored regular expression in a file.
type regex struct{ *regexp.Regexp }

// UnmarshalYAML compiles the expression.
func (r *regex) UnmarshalYAML(n *yaml.Node) error {
	var err error
	r.Regexp, err = regexp.Compile("^(?:" + n.Value + ")$")
	return err
}

// many is a list that may be written as its only element.
type many[T any] []T

// UnmarshalYAML reads a list, or one element.
func (m *many[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load((*[]T)(m))
	}
	var one T
	if err := n.Load(&one); err != nil {
		return err
	}
	*m = many[T]{one}
	return nil
}

// reasonNames are the canonical finish reasons that a file may map to.
var reasonNames = []string{"stop", "length", "aborted", "error", "other"}

// kindNames are what a dialect's target may be.
var kindNames = []string{model.EngineTarget, model.GatewayTarget, model.GPUTarget}

// check finds what the YAML reader cannot: values that mean nothing. The place
// of an error is that of the top-level key unless a way knows its own.
func (s *spec) check() (key string, err error) {
	if s.Engine == "" {
		return "", errors.New("the key engine is missing")
	}
	if s.Kind != "" && !slices.Contains(kindNames, s.Kind) {
		return "kind", fmt.Errorf("%q is none of %s", s.Kind, strings.Join(kindNames, ", "))
	}
	if s.Only != "" {
		if s.only, err = parseMatchers(s.Only); err != nil {
			return "only", err
		}
	}
	for reason := range s.Reasons {
		if !slices.Contains(reasonNames, reason) {
			return "reasons", fmt.Errorf("%q is none of %s", reason, strings.Join(reasonNames, ", "))
		}
	}
	for reason := range s.Failures {
		if !slices.Contains(failureNames, reason) {
			return "failures", fmt.Errorf("%q is none of %s", reason, strings.Join(failureNames, ", "))
		}
	}
	for _, signal := range s.Without {
		if !isSignal(signal) {
			return "without", fmt.Errorf("there is no signal %q%s", signal, didYouMean(string(signal), signalNames()))
		}
	}
	for _, e := range s.Enable {
		if err := e.check(); err != nil {
			return "enable", err
		}
	}
	for _, info := range model.Signals {
		for i := range s.Signals[info.Signal] {
			w := &s.Signals[info.Signal][i]
			if err := w.check(info.Kind); err != nil {
				return "signals", &placedError{w.line, w.column, fmt.Errorf("%s: %w", info.Signal, err)}
			}
		}
	}
	if s.Devices != nil {
		return "devices", s.Devices.check()
	}
	if s.Kind == model.GPUTarget && s.Like == "" {
		return "kind", errors.New("a target of kind gpu needs devices")
	}
	return "", nil
}

func (w *way) check(kind model.Kind) error {
	for _, p := range slices.Concat(w.operands()...) {
		if p.open || p.name == "" {
			return fmt.Errorf("%q names no single metric", p.text)
		}
	}
	ways := 0
	for _, stated := range []bool{len(w.From) > 0, len(w.Sum) > 0, w.Mean != nil, w.Ranges != nil} {
		if stated {
			ways++
		}
	}
	arithmetic := len(w.Sum) > 0 || w.Minus != nil || w.Times != nil || w.Over != nil || len(w.Read) > 0 || w.Weight != ""
	switch {
	case ways != 1:
		return fmt.Errorf("needs exactly one of from, sum, mean and ranges")
	case w.Kind != "" && w.Kind != kind.String():
		return fmt.Errorf("the signal is a %s, not a %s", kind, w.Kind)
	case kind == model.Histogram && arithmetic:
		return fmt.Errorf("a histogram takes from, mean or ranges only")
	case kind != model.Histogram && (w.Mean != nil || w.Caution != nil || w.Ranges != nil):
		return fmt.Errorf("mean, ranges and caution are for histograms")
	case kind != model.Gauge && w.Removed != nil:
		return fmt.Errorf("removed is for gauges")
	case w.Rows != "" && w.Rows != rowsFront && w.Rows != rowsStep:
		return fmt.Errorf("rows is %s or %s, not %q", rowsFront, rowsStep, w.Rows)
	}
	if w.Scale == 0 {
		w.Scale = 1
	}
	return nil
}

// operands are what the way needs, each with the names that can provide it.
func (w *way) operands() [][]pattern {
	var all [][]pattern
	if len(w.From) > 0 {
		all = append(all, w.From)
	}
	for _, p := range w.Sum {
		all = append(all, []pattern{p})
	}
	for _, p := range []*pattern{w.Minus, w.Times, w.Over} {
		if p != nil {
			all = append(all, []pattern{*p})
		}
	}
	if w.Mean != nil {
		all = append(all, w.Mean.Sum, w.Mean.Count)
	}
	if w.Ranges != nil {
		all = append(all, w.Ranges.From)
	}
	return all
}

// scaled brings a value into the signal's unit.
func (w *way) scaled(v float64) float64 { return scaled(w.Scale, v) }

// scaled multiplies. It divides where the factor is one over a whole number, so
// that 440000 µs are 0.44 s and not 0.44 and a bit.
func scaled(scale, v float64) float64 {
	if d := math.Round(1 / scale); scale < 1 && math.Abs(scale*d-1) < 1e-12 {
		return v / d
	}
	return v * scale
}

// The values of rows.
const (
	rowsFront = "front"
	rowsStep  = "step"
)

// isSignal reports whether there is a signal of that name.
func isSignal(s model.Signal) bool {
	return slices.ContainsFunc(model.Signals, func(info model.SignalInfo) bool { return info.Signal == s })
}

func signalNames() []string {
	names := make([]string, len(model.Signals))
	for i, info := range model.Signals {
		names[i] = string(info.Signal)
	}
	return names
}
