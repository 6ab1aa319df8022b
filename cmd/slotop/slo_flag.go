package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"slotop/model"
)

// sloFlag is one --slo: a promise to the workflow of a name, or to all that a
// glob matches.
type sloFlag struct {
	name   string
	preset presetName
	slo    promise
}

// sloFlags are all of them in the order given.
type sloFlags []sloFlag

var _ pflag.Value = (*sloFlags)(nil)

// sloForm is how a --slo is written.
const sloForm = "[WORKFLOW:]ttft=500ms,tpot=50ms,95%"

// sloKeys are the keys of a --slo.
var sloKeys = []struct {
	name string
	set  func(f *sloFlag, value string) error
}{
	{"ttft", func(f *sloFlag, v string) error { return f.slo.TTFT.set(v) }},
	{"first_answer", func(f *sloFlag, v string) error { return f.slo.FirstAnswer.set(v) }},
	{"tpot", func(f *sloFlag, v string) error { return f.slo.TPOT.set(v) }},
	{"e2e", func(f *sloFlag, v string) error { return f.slo.E2E.set(v) }},
	{"queue", func(f *sloFlag, v string) error { return f.slo.Queue.set(v) }},
	{"objective", func(f *sloFlag, v string) error { return f.slo.Objective.set(v) }},
	{"period", func(f *sloFlag, v string) error { return f.slo.Period.set(v) }},
	{"deadline", func(f *sloFlag, v string) error { return f.slo.Deadline.set(v) }},
	{"preset", func(f *sloFlag, v string) error { return f.preset.set(v) }},
}

// Set implements pflag.Value: it reads one --slo.
func (s *sloFlags) Set(text string) error {
	f, err := parseSLO(text)
	if err != nil {
		return err
	}
	*s = append(*s, f)
	return nil
}

// String implements pflag.Value. It is what the help shows as the default.
func (s *sloFlags) String() string { return "" }

// Type implements pflag.Value.
func (s *sloFlags) Type() string { return "promise" }

// parseSLO reads [WORKFLOW:]part,part… Without a name it holds for every
// workflow. No part has a colon in it, and names of models do.
func parseSLO(text string) (sloFlag, error) {
	f, parts := sloFlag{name: "*"}, text
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		f.name, parts = strings.TrimSpace(text[:at]), text[at+1:]
	}
	switch {
	case f.name == "":
		return f, fmt.Errorf("no workflow before the colon: write %s", sloForm)
	case f.name == model.OtherName:
		return f, fmt.Errorf("%q is the row of what no workflow matches: choose another name", f.name)
	case strings.TrimSpace(parts) == "":
		return f, fmt.Errorf("nothing is promised to %q: write %s", f.name, sloForm)
	}
	var seen []string
	for part := range strings.SplitSeq(parts, ",") {
		key, err := f.set(strings.TrimSpace(part))
		switch {
		case err != nil:
			return f, fmt.Errorf("part %q: %w", strings.TrimSpace(part), err)
		case slices.Contains(seen, key):
			return f, fmt.Errorf("part %q: %s is given twice", strings.TrimSpace(part), key)
		}
		seen = append(seen, key)
	}
	return f, nil
}

// set takes one part and returns its key. A share stands alone.
func (f *sloFlag) set(part string) (key string, err error) {
	key, value, found := strings.Cut(part, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found {
		return "objective", f.setBare(part)
	}
	names := make([]string, len(sloKeys))
	for i, k := range sloKeys {
		if names[i] = k.name; k.name == key {
			return key, k.set(f, value)
		}
	}
	return key, fmt.Errorf("unknown key %q%s; write %s", key, didYouMean(key, names), sloForm)
}

func (f *sloFlag) setBare(part string) error {
	if part == "" {
		return fmt.Errorf("empty: write %s", sloForm)
	}
	if _, err := parseRatio(part); err == nil {
		return f.slo.Objective.set(part)
	}
	if _, err := parseTime(part); err == nil {
		return fmt.Errorf("a bound of what? write ttft=%s", part)
	}
	return fmt.Errorf("neither key=value nor a share such as 95%%: write %s", sloForm)
}

// over writes the flag over a workflow that is known.
func (f *sloFlag) over(spec *model.WorkflowSpec) {
	if spec.Assumed {
		spec.Assumed, spec.Objectives, spec.Share = false, nil, model.DefaultShare
	}
	f.preset.over(spec)
	f.slo.over(spec)
}
