package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"slotop/sources/expo"
)

// selector picks series: a name, or the start of one, and what their labels
// must look like. It is written as in PromQL: name{label="v",other!="w"}, with
// =~ and !~ for anchored regular expressions. A label that is absent counts as
// empty. A * at the end of the name stands for any rest.
type selector struct {
	text     string
	name     string
	open     bool // the name ended in *
	matchers matchers
}

type matchers []matcher

type matcher struct {
	label string
	value string
	re    *regexp.Regexp // instead of value
	not   bool
}

func parseSelector(text string) (selector, error) {
	s := selector{text: text}
	name, rest, braced := strings.Cut(text, "{")
	s.name, s.open = strings.CutSuffix(strings.TrimSpace(name), "*")
	if !braced {
		return s, nil
	}
	inner, ok := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !ok {
		return s, fmt.Errorf("read selector %q: no closing brace", text)
	}
	var err error
	s.matchers, err = parseMatchers(inner)
	if err != nil {
		return s, fmt.Errorf("read selector %q: %w", text, err)
	}
	return s, nil
}

// parseMatchers reads label="v",other!~"w".
func parseMatchers(text string) (matchers, error) {
	var all matchers
	for rest := strings.TrimSpace(text); rest != ""; {
		m, after, err := parseMatcher(rest)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		rest = strings.TrimSpace(after)
		if rest == "" {
			break
		}
		var comma bool
		if rest, comma = strings.CutPrefix(rest, ","); !comma {
			return nil, fmt.Errorf("a comma is missing before %q", rest)
		}
		rest = strings.TrimSpace(rest)
	}
	return all, nil
}

func parseMatcher(text string) (m matcher, rest string, err error) {
	at := strings.IndexAny(text, "=!")
	if at <= 0 {
		return m, "", fmt.Errorf("%q is no label=\"value\"", text)
	}
	m.label = strings.TrimSpace(text[:at])
	rest = text[at:]
	pattern := false
	for _, op := range []struct {
		text         string
		not, pattern bool
	}{{"=~", false, true}, {"!~", true, true}, {"!=", true, false}, {"=", false, false}} {
		if after, ok := strings.CutPrefix(rest, op.text); ok {
			rest, m.not, pattern = strings.TrimSpace(after), op.not, op.pattern
			break
		}
	}
	value, after, ok := cutQuoted(rest)
	if !ok {
		return m, "", fmt.Errorf("the value of %s is not in double quotes", m.label)
	}
	m.value = value
	if pattern {
		if m.re, err = regexp.Compile("^(?:" + value + ")$"); err != nil {
			return m, "", err
		}
	}
	return m, after, nil
}

// cutQuoted takes a value in double quotes off the front of s. A value holds no
// quote: no engine's label values need one.
func cutQuoted(s string) (value, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, `"`)
	if !ok {
		return "", "", false
	}
	return strings.Cut(s, `"`)
}

// match reports whether the labels satisfy every matcher.
func (ms matchers) match(labels []expo.Label) bool {
	for i := range ms {
		if !ms[i].match(label(labels, ms[i].label)) {
			return false
		}
	}
	return true
}

func (m *matcher) match(value string) bool {
	if m.re != nil {
		return m.re.MatchString(value) != m.not
	}
	return (value == m.value) != m.not
}

// label is the value of the named label, "" where there is none. Dots and
// underscores are one: the dots of OpenTelemetry's names are not in older formats.
func label(labels []expo.Label, name string) string {
	for i := range labels {
		if sameName(labels[i].Name, name) {
			return labels[i].Value
		}
	}
	return ""
}

func sameName(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && !(isJoint(a[i]) && isJoint(b[i])) {
			return false
		}
	}
	return true
}

func isJoint(c byte) bool { return c == '.' || c == '_' }
