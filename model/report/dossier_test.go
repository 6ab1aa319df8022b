package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/story"
)

// toldOf is the story of one frame, seen a few times at a minute's distance.
func toldOf(f *model.Frame, times int) *story.Story {
	var c story.Collector
	for i := range times {
		g := *f
		g.At = f.At.Add(time.Duration(i) * time.Minute)
		g.Every = time.Minute
		c.Take(&g)
	}
	return c.Story()
}

func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// Whatever a frame shows, both kinds of a dossier can be written of it, obey nothing
// that is in it, and stay within what a reader opens.
func TestDossierOfEveryFrame(t *testing.T) {
	for _, one := range frames {
		for _, times := range []int{1, 3} {
			s := toldOf(one.make(), times)
			for _, kind := range Kinds {
				doc := Dossier(s, kind, Source{Names: []string{one.name, "\x1b[2J<b>"}, Version: "1", Damage: []string{"block 3 is damaged"}})
				page, text := doc.HTML(), doc.Markdown()
				wellFormed(t, page)
				for _, what := range []string{page, text} {
					if i := strings.IndexFunc(what, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x202a && r <= 0x202e }); i >= 0 {
						t.Errorf("%s %s: obeys %q", one.name, kind, what[i:min(i+40, len(what))])
					}
				}
				if len(page) > 4<<20 || len(text) > 1<<20 {
					t.Errorf("%s %s: %d bytes of HTML, %d of Markdown", one.name, kind, len(page), len(text))
				}
				for _, word := range []string{"NaN", "Inf", "%!"} {
					if strings.Contains(text, word) {
						t.Errorf("%s %s: says %s", one.name, kind, word)
					}
				}
			}
		}
	}
}

func TestDossierOfNothing(t *testing.T) {
	for _, kind := range Kinds {
		doc := Dossier((&story.Collector{}).Story(), kind, Source{})
		if md := doc.Markdown(); !strings.Contains(md, "Nothing was seen") {
			t.Error(md)
		}
		wellFormed(t, doc.HTML())
	}
}

// A story asks for an incident report where something was breached.
func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    story.Story
		want Kind
	}{
		{"nothing", story.Story{}, Capacity},
		{"a breach", story.Story{Breaches: []story.Breach{{}}}, Incident},
		{"of what was assumed", story.Story{Breaches: []story.Breach{{Assumed: true}}}, Incident},
		{"an alert that fired", story.Story{Alerts: []story.Episode{{Fired: true, Alert: model.AlertView{Severity: model.Warn}}}}, Incident},
		{"one that did not", story.Story{Alerts: []story.Episode{{Alert: model.AlertView{Severity: model.Page}}}}, Capacity},
		{"a note", story.Story{Alerts: []story.Episode{{Fired: true, Alert: model.AlertView{Severity: model.Note}}}}, Capacity},
	} {
		if got := KindOf(&tt.s); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A story of days has dates, one of minutes has none.
func TestDates(t *testing.T) {
	f := incident()
	short := Dossier(toldOf(f, 2), Incident, Source{}).Markdown()
	long := Dossier(toldOf(f, 2000), Incident, Source{}).Markdown()
	month := f.At.Wall.UTC().Format("Jan 2 ")
	if strings.Contains(short, month) || !strings.Contains(long, month) {
		t.Errorf("dates of minutes: %v, of days: %v", strings.Contains(short, month), strings.Contains(long, month))
	}
	if !strings.Contains(long, "point every 2 min, each of up to 2 polls") {
		t.Error("nothing is said of points that were merged")
	}
}

func TestCSV(t *testing.T) {
	frame := func(n int, w model.WorkflowView) *model.Frame {
		return &model.Frame{At: at(time.Duration(n) * time.Second), Every: time.Second, Workflows: []model.WorkflowView{w}}
	}
	known := model.WorkflowView{
		Name: "=1+1, \"a\"\n", Requests: model.Requests{PerSecond: model.Of(1.0 / 3), Waiting: model.Of(0)},
		TTFT: &model.Dist{N: 7, P95: beyond(10), P50: estimate(.182, .17, .2)},
	}
	var c story.Collector
	c.Take(frame(0, known))
	c.Take(frame(1, model.WorkflowView{Name: known.Name}))
	var b bytes.Buffer
	if err := CSV(&b, c.Story()); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`time,of,name,signal,unit,value,lo,hi,n
2026-08-17T03:00:00Z,workflow,"'=1+1, ""a""␤",ttft.p50,seconds,0.182,0.17,0.2,7
2026-08-17T03:00:00Z,workflow,"'=1+1, ""a""␤",ttft.p95,seconds,,10,Inf,7
2026-08-17T03:00:00Z,workflow,"'=1+1, ""a""␤",requests_per_second,per_second,0.3333333333333333,,,
2026-08-17T03:00:00Z,workflow,"'=1+1, ""a""␤",waiting,count,0,,,
`, "\n", "\r\n")
	if b.String() != want {
		t.Errorf("%s, want %s", &b, want)
	}
}

// Names from outside: no cell is a formula, and what a spreadsheet reads back is the
// name that a screen shows.
func FuzzInert(f *testing.F) {
	for _, s := range []string{"chat", "=cmd()", "+1", "-1", "@x", " =1", "＝1", "\t=1", "\x00", "a,b", "\"", "\r\n", "😀", "\u202e=1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		cell := inert(name)
		if trimmed := strings.TrimLeft(cell, " "); trimmed != "" && strings.ContainsAny(trimmed[:1], "=+-@\t\r\n") {
			t.Errorf("%q is computed as %q", name, cell)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = true
		if err := w.Write([]string{cell, "x"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		back, err := csv.NewReader(&b).Read()
		if err != nil || len(back) != 2 || back[0] != cell {
			t.Errorf("%q comes back as %q, %v", cell, back, err)
		}
	})
}

// A number is written so that it reads back as itself; one that is not known is empty.
func TestCells(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1e-9: "1e-09", 0.1: "0.1", 123456789: "1.23456789e+08", math.Inf(1): "Inf"} {
		if got := cellOf(v); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
	if got := cellOf(math.NaN()); got != "" {
		t.Errorf("unknown is %q", got)
	}
}

// That nothing was missed is not said of a workflow that nobody could judge.
func TestNobodyCanTell(t *testing.T) {
	f := calm()
	for i := range f.Workflows {
		f.Workflows[i].Condition = model.IsBlind
		f.Workflows[i].Goodput = &model.GoodputView{Verdict: model.CannotCompute}
	}
	f.Alerts, f.Findings = nil, nil
	text := Dossier(toldOf(f, 3), Incident, Source{}).Markdown()
	if !strings.HasPrefix(text, "# Nobody can tell whether an objective was breached\n") || !strings.Contains(text, "but the goodput of "+f.Workflows[0].Name) {
		t.Error(text[:600])
	}
}

// What is said of gaps does not gainsay the polls that failed beside it.
func TestFailedPollsWithoutAGap(t *testing.T) {
	f := incident()
	for i := range f.Targets {
		f.Targets[i].State, f.Targets[i].FailedPolls = model.Up, 1
	}
	if text := Dossier(toldOf(f, 3), Incident, Source{}).Markdown(); !strings.Contains(text, "No gap: a target whose poll failed answered again") {
		t.Error(text[strings.Index(text, "How good the data is"):])
	}
}

// A sentence under a chart says a percentile with its bracket and a goodput as the
// interval that it is, as the tables do; a line beyond the last bucket is no gap.
func TestSentencesHaveTheirBrackets(t *testing.T) {
	f := incident()
	w := &f.Workflows[0]
	beyond := model.Estimate{Lo: model.Of(10), Open: true, Enough: true}
	w.TTFT = &model.Dist{N: 100, P50: beyond, P95: beyond, P99: beyond, Basis: model.OverWindow}
	w.TPOT = &model.Dist{N: 100, P95: model.Estimate{Value: model.Of(0.017), Lo: model.Of(0.01), Hi: model.Of(0.025)}, Basis: model.OverWindow}
	w.Goodput = &model.GoodputView{N: 100, Share: model.Share{Lo: model.Of(0.61), Hi: model.Of(0.88), Point: model.Of(0.7)}, Verdict: model.Missed}
	text := Dossier(toldOf(f, 3), Incident, Source{}).Markdown()
	for _, want := range []string{"- p95: > 10 s at ", "`███` p50\n", "- p95: 10–25 ms at ", "- goodput: 61–88 % at "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
