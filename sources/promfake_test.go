package sources_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeProm answers as a Prometheus server would that scrapes a few pages. It knows
// the forms of our questions and no more of PromQL.
type fakeProm struct {
	mu     sync.Mutex
	now    time.Time
	step   time.Duration
	series []fakeSeries
	wrong  func(query string) (status int, body string) // an answer in place of the right one
	remark string
	vm     bool // VictoriaMetrics has no scalars
	rules  []any
	each   time.Duration // that a series takes it
	spent  time.Duration // on the last question
	asked  []string
	bytes  int
	header http.Header
	path   string
}

// fakeSeries is one series, which gains so much a second.
type fakeSeries struct {
	name   string
	labels map[string]string
	value  float64
	gain   float64
}

func newFakeProm() *fakeProm {
	return &fakeProm{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), step: 15 * time.Second}
}

// rule adds a recording rule, and the series that it made.
func (f *fakeProm) rule(name, query string, lines ...string) {
	f.rules = append(f.rules, map[string]any{"type": "recording", "name": name, "query": query, "health": "ok", "lastEvaluation": f.now})
	f.replica("", "", lines...)
}

// replica adds an engine's page: a line is name, labels, value, gain a second.
func (f *fakeProm) replica(job, instance string, lines ...string) {
	for _, line := range lines {
		head, rest, _ := strings.Cut(line, " ")
		name, braced, _ := strings.Cut(head, "{")
		s := fakeSeries{name: name, labels: map[string]string{}}
		if instance != "" {
			s.labels["job"], s.labels["instance"] = job, instance
		}
		for _, m := range labelForm.FindAllStringSubmatch(braced, -1) {
			s.labels[m[1]] = m[3]
		}
		_, _ = fmt.Sscan(rest, &s.value, &s.gain)
		f.series = append(f.series, s)
	}
}

var labelForm = regexp.MustCompile(`([a-zA-Z_]+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"`)

func (f *fakeProm) serve(tb testing.TB) *httptest.Server {
	s := httptest.NewServer(f)
	tb.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (f *fakeProm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = r.ParseForm()
	query := cmp.Or(r.Form.Get("query"), r.URL.Path)
	f.asked, f.header, f.path = append(f.asked, query), r.Header, r.URL.Path
	if f.wrong != nil {
		if status, body := f.wrong(query); status != 0 {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return
		}
	}
	body, err := json.Marshal(f.answer(r, query))
	if err != nil {
		panic(err)
	}
	f.bytes += len(body)
	_, _ = w.Write(body)
}

func (f *fakeProm) answer(r *http.Request, query string) map[string]any {
	data := any(nil)
	switch {
	case strings.HasSuffix(r.URL.Path, "/status/buildinfo"):
		data = map[string]any{"version": "9.9"}
	case strings.HasSuffix(r.URL.Path, "/values"):
		data = f.names(r.Form["match[]"])
	case strings.HasSuffix(r.URL.Path, "/rules"):
		data = map[string]any{"groups": []any{map[string]any{"name": "g", "rules": f.rules}}}
	case strings.HasSuffix(r.URL.Path, "/query_range"):
		data = f.rangeOf(r, query)
	default:
		touched := 0
		for _, m := range callForm.FindAllStringSubmatch(query, -1) {
			touched += len(f.matching(m[2], m[3]))
		}
		f.spent = f.each * time.Duration(touched)
		answer := f.instant(query, timeIn(r, "time", f.now))
		if f.each > 0 {
			answer["stats"] = map[string]any{"timings": map[string]any{"evalTotalTime": 9, "execTotalTime": f.spent.Seconds()}}
		}
		data = answer
	}
	out := map[string]any{"status": "success", "data": data}
	if f.remark != "" {
		out["warnings"] = []string{f.remark}
	}
	return out
}

func timeIn(r *http.Request, key string, or time.Time) time.Time {
	v, err := strconv.ParseFloat(r.Form.Get(key), 64)
	if err != nil {
		return or
	}
	return time.UnixMilli(int64(math.Round(v * 1000)))
}

func (f *fakeProm) names(matches []string) []string {
	pattern := regexp.MustCompile("^(?:" + unquoted(labelForm.FindStringSubmatch(matches[0])[3]) + ")$")
	names := []string{}
	for _, s := range f.series {
		if pattern.MatchString(s.name) {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func unquoted(s string) string {
	plain, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return plain
}

type fakeRow struct {
	labels map[string]string
	value  float64
}

func (f *fakeProm) instant(query string, at time.Time) map[string]any {
	stamp := float64(at.UnixMilli()) / 1000
	if query == "time()" {
		if f.vm {
			return map[string]any{"resultType": "vector", "result": []any{map[string]any{"metric": map[string]string{}, "value": []any{stamp, fmt.Sprint(stamp)}}}}
		}
		return map[string]any{"resultType": "scalar", "result": []any{stamp, strconv.FormatFloat(stamp, 'f', 3, 64)}}
	}
	if m := rawForm.FindStringSubmatch(query); m != nil {
		return f.raw(m[1], m[2], at)
	}
	result := []any{}
	for _, row := range f.rows(query, at) {
		result = append(result, map[string]any{"metric": row.labels, "value": []any{stamp, strconv.FormatFloat(row.value, 'f', -1, 64)}})
	}
	return map[string]any{"resultType": "vector", "result": result}
}

var (
	rawForm  = regexp.MustCompile(`^([a-zA-Z0-9_:]+)(\{.*\})?\[(\d+)s\]$`)
	callForm = regexp.MustCompile(`(increase|last_over_time|avg_over_time)\(([a-zA-Z0-9_:]+)(\{[^}]*\})?\[(\d+)(m?s)\]\)`)
	// plainForm counts series as they are.
	plainForm = regexp.MustCompile(`^count by \(([^)]*)\) \(([a-zA-Z0-9_:]+)(\{[^}]*\})?\)$`)
	aggForm   = regexp.MustCompile(`^(?:topk\(\d+, )?\(?(sum|max|count) by \(([^)]*)\)`)
)

// raw is a series' samples as they are stored.
func (f *fakeProm) raw(name, match string, at time.Time) map[string]any {
	result := []any{}
	for _, s := range f.matching(name, match) {
		values := []any{}
		for i := 20; i >= 0; i-- {
			when := at.Truncate(f.step).Add(-time.Duration(i) * f.step)
			values = append(values, []any{float64(when.UnixMilli()) / 1000, "1"})
		}
		result = append(result, map[string]any{"metric": s.labels, "values": values})
	}
	return map[string]any{"resultType": "matrix", "result": result}
}

func (f *fakeProm) matching(name, match string) []fakeSeries {
	matchers := labelForm.FindAllStringSubmatch(match, -1)
	var all []fakeSeries
	for _, s := range f.series {
		if s.name == name && !slices.ContainsFunc(matchers, func(m []string) bool { return !fits(s.labels[m[1]], m[2], unquoted(m[3])) }) {
			all = append(all, s)
		}
	}
	return all
}

// fits reports whether a label's value satisfies a matcher.
func fits(value, op, want string) bool {
	is := value == want
	if strings.Contains(op, "~") {
		is = regexp.MustCompile("^(?:" + want + ")$").MatchString(value)
	}
	return is != strings.HasPrefix(op, "!")
}

// rows answers the parts of a question, which are joined by "or".
func (f *fakeProm) rows(query string, at time.Time) []fakeRow {
	var rows []fakeRow
	for _, part := range topLevel(query, " or ") {
		expr, tag := part, ""
		if inner, ok := strings.CutPrefix(part, "label_replace("); ok {
			args := topLevel(strings.TrimSuffix(inner, ")"), ",")
			expr, tag = args[0], unquoted(strings.Trim(args[2], `"`))
		}
		for _, row := range f.part(expr, at) {
			if tag != "" {
				row.labels = maps.Clone(row.labels)
				row.labels["__slotop"] = tag
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// topLevel cuts a text at a separator outside all parentheses, braces and quotes.
func topLevel(text, sep string) []string {
	var parts []string
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.ContainsRune("({[", rune(c)):
			depth++
		case strings.ContainsRune(")}]", rune(c)):
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], sep):
			parts = append(parts, text[from:i])
			from = i + len(sep)
		}
	}
	return append(parts, text[from:])
}

func (f *fakeProm) part(expr string, at time.Time) []fakeRow {
	switch {
	case expr == "vector(time())":
		return []fakeRow{{map[string]string{}, float64(at.UnixMilli()) / 1000}}
	case strings.Contains(expr, "> 1"): // servers of several jobs
		return f.grouped("count", []string{"job"}, f.shared(f.leaves(expr, at)))
	case strings.HasPrefix(expr, "topk by (job) (1, "):
		return slices.CompactFunc(slices.SortedFunc(slices.Values(f.leaves(expr, at)), byJob), func(a, b fakeRow) bool { return byJob(a, b) == 0 })
	case strings.HasPrefix(expr, "count(count by (instance)"):
		return f.grouped("count", nil, f.grouped("count", []string{"instance"}, f.leaves(expr, at)))
	case strings.HasPrefix(expr, "count(count by (job,instance)"):
		return f.grouped("count", nil, f.grouped("count", []string{"job", "instance"}, f.leaves(expr, at)))
	case strings.HasPrefix(expr, "count(last_over_time("):
		return f.grouped("count", nil, f.leaves(expr, at))
	case strings.HasPrefix(expr, "count by (job) ("):
		return f.grouped("count", []string{"job"}, f.grouped("count", []string{"job", "instance"}, f.leaves(expr, at)))
	}
	if m := plainForm.FindStringSubmatch(expr); m != nil {
		var rows []fakeRow
		for _, s := range f.matching(m[2], m[3]) {
			rows = append(rows, fakeRow{s.labels, s.value})
		}
		return f.grouped("count", strings.Split(m[1], ","), rows)
	}
	m := aggForm.FindStringSubmatch(expr)
	if m == nil {
		panic("the fake does not know " + expr)
	}
	rows := f.grouped(m[1], strings.Split(m[2], ","), f.leaves(topLevel(expr, " and on ")[0], at))
	if n := topForm.FindStringSubmatch(expr); n != nil {
		rows = f.most(rows, n[1])
	}
	return rows
}

var topForm = regexp.MustCompile(`and on \(instance\) topk\((\d+),`)

// most keeps the rows of the instances that come first.
func (f *fakeProm) most(rows []fakeRow, n string) []fakeRow {
	var instances []string
	for _, r := range rows {
		instances = append(instances, r.labels["instance"])
	}
	slices.Sort(instances)
	k, _ := strconv.Atoi(n)
	instances = slices.Compact(instances)
	return slices.DeleteFunc(rows, func(r fakeRow) bool { return slices.Index(instances, r.labels["instance"]) >= k })
}

func byJob(a, b fakeRow) int { return cmp.Compare(a.labels["job"], b.labels["job"]) }

// leaves are the values of every series that an expression asks for. Of an instance
// that bears several of the names the first counts.
func (f *fakeProm) leaves(expr string, at time.Time) []fakeRow {
	var rows []fakeRow
	bears, seen := map[string]string{}, map[string]bool{}
	for _, m := range callForm.FindAllStringSubmatch(expr, -1) {
		for _, s := range f.matching(m[2], m[3]) {
			key := m[1] + s.labels["job"] + s.labels["instance"]
			if bears[key] == "" {
				bears[key] = m[2]
			}
			same := fmt.Sprint(m[1], s.labels)
			if bears[key] != m[2] || seen[same] {
				continue
			}
			seen[same] = true
			v := s.value
			if m[1] == "increase" {
				span, _ := strconv.ParseFloat(m[4], 64)
				v = s.gain * span
			}
			if !math.IsNaN(v) {
				rows = append(rows, fakeRow{s.labels, v})
			}
		}
	}
	return rows
}

// shared are the rows of instances that more than one job scrapes.
func (f *fakeProm) shared(rows []fakeRow) []fakeRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r fakeRow) bool {
		return !slices.ContainsFunc(rows, func(o fakeRow) bool {
			return o.labels["instance"] == r.labels["instance"] && o.labels["job"] != r.labels["job"]
		})
	})
}

func (f *fakeProm) grouped(how string, by []string, rows []fakeRow) []fakeRow {
	var keys []string
	groups := map[string]*fakeRow{}
	for _, r := range rows {
		labels := map[string]string{}
		for _, name := range by {
			if v := r.labels[name]; v != "" {
				labels[name] = v
			}
		}
		key := fmt.Sprint(labels)
		g := groups[key]
		if g == nil {
			g = &fakeRow{labels, math.NaN()}
			groups[key], keys = g, append(keys, key)
		}
		v := r.value
		if how == "count" {
			v = 1
		}
		switch {
		case math.IsNaN(g.value):
			g.value = v
		case how == "max":
			g.value = max(g.value, v)
		default:
			g.value += v
		}
	}
	out := make([]fakeRow, 0, len(keys))
	for _, key := range keys {
		out = append(out, *groups[key])
	}
	return out
}

func (f *fakeProm) rangeOf(r *http.Request, query string) map[string]any {
	start, end := timeIn(r, "start", f.now), timeIn(r, "end", f.now)
	step, _ := strconv.ParseFloat(r.Form.Get("step"), 64)
	byLabels := map[string]map[string]any{}
	var keys []string
	for at := start; !at.After(end); at = at.Add(time.Duration(step * float64(time.Second))) {
		for _, row := range f.rows(query, at) {
			key := fmt.Sprint(row.labels)
			if byLabels[key] == nil {
				byLabels[key] = map[string]any{"metric": row.labels, "values": []any{}}
				keys = append(keys, key)
			}
			v := byLabels[key]["values"].([]any)
			byLabels[key]["values"] = append(v, []any{float64(at.UnixMilli()) / 1000, strconv.FormatFloat(row.value, 'f', -1, 64)})
		}
	}
	result := []any{}
	for _, key := range keys {
		result = append(result, byLabels[key])
	}
	return map[string]any{"resultType": "matrix", "result": result}
}
