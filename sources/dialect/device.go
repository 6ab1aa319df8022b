package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"slotop/model"

	"go.yaml.in/yaml/v4"
)

// deviceSpec says how the GPUs on a page are told apart and read. doc.go says
// what each key means.
type deviceSpec struct {
	Labels    deviceLabels                  `yaml:"labels"`
	Prefix    string                        `yaml:"prefix"`
	Facts     many[pattern]                 `yaml:"facts"`
	Slices    *sliceSpec                    `yaml:"slices"`
	Shared    *regex                        `yaml:"shared"`
	Blank     many[float64]                 `yaml:"blank"`
	BlankFrom float64                       `yaml:"blank_from"`
	Metrics   map[deviceKey]many[deviceWay] `yaml:"metrics"`
	Throttle  many[throttleWay]             `yaml:"throttle"`
	Processes *processSpec                  `yaml:"processes"`
}

// deviceKey is the key of a model.DeviceMetric.
type deviceKey string

// deviceLabels are the labels that name a device, each in the spellings it has.
type deviceLabels struct {
	UUID   alternatives `yaml:"uuid"`
	Index  alternatives `yaml:"index"`
	Name   alternatives `yaml:"name"`
	Bus    alternatives `yaml:"bus"`
	Host   alternatives `yaml:"host"`
	Pod    alternatives `yaml:"pod"`
	Driver alternatives `yaml:"driver"`
}

// sliceSpec says which rows are of a part of a GPU, and of which.
type sliceSpec struct {
	Called  string       `yaml:"called"`
	Only    string       `yaml:"only"`
	ID      alternatives `yaml:"id"`
	Part    alternatives `yaml:"part"`
	UUID    alternatives `yaml:"uuid"`
	Prefix  string       `yaml:"prefix"`
	Profile alternatives `yaml:"profile"`
	Parent  alternatives `yaml:"parent"`
	On      *pattern     `yaml:"on"`
	Say     string       `yaml:"say"`

	only matchers
}

// deviceWay is one way of reading a metric of a device.
type deviceWay struct {
	From      many[pattern] `yaml:"from"`
	Sum       []pattern     `yaml:"sum"`
	Add       bool          `yaml:"add"`
	Scale     float64       `yaml:"scale"`
	Blank     many[float64] `yaml:"blank"`
	BlankFrom float64       `yaml:"blank_from"`
	Counters  bool          `yaml:"counters"`
	Whole     bool          `yaml:"whole"`
	Unsliced  bool          `yaml:"unsliced"`

	line, column int // where it stands in its file
}

// UnmarshalYAML reads a way and notes where it stands.
func (w *deviceWay) UnmarshalYAML(n *yaml.Node) error {
	type mapping deviceWay
	if err := n.Load((*mapping)(w)); err != nil {
		return err
	}
	w.line, w.column = n.Line, n.Column
	return nil
}

// throttleWay is one way of reading why a device is slowed down.
type throttleWay struct {
	From  many[pattern]                    `yaml:"from"`
	Bits  map[throttleReason]int64         `yaml:"bits"`
	Label alternatives                     `yaml:"label"`
	Words map[string]throttleReason        `yaml:"words"`
	Flags map[throttleReason]many[pattern] `yaml:"flags"`
	Grows bool                             `yaml:"grows"`
}

// throttleReason is one of the reasons of package model.
type throttleReason string

// processSpec says where the processes on the devices are listed.
type processSpec struct {
	From   pattern      `yaml:"from"`
	PID    alternatives `yaml:"pid"`
	Name   alternatives `yaml:"name"`
	Memory *pattern     `yaml:"memory"`
}

// throttleReasons are in the order in which they are told.
var throttleReasons = []string{
	model.ThrottlePowerCap, model.ThrottleSlowdown, model.ThrottleThermal, model.ThrottleHWThermal, model.ThrottleBrake,
}

// bit is the reason's place in a set of them.
func (r throttleReason) bit() reasons { return 1 << slices.Index(throttleReasons, string(r)) }

// reasons is a set of throttle reasons.
type reasons uint8

func deviceMetricNames() []string {
	names := make([]string, model.NumDeviceMetrics)
	for m := range model.NumDeviceMetrics {
		names[m] = m.String()
	}
	return names
}

// check finds what the YAML reader cannot. It fills in what is derived.
func (s *deviceSpec) check() error {
	if len(s.Labels.UUID) == 0 {
		return errors.New("labels: uuid is missing: it tells the devices apart")
	}
	if s.Slices != nil {
		if err := s.Slices.check(); err != nil {
			return fmt.Errorf("slices: %w", err)
		}
	}
	for _, name := range deviceMetricNames() {
		ways := s.Metrics[deviceKey(name)]
		for i := range ways {
			if err := ways[i].check(s); err != nil {
				return &placedError{ways[i].line, ways[i].column, fmt.Errorf("%s: %w", name, err)}
			}
		}
	}
	for i := range s.Throttle {
		if err := s.Throttle[i].check(); err != nil {
			return fmt.Errorf("throttle: %w", err)
		}
	}
	if p := s.Processes; p != nil && (p.From.name == "" || len(p.PID) == 0) {
		return errors.New("processes: from and pid are needed")
	}
	return nil
}

func (s *sliceSpec) check() (err error) {
	s.only, err = parseMatchers(s.Only)
	switch {
	case err != nil:
	case len(s.ID) == 0:
		err = errors.New("id is missing: it tells the slices of a GPU apart")
	case s.Called == "":
		err = errors.New("called is missing: the word for it on screen")
	}
	return err
}

func (w *deviceWay) check(s *deviceSpec) error {
	if (len(w.From) > 0) == (len(w.Sum) > 0) {
		return errors.New("needs exactly one of from and sum")
	}
	for _, p := range slices.Concat(w.From, w.Sum) {
		if p.open || p.name == "" {
			return fmt.Errorf("%q names no single metric", p.text)
		}
	}
	if w.Scale == 0 {
		w.Scale = 1
	}
	if w.BlankFrom == 0 {
		w.BlankFrom = s.BlankFrom
	}
	w.Blank = slices.Concat(w.Blank, s.Blank)
	return nil
}

func (w *throttleWay) check() error {
	ways := 0
	for _, stated := range []bool{w.Bits != nil, w.Words != nil, w.Flags != nil} {
		if stated {
			ways++
		}
	}
	switch {
	case ways != 1:
		return errors.New("needs exactly one of bits, words and flags")
	case (w.Flags == nil) != (len(w.From) > 0):
		return errors.New("bits and words need from, flags name their metrics themselves")
	case (w.Words != nil) != (len(w.Label) > 0):
		return errors.New("words are those of a label, and a label needs words")
	case w.Grows && w.Flags == nil:
		return errors.New("grows is for flags")
	}
	for word, r := range w.Words {
		if !slices.Contains(throttleReasons, string(r)) {
			return fmt.Errorf("words: %s: %q is none of %s", word, r, strings.Join(throttleReasons, ", "))
		}
	}
	return nil
}

// operands are the metrics the way needs, each with the names that can provide it.
func (w *deviceWay) operands() [][]pattern {
	if len(w.From) > 0 {
		return [][]pattern{w.From}
	}
	all := make([][]pattern, len(w.Sum))
	for i := range w.Sum {
		all[i] = w.Sum[i : i+1]
	}
	return all
}
