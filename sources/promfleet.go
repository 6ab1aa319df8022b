package sources

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/model"
	"slotop/sources/dialect"
)

// promFleet is what stands behind a server: which dialects speak there, what they
// have to be asked for, and how often the server reads them itself.
type promFleet struct {
	*promServer
	promQL
	set      *dialect.Set
	choice   string // the dialect that the user chose
	replicas int    // how many single servers are shown

	under    *lookUnder // a look that is not finished
	views    []*seen
	levels   []*track
	counts   []*track
	ruled    []recorded // metrics that the server works out from others
	others   []string   // dialects that speak there too and are not read
	jobs     []string   // who scrapes the servers, and how many each
	twice    int        // servers that several jobs scrape, and which count as often
	interval time.Duration
}

const (
	// lookBack is how long a name counts as there after its last sample, as in the
	// server's own instant queries.
	lookBack = 5 * time.Minute
	// maxKnown bounds the names that a server may list. A dialect has some sixty.
	maxKnown = 10_000
	// maxJobs bounds how many jobs are asked for their scrape interval.
	maxJobs = 4
	// longestInterval is beyond every scrape interval that anybody watches.
	longestInterval = 15 * time.Minute
)

// lookUnder is a look under way: where it takes longer than a poll, the next one
// goes on with it.
type lookUnder struct {
	now    time.Time
	back   time.Duration
	names  []string
	asked  []string           // the dialects' questions
	series map[string]float64 // and how many series each has
	next   int                // the first that was not answered yet
	atOnce int                // questions in one query
	ruled  bool               // the rules were asked for
	views  bool               // all of them were answered
}

const (
	// questionsAtOnce is how many names are counted in one query.
	questionsAtOnce = 16
	// manySeries stands for a count that is too much for the server.
	manySeries = 100_000
)

// look finds out what speaks behind the server, given its time, and how far back to
// look. What is known of metrics that are still there is kept.
func (f *promFleet) look(ctx context.Context, now time.Time, back time.Duration) error {
	if f.under == nil || now.Sub(f.under.now) > lookEvery {
		f.under = &lookUnder{now: now, back: back, atOnce: questionsAtOnce, series: map[string]float64{}}
	}
	u := f.under
	if u.names == nil {
		if err := f.listNames(ctx, u); err != nil {
			return err
		}
	}
	for u.next < len(u.asked) {
		if err := f.countSeries(ctx, u); err != nil {
			return err
		}
	}
	if err := f.lookRules(ctx, u); err != nil {
		return err
	}
	if !u.views {
		views, others := f.set.Views(u.names, u.series, f.choice)
		f.others = others
		f.follow(views)
		f.replace()
		u.views = true
	}
	if len(f.views) > 0 {
		if err := f.lookTwice(ctx, u.now, u.back); err != nil {
			return err
		}
		if err := f.timeScrapes(ctx, u.now, u.back); err != nil {
			return err
		}
	}
	f.under = nil
	return nil
}

// listNames lists the metrics whose names a dialect may know.
func (f *promFleet) listNames(ctx context.Context, u *lookUnder) error {
	prefixes, names := f.set.Names()
	for i, p := range prefixes {
		prefixes[i] = regexp.QuoteMeta(p)
	}
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	pattern := "(" + strings.Join(prefixes, "|") + ").*|" + strings.Join(names, "|")
	answer, err := f.listed(ctx, f.selector("", "__name__=~"+strconv.Quote(pattern)), u.now.Add(-u.back), u.now)
	if err != nil {
		return err
	}
	u.names = append([]string{}, answer.names...)
	u.asked = f.set.Questions(u.names)
	return nil
}

// countSeries answers some of the dialects' questions.
func (f *promFleet) countSeries(ctx context.Context, u *lookUnder) error {
	some := u.asked[u.next:min(u.next+u.atOnce, len(u.asked))]
	exprs := make([]string, len(some))
	for i, q := range some {
		name, rest, _ := strings.Cut(q, "{")
		sel := f.selector(name, strings.TrimSuffix(rest, "}"))
		exprs[i] = tagged(fmt.Sprintf("count(last_over_time(%s[%s]))", sel, promSpan(u.back)), strconv.Itoa(i))
	}
	answer, err := f.instant(ctx, joined(exprs), u.now)
	switch {
	case err == nil:
	case ctx.Err() == nil && tooCostly(err) && len(some) > 1:
		u.atOnce = max(1, len(some)/backOff)
		return nil
	case ctx.Err() == nil && tooCostly(err):
		u.series[some[0]] = manySeries
	default:
		return err
	}
	for _, s := range answer.vector {
		if i, err := strconv.Atoi(tagOf(s)); err == nil && i >= 0 && i < len(some) {
			u.series[some[i]] = float64(s.Value)
		}
	}
	u.next += len(some)
	return nil
}

func tagOf(s *prommodel.Sample) string { return string(s.Metric[tagLabel]) }

// follow takes up the reads of views. One that was followed before goes on.
func (f *promFleet) follow(views []*dialect.View) {
	before := slices.Concat(f.levels, f.counts)
	was := f.views
	f.views, f.levels, f.counts = nil, nil, nil
	for i, view := range views {
		s := newSeen(view)
		if i < len(was) && was[i].view.Engine() == view.Engine() {
			s = was[i]
			s.view, s.stale = view, true
		}
		f.views = append(f.views, s)
		for j, r := range view.Reads() {
			t := &track{tag: fmt.Sprintf("%d.%d", i, j), read: r, on: s}
			if at := slices.IndexFunc(before, func(o *track) bool { return o.on == s && sameRead(&o.read, &r) }); at >= 0 {
				t = before[at]
				t.tag, t.read = fmt.Sprintf("%d.%d", i, j), r
				before = slices.Delete(before, at, at+1)
			}
			if r.Kind == model.Gauge {
				f.levels = append(f.levels, t)
			} else {
				f.counts = append(f.counts, t)
			}
		}
	}
	for _, t := range before {
		t.hide()
	}
}

func sameRead(a, b *dialect.Read) bool {
	return a.Names[0] == b.Names[0] && a.Kind == b.Kind && a.Native == b.Native && slices.Equal(a.By, b.By)
}

// servers is an expression with a series or more for each server that was read
// within the span.
func (f *promFleet) servers(span time.Duration) string {
	all := make([]string, len(f.views))
	for i, s := range f.views {
		all[i] = "count by (job,instance) (" + f.each(s.view.Marker(), "last_over_time", span) + ")"
	}
	return joined(all)
}

// lookTwice finds servers that several jobs scrape: they would count as often. A job
// all of whose servers another one scrapes as well is left out.
func (f *promFleet) lookTwice(ctx context.Context, now time.Time, back time.Duration) error {
	was := f.leave
	f.leave = nil
	for range maxJobs {
		all, twice, err := f.countJobs(ctx, now, back)
		if err != nil {
			f.leave = was
			return err
		}
		leave := f.noteJobs(all, twice)
		if leave == "" {
			return nil
		}
		f.leave = append(f.leave, leave)
	}
	return nil
}

// noteJobs keeps how many servers each job scrapes, and how many of them other jobs do
// too. It names a job that can be left out, "" for none.
func (f *promFleet) noteJobs(all, twice map[string]float64) (leave string) {
	f.jobs, f.twice = nil, 0
	for job, n := range all {
		if job == "" {
			continue
		}
		f.jobs = append(f.jobs, fmt.Sprintf("%s (%.0f)", job, n))
		f.twice += int(twice[job])
		if twice[job] == n && job > leave {
			leave = job
		}
	}
	slices.Sort(f.jobs)
	return leave
}

// countJobs counts the servers of each job, and those that other jobs scrape too.
func (f *promFleet) countJobs(ctx context.Context, now time.Time, back time.Duration) (all, twice map[string]float64, err error) {
	servers := f.servers(back)
	answer, err := f.instant(ctx, joined([]string{
		tagged("count by (job) ("+servers+")", "all"),
		tagged("count by (job) (("+servers+") and on (instance) (count by (instance) ("+servers+") > 1))", "twice"),
	}), now)
	if err != nil {
		return nil, nil, err
	}
	all, twice = map[string]float64{}, map[string]float64{}
	for _, s := range answer.vector {
		job := string(s.Metric[prommodel.JobLabel])
		switch tagOf(s) {
		case "all":
			all[job] = float64(s.Value)
		case "twice":
			twice[job] = float64(s.Value)
		}
	}
	return all, twice, nil
}

// timeScrapes finds out how often the servers are read: of one of each job, the
// distance of its samples. Of several jobs the slowest counts.
func (f *promFleet) timeScrapes(ctx context.Context, now time.Time, back time.Duration) error {
	var exprs []string
	for _, s := range f.views {
		exprs = append(exprs, "topk by (job) (1, "+f.each(s.view.Marker(), "last_over_time", back)+")")
	}
	answer, err := f.instant(ctx, joined(exprs), now)
	if err != nil {
		return err
	}
	longest := time.Duration(0)
	for _, s := range answer.vector[:min(len(answer.vector), maxJobs)] {
		for _, span := range []time.Duration{lookBack, max(back, 4*longestInterval)} {
			apart, err := f.scrapesOf(ctx, s.Metric, now, span)
			if err != nil {
				return err
			}
			if apart > 0 {
				longest = max(longest, apart)
				break
			}
		}
	}
	if longest > 0 {
		f.interval = longest
	}
	return nil
}

// scrapesOf is the usual distance of a series' samples within a span, 0 where there
// are too few to tell.
func (f *promFleet) scrapesOf(ctx context.Context, m prommodel.Metric, now time.Time, span time.Duration) (time.Duration, error) {
	marker := f.views[0].view.Marker().Names[0]
	name := cmp.Or(string(m[prommodel.MetricNameLabel]), f.alias[marker], marker)
	var match []string
	for label, value := range m {
		if label != prommodel.MetricNameLabel {
			match = append(match, string(label)+"="+strconv.Quote(string(value)))
		}
	}
	slices.Sort(match)
	alone := promQL{} // all its labels are named
	answer, err := f.instant(ctx, alone.selector(name, strings.Join(match, ","))+"["+promSpan(span)+"]", now)
	if err != nil {
		return 0, err
	}
	var gaps []time.Duration
	for _, s := range answer.matrix {
		for i := 1; i < len(s.Values); i++ {
			gaps = append(gaps, time.Duration(s.Values[i].Timestamp-s.Values[i-1].Timestamp)*time.Millisecond)
		}
	}
	if len(gaps) < 2 {
		return 0, nil
	}
	slices.Sort(gaps)
	return usualInterval(gaps[len(gaps)/2]), nil
}

// usualInterval is the whole number of seconds that an interval is meant to be: a busy
// server comes a few milliseconds late.
func usualInterval(gap time.Duration) time.Duration {
	if whole := gap.Round(time.Second); whole > 0 && (gap-whole).Abs() <= gap/50 {
		return whole
	}
	return gap
}

// answer reads the elements of an answer, and gives back those of no track.
func (f *promFleet) answerTo(tracks []*track, v prommodel.Vector) (rest prommodel.Vector) {
	byTag := make(map[string]*track, len(tracks))
	for _, t := range tracks {
		byTag[t.tag] = t
		t.start()
	}
	for _, s := range v {
		if t := byTag[tagOf(s)]; t != nil {
			t.note(s)
		} else {
			rest = append(rest, s)
		}
	}
	for _, t := range tracks {
		t.finish()
	}
	return rest
}
