package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/compare"
	"slotop/model/unit"
)

// twoStages is two stages of a load test, the second under more load; hostile has names
// that want to be obeyed.
func twoStages(hostile bool) *compare.Comparison {
	a, b := stage("10 users", 0, 1), stage("20 users", 5*time.Minute, 3)
	b.UnseenS = 12
	b.Workflows = append(b.Workflows, model.StageWorkflow{Name: "late"})
	if hostile {
		a.Name, b.Name = "<script>alert(1)</script>|`x`\x1b[31m", "世界 \u202eabc & \"q\""
		name := "| a | <b> \x1b]0;x\x07"
		a.Workflows[0].Name, b.Workflows[0].Name = name, name
	}
	c := compare.Stages(&a, &b)
	return &c
}

// stage is five minutes in which latencies were slow times as long as usual.
func stage(name string, from time.Duration, slow float64) model.StageView {
	const n = 2400.0
	ttft, tpot := counted(n, 0.15*slow), counted(n, 0.012)
	good := 1 - 0.02*slow*slow
	effect := func(n float64) model.Tally { return model.Tally{N: n, Effect: 1.6} }
	return model.StageView{Name: name, From: at(from), To: at(from + 5*time.Minute), Workflows: []model.StageWorkflow{{
		Name: "chat", Finished: model.Of(n), PerSecond: model.Of(n / 300), OutputPerSecond: model.Of(n * slow), PromptPerSecond: model.Missing(model.Unsupported),
		PrefixCacheHit: model.Missing(model.Unsupported),
		TTFT:           counts(ttft), TPOT: counts(tpot), Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 1}},
		Goodput: &model.GoodputView{
			Share: exact(good), PerSecond: between(good*8, good*8), N: n, Target: model.Of(.95), Verdict: model.Met, Basis: model.ByHistograms,
			Of: model.Denominator{Finished: model.Of(n)},
		},
		Sampled: &model.Sampled{
			Batches: 15, BatchS: 20, Requests: effect(n), Good: effect(n * good), Output: model.Tally{N: 300 * n * slow, Effect: 300},
			GoodEffect: 3, TTFT: ttft, TPOT: tpot,
		},
	}}}
}

// counted is n latencies that double their count with each edge around a median.
func counted(n, median float64) model.Counted {
	var c model.Counted
	for _, edge := range []float64{.01, .025, .05, .1, .25, .5, .75, 1, 2.5, 5} {
		share := 1 / (1 + math.Pow(median/edge, 3))
		c.Bounds, c.Counts, c.Effects = append(c.Bounds, edge), append(c.Counts, math.Floor(n*share)), append(c.Effects, 1.5)
	}
	c.Counts = append(c.Counts, n)
	return c
}

func counts(c model.Counted) *model.Dist {
	n := c.Counts[len(c.Counts)-1]
	d := &model.Dist{N: n, Basis: model.OverWindow}
	for q, e := range map[float64]*model.Estimate{.5: &d.P50, .95: &d.P95, .99: &d.P99} {
		for i, bound := range c.Bounds {
			if c.Counts[i] >= q*n {
				*e = estimate(bound*.9, append([]float64{0}, c.Bounds...)[i], bound)
				break
			}
		}
	}
	return d
}

func TestCompared(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{"compared": twoStages(false), "compared-hostile": twoStages(true)} {
		for _, width := range []int{40, 80, 120} {
			text := ComparedText(c, Options{Width: width})
			golden(t, fmt.Sprintf("%s-%d.txt", name, width), []byte(text))
			for line := range strings.Lines(text) {
				if n := unit.Width(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s at %d: %d cells: %q", name, width, n, line)
				}
			}
		}
		ascii := ComparedText(c, Options{Width: 80, ASCII: true})
		golden(t, name+"-80-ascii.txt", []byte(ascii))
		for _, r := range ascii {
			if r != '\n' && (r < ' ' || r > '~') {
				t.Errorf("%s: %q is no ASCII", name, r)
			}
		}
		c.Simulated = true
		p := ComparedPaper(c)
		golden(t, name+".md", []byte(p.Markdown()))
		html := p.HTML()
		golden(t, name+".html", []byte(html[strings.Index(html, "<body>"):])) // the look is paper's
		for _, forbidden := range []string{"<script>alert", "\x1b", "\u202e"} {
			if strings.Contains(html, forbidden) || strings.Contains(p.Markdown(), forbidden) {
				t.Errorf("%s: %q is passed on", name, forbidden)
			}
		}
	}
}

// In the JSON form, as in every other, no name is obeyed.
func TestComparedJSONHidesNothing(t *testing.T) {
	var b bytes.Buffer
	c := twoStages(true)
	c.A.Name += "\u009b31m"
	if err := ComparedJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), hidden); i >= 0 {
		t.Errorf("obeys %q", b.String()[i:i+8])
	}
}

// The JSON form has its schema, and null for what is not known.
func TestComparedJSON(t *testing.T) {
	var b bytes.Buffer
	if err := ComparedJSON(&b, twoStages(false)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema    string
		Compared  int
		Workflows []struct {
			Name    string
			Only    string `json:"only_in"`
			Figures []struct {
				Figure  struct{ Key, Title, Unit string }
				A, B    struct{ Point, Lo, Hi, N *float64 }
				Change  struct{ Point, Lo, Hi *float64 }
				Verdict string
				Sense   string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != ComparedSchema || got.Compared == 0 || len(got.Workflows) != 2 || got.Workflows[1].Only != "b" || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%s", b.String())
	}
	for _, f := range got.Workflows[0].Figures {
		if f.Verdict != "cannot_tell" && (f.A.Lo == nil || f.B.Hi == nil && f.Figure.Unit != "seconds") {
			t.Errorf("%s: %+v", f.Figure.Key, f)
		}
	}
}
