package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"slotop/model"
)

// This file holds the values that a configuration and the flags share: how each
// is written, and what is said of one that is written wrongly.

// parseTime reads a time such as 500ms, 1m30s, 30d or 1d12h. It is never
// negative.
func parseTime(s string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a duration such as 5s or 1m30s", s)
	days, rest, found := strings.Cut(strings.TrimSpace(s), "d")
	if !found {
		days, rest = "0", days
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || !(n >= 0 && n*24 <= float64(math.MaxInt64/time.Hour)) || found && strings.ContainsAny(days, "eExXpP_") {
		return 0, wrong
	}
	d := time.Duration(n * 24 * float64(time.Hour))
	if rest == "" && found {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || d+more < d {
		return 0, wrong
	}
	return d + more, nil
}

// duration is a time that is not zero; zero means that it is not given.
type duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *duration) UnmarshalYAML(n *yaml.Node) error { return d.set(n.Value) }

func (d *duration) set(s string) error {
	v, err := parseTime(s)
	if err == nil && v == 0 {
		err = fmt.Errorf("%q is not a duration such as 5s or 1m30s", s)
	}
	if err != nil {
		return err
	}
	*d = duration(v)
	return nil
}

func (d duration) seconds() float64 { return time.Duration(d).Seconds() }

// delay is a time that may be zero.
type delay time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *delay) UnmarshalYAML(n *yaml.Node) error {
	v, err := parseTime(n.Value)
	*d = delay(v)
	return err
}

func (d *delay) seconds() float64 { return time.Duration(*d).Seconds() }

// share is a share of requests: 95% or 0.95. Zero means that it is not given.
type share float64

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *share) UnmarshalYAML(n *yaml.Node) error { return v.set(n.Value) }

func (v *share) set(s string) error {
	ratio, err := parseRatio(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a share such as 95%% or 0.95", s)
	case ratio == 1:
		return fmt.Errorf("%q leaves no room for a single miss: write a share below 100%%, such as 99.9%%", s)
	case !(ratio > 0 && ratio < 1):
		return fmt.Errorf("%q is not a share between 0%% and 100%%: write 95%% or 0.95", s)
	}
	*v = share(ratio)
	return nil
}

// parseRatio reads 95%, 95 % or 0.95: a decimal number, and nothing else that Go
// would take for one.
func parseRatio(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	number = strings.TrimSpace(number)
	if strings.ContainsFunc(number, func(r rune) bool { return r > '9' || r == '_' }) {
		return 0, strconv.ErrSyntax
	}
	if percent {
		number += "e-2" // exact, where a division is not
	}
	return strconv.ParseFloat(number, 64)
}

// level is the bound of a rule: a number, a duration in seconds or a share.
type level float64

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *level) UnmarshalYAML(n *yaml.Node) error {
	number, err := parseRatio(n.Value)
	if err != nil {
		var d time.Duration
		d, err = parseTime(n.Value)
		number = d.Seconds()
	}
	if err != nil {
		return fmt.Errorf("%q is not a number, a share such as 90%% or a duration such as 500ms", n.Value)
	}
	*v = level(number)
	return nil
}

// oneOf reads one of a few words.
func oneOf[T ~string](to *T, s string, words ...T) error {
	known := make([]string, len(words))
	for i, w := range words {
		known[i] = string(w)
		if s == known[i] {
			*to = w
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s%s", s, strings.Join(known, ", "), didYouMean(s, known))
}

// readerWord is who reads a workflow's answers.
type readerWord model.Reader

// UnmarshalYAML implements yaml.Unmarshaler.
func (r *readerWord) UnmarshalYAML(n *yaml.Node) error {
	return oneOf(r, n.Value, readerWord(model.ReaderHuman), readerWord(model.ReaderProgram))
}

// badWord says whether something counts as bad.
type badWord string

// UnmarshalYAML implements yaml.Unmarshaler.
func (b *badWord) UnmarshalYAML(n *yaml.Node) error { return oneOf(b, n.Value, "bad", "ok") }

func (b badWord) bad() bool { return b == "bad" }

// severityWord is what an alert asks of people.
type severityWord model.Severity

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *severityWord) UnmarshalYAML(n *yaml.Node) error {
	return oneOf(s, n.Value, severityWord(model.Page), severityWord(model.Warn), severityWord(model.Note))
}
