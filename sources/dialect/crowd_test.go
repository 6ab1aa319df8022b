package dialect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// Real pages say the same read line by line, and what is read from a crowd is
// what is read from as many series.
func TestRealPagesAsCrowds(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	set := builtinSet(t)
	compared := 0
	for _, area := range []string{"engines", "captures", "gateways"} {
		root := shared.Dir(t, "corpus/"+area)
		for _, name := range pagesIn(t, root) {
			body, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			want := scan(t, body)
			listed, crowds := streamed(t, body, 0), streamed(t, body, 1)
			plan := set.Plan(want)
			if plan == nil {
				if set.Plan(listed) != nil || set.Plan(crowds) != nil {
					t.Errorf("%s: a dialect claims what is none's", name)
				}
				continue
			}
			text := write(plan.Read(want, nil), plan.About(want))
			again := set.Plan(listed)
			if got := write(again.Read(listed, nil), again.About(listed)); sorted(got) != sorted(text) {
				t.Errorf("%s, line by line:\n%s\nwant\n%s", name, got, text)
			}
			compared += sameSignals(t, name, plan, want, set.Plan(crowds), crowds)
		}
	}
	if compared < 1000 {
		t.Errorf("%d signals compared", compared)
	}
}

func streamed(t *testing.T, body []byte, crowd int) *expo.Page {
	t.Helper()
	s := expo.NewScanner(expo.Limits{Crowd: crowd})
	s.Complete = true
	p, err := s.ScanFrom(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameSignals compares what two plans make of one page, and returns how many
// signals that were. Only those that take more than the rows as they are may be
// away, and ranks may disagree unnoticed.
func sameSignals(t *testing.T, name string, plan *Plan, page *expo.Page, crowd *Plan, crowds *expo.Page) (n int) {
	t.Helper()
	if crowd == nil {
		t.Errorf("%s: no dialect claims the crowds", name)
		return 0
	}
	want, got := bySignal(plan, page), bySignal(crowd, crowds)
	if crowd.dialect != plan.dialect || crowd.version != plan.version {
		t.Errorf("%s: %s %s, want %s %s", name, crowd.dialect.engine, crowd.version, plan.dialect.engine, plan.version)
	}
	for _, r := range plan.readings {
		plain := len(r.way.From) > 0 && r.way.Rows == "" && len(r.way.Read) == 0 && r.way.Weight == "" && len(r.way.operands()) == 1
		switch {
		case got[r.signal] == want[r.signal] || slices.Contains(outcomes, r.signal) && got[r.signal] == withoutZeros(want[r.signal]):
			n++
		case plain:
			t.Errorf("%s: %s as a crowd is\n%s\nwant\n%s", name, r.signal, got[r.signal], want[r.signal])
		}
	}
	return n
}

// withoutZeros leaves out who had no failure: of a crowd it is not worked out.
func withoutZeros(lines string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(lines, "\n"), func(l string) bool { return strings.HasSuffix(l, " 0") }), "\n")
}

func bySignal(plan *Plan, page *expo.Page) map[model.Signal]string {
	lines := map[model.Signal][]string{}
	for _, s := range plan.Read(page, nil) {
		lines[s.Signal] = append(lines[s.Signal], s.Labels.String()+" "+valueText(&s))
	}
	out := map[model.Signal]string{}
	for signal, all := range lines {
		slices.Sort(all)
		out[signal] = strings.Join(all, "\n")
	}
	return out
}

// changing is a page whose rows come, go, come back, and start anew.
type changing struct {
	*rand.Rand
	rows  []changingRow
	polls int
}

type changingRow struct {
	labels string
	n      int
	away   int // pages until it is back
}

// newChanging begins with two rows of each sample: of one that has a single row a
// page of series does not remember what is gone.
func newChanging(seed, round uint64) *changing {
	c := &changing{Rand: rand.New(rand.NewPCG(seed, round))}
	for i := range 12 {
		c.rows = append(c.rows, changingRow{labels: fmt.Sprintf(`model_name="m%d",tenant="t%d",user="first%d"`, i%3, i/3%2, i/6)})
	}
	return c
}

// poll is the next page. Rows differ in what is a sample's own, in what is
// dropped, and in what repeats a value.
func (c *changing) poll() string {
	for i := range c.rows {
		r := &c.rows[i]
		switch {
		case c.polls == 0:
		case r.away > 0:
			r.away--
		case c.IntN(6) == 0:
			r.away = 1 + c.IntN(6)
		case c.IntN(60) == 0:
			r.away = 1 << 20 // for good
		case c.IntN(80) == 0:
			r.n = c.IntN(3)
		}
		r.n += c.IntN(5)
	}
	for range c.IntN(3) {
		labels := fmt.Sprintf(`model_name="m%d",tenant="t%d",pid="%d",user="u%d"`, c.IntN(3), c.IntN(2), c.IntN(2), c.IntN(4))
		if !slices.ContainsFunc(c.rows, func(r changingRow) bool { return r.labels == labels }) {
			c.rows = append(c.rows, changingRow{n: c.IntN(9), labels: labels})
		}
	}
	c.polls++
	return c.write()
}

func (c *changing) write() string {
	var b strings.Builder
	b.WriteString("# TYPE sglang:num_running_reqs gauge\n# TYPE sglang:num_requests_total counter\n" +
		"# TYPE sglang:time_to_first_token_seconds histogram\nother 1\n")
	for _, r := range c.rows {
		if r.away > 0 {
			continue
		}
		for _, rank := range c.Perm(2) {
			r.lines(&b, fmt.Sprintf(`%s,tp_rank="%d"`, r.labels, rank))
		}
	}
	return b.String()
}

func (r changingRow) lines(b *strings.Builder, labels string) {
	fmt.Fprintf(b, "sglang:num_running_reqs{%s} %d\nsglang:num_requests_total{%s} %d\n", labels, r.n%7, labels, r.n)
	for i, le := range []string{"0.5", "1", "+Inf"} {
		fmt.Fprintf(b, "sglang:time_to_first_token_seconds_bucket{%s,le=%q} %d\n", labels, le, r.n*(i+1)/3)
	}
	fmt.Fprintf(b, "sglang:time_to_first_token_seconds_count{%s} %d\nsglang:time_to_first_token_seconds_sum{%s} %d\n", labels, r.n, labels, r.n*2)
}

// Whatever comes and goes, a crowd is read as a page is of which each line is
// remembered, and long after the crowd has given its rows up.
func TestCrowdsAreReadAsSeriesAre(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const seed = 20261202
	for round := range 25 {
		c := newChanging(seed, uint64(round))
		lines, crowds := newPoller(t), newCrowdPoller(t)
		for _, p := range []*poller{lines, crowds} {
			var err error
			if p.set, err = p.set.Keeping([]string{"tenant"}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 60 {
			body := c.poll()
			want, got := samplesOf(lines.poll(body)), samplesOf(crowds.poll(body))
			if want != got {
				t.Fatalf("seed %d, round %d, page %d: got\n%s\nwant\n%s\nfrom\n%s", seed, round, i, got, want, body)
			}
		}
		if round == 0 && len(crowds.plan.readings) != 3 {
			t.Errorf("%d signals are read", len(crowds.plan.readings))
		}
	}
}

// samplesOf are the samples in order, without counters that have no value.
func samplesOf(r read) string {
	var lines []string
	for i := range r.samples {
		if s := &r.samples[i]; s.Kind != model.Counter || s.Value == s.Value {
			lines = append(lines, string(s.Signal)+s.Labels.String()+" "+valueText(s)+fmt.Sprint(s.Hist))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A sum of very many users keeps what those had that are gone, for good.
func TestCrowdOfUsersIsOneSum(t *testing.T) {
	const users, polls = 200, 60
	p := newCrowdPoller(t)
	for poll := range polls {
		var b strings.Builder
		b.WriteString("# TYPE vllm:generation_tokens_total counter\n")
		for user := poll; user < poll+users; user++ { // one goes and one comes with each page
			fmt.Fprintf(&b, "vllm:generation_tokens_total{model_name=\"m\",user=\"u%d\"} 10\n", user)
		}
		p.poll(b.String()).value(model.OutputTokens, 10*float64(users+poll))
	}
	crowd := p.plan.readings[0].crowd
	if n := crowd.table.Rows(); n > users+20 || len(crowd.parts) > n || len(crowd.samples) != 1 {
		t.Errorf("%d rows, %d parts and %d samples for %d users", n, len(crowd.parts), len(crowd.samples), users)
	}
	p.plan.Restarted()
	p.poll("vllm:generation_tokens_total{model_name=\"m\",user=\"new\"} 3\n").value(model.OutputTokens, 3)
}

// Samples that are gone leave their place to others.
func TestCrowdOfSamplesStaysSmall(t *testing.T) {
	p := newCrowdPoller(t)
	for poll := range 100 {
		r := p.poll(strings.ReplaceAll(fmt.Sprintf(vllmHist, 1, 2, 3, 4, 4, poll), `"m"`, fmt.Sprintf(`"m%d"`, poll)))
		if h := r.only(model.TTFT); h.Labels.Get(model.LabelModel) != fmt.Sprintf("m%d", poll) || h.Hist.Sum.Value != float64(poll) {
			t.Fatalf("page %d: %v %v", poll, h.Labels, h.Hist)
		}
	}
	if c := p.plan.readings[0].crowd; len(c.samples) > 20 || len(c.byLabels) > 20 || len(c.parts) > 20 || len(c.rows) > 20 {
		t.Errorf("%d samples, %d parts, %d rows", len(c.samples), len(c.parts), len(c.rows))
	}
}

// What takes more than the rows as they are is not read from a crowd, and that is
// said. Conditions hold for its rows as they do for series.
func TestCrowdsThatAreComputedWith(t *testing.T) {
	p := newCrowdPoller(t)
	r := p.poll("trtllm_kv_cache_used_blocks{m=\"a\"} 3\ntrtllm_kv_cache_used_blocks{m=\"b\"} 3\n" +
		"trtllm_kv_cache_max_blocks{m=\"a\"} 6\ntrtllm_kv_cache_max_blocks{m=\"b\"} 6\ntrtllm_kv_cache_utilization{m=\"a\"} 1\n")
	want := "too many series to compute with: trtllm_kv_cache_max_blocks, trtllm_kv_cache_used_blocks"
	if !slices.Contains(r.about.Notes, want) {
		t.Errorf("notes %q", r.about.Notes)
	}
	failed := "vllm:request_success_total{finished_reason=\"stop\"} 1\nvllm:request_success_total{finished_reason=\"abort\"} 1\n" +
		"http_requests_total{status=\"5xx\"} 4\nhttp_requests_total{status=\"2xx\"} 9\n"
	p = newCrowdPoller(t)
	p.poll(failed).value(model.Failed, 4)
	p.poll(failed + "vllm:request_success_total{finished_reason=\"error\"} 1\n").none(model.Failed)
}

// Lines that come back, or come with other bounds, are read again.
func TestCrowdWithOtherBounds(t *testing.T) {
	p := newCrowdPoller(t)
	page := fmt.Sprintf(vllmHist, 1, 2, 3, 4, 4, 9)
	p.poll(page)
	other := strings.NewReplacer(`"0.5"`, `"0.7"`).Replace(page)
	if h := p.poll(other).only(model.TTFT).Hist; !slices.Equal(h.Bounds, []float64{0.1, 0.7, 1}) || h.Incomplete || h.N() != 4 {
		t.Errorf("got %+v", h)
	}
	lost := strings.Replace(other, "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.7\",model_name=\"m\"} 2\n", "", 1)
	if h := p.poll(lost).only(model.TTFT).Hist; !h.Incomplete || !slices.Equal(h.Counts, []float64{1, 1, 3, 4}) {
		t.Errorf("a bucket less: %+v", h)
	}
}
