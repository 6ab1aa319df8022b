package model

import (
	"slices"
	"strings"
)

// LabelSet is an immutable, comparable set of labels: two sets with the same
// names and values are equal under ==, whatever order they were given in.
// Build one once per series and keep it; it is a map key.
type LabelSet struct{ enc string }

// Separators that cannot occur in valid UTF-8.
const (
	labelNameEnd  = "\xff"
	labelValueEnd = "\xfe"
)

// Labels builds a set from name, value, name, value … Pairs with an empty value
// are left out, as in Prometheus. It panics on an odd number of arguments.
func Labels(pairs ...string) LabelSet {
	if len(pairs)%2 != 0 {
		panic("model: Labels takes pairs")
	}
	names := make([]int, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			names = append(names, i)
		}
	}
	slices.SortStableFunc(names, func(a, b int) int { return strings.Compare(pairs[a], pairs[b]) })
	var b strings.Builder
	for _, i := range names {
		b.WriteString(strings.ToValidUTF8(pairs[i], "\uFFFD"))
		b.WriteString(labelNameEnd)
		b.WriteString(strings.ToValidUTF8(pairs[i+1], "\uFFFD"))
		b.WriteString(labelValueEnd)
	}
	return LabelSet{b.String()}
}

// Get is the value of the named label, "" when the set has none.
func (l LabelSet) Get(name string) string {
	for n, v := range l.All {
		if n == name {
			return v
		}
	}
	return ""
}

// All yields the labels in the order of their names.
func (l LabelSet) All(yield func(name, value string) bool) {
	for rest := l.enc; rest != ""; {
		name, after, _ := strings.Cut(rest, labelNameEnd)
		value, next, _ := strings.Cut(after, labelValueEnd)
		if !yield(name, value) {
			return
		}
		rest = next
	}
}

// String writes the set as in an exposition, for people and tests.
func (l LabelSet) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for n, v := range l.All {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(n + "=" + strings.ToValidUTF8(v, "?"))
	}
	b.WriteByte('}')
	return b.String()
}
