package sources

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
)

// promTold is what is said of the servers behind a server. The same pointer is handed
// out until something in it changes.
type promTold struct {
	server  string   // what software it is, as far as it says
	remarks []string // the server's own, on the last answers
	waits   bool     // an answer takes longer than a poll
	wrong   map[string]string
	from    []*model.About // of each view
	notes   []string
	step    float64
	fresh   model.Replicas
	made    *model.About
}

// note keeps why a question was not answered, or forgets it.
func (t *promTold) note(what string, err error) {
	if err == nil {
		delete(t.wrong, what)
		return
	}
	if t.wrong == nil {
		t.wrong = map[string]string{}
	}
	t.wrong[what] = err.Error()
}

// questions are what is asked, and how each is called where it fails.
var questions = []struct{ what, text string }{
	{"look", "could not look again what is there"},
	{"levels", "no levels"},
	{"counts", "no counts"},
}

func (t *promTold) about(p *prometheus) *model.About {
	from := make([]*model.About, len(p.views))
	for i, s := range p.views {
		from[i] = s.plan.About(&s.page)
	}
	notes := t.say(p)
	step := p.interval.Seconds()
	if t.made != nil && slices.Equal(from, t.from) && slices.Equal(notes, t.notes) && step == t.step && p.fresh == t.fresh {
		return t.made
	}
	t.from, t.notes, t.step, t.fresh = from, notes, step, p.fresh
	t.made = merged(p, from)
	t.made.Notes = append(notes, t.made.Notes...)
	t.made.StepS, t.made.Replicas = step, p.fresh
	return t.made
}

// say is what is to be said of the server and of how it is asked.
func (t *promTold) say(p *prometheus) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(p.views) == 0:
		add("%s: no metrics of an engine that slotop knows in the last 5 minutes", t.server)
	case p.interval == 0:
		add("%s: not yet known how often it scrapes, so that nothing is counted", t.server)
	default:
		add("%s scrapes every %s: all is shown as it was %s before", t.server, spanText(p.interval), spanText(p.step()))
	}
	if len(p.jobs) > 0 {
		add("servers scraped by job: %s", excerpt(strings.Join(p.jobs, ", ")))
	}
	for _, job := range p.leave {
		add("left out: job %s, whose servers another job scrapes too", excerpt(job))
	}
	if p.twice > 0 {
		add("%d servers are scraped by several jobs and count as often: choose one with ?match=job=\"NAME\"", p.twice)
	}
	gpus, others := p.apart()
	if len(others) > 0 {
		add("also there, not read: %s (?dialect=NAME in the address reads it)", strings.Join(others, ", "))
	}
	if len(gpus) > 0 {
		add("GPUs are there too, by %s, not read: name the exporters themselves", strings.Join(gpus, ", "))
	}
	for _, s := range p.views {
		if s.view.ByJob() {
			add("%s names no model: the job that scrapes it stands in for it", s.view.Engine())
		}
	}
	if rules := p.readInstead(); len(rules) > 0 {
		add("read from recording rules in place of the engines' own metrics: %s", excerpt(strings.Join(rules, ", ")))
	}
	if names := p.unevenly(); len(names) > 0 {
		add("engines differ in the bounds of %s: the common ones are used", excerpt(strings.Join(names, ", ")))
	}
	if note := p.load.note(p.counts); note != "" {
		notes = append(notes, note)
	}
	if t.waits {
		notes = append(notes, "the server takes longer to answer than a poll lasts: this is its last answer")
	}
	for _, q := range questions {
		if why, ok := t.wrong[q.what]; ok {
			add("%s: %s", q.text, why)
		}
	}
	return append(notes, t.remarks...)
}

// apart are the dialects that are there and not read: those of GPUs, and the others.
func (f *promFleet) apart() (gpus, others []string) {
	for _, name := range f.others {
		if f.set.Kind(name) == model.GPUTarget {
			gpus = append(gpus, name)
		} else {
			others = append(others, name)
		}
	}
	return gpus, others
}

// merged is what several dialects say as one. A signal is missing where none has it.
func merged(p *prometheus, from []*model.About) *model.About {
	a := &model.About{Kind: model.PrometheusTarget}
	if len(from) == 0 {
		a.Missing = allSignals()
		return a
	}
	var engines []string
	for i, one := range from {
		engines = append(engines, one.Engine)
		a.Models = append(a.Models, one.Models...)
		for _, m := range one.Meanings {
			if !slices.ContainsFunc(a.Meanings, func(o model.Meaning) bool { return o.Signal == m.Signal }) {
				a.Meanings = append(a.Meanings, m)
			}
		}
		for _, note := range one.Notes {
			if len(from) > 1 {
				note = one.Engine + ": " + note
			}
			a.Notes = append(a.Notes, note)
		}
		if kind := p.views[i].view.Kind(); kind != "" {
			a.Kind = kind
		}
	}
	a.Engine = strings.Join(engines, ", ")
	if len(from) == 1 {
		a.Version = from[0].Version
	}
	slices.Sort(a.Models)
	a.Models = slices.Compact(a.Models)
	a.Missing = slices.DeleteFunc(slices.Clone(from[0].Missing), func(s model.Signal) bool {
		return slices.ContainsFunc(a.Meanings, func(m model.Meaning) bool { return m.Signal == s })
	})
	return a
}

func spanText(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
