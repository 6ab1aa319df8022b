package dialect

import (
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// eachWay runs a test with pages that are held and with pages that are large.
func eachWay(t *testing.T, name string, test func(t *testing.T, p *poller)) {
	t.Run(name, func(t *testing.T) { test(t, newPoller(t)) })
	t.Run(name+", in crowds", func(t *testing.T) { test(t, newCrowdPoller(t)) })
}

// hosts is a page on which the output tokens are a sum over hosts.
func hosts(tokens ...int) string {
	var b strings.Builder
	b.WriteString("# TYPE vllm:generation_tokens counter\n# TYPE vllm:num_requests_running gauge\n")
	for i, n := range tokens {
		if n >= 0 {
			fmt.Fprintf(&b, "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\",host=\"h%d\"} %d\n", i, n)
			fmt.Fprintf(&b, "vllm:num_requests_running{engine=\"0\",model_name=\"m\",host=\"h%d\"} 2\n", i)
		}
	}
	return b.String()
}

const gone = -1

// A sum must not fall because one of its rows is gone: that would pass for a
// restart, and all of it for new.
func TestRowOfASumThatIsGoneStandsStill(t *testing.T) {
	for name, pages := range map[string][]struct {
		page string
		want float64
	}{
		"for one page": {{hosts(100, 200, 300), 600}, {hosts(110, gone, 310), 620}, {hosts(120, 220, 320), 660}},
		"for good":     {{hosts(100, 200), 300}, {hosts(110, gone), 310}, {hosts(120, gone), 320}, {hosts(130, gone), 330}},
		"all, then one": {
			{hosts(100, 200), 300}, {hosts(gone, gone) + "vllm:other 1\n", 0}, {hosts(110, gone), 310},
		},
		"when another comes":     {{hosts(100, 200), 300}, {hosts(110, gone, 5), 315}, {hosts(120, gone, 10), 330}},
		"when the server is new": {{hosts(100, 200), 300}, {hosts(3, gone), 3}, {hosts(4, gone), 4}, {hosts(5, 1), 6}},
		"when new rows grow":     {{hosts(100, 200), 300}, {hosts(gone, gone, 5), 305}, {hosts(2, gone, 9), 11}},
		"when a row starts anew": {{hosts(100, 200), 300}, {hosts(110, gone), 310}, {hosts(120, 7), 127}, {hosts(130, gone), 137}},
		"behind a bad line": {
			{hosts(100, 200), 300}, {hosts(110, gone), 310}, {hosts(120, gone) + "bad line\n", 320}, {hosts(130, 230), 360},
		},
	} {
		eachWay(t, name, func(t *testing.T, p *poller) {
			for i, poll := range pages {
				r := p.poll(poll.page)
				if poll.want == 0 {
					r.none(model.OutputTokens)
					continue
				}
				if got := r.only(model.OutputTokens).Value; got != poll.want {
					t.Errorf("page %d: got %v, want %v", i, got, poll.want)
				}
			}
		})
	}
	eachWay(t, "a level falls", func(_ *testing.T, p *poller) {
		p.poll(hosts(1, 2)).value(model.Running, 4)
		p.poll(hosts(1, gone)).value(model.Running, 2)
	})
	eachWay(t, "until the process is known to be new", func(_ *testing.T, p *poller) {
		p.poll(hosts(100, 200)).value(model.OutputTokens, 300)
		p.plan.Restarted()
		p.poll(hosts(500, gone)).value(model.OutputTokens, 500)
	})
}

func TestPartOfAHistogramThatIsGoneStandsStill(t *testing.T) {
	page := func(hosts ...int) string {
		var b strings.Builder
		for i, n := range hosts {
			if n >= 0 {
				one := fmt.Sprintf(vllmHist, n, 2*n, 3*n, 4*n, 4*n, n)
				b.WriteString(strings.ReplaceAll(one, "model_name", fmt.Sprintf("host=\"h%d\",model_name", i)))
			}
		}
		return b.String()
	}
	for name, pages := range map[string][]struct {
		page string
		want float64 // of the first bucket; the others are multiples
	}{
		"for one page":           {{page(10, 20), 30}, {page(11, gone), 31}, {page(12, 22), 34}},
		"for good":               {{page(10, 20), 30}, {page(11, gone), 31}, {page(12, gone), 32}},
		"when the server is new": {{page(10, 20), 30}, {page(1, gone), 1}, {page(2, gone), 2}, {page(3, 4), 7}},
		"behind a bad line":      {{page(10, 20), 30}, {page(11, gone) + "bad line\n", 0}, {page(12, gone) + "bad line\n", 32}, {page(13, 23), 36}},
	} {
		eachWay(t, name, func(t *testing.T, p *poller) {
			for i, poll := range pages {
				r := p.poll(poll.page)
				if poll.want == 0 {
					r.none(model.TTFT)
					continue
				}
				h := r.only(model.TTFT).Hist
				if h.Counts[0] != poll.want || h.N() != 4*poll.want || h.Sum.Value != poll.want || h.Incomplete {
					t.Errorf("page %d: got %+v, want %v", i, h, poll.want)
				}
			}
		})
	}
}
