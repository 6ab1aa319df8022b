package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/sources/expo"
)

// page turns the pages of one target into batches: scanner, dialect, samples.
// Every kind that has page text reads it through here.
type page struct {
	dialects *dialect.Set
	scanner  *expo.Scanner
	sent     *sent // what must not be quoted; nil for a page that nobody asked for with a key

	stats     *stats // for a gateway's stats document in place of a page
	onlyStats bool   // anything else is a fault

	large      bool          // the last page was read line by line
	stale      bool          // plan and starts do not know all series of the last page
	generation int           // of the scanner's page that plan and starts were made for
	plan       *dialect.Plan // nil while no dialect claims the page
	starts     processStart
	started    float64        // Unix seconds, NaN while unknown
	samples    []model.Sample // reused: a batch is valid until the next poll

	note    string       // what the source itself has to say of the page
	verdict string       // what stricter readers say against it
	unlike  int          // lines that gave a series another value on one page, the most yet
	from    *model.About // what about was made from: the plan's, or nil
	about   *model.About
}

func newPage(opt Options) *page {
	return &page{
		dialects: opt.Dialects, scanner: opt.lines.NewScanner(opt.Limits),
		stats: newStats(opt.Keep), started: math.NaN(),
	}
}

// read is one poll's page. started is the process start time in Unix seconds
// where it came beside the page, else NaN. Each of its steps takes time in
// proportion to the page, and between them it looks whether anybody still waits.
func (p *page) read(ctx context.Context, body []byte, started float64) (model.Batch, error) {
	if p.onlyStats || startsObject(body) {
		batch, err := p.stats.read(body)
		if !errors.Is(err, errNoStats) {
			return batch, err
		}
		if p.onlyStats {
			clear(body)
			return batch, &FaultError{model.NotMetrics, "not a stats document: no JSON object with the schema " + statsSchema + "1: check the path"}
		}
	}
	scanned, err := p.scanner.Scan(body)
	if err != nil {
		return model.Batch{}, p.fault(err, body)
	}
	p.noteNew(scanned)
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	return p.batch(scanned, started), nil
}

// noteNew notes that a page has series that the plan does not know.
func (p *page) noteNew(scanned *expo.Page) {
	p.stale = p.stale || scanned.Generation != p.generation || scanned.New > 0
}

// batch is what a scanned page says.
func (p *page) batch(scanned *expo.Page, started float64) model.Batch {
	if p.stale {
		p.compile(scanned)
	}
	if p.verdict != scanned.Verdict || p.unlike < scanned.Unlike {
		p.verdict, p.unlike, p.about = scanned.Verdict, max(p.unlike, scanned.Unlike), nil
	}
	if math.IsNaN(started) {
		started = p.starts.read(scanned)
	}
	p.noteStart(started)
	p.samples = p.samples[:0]
	var devices []model.Device
	if p.plan != nil {
		p.samples = p.plan.Read(scanned, p.samples)
		devices = p.plan.Devices(scanned)
	}
	p.addStart(started)
	return model.Batch{
		Samples:  p.samples,
		About:    p.describe(scanned),
		BadLines: scanned.Bad,
		FirstBad: p.badLines(scanned),
		Dropped:  scanned.Dropped,
		Devices:  devices,
	}
}

// startsObject reports whether a body may be a JSON object.
func startsObject(body []byte) bool {
	body = bytes.TrimLeft(body[:min(len(body), hintWithin)], " \t\r\n")
	return len(body) > 0 && body[0] == '{'
}

// compile looks names up again. That is only needed when series appeared: an
// index keeps its meaning within a generation.
func (p *page) compile(scanned *expo.Page) {
	before, starts := p.plan, findStart(scanned)
	p.plan, p.about, p.from = p.dialects.Plan(scanned), nil, nil
	if p.plan != nil && before != nil {
		p.plan.Continue(before)
	}
	if scanned.Generation == p.generation {
		starts.known = p.starts.known
	} else {
		p.unlike = 0
	}
	p.generation, p.stale, p.starts = scanned.Generation, false, starts
}

// startJitter is what a start time may move by that is computed anew for each
// page, from a clock and an age.
const startJitter = 5

// noteStart tells the plan when the process is another one.
func (p *page) noteStart(started float64) {
	if p.plan != nil && started > p.started+startJitter {
		p.plan.Restarted()
	}
	if !math.IsNaN(started) {
		p.started = started
	}
}

func (p *page) addStart(started float64) {
	if math.IsNaN(started) || slices.ContainsFunc(p.samples, isStart) {
		return
	}
	p.samples = append(p.samples, model.Sample{Signal: model.ProcessStart, Kind: model.Gauge, Value: started})
}

func isStart(s model.Sample) bool { return s.Signal == model.ProcessStart }

// describe hands out the same pointer until something in it changes.
func (p *page) describe(scanned *expo.Page) *model.About {
	var from *model.About
	if p.plan != nil {
		from = p.plan.About(scanned)
	}
	if p.about != nil && p.from == from {
		return p.about
	}
	p.from = from
	notes := p.notes()
	switch {
	case from == nil:
		p.about = &model.About{Missing: allSignals(), Notes: append(notes, lookOf(scanned, p.sent))}
	case len(notes) == 0:
		p.about = from
	default:
		about := *from
		about.Notes = append(notes, from.Notes...)
		p.about = &about
	}
	return p.about
}

func allSignals() []model.Signal {
	all := make([]model.Signal, len(model.Signals))
	for i, info := range model.Signals {
		all[i] = info.Signal
	}
	return all
}

// notes are what is to be said of the page itself, whatever is on it.
func (p *page) notes() []string {
	var notes []string
	if p.note != "" {
		notes = append(notes, p.note)
	}
	if p.verdict != "" {
		notes = append(notes, "stricter readers refuse this page: "+p.sent.excerpt(p.verdict))
	}
	switch {
	case p.unlike == 1:
		notes = append(notes, "1 series stood on the page twice, with different values: the last one counts")
	case p.unlike > 1:
		notes = append(notes, fmt.Sprintf("%d series stood on the page twice, with different values: the last ones count", p.unlike))
	}
	return notes
}

// badLines is "2 lines skipped (5, 8): line 5: why: excerpt", "" when all were read.
func (p *page) badLines(scanned *expo.Page) string {
	if scanned.Bad == 0 || len(scanned.BadLines) == 0 {
		return ""
	}
	first := scanned.BadLines[0]
	if p.sent.quotedIn(first.Excerpt) {
		first.Excerpt = withheld
	}
	if scanned.Bad == 1 {
		return fmt.Sprintf("1 line skipped (%d): %s: %s", first.Line, first.Why, first.Excerpt)
	}
	var numbers strings.Builder
	for i, b := range scanned.BadLines {
		if i > 0 {
			numbers.WriteString(", ")
		}
		fmt.Fprint(&numbers, b.Line)
	}
	if scanned.Bad > len(scanned.BadLines) {
		numbers.WriteString(", …")
	}
	return fmt.Sprintf("%d lines skipped (%s): line %d: %s: %s", scanned.Bad, &numbers, first.Line, first.Why, first.Excerpt)
}

// fault is why a body is no metrics page.
func (p *page) fault(err error, body []byte) error {
	var oversized *expo.OversizedError
	if errors.As(err, &oversized) {
		return &FaultError{model.Oversized, excerpt(err.Error())}
	}
	var not *expo.NotMetricsError
	if !errors.As(err, &not) {
		return &FaultError{model.Malformed, excerpt(err.Error())}
	}
	detail := "not a metrics page but " + not.What
	if hint := hintOf(body); hint.text != "" {
		return &FaultError{model.NotMetrics, detail + ": " + hint.text}
	}
	if not.Excerpt != "" {
		quote := not.Excerpt
		if p.sent.quotedIn(quote) {
			quote = withheld
		}
		detail += fmt.Sprintf(" (%s)", quote)
	}
	return &FaultError{model.NotMetrics, detail + ": check the path, usually /metrics"}
}

// processStart is where a page tells when its process started: one series named
// process_start_time_seconds, else the earliest of the _created series, which is
// close to it and moves with a restart. A crowd of them says when users came, not
// when the server did.
type processStart struct {
	exact   int // index, -1 for none
	created []int
	known   map[int]float64 // of the _created series that the process has shown
}

func findStart(scanned *expo.Page) processStart {
	s := processStart{exact: -1, known: map[int]float64{}}
	several := false
	for i, series := range scanned.Series {
		switch {
		case series.Name == "process_start_time_seconds":
			several = s.exact >= 0
			s.exact = i
		case strings.HasSuffix(series.Name, "_created"):
			s.created = append(s.created, i)
		}
	}
	if several { // several processes share the page: none of them is the server
		return processStart{exact: -1, known: s.known}
	}
	return s
}

// The Unix seconds that a start time may have: from 2001 to 2286.
const firstStart, lastStart = 1e9, 1e10

func isTime(v float64) bool { return v > firstStart && v < lastStart }

// read is the start time on this page, NaN where it shows none.
func (s processStart) read(scanned *expo.Page) float64 {
	if s.exact >= 0 {
		if v := scanned.Values[s.exact]; isTime(v) {
			return v
		}
	}
	s.noteCreated(scanned)
	earliest := math.NaN()
	for _, v := range s.known {
		if !(v >= earliest) {
			earliest = v
		}
	}
	return earliest
}

// noteCreated remembers the _created series of the page. As long as one of them
// is as it was the process is the same, and those that are gone count as well:
// the earliest may be one of them.
func (s processStart) noteCreated(scanned *expo.Page) {
	same, found := false, false
	for _, i := range s.created {
		v := scanned.Values[i]
		found = found || isTime(v)
		same = same || isTime(v) && s.known[i] == v
	}
	if found && !same {
		clear(s.known)
	}
	for _, i := range s.created {
		if v := scanned.Values[i]; isTime(v) {
			s.known[i] = v
		}
	}
}
