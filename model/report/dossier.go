package report

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// Kind is what a dossier is for.
type Kind string

// An incident says what was breached, for how long and why; a capacity review how much
// room there is at the objectives, what binds first and what a good token costs.
const (
	Incident Kind = "incident"
	Capacity Kind = "capacity"
)

// Kinds are the kinds of a dossier.
var Kinds = []Kind{Incident, Capacity}

// KindOf is the kind that a story asks for: an incident where a promise was broken or
// an alert of more than a note fired, else a capacity review.
func KindOf(s *story.Story) Kind {
	for i := range s.Breaches {
		if !s.Breaches[i].Assumed {
			return Incident
		}
	}
	for i := range s.Alerts {
		if a := &s.Alerts[i]; a.Fired && a.Alert.Severity != model.Note {
			return Incident
		}
	}
	if len(s.Breaches) > 0 {
		return Incident
	}
	return Capacity
}

// Source is where a story is from.
type Source struct {
	Names   []string // as the user named them: files, addresses without credentials
	Version string   // of slotop
	Whole   string   // name of the stage that stands for the whole of it; "": there is none
	Damage  []string // what of the source could not be read, a sentence each
}

// Dossier is a story as a document. A story of no frame is one too, and says so.
func Dossier(s *story.Story, kind Kind, from Source) *paper.Paper {
	d := &dossier{s: s, from: from, end: s.Axis.N}
	p := &paper.Paper{Over: "slotop " + string(kind) + " report", Foot: d.foot()}
	if s.Last == nil {
		p.Title = "Nothing was seen"
		p.Body = []paper.Block{paper.Notice{Tone: paper.Warn, Body: []paper.Block{
			paper.Para{Text: paper.T("Not a single poll ended: there is nothing to report.")},
		}}}
		return p
	}
	if kind == Capacity {
		p.Over = "slotop capacity review"
	}
	if s.Last.Simulated {
		p.Badge = "SIMULATED"
	}
	p.Under = d.under()
	if kind == Incident {
		p.Title, p.Body = d.incident()
	} else {
		p.Title, p.Body = d.review()
	}
	return p
}

// dossier is a document that is being put together.
type dossier struct {
	s    *story.Story
	from Source

	begin, end int // the points of the axis that charts show
}

// under says of what time a dossier is, and of what.
func (d *dossier) under() []paper.Text {
	first, last := d.s.First, d.s.Last
	when := paper.T(d.day(first.At) + " " + d.clock(first.At) + " to ")
	if d.day(last.At) != d.day(first.At) {
		when = when.And(paper.T(d.day(last.At) + " "))
	}
	when = when.And(paper.T(d.clock(last.At)+" UTC, "+unit.Duration(d.s.Duration().Seconds())), paper.T(" · every figure over "+unit.Limit(last.WindowS)))
	what := []string{plural(len(last.Workflows), "workflow"), plural(len(last.Targets), "target")}
	if n := len(last.Devices); n > 0 {
		what = append(what, plural(n, "GPU"))
	}
	text := paper.T(strings.Join(what, ", ")).And(d.sources())
	return []paper.Text{when, text}
}

// maxSources is how many names of sources are written out.
const maxSources = 6

func (d *dossier) sources() paper.Text {
	if len(d.from.Names) == 0 {
		return nil
	}
	out := paper.T(" · from ")
	for i, name := range d.from.Names[:min(len(d.from.Names), maxSources)] {
		if i > 0 {
			out = out.And(paper.T(", "))
		}
		out = out.And(paper.Code(name))
	}
	if n := len(d.from.Names) - maxSources; n > 0 {
		out = out.And(paper.T(" and " + plural(n, "other")))
	}
	return out
}

func (d *dossier) foot() []paper.Text {
	by := "Written by slotop"
	if d.from.Version != "" {
		by += " " + d.from.Version
	}
	return []paper.Text{
		paper.T(by + ". Times of day are UTC. A percentile is shown with the bracket that its histogram's buckets allow: " +
			"1.0–2.5 s says between, > 10 s beyond the last bucket, ~640 ms (500–750) about. Goodput is the share of requests that met every objective; " +
			"from histograms it is an interval. What is not known is said to be so and is never 0."),
	}
}

func (d *dossier) clock(at model.Instant) string { return unit.Clock(at, false) }

// day is the date of an instant in UTC.
func (d *dossier) day(at model.Instant) string { return at.Wall.UTC().Format("2006-01-02") }

// time is a time of day, with its date where the story is of more than one.
func (d *dossier) time(at model.Instant) string {
	if at.IsZero() {
		return unit.None(false)
	}
	if d.day(d.s.First.At) == d.day(d.s.Last.At) && d.day(at) == d.day(d.s.First.At) {
		return d.clock(at)
	}
	return at.Wall.UTC().Format("Jan 2 15:04:05")
}

// span is a stretch in words.
func (d *dossier) span(from, to model.Instant, open bool) string {
	if open {
		return "from " + d.time(from) + " to the end"
	}
	return "from " + d.time(from) + " to " + d.time(to)
}

// when is a stretch in short: 00:10:07 – 00:12:00.
func (d *dossier) when(from, to model.Instant, open bool) string {
	if open {
		return d.time(from) + " – end"
	}
	return d.time(from) + " – " + d.time(to)
}

// lasted is how long a stretch took, at least where it was still so at the end.
func lasted(seconds float64, open bool) string {
	if open {
		return "≥ " + unit.Duration(seconds)
	}
	return unit.Duration(seconds)
}

// hurt is every workflow that was breached, the one with most bad requests first.
func (d *dossier) hurt() []string {
	bad := map[string]float64{}
	var names []string
	for i := range d.s.Breaches {
		b := &d.s.Breaches[i]
		if _, ok := bad[b.Workflow]; !ok {
			names = append(names, b.Workflow)
		}
		bad[b.Workflow] += max(1, b.Bad.Value)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case bad[a] > bad[b]:
			return -1
		case bad[a] < bad[b]:
			return 1
		default:
			return 0
		}
	})
	return names
}

// breaches are those of one workflow, oldest first.
func (d *dossier) breaches(workflow string) []*story.Breach {
	var out []*story.Breach
	for i := range d.s.Breaches {
		if b := &d.s.Breaches[i]; b.Workflow == workflow {
			out = append(out, b)
		}
	}
	return out
}

// longest is the longest of several breaches.
func longest(all []*story.Breach) *story.Breach {
	return slices.MaxFunc(all, func(a, b *story.Breach) int { return int((a.Lasted() - b.Lasted()).Milliseconds()) })
}
