package sources

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"slotop/model"
)

const (
	// maxReports bounds the reports that wait for a poll, 20 MB of them. What comes
	// after waits where it comes from.
	maxReports = 1 << 16
	// maxStretches is how many batches may wait, since each takes a poll: what came
	// since the last interruption, and all before it.
	maxStretches = 2
	// keptReports is the room that is kept from poll to poll.
	keptReports = 1 << 12
	// maxModels bounds the model names that are told of one stream.
	maxModels = 64
)

// gathering collects the messages of a stream until they are asked for. A batch
// ends where the stream was interrupted: what comes before a gap, or under
// another epoch, is not mixed with what comes after.
type gathering struct {
	stretches []stretch // the last one is being filled
	waiting   int       // reports in all of them
	lent      []model.Request
	spare     []model.Request

	last   uint64 // newest number
	seam   bool   // the stream was taken up again: numbers may be missing
	steps  bool   // two numbers followed on one another
	sparse bool   // numbers are left out in an unbroken stream too
	gapped extent // the numbers of the last gap

	read    int // messages, since the beginning
	skipped int // lines
	whyNot  string
	models  map[string]bool
	passed  map[string]int  // by what they were: what is no report of a request
	asides  map[string]bool // what is to be said of the records
	gateway gatewayName
	what    string        // messages come in; "" is lines
	wanted  string        // what should have come instead of what cannot be read; "" is events
	step    time.Duration // between two looks; 0: messages come as they are written
	note    string        // of the source
	about   *model.About
}

// extent is a run of numbers, both ends included.
type extent struct{ from, to uint64 }

// stretch is one batch in the making: what came between two interruptions.
type stretch struct {
	requests []model.Request
	epoch    string
	lost     int
	bad      int
	firstBad string
}

// now is the stretch being filled.
func (g *gathering) now() *stretch {
	if len(g.stretches) == 0 {
		g.stretches = append(g.stretches, stretch{requests: g.spare})
		g.spare = nil
	}
	return &g.stretches[len(g.stretches)-1]
}

// after is a stretch for what comes after an interruption.
func (g *gathering) after() *stretch {
	p := g.now()
	if len(p.requests) == 0 {
		return p
	}
	epoch := p.epoch
	if len(g.stretches) == maxStretches {
		g.join()
	}
	g.stretches = append(g.stretches, stretch{epoch: epoch})
	return g.now()
}

// join makes one batch of the two oldest. Whoever is not heard of again after the
// interruption that follows is in doubt, whichever of the two told of it.
func (g *gathering) join() {
	a, b := &g.stretches[0], &g.stretches[1]
	a.requests = append(a.requests, b.requests...)
	clear(b.requests)
	a.epoch, a.lost = b.epoch, a.lost+b.lost
	if a.bad == 0 {
		a.firstBad = b.firstBad
	}
	a.bad += b.bad
	g.stretches = slices.Delete(g.stretches, 1, 2)
}

// full reports whether more must wait for a poll.
func (g *gathering) full() bool { return g.waiting >= maxReports }

// empty reports whether nothing waits for a poll.
func (g *gathering) empty() bool {
	return len(g.stretches) == 0 || len(g.stretches) == 1 && g.waiting == 0 && g.stretches[0].bad+g.stretches[0].lost == 0
}

// draw takes over what a wire has, as far as there is room, and reports whether
// that was all.
func (g *gathering) draw(w *wire) bool {
	for !g.full() {
		m, why, ok := w.next()
		switch {
		case !ok:
			return true
		case why != "":
			g.skip(w.at(why))
		default:
			g.add(m)
		}
	}
	return false
}

// finish takes over what a wire holds to which no rest will come.
func (g *gathering) finish(w *wire) {
	switch m, why, ok := w.end(); {
	case !ok:
	case why != "":
		g.skip(w.at(why + ", and ends there"))
	default:
		g.add(m)
	}
}

// add takes a message.
func (g *gathering) add(m *message) {
	g.read++
	switch m.of {
	case ofStream:
		g.hello(m)
	case ofGap:
		g.gap(m)
	case ofNoMatter:
		g.pass(m.aside)
	default:
		g.request(m)
	}
}

// pass counts what is no report of a request, and was known for that.
func (g *gathering) pass(what string) {
	if g.passed == nil {
		g.passed = map[string]int{}
	}
	g.passed[what]++
	g.about = nil
}

// remark notes who writes the records, and what is to be said of them.
func (g *gathering) remark(m *message) {
	if m.gateway != (gatewayName{}) && m.gateway != g.gateway {
		g.gateway, g.about = m.gateway, nil
	}
	if m.aside != "" && !g.asides[m.aside] {
		if g.asides == nil {
			g.asides = map[string]bool{}
		}
		g.asides[m.aside], g.about = true, nil
	}
}

func (g *gathering) hello(m *message) {
	if m.epoch != "" && m.epoch != g.now().epoch {
		g.after().epoch = m.epoch
		g.last, g.seam, g.steps, g.sparse, g.gapped = 0, false, false, false, extent{}
	}
	g.remark(m)
}

// gap notes events that the reporter lost: one at least. After a connection was
// lost it may say so again.
func (g *gathering) gap(m *message) {
	numbers := extent{m.from, m.to}
	if m.to > 0 && numbers == g.gapped {
		return
	}
	g.gapped = numbers
	n := max(m.dropped, 1)
	if m.dropped == 0 && m.to > m.from && m.from > 0 {
		n = m.to - m.from + 1
	}
	g.lose(n)
	g.seam = false
	if g.last = max(g.last, m.to); m.to == 0 {
		g.last = 0 // nobody knows which number is next
	}
}

func (g *gathering) lose(n uint64) {
	p := g.after()
	p.lost += int(min(n, math.MaxInt32))
}

func (g *gathering) request(m *message) {
	if lost := g.number(m.Seq); lost > 0 {
		g.lose(lost)
	}
	if m.Model != "" && !g.models[m.Model] && len(g.models) < maxModels {
		if g.models == nil {
			g.models = map[string]bool{}
		}
		g.models[m.Model], g.about = true, nil
	}
	g.remark(m)
	p := g.now()
	p.requests = append(p.requests, m.Request)
	g.waiting++
}

// number takes a report's number and tells how many are missing before it.
// Within a connection or a file nothing is lost on the way: where numbers are
// left out there, they are left out for reasons of the reporter's own.
func (g *gathering) number(n uint64) (lost uint64) {
	if n == 0 {
		return 0
	}
	jump := g.last > 0 && n > g.last+1
	switch {
	case jump && g.seam && g.steps && !g.sparse:
		lost = n - g.last - 1
	case jump && !g.seam:
		g.sparse = true
	case g.last > 0 && n == g.last+1:
		g.steps = true
	}
	if g.seam {
		g.last, g.seam = n, false
		return lost
	}
	g.last = max(g.last, n)
	return 0
}

// interrupted says that the stream is taken up again at another place.
func (g *gathering) interrupted() { g.seam = g.last > 0 }

// skip notes a line that could not be used: which one, and why.
func (g *gathering) skip(why string) {
	p := g.now()
	if p.bad++; p.bad == 1 {
		p.firstBad = why
	}
	g.skipped++
	g.about = nil
}

// say puts the source's own note in place of its last one.
func (g *gathering) say(note string) {
	if g.note != note {
		g.note, g.about = note, nil
	}
}

// take is the oldest batch. It is valid until the next.
func (g *gathering) take() (model.Batch, error) {
	g.reuse()
	epoch := g.now().epoch
	p := g.stretches[0]
	if g.stretches = slices.Delete(g.stretches, 0, 1); len(g.stretches) == 0 {
		g.now().epoch = epoch
	}
	g.waiting -= len(p.requests)
	g.lent = p.requests
	if p.bad > 0 {
		g.whyNot = g.skippedText(&p)
	}
	if g.read == 0 && g.skipped > 0 { // until one comes it is something else
		return model.Batch{}, &FaultError{model.NotMetrics, "no events: " + g.whyNot + ": wanted " + g.wantedText()}
	}
	batch := model.Batch{About: g.describe(), Epoch: p.epoch, Lost: p.lost, BadLines: p.bad, FirstBad: g.skippedText(&p)}
	if len(p.requests) > 0 {
		batch.Requests = p.requests
	}
	return batch, nil
}

// reuse takes back the storage of the last batch, unless it is too much to keep.
func (g *gathering) reuse() {
	clear(g.lent)
	if cap(g.lent) <= keptReports {
		g.spare = g.lent[:0]
	}
	g.lent = nil
}

func (g *gathering) skippedText(p *stretch) string {
	switch p.bad {
	case 0:
		return ""
	case 1:
		return "1 " + g.piece() + " skipped: " + p.firstBad
	default:
		return fmt.Sprintf("%d %ss skipped, the first: %s", p.bad, g.piece(), p.firstBad)
	}
}

func (g *gathering) wantedText() string {
	if g.wanted == "" {
		return "JSON lines, or server-sent events, with v, id, at and phase, or a gateway's own records"
	}
	return g.wanted
}

// piece is what messages come in.
func (g *gathering) piece() string {
	if g.what == "" {
		return "line"
	}
	return g.what
}

// describe hands out the same pointer until something in it changes.
func (g *gathering) describe() *model.About {
	if g.about != nil {
		return g.about
	}
	about := &model.About{
		Engine: g.gateway.software, Version: g.gateway.version,
		Models: slices.Sorted(maps.Keys(g.models)), Notes: g.gateway.notes(), StepS: g.step.Seconds(),
	}
	if g.note != "" {
		about.Notes = append(about.Notes, g.note)
	}
	about.Notes = append(about.Notes, slices.Sorted(maps.Keys(g.asides))...)
	for _, what := range slices.Sorted(maps.Keys(g.passed)) {
		about.Notes = append(about.Notes, fmt.Sprintf("%s passed over so far: %d", what, g.passed[what]))
	}
	switch {
	case g.skipped == 1:
		about.Notes = append(about.Notes, "1 "+g.piece()+" skipped so far")
	case g.skipped > 1:
		about.Notes = append(about.Notes, fmt.Sprintf("%d %ss skipped so far", g.skipped, g.piece()))
	}
	g.about = about
	return about
}

// notes say who reports.
func (g gatewayName) notes() []string {
	switch {
	case g.name == "" && g.instance == "":
		return nil
	case g.instance == "":
		return []string{"reported by the gateway " + g.name}
	case g.name == "":
		return []string{"reported by the gateway " + g.instance}
	}
	return []string{"reported by the gateway " + g.name + ", instance " + g.instance}
}
