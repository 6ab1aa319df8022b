package sources

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	prommodel "github.com/prometheus/common/model"

	"slotop/model"
	"slotop/sources/dialect"
)

// recorded is a metric that a server works out itself from others: a recording rule of
// the form
//
//	sum by (model_name, le) (rate(vllm:time_to_first_token_seconds_bucket[1m]))
//
// with rate or increase of counters, and sum or max of levels. Where a server does not
// keep the metric itself, or adding it up is too much for it, the rule is read instead.
type recorded struct {
	name   string // of the rule
	metric string // that it adds up
	match  string // and of which series
	by     []string
	merge  string // sum or max
	of     string // rate, increase, or "" for a level
	window time.Duration
}

// ruleForms are what a rule may look like: the labels stand before or after the sum.
var ruleForms = []*regexp.Regexp{
	regexp.MustCompile(`(?s)^(sum|max)\s*by\s*\(([^()]*)\)\s*\((.*)\)$`),
	regexp.MustCompile(`(?s)^(sum|max)\s*\((.*)\)\s*by\s*\(([^()]*)\)$`),
}

// summandForm is what it adds up: a metric, or its rate.
var summandForm = regexp.MustCompile(`^(?:(rate|increase)\s*\(\s*)?([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{([^{}]*)\})?\s*(?:\[([0-9a-z]+)\]\s*\))?$`)

// recordedBy reads a rule; ok is false where it has another form.
func recordedBy(rule promv1.RecordingRule) (r recorded, ok bool) {
	query := strings.TrimSpace(rule.Query)
	inner, labels := "", ""
	for i, form := range ruleForms {
		if m := form.FindStringSubmatch(query); m != nil {
			r.merge, labels, inner = m[1], m[2+i], m[3-i]
		}
	}
	m := summandForm.FindStringSubmatch(strings.TrimSpace(inner))
	if m == nil || (m[1] == "") != (m[4] == "") || m[1] != "" && r.merge != "sum" {
		return r, false
	}
	r.name, r.of, r.metric, r.match = rule.Name, m[1], m[2], strings.TrimSuffix(strings.TrimSpace(m[3]), ",")
	if r.of != "" {
		window, err := prommodel.ParseDuration(m[4])
		if err != nil || window <= 0 {
			return r, false
		}
		r.window = time.Duration(window)
	}
	for label := range strings.SplitSeq(labels, ",") {
		r.by = append(r.by, strings.TrimSpace(label))
	}
	return r, true
}

// maxRules bounds the rules that are looked at.
const maxRules = 10_000

// rules asks for the server's recording rules. A server that has no such question is
// one without rules.
func (s *promServer) rules(ctx context.Context) ([]recorded, error) {
	var all []recorded
	_, err := s.put(ctx, "rules", func(ctx context.Context) (answerOf, error) {
		answer, err := s.api.Rules(ctx, nil)
		if err != nil {
			return answerOf{}, err
		}
		for _, g := range answer.Groups {
			for _, one := range g.Rules {
				if rule, ok := one.(promv1.RecordingRule); ok && len(all) < maxRules {
					if r, ok := recordedBy(rule); ok {
						all = append(all, r)
					}
				}
			}
		}
		return answerOf{}, nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil
	}
	return all, nil
}

// stands reports whether a rule can be read in place of a metric: it adds the same
// series up, and keeps the bounds apart.
func (r *recorded) stands(read *dialect.Read) bool {
	if !slices.Contains(read.Names, r.metric) || r.match != read.Match || read.Native {
		return false
	}
	if read.Kind == model.Gauge {
		return r.of == "" && (r.merge == "max") == (read.Merge == dialect.Max)
	}
	return r.of != "" && (!read.Buckets || slices.Contains(r.by, "le"))
}

// gain is what is asked of the rule in place of what its metric gained over a span,
// and the factor that makes a gain of the answer.
func (r *recorded) gain(q *promQL, read *dialect.Read, since time.Duration) (expr string, factor float64) {
	each := fmt.Sprintf("avg_over_time(%s[%s])", q.selector(r.name, ""), promSpan(since))
	factor = since.Seconds()
	if r.of == "increase" {
		factor /= r.window.Seconds()
	}
	return q.all(read, "sum", each), factor
}

// lookRules asks for the rules where the server lacks what matters most, or some of it
// proved too much for the server.
func (f *promFleet) lookRules(ctx context.Context, u *lookUnder) error {
	if u.ruled {
		return nil
	}
	views, _ := f.set.Views(u.names, u.series, f.choice)
	if !f.costly() && tellMost(views) {
		u.ruled = true
		return nil
	}
	ruled, err := f.rules(ctx)
	if err != nil {
		return err
	}
	f.ruled, f.alias, u.ruled = ruled, map[string]string{}, true
	for _, r := range ruled {
		if slices.Contains(u.names, r.metric) {
			continue
		}
		u.names, f.alias[r.metric] = append(u.names, r.metric), r.name
		for _, q := range f.set.Questions([]string{r.metric}) {
			if !strings.Contains(q, "{") { // which of its series there were, a rule does not tell
				u.series[q] = 1
			}
		}
	}
	return nil
}

// tellMost reports whether what is read first is among what views read.
func tellMost(views []*dialect.View) bool {
	for _, signal := range []model.Signal{model.Running, model.OutputTokens, model.TTFT} {
		reads := func(v *dialect.View) bool {
			return slices.ContainsFunc(v.Reads(), func(r dialect.Read) bool { return slices.Contains(r.Signals, signal) })
		}
		if !slices.ContainsFunc(views, reads) {
			return false
		}
	}
	return true
}

// refusedOften is after how many refusals in a row a metric counts as too much.
const refusedOften = 2

func (f *promFleet) costly() bool {
	return slices.ContainsFunc(f.counts, func(t *track) bool { return t.refused >= refusedOften })
}

// replace reads rules in place of counts that the server does not have, or that proved
// too much for it.
func (f *promFleet) replace() {
	for _, t := range f.counts {
		needed := t.instead != nil || f.alias[t.read.Names[0]] != "" || t.refused >= refusedOften
		if t.instead = nil; !needed {
			continue
		}
		if i := slices.IndexFunc(f.ruled, func(r recorded) bool { return r.stands(&t.read) }); i >= 0 {
			t.instead = &f.ruled[i]
		}
	}
}

// readInstead names the rules that are read in place of metrics.
func (f *promFleet) readInstead() []string {
	var names []string
	for _, t := range f.counts {
		if t.instead != nil {
			names = append(names, t.instead.name)
		}
	}
	for _, t := range f.levels {
		if rule := f.alias[t.read.Names[0]]; rule != "" {
			names = append(names, rule)
		}
	}
	return names
}

// question asks for what a track gained over a time that ends at the instant of the
// question, and says what its answer is to be multiplied with.
func (f *promFleet) question(t *track, since time.Duration) (expr string, factor float64) {
	if t.instead != nil {
		expr, factor = t.instead.gain(&f.promQL, &t.read, since)
		return tagged(expr, t.tag), factor
	}
	span, factor := rangeFrom(since, f.interval, f.wholes)
	return tagged(f.increase(&t.read, span), t.tag), factor
}
