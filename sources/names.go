package sources

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"slotop/model"
)

const (
	// maxName bounds a name of a gateway's, in bytes; a longer one is cut.
	maxName = 256
	// maxNames bounds how many different names are kept to be given out again.
	maxNames = 4096
	// maxLabels bounds the labels of one request or group.
	maxLabels = 16
)

// names gives out one copy of a name that comes again and again, cleaned. When
// it holds too many it begins anew: that costs memory, never a name.
type names struct{ known map[string]string }

func (n *names) of(raw []byte) string {
	if s, ok := n.known[string(raw)]; ok {
		return s
	}
	if len(raw) > maxName {
		return cleanName(raw) // not as a key: it may be as long as a line
	}
	if n.known == nil || len(n.known) >= maxNames {
		n.known = map[string]string{}
	}
	s := cleanName(raw)
	n.known[string(raw)] = s
	return s
}

// cleanName is a name as it may be kept: on one line, without a character that a
// terminal obeys, of at most maxName bytes. Two names that are cut stay two.
func cleanName(raw []byte) string {
	if isPlain(raw) {
		return string(raw)
	}
	var b strings.Builder
	for rest := raw; len(rest) > 0 && b.Len() <= maxName; {
		r, n := utf8.DecodeRune(rest)
		b.WriteString(visible(r))
		rest = rest[n:]
	}
	if b.Len() <= maxName {
		return b.String()
	}
	h := fnv.New64a()
	h.Write(raw)
	mark := fmt.Sprintf("…#%016x", h.Sum64())
	return strings.ToValidUTF8(b.String()[:maxName-len(mark)], "") + mark
}

// isPlain reports whether a name needs no cleaning.
func isPlain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return len(raw) <= maxName
}

// reservedLabels have a meaning of their own: no other label takes their place.
var reservedLabels = map[string]bool{
	model.LabelModel: true, model.LabelEngine: true, model.LabelReason: true,
	model.LabelWorkflow: true, model.LabelAdapter: true,
}

// labels reads objects of labels. Only those that workflows match on are kept:
// what else a gateway puts there is nobody's business.
type labels struct {
	keep   []string
	names  names
	values []string // by place in keep, of the object read last
	key    []byte
	sets   map[string]model.LabelSet
}

func newLabels(keep []string) *labels {
	l := &labels{sets: map[string]model.LabelSet{}}
	for _, name := range keep {
		if !reservedLabels[name] {
			l.keep = append(l.keep, name)
		}
	}
	l.values = make([]string, len(l.keep))
	return l
}

// none forgets the object read last.
func (l *labels) none() { clear(l.values) }

// read reads the object that comes next. A value that is no text is left out.
// The sum tells objects apart, also by what is not kept of them.
func (l *labels) read(t *jsonText) (sum uint64) {
	l.none()
	found := 0
	h := fnv.New64a()
	for name := range t.fields {
		i := slices.IndexFunc(l.keep, func(kept string) bool { return kept == string(name) })
		h.Reset()
		h.Write(name)
		if t.peek() != '"' {
			continue
		}
		raw, plain := t.string()
		h.Write(labelEnd)
		h.Write(raw)
		sum += h.Sum64()
		if i < 0 || found == maxLabels {
			continue
		}
		if !plain {
			raw = unescaped(nil, raw)
		}
		l.values[i] = l.names.of(raw)
		found++
	}
	return sum
}

// labelEnd cannot occur in a name.
var labelEnd = []byte{0xff}

// set is the set of some labels, name and value in turn, and those read last.
// Each set is made once.
func (l *labels) set(more ...string) model.LabelSet {
	l.key = l.key[:0]
	for _, s := range more {
		l.key = append(append(l.key, s...), 0xff)
	}
	for _, s := range l.values {
		l.key = append(append(l.key, s...), 0xff)
	}
	if set, ok := l.sets[string(l.key)]; ok {
		return set
	}
	for i, name := range l.keep {
		more = append(more, name, l.values[i])
	}
	if len(l.sets) >= maxNames {
		clear(l.sets)
	}
	set := model.Labels(more...)
	l.sets[string(l.key)] = set
	return set
}
