package sources

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	prommodel "github.com/prometheus/common/model"

	"slotop/model"
)

// promPast plays what a server remembers, one batch a point, with the dates at which
// it happened. A point's counts are those of the one before and what was gained
// since, so that nothing between two points is lost.
type promPast struct {
	of     *prometheus
	first  time.Time     // the instant of the first point
	step   time.Duration // between two
	points int
	lag    time.Duration // by how much a point's date is later than the instant it counts up to
	tracks []*track      // of the counts that are played
	keeps  bool          // the source goes on with the present: its connection stays

	until  time.Time
	next   int // the first point that was not played yet
	chunk  passage
	most   int // points of the next chunk
	failed int // chunks in a row that could not be had
}

// passage is a run of points as it was answered.
type passage struct {
	from, to int                    // points, to excluded
	counts   map[*track][][]float64 // of each row its value at each point, or NaN
	levels   map[*track][][]float64
	fresh    []model.Replicas
}

var (
	_ Source = (*promPast)(nil)
	_ Dated  = (*promPast)(nil)
	_ Paced  = (*promPast)(nil)
)

const (
	// pointsAtOnce bounds a chunk: servers refuse more than 11,000, and an answer
	// should stay small.
	pointsAtOnce = 500
	// firstPoints is the first chunk's length, of which nobody knows how many rows an
	// answer has.
	firstPoints = 20
	// valuesAtOnce bounds the numbers of an answer: some 4 MB.
	valuesAtOnce = 150_000
	// workAtOnce bounds what the server adds up for one chunk, in series times points:
	// a few seconds' work.
	workAtOnce = 4_000_000
	// giveUp is how many chunks in a row may fail before the past ends.
	giveUp = 3
	// maxPoints bounds a past: a month in steps of half a minute.
	maxPoints = 100_000
	// usualStep is how many scrape intervals lie between two points, at least.
	usualStep = 4
	// recallPoints is how many points a recalled span has.
	recallPoints = 60
)

// OpenPast opens what a server remembers of a stretch of time, to be played. The
// address is that of a live target, prom+http://…. The points lie about step apart,
// which is made a whole number of scrape intervals, at least three; 0 chooses. The
// source is Paced: it is polled as often as it has points. A past in which no engine
// was scraped is a *FaultError.
func OpenPast(ctx context.Context, spec Spec, from, to time.Time, step time.Duration) (Opened, error) {
	if !isProm(spec.Address) {
		return Opened{}, usage(spec.Address, "no Prometheus-compatible server, which alone knows the past", promForm)
	}
	if !from.Before(to) {
		return Opened{}, usage(spec.Address, "its past ends before it begins", "give two instants, the earlier one first")
	}
	var sets dialects
	set, err := sets.of(spec.Options)
	if err != nil {
		return Opened{}, fmt.Errorf("load the engine dialects: %w", err)
	}
	spec.Options.Dialects = set
	opened, err := openFleet(spec)
	if err != nil {
		return Opened{}, err
	}
	past, err := openPast(ctx, opened.Source.(*prometheus), from, to, step)
	if err != nil {
		_ = opened.Source.Close()
		return Opened{}, asFault(err)
	}
	if spec.Name != "" {
		opened.Target.Name = spec.Name
	}
	return Opened{Target: opened.Target, Source: past, Saved: true}, nil
}

func openPast(ctx context.Context, p *prometheus, from, to time.Time, step time.Duration) (*promPast, error) {
	if err := p.meet(ctx); err != nil {
		return nil, err
	}
	if now := p.now(); to.After(now) {
		to = now
	}
	if err := p.look(ctx, to, min(max(lookBack, to.Sub(from)), longestPlay)); err != nil {
		return nil, err
	}
	if len(p.views) == 0 || p.interval == 0 {
		return nil, nothingThen(from, to)
	}
	from, err := p.firstScrape(ctx, from, to)
	if err != nil {
		return nil, err
	}
	past := newPromPast(p, p.stepOf(step))
	past.first, past.points = from, int(to.Sub(from)/past.step)+1
	if past.points > maxPoints {
		return nil, &FaultError{model.Oversized, fmt.Sprintf("%d points from %s to %s are too many: take a shorter stretch, or longer steps than %s",
			past.points, dateText(from), dateText(to), spanText(past.step))}
	}
	for _, t := range p.counts {
		if t.read.Buckets && t.instead == nil {
			if err := p.lookAtBounds(ctx, t, to); err != nil {
				return nil, err
			}
		}
	}
	past.tracks = p.counts
	past.grow(firstPoints)
	return past, nil
}

func nothingThen(from, to time.Time) error {
	return &FaultError{model.NotFound, fmt.Sprintf("no engine was scraped from %s to %s: the server may not remember that far back", dateText(from), dateText(to))}
}

func dateText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func newPromPast(p *prometheus, step time.Duration) *promPast {
	return &promPast{of: p, step: step}
}

// stepOf is the distance of two points that comes nearest to a wish.
func (p *prometheus) stepOf(wish time.Duration) time.Duration {
	n := (wish + p.interval - 1) / p.interval
	if wish <= 0 {
		n = usualStep
	}
	return max(n, nearestAnchor) * p.interval
}

// firstScrape is about when the first engine was scraped within a stretch of time.
func (f *promFleet) firstScrape(ctx context.Context, from, to time.Time) (time.Time, error) {
	const parts = 100
	step := max(to.Sub(from)/parts, f.interval).Round(time.Second) + time.Second
	answer, err := f.over(ctx, "count("+f.servers(step)+")", promv1.Range{Start: from.Add(step), End: to.Add(step), Step: step})
	if err != nil {
		return from, err
	}
	for _, s := range answer.matrix {
		if len(s.Values) > 0 {
			return maxTime(from, s.Values[0].Timestamp.Time().Add(-step)), nil
		}
	}
	return from, nothingThen(from, to)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Recall opens the span that ends now at the server, as a past of the same target.
// Once it is played, the live source goes on with the same counts. It may be called
// before the first poll only. Of a fleet that is too large to be added up an hour
// long, distributions that matter less are left out.
func (p *prometheus) Recall(ctx context.Context, span time.Duration) (Opened, error) {
	if !p.began.IsZero() {
		return Opened{}, fmt.Errorf("recall: the source tells of the present already")
	}
	if err := p.inSteps(ctx, func() error { return p.meet(ctx) }); err != nil {
		return Opened{}, asFault(err)
	}
	now := p.now()
	if err := p.lookNow(ctx); err != nil {
		return Opened{}, asFault(err)
	}
	if len(p.views) == 0 || p.interval == 0 {
		return Opened{}, asFault(nothingThen(now.Add(-span), now))
	}
	past := newPromPast(p, p.stepOf(max(span/recallPoints, usualStep*p.interval)))
	past.lag, past.keeps = p.step(), true
	last := now.Add(-past.lag).Truncate(time.Millisecond)
	past.points = max(1, int((span-past.lag)/past.step))
	past.first = last.Add(-time.Duration(past.points-1) * past.step)
	budget := load{most: workAtOnce / float64(past.points)}
	past.tracks = budget.choose(p.counts, last)
	past.grow(firstPoints)
	p.began = last         // the grid goes on from here
	p.clock = serverTime{} // the schedule has not begun yet
	return Opened{Target: p.target, Source: past, Saved: true}, nil
}

// Begins is the date of the first point.
func (a *promPast) Begins() time.Time { return a.date(0) }

// Until says up to which date the next poll goes.
func (a *promPast) Until(date time.Time) { a.until = date }

// Pace is the time between two points.
func (a *promPast) Pace() time.Duration { return a.step }

// Close ends the connection, unless the present goes on with it.
func (a *promPast) Close() error {
	if a.keeps {
		return nil
	}
	return a.of.Close()
}

func (a *promPast) at(point int) time.Time { return a.first.Add(time.Duration(point) * a.step) }

func (a *promPast) date(point int) time.Time { return a.at(point).Add(a.lag) }

// Poll plays all points up to the date: the counts go through each of them.
func (a *promPast) Poll(ctx context.Context) (model.Batch, error) {
	if a.next >= a.points {
		return model.Batch{}, io.EOF
	}
	if a.date(a.next).After(a.until) {
		return model.Batch{}, errNoPage
	}
	for a.next < a.points && !a.date(a.next).After(a.until) {
		if a.next >= a.chunk.to {
			if err := a.fetch(ctx); err != nil {
				return model.Batch{}, err
			}
		}
		a.play(a.next)
		a.next++
	}
	return a.batch(), nil
}

// play moves everything on to a point.
func (a *promPast) play(point int) {
	p, i := a.of, point-a.chunk.from
	for _, t := range a.tracks {
		_, factor := p.question(t, a.step)
		t.recall(a.chunk.counts[t], i)
		if t.last.at.IsZero() {
			t.begin(a.at(point).Add(-a.step))
		}
		t.walk(a.at(point), t.got, factor)
		t.asked, t.shown, t.lag = a.at(point), a.at(point), p.step()
	}
	for _, t := range p.levels {
		t.recall(a.chunk.levels[t], i)
		t.takeLevels(a.at(point))
	}
	p.fresh = a.chunk.fresh[i]
}

// batch is the point that was played last.
func (a *promPast) batch() model.Batch {
	p := a.of
	for _, t := range a.tracks {
		t.showCounts(t.shown)
	}
	for _, t := range p.levels {
		t.showLevels(t.level.at)
	}
	return p.gather()
}

// recall takes a point of a chunk for an answer.
func (t *track) recall(rows [][]float64, point int) {
	t.start()
	for i, values := range rows {
		t.got[i] = values[point]
	}
}

// fetch asks for the next chunk. One that is too much for the server is asked for in
// smaller pieces; where the smallest cannot be had either, its points are a gap.
func (a *promPast) fetch(ctx context.Context) error {
	for {
		to := min(a.next+a.most, a.points)
		err := a.ask(ctx, a.next, to)
		switch {
		case err == nil:
			a.failed = 0
			a.grow(2 * a.most)
			return nil
		case tooCostly(err) && to-a.next > 1 && ctx.Err() == nil:
			a.most = max(1, (to-a.next)/backOff)
			continue
		}
		if a.failed++; a.failed >= giveUp {
			a.next = a.points
		} else {
			a.next = to
		}
		return asFault(err)
	}
}

// grow makes the next chunk as long as it may be, as far as its width is known.
func (a *promPast) grow(most int) {
	rows := 1
	for _, t := range a.tracks {
		rows += len(t.rows)
	}
	work := max(1, costOf(a.tracks))
	a.most = max(1, min(pointsAtOnce, valuesAtOnce/rows, int(workAtOnce/work), most))
}

// ask asks for a run of points.
func (a *promPast) ask(ctx context.Context, from, to int) error {
	p := a.of
	c := passage{from: from, to: to, fresh: make([]model.Replicas, to-from)}
	levels, err := p.over(ctx, joined(p.levelQuestions()), promv1.Range{Start: a.at(from), End: a.at(to - 1), Step: a.step})
	if err != nil {
		return err
	}
	c.levels = a.read(p.levels, levels.matrix, a.at(from), &c)
	exprs := make([]string, len(a.tracks))
	for i, t := range a.tracks {
		exprs[i], _ = p.question(t, a.step)
	}
	counts, err := p.over(ctx, joined(exprs), promv1.Range{Start: a.at(from), End: a.at(to - 1), Step: a.step})
	if err != nil {
		return err
	}
	c.counts = a.read(a.tracks, counts.matrix, a.at(from), &c)
	p.told.remarks = append(levels.remarks, counts.remarks...)
	a.chunk = c
	return nil
}

// read lays an answer out by tracks, rows and points. Each point is read as an
// instant's answer would be.
func (a *promPast) read(tracks []*track, m prommodel.Matrix, start time.Time, c *passage) map[*track][][]float64 {
	n := c.to - c.from
	at := make([]prommodel.Vector, n)
	for _, s := range m {
		for _, v := range s.Values {
			if i, ok := a.pointOf(v.Timestamp, start, n); ok {
				at[i] = append(at[i], &prommodel.Sample{Metric: s.Metric, Value: v.Value, Timestamp: v.Timestamp})
			}
		}
		for _, v := range s.Histograms {
			if i, ok := a.pointOf(v.Timestamp, start, n); ok {
				at[i] = append(at[i], &prommodel.Sample{Metric: s.Metric, Histogram: v.Histogram, Timestamp: v.Timestamp})
			}
		}
	}
	fitAll(tracks, m)
	out := map[*track][][]float64{}
	for i, v := range at {
		for _, s := range a.of.answerTo(tracks, v) {
			countServers(&c.fresh[i], s)
		}
		for _, t := range tracks {
			out[t] = keepRows(out[t], t.got, i, n)
		}
	}
	return out
}

func (a *promPast) pointOf(t prommodel.Time, start time.Time, n int) (int, bool) {
	i := int(math.Round(float64(t.Time().Sub(start)) / float64(a.step)))
	return i, i >= 0 && i < n
}

// fitAll lets native histograms know all bounds that an answer has, before any of it
// is counted.
func fitAll(tracks []*track, m prommodel.Matrix) {
	for _, s := range m {
		for _, t := range tracks {
			if !t.read.Native || t.tag != string(s.Metric[tagLabel]) {
				continue
			}
			for _, v := range s.Histograms {
				t.native.fit(v.Histogram)
			}
		}
	}
}

// keepRows notes the rows of one of n points.
func keepRows(rows [][]float64, got []float64, point, n int) [][]float64 {
	for len(rows) < len(got) {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.NaN()
		}
		rows = append(rows, values)
	}
	for i, v := range got {
		rows[i][point] = v
	}
	return rows
}
