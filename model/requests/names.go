package requests

import (
	"strings"

	"slotop/model"
)

// maxNames bounds the strings that requests share. Beyond it each has its own.
const maxNames = 4096

// names holds one copy of what many requests have in common.
type names struct {
	text   map[string]string
	labels map[model.LabelSet]model.LabelSet
}

func newNames() names {
	return names{text: map[string]string{}, labels: map[model.LabelSet]model.LabelSet{}}
}

// own is a copy of r that shares nothing with the batch it came in. before is
// the state known until now, zero for a new request.
func (n *names) own(r, before *model.Request) model.Request {
	c := *r
	c.ID, c.RetryOf = cloned(r.ID, before.ID), cloned(r.RetryOf, before.RetryOf)
	c.Workflow, c.Model = n.shared(r.Workflow), n.shared(r.Model)
	c.ModelVersion, c.Instance = n.shared(r.ModelVersion), n.shared(r.Instance)
	c.Phase, c.Outcome = model.Phase(n.shared(string(r.Phase))), model.Outcome(n.shared(string(r.Outcome)))
	c.Reason = n.shared(r.Reason)
	c.Labels = n.sharedLabels(r.Labels)
	return c
}

func cloned(s, before string) string {
	if s == before {
		return before
	}
	return strings.Clone(s)
}

func (n *names) shared(s string) string {
	if kept, known := n.text[s]; known {
		return kept
	}
	c := strings.Clone(s)
	if len(n.text) < maxNames {
		n.text[c] = c
	}
	return c
}

// sharedLabels needs no copy: a label set is made of nothing but itself.
func (n *names) sharedLabels(l model.LabelSet) model.LabelSet {
	if kept, known := n.labels[l]; known {
		return kept
	}
	if len(n.labels) < maxNames {
		n.labels[l] = l
	}
	return l
}
