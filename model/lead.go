package model

import "slices"

// Lead is what the diagnosis says of one workflow: the finding to act on first, the
// diagnosis of the engines that serve it, and how many findings more these have.
type Lead struct {
	Finding *FindingView   // nil: none
	Pool    *DiagnosisView // nil: nobody looked
	More    int
}

// LeadOf chooses what to say of a workflow. Causes come before what binds, and that
// before symptoms; of the same kind the finding that names the workflow comes
// first, else the order of the diagnosis counts.
func (f *Frame) LeadOf(workflow string) Lead {
	var l Lead
	if i := slices.IndexFunc(f.Diagnoses, func(d DiagnosisView) bool { return slices.Contains(d.Workflows, workflow) }); i >= 0 {
		l.Pool = &f.Diagnoses[i]
	}
	n, named := 0, false
	for i := range f.Findings {
		d := &f.Findings[i]
		if !d.Of(l.Pool) {
			continue
		}
		n++
		names := string(d.Workflow) == workflow
		if l.Finding == nil || !named && names && d.Layer == l.Finding.Layer {
			l.Finding, named = d, names
		}
	}
	l.More = max(n-1, 0)
	return l
}

// Of reports whether a finding is of a pool. Without a pool of its own it is of the
// only one there is.
func (d *FindingView) Of(pool *DiagnosisView) bool {
	return d.Pool == "" || pool != nil && string(d.Pool) == pool.Pool
}

// Because is a finding's cause and what binds, its title where it is a pattern
// without a cause.
func (d *FindingView) Because() string {
	text := string(d.Cause)
	if text == "" {
		text = d.Title
	}
	if d.Binding != "" && string(d.Binding) != text {
		text += " · " + string(d.Binding)
	}
	return text
}

// Verdict is what a diagnosis without a finding comes to, in words.
func (d *DiagnosisView) Verdict() string {
	switch {
	case d.State == CannotTell && d.Why != "":
		return "cannot tell: " + string(d.Why)
	case d.State == CannotTell:
		return "cannot tell"
	case d.Sentence != "":
		return d.Sentence
	case d.Why != "":
		return "no finding: " + string(d.Why)
	default:
		return "no finding: no factor moved"
	}
}
