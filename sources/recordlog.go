package sources

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"slotop/model"
)

// logFormat is how one gateway keeps a log of requests that can be asked for.
type logFormat struct {
	software string
	needs    string   // what an address must lead to
	cannot   string   // what the log cannot tell, for the reader
	paths    []string // the newest first; those after it are of older versions
	perPage  int
	query    func(path string, w window, page, size int) url.Values
	row      func(r *recordReader) (why string)
	wanted   func(own map[string]*wanted) *wanted // own: fields that the user wants
	list     string                               // the field that holds the rows
	by       func(r *model.Request) model.Stamp
	windowed bool   // it gives the rows of a span of time, by the time that by tells
	dropped  string // behind the path: a count of rows that the gateway lost; "" for none
}

// logFormats are the logs that can be polled.
var logFormats = []*logFormat{&litellmLog, &bifrostLog, &llamaswapLog}

// logAt is the log that a path leads to, by its end: a gateway may lie behind a proxy.
func logAt(path string) (how *logFormat, before string, others []string) {
	path = strings.TrimSuffix(path, "/")
	for _, f := range logFormats {
		for i, p := range f.paths {
			if before, found := strings.CutSuffix(path, p); found {
				return f, before, f.paths[i:]
			}
		}
	}
	return nil, "", nil
}

const (
	// between is the time between two looks at a log: gateways write it every few
	// seconds, and each look costs their database something.
	between = 5 * time.Second
	// history is how far back the first look goes.
	history = 5 * time.Minute
	// overlap is how far behind the newest row every look goes. Rows come late and out
	// of order.
	overlap = 30 * time.Second
	// reach is how far behind the newest row it goes where the log says that it has
	// rows which were not seen: one is placed at its beginning and written at its end.
	reach = 15 * time.Minute
	// maxPages bounds the pages of one look.
	maxPages = 20
	// maxRows bounds what is let through of one page, some KB a row. A list of whole
	// days may have as much as any document.
	maxRows = 4 << 20
	// askDropped is the time between two questions for what the gateway lost.
	askDropped = time.Minute
	// openFor is how often a request that is under way is told again.
	openFor = 30 * time.Second
	// sane is how far ahead of its server's clock a row may be.
	sane = time.Hour
)

// window is a span of time on the gateway's clock, both ends included.
type window struct{ from, to model.Stamp }

// recordLog polls a log of requests.
type recordLog struct {
	*asked
	how    *logFormat
	before string   // the path's beginning, of a proxy
	paths  []string // the one that is asked, and those of older versions
	wanted *wanted
	limit  int
	reader *recordReader
	sieve  sieve
	buf    []byte

	now, last time.Duration // as the schedule has it: this poll, and the last look
	begun     bool
	begin     model.Stamp // what began before it is history
	clock     model.Batch // of the last answer
	seen      seenRows
	late      lateness
	lost      droppedRows
	got       gathering
}

var (
	_ Source   = (*recordLog)(nil)
	_ Advancer = (*recordLog)(nil)
)

func newRecordLog(a *asked, how *logFormat, before string, paths []string, opt Options) *recordLog {
	a.request.Header.Set("Accept", "application/json")
	a.request.Header.Set("Accept-Encoding", "gzip")
	reader := newRecordReader(opt.Keep, opt.WorkflowLabel)
	own := map[string]*wanted{}
	for _, name := range slices.Concat(reader.labels.keep, reader.chosen) {
		own[name] = aName
	}
	s := &recordLog{
		asked: a, how: how, before: before, paths: paths, wanted: how.wanted(own), limit: bodyLimit(opt),
		reader: reader, buf: make([]byte, firstRead),
	}
	s.got.what, s.got.step, s.got.wanted, s.got.gateway.software = "row", between, how.needs, how.software
	s.got.asides = map[string]bool{how.cannot: true}
	return s
}

// Advance tells the time.
func (s *recordLog) Advance(to time.Duration) { s.now = to }

// Poll gives out the rows that are new since the last one.
func (s *recordLog) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if s.begun && s.now-s.last < s.pause() {
		return s.got.take()
	}
	if err := s.look(ctx); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return model.Batch{}, ctx.Err()
		}
		return model.Batch{}, err
	}
	s.last = s.now
	batch, err := s.got.take()
	batch.Clock, batch.ClockError = s.clock.Clock, s.clock.ClockError
	return batch, err
}

// pause is the time between two looks: longer where each gives whole days.
func (s *recordLog) pause() time.Duration {
	if s.bare() {
		return 6 * between
	}
	return between
}

// bare reports whether the log has no pages.
func (s *recordLog) bare() bool { return len(s.paths) > 0 && s.paths[0] == litellmDays }

func (s *recordLog) look(ctx context.Context) error {
	if !s.begun {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	l, err := s.round(ctx)
	if err != nil {
		s.seen.undo(l.fresh)
		return err
	}
	s.commit(ctx, l)
	return nil
}

// date is the gateway's clock at the last answer, 0 where it does not say.
func (s *recordLog) date() model.Stamp { return model.StampOf(s.clock.Clock) }

const (
	day      = model.Stamp(24 * time.Hour)
	farthest = model.Stamp(math.MaxInt64) / 2 // in the year 2116
)

// start finds out where the log is, what time it is there, and where to begin. The
// clock of the rows may be another than that of the answers' Date: where nothing is
// new, what comes after the newest row of all is.
func (s *recordLog) start(ctx context.Context) error {
	first, err := s.find(ctx)
	if err != nil {
		return err
	}
	date := s.date()
	if !s.how.windowed {
		s.begin = max(first.newest, date) - model.Stamp(history)
		return nil
	}
	ever := window{model.Stamp(time.Second), farthest}
	if date != 0 {
		s.begin = date - model.Stamp(history)
		if first, err = s.ask(ctx, window{s.begin, date + day}, 1, 1, nil); err != nil || first.rows > 0 {
			return err
		}
		ever = window{date - day, date + day}
	}
	first, err = s.ask(ctx, ever, 1, 1, nil)
	switch {
	case err != nil:
		return err
	case first.newest == 0:
		s.begin = ever.from
	case date == 0:
		s.begin = first.newest - model.Stamp(history)
	default:
		s.begin = first.newest + 1
	}
	return nil
}

// find asks for nothing, of a time when there was none, at one path after another.
func (s *recordLog) find(ctx context.Context) (logPage, error) {
	long := model.StampOf(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	for {
		p, err := s.ask(ctx, window{long, long + model.Stamp(time.Second)}, 1, 1, nil)
		fault := (*FaultError)(nil)
		if err == nil || len(s.paths) == 1 || !errors.As(err, &fault) || fault.Kind != model.NotFound {
			return p, err
		}
		s.paths = s.paths[1:]
	}
}

// looked is what one look at the log came to.
type looked struct {
	fresh  []freshRow
	bad    []string // rows that could not be used, for the first time
	newest model.Stamp
	left   int // rows that were there and not read; -1: nobody knows how many
	all    bool
	unseen int
}

// round reads page after page, the newest rows first, until none are left that were not
// seen, and older ones come than those under way. Where the log does not count its rows,
// or counts some that it does not give, that is when it has gone back far enough.
func (s *recordLog) round(ctx context.Context) (l looked, err error) {
	w := s.window()
	s.seen.forget(w.from)
	until, open := s.seen.until()
	for n := 1; ; n++ {
		p, err := s.ask(ctx, w, n, s.how.perPage, func(m *message, why string, key uint64) {
			s.sift(&l, w.from, m, why, key)
		})
		if err != nil {
			if n > 1 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return s.cut(l), nil // what was read is not read again
			}
			return l, err
		}
		l.unseen = -1
		if p.total >= 0 && s.how.windowed {
			l.unseen = max(0, p.total-s.seen.len())
		}
		l.all = p.rows < s.how.perPage || s.bare()
		switch {
		case l.all, l.unseen == 0 && p.oldest < open, l.unseen <= s.seen.excess && p.oldest < until:
			return l, nil
		case n == maxPages:
			return s.cut(l), nil
		}
	}
}

// cut ends a look before its end.
func (s *recordLog) cut(l looked) looked {
	switch {
	case s.seen.newest == 0: // of history nothing is lost
	case l.unseen < 0:
		l.left = -1
	default:
		l.left = max(0, l.unseen-s.seen.excess)
	}
	return l
}

// window is what to ask for. LiteLLM takes whole seconds.
func (s *recordLog) window() window {
	from := max(s.begin, s.seen.newest-model.Stamp(reach), s.seen.floor)
	from -= from % model.Stamp(time.Second)
	if s.date() == 0 {
		return window{max(from, 0), farthest}
	}
	return window{max(from, 0), max(s.date(), s.seen.newest) + day}
}

// sift takes one row of a page.
func (s *recordLog) sift(l *looked, from model.Stamp, m *message, why string, key uint64) {
	row := seenRow{by: s.how.by(&m.Request), said: m.At, end: m.Completed, output: m.OutputTokens, done: m.Done()}
	if why != "" {
		row.done = true
		if row.by == 0 {
			row.by = max(from, s.begin)
		}
	}
	if row.by < from || row.by < s.begin {
		return
	}
	if date := s.date(); date == 0 || row.by < date+model.Stamp(sane) {
		l.newest = max(l.newest, row.by)
	}
	before, known := s.seen.rows[key]
	switch {
	case !known:
	case !row.done && !before.done && s.date()-before.said >= model.Stamp(openFor):
		row.said = s.date() // it is under way still
		m.At = row.said
	case !before.tells(row):
		return
	}
	s.seen.rows[key] = row
	f := freshRow{key: key, before: before, known: known}
	if why != "" {
		l.bad = append(l.bad, why)
	} else {
		f.message = *m
	}
	l.fresh = append(l.fresh, f)
}

// commit gives out what a look came to.
func (s *recordLog) commit(ctx context.Context, l looked) {
	first := !s.begun
	s.begun = true
	s.seen.newest = max(s.seen.newest, l.newest)
	s.seen.excess = max(0, l.unseen)
	if len(l.bad) == 0 {
		s.got.read++ // a log without a row is one
	}
	if n := max(l.left, -l.left) + s.lost.since(ctx, s); n > 0 {
		s.got.lose(uint64(n))
	}
	for _, why := range l.bad {
		s.got.skip(why)
	}
	slices.SortStableFunc(l.fresh, func(a, b freshRow) int { return cmp.Compare(a.message.At, b.message.At) })
	for i := range l.fresh {
		if m := &l.fresh[i].message; m.ID != "" {
			s.got.add(m)
			s.late.see(s.date(), m)
		}
	}
	s.late.next(first)
	s.seen.bound()
	s.got.say(strings.Join(s.notes(l), "; "))
}

func (s *recordLog) notes(l looked) (notes []string) {
	if s.paths[0] != s.how.paths[0] {
		notes = append(notes, "read at "+s.paths[0]+", of an older version")
	}
	if d := s.late.longest(); d > 0 {
		notes = append(notes, fmt.Sprintf("records are written up to %d s after the end of the request: the newest of them are still to come", d))
	}
	if l.left < 0 {
		notes = append(notes, fmt.Sprintf("more came than %d pages hold: nobody says how many", maxPages))
	}
	return notes
}

// Close ends the kept connection.
func (s *recordLog) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// droppedRows follows how many rows the gateway itself has lost.
type droppedRows struct {
	asked, refused bool
	at             time.Duration
	count          float64
}

// since is how many were lost since the last question. A gateway that does not
// answer it is not asked again; what it lost before the first is history.
func (d *droppedRows) since(ctx context.Context, s *recordLog) (n int) {
	if s.how.dropped == "" || d.refused || d.asked && s.now-d.at < askDropped {
		return 0
	}
	p, err := s.get(ctx, s.before+s.paths[0]+s.how.dropped, nil, nil)
	if err != nil || !p.dropped.OK() {
		d.refused = ctx.Err() == nil
		return 0
	}
	if d.asked && p.dropped.Value > d.count {
		n = int(p.dropped.Value - d.count)
	}
	d.asked, d.at, d.count = true, s.now, p.dropped.Value
	return n
}

// hashOf is FNV-1a.
func hashOf(text string) uint64 {
	var f fingerprint
	f.add(text)
	return uint64(f)
}

// acceptable says why an answer is no log. An error's text is not shown: it may quote
// what was asked of a model.
func (s *recordLog) acceptable(response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		body := errorBody(response)
		defer clear(body)
		for _, h := range logHints {
			if bytes.Contains(body, []byte(h.needle)) {
				return &FaultError{kindOfStatus(response.StatusCode), fmt.Sprintf("%d: %s", response.StatusCode, h.text)}
			}
		}
		response.Body = http.NoBody
		return answerFault(response, s.sent, "no log of requests there: wanted "+s.how.needs)
	}
	if isEventStream(response) || strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return s.foreign()
	}
	return nil
}

// logHints know what gateways answer that have no log to show.
var logHints = []hint{
	{needle: "Prisma Client is not initialized", text: noDatabase},
	{needle: "Database not connected", text: noDatabase},
}

const noDatabase = "LiteLLM runs without a database, where its log would be: set DATABASE_URL for it"

func (s *recordLog) foreign() error {
	return &FaultError{model.NotMetrics, "no log of requests at " + s.sent.excerpt(s.request.URL.Path) + ": wanted " + s.how.needs}
}
