package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/report"
	"slotop/model/story"
	"slotop/model/unit"
)

// pageFigure is a number of the frame as a page has it.
type pageFigure struct{ key, value, text string }

// pageFigures are those of a page.
func pageFigures(t *testing.T, page string) []pageFigure {
	t.Helper()
	var all []pageFigure
	d := xml.NewDecoder(strings.NewReader(page))
	in := -1
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			if v.Name.Local != "data" {
				continue
			}
			f := pageFigure{}
			for _, a := range v.Attr {
				switch a.Name.Local {
				case "data-key":
					f.key = a.Value
				case "value":
					f.value = a.Value
				}
			}
			all, in = append(all, f), len(all)
		case xml.CharData:
			if in >= 0 {
				all[in].text += strings.ReplaceAll(string(v), "\u00a0", " ")
			}
		case xml.EndElement:
			if v.Name.Local == "data" {
				in = -1
			}
		}
	}
}

// decodedFrame is a frame as programs get it.
func decodedFrame(t *testing.T, f *model.Frame) any {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	var v any
	d := json.NewDecoder(&b)
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// elementNames are the keys by which an element of a list is called.
var elementNames = []string{"name", "target", "pool", "workflow", "kind", "change"}

// walk walks a path through the JSON.
func walk(v any, path string) any {
	for part := range strings.SplitSeq(path, "/") {
		name, err := url.PathUnescape(part)
		if err != nil {
			return nil
		}
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			v = element(at, name)
		default:
			return nil
		}
	}
	return v
}

func element(list []any, name string) any {
	for _, key := range elementNames {
		for _, one := range list {
			if o, ok := one.(map[string]any); ok && o[key] == name {
				return one
			}
		}
	}
	return nil
}

// inWords are all the ways in which a number may be written.
func inWords(v float64) []string {
	money := func(v float64) string { return unit.Money("$", v) }
	multiple := func(v float64) string { return unit.Multiple(v, false) }
	var all []string
	for _, format := range []func(float64) string{
		unit.Rate, unit.Count, unit.Integer, unit.Percent, unit.Ratio, unit.Load, unit.Number, unit.Milliseconds,
		unit.Watts, unit.WattHours, unit.Intensity, multiple, money,
	} {
		all = append(all, format(v), format(v)+"/s", "+"+format(v)+"/s")
	}
	return all
}

// says reports whether the JSON says what a figure does: the same number, and in words
// what that number reads as.
func (f pageFigure) says(t *testing.T, node any) {
	t.Helper()
	text, err := json.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	var number float64
	var words []string
	switch at := node.(type) {
	case json.Number:
		number, err = at.Float64()
		words = inWords(number)
	case map[string]any:
		if _, quantile := at["enough"]; quantile {
			var e model.Estimate
			err = json.Unmarshal(text, &e)
			number = e.Value.Value
			if !e.Value.OK() {
				number = e.Lo.Value
			}
			s := unit.Estimate(e, false)
			words = []string{s, s + " (few)"}
		} else {
			var s model.Share
			err = json.Unmarshal(text, &s)
			number = s.Point.Value
			if !s.Point.OK() {
				number = s.Lo.Value
			}
			words = []string{unit.Share(s, false)}
		}
	default:
		t.Errorf("%s: the JSON has %s, the page %s", f.key, text, f.text)
		return
	}
	if err != nil {
		t.Errorf("%s: %v in %s", f.key, err, text)
	}
	if got, err := strconv.ParseFloat(f.value, 64); err != nil || got != number {
		t.Errorf("%s: the page has the number %s, the JSON %s", f.key, f.value, text)
	}
	for _, w := range words {
		if w == f.text {
			return
		}
	}
	t.Errorf("%s: the page says %q, the JSON %s", f.key, f.text, text)
}

// Every figure of a page that is one of a frame equals that of the frame's JSON, as
// slotop snapshot prints it.
func TestFiguresOfThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for minutes of virtual time, with nothing beside it")
	}
	for _, tt := range []struct {
		scenario string
		kind     report.Kind
		least    int
	}{
		{"S1", report.Incident, 40}, {"S4", report.Incident, 40}, {"S1", report.Capacity, 90}, {"S0", report.Capacity, 90},
	} {
		t.Run(tt.scenario+" "+string(tt.kind), func(t *testing.T) {
			tape := filepath.Join(t.TempDir(), "x.tape")
			if r := headless(t, "record", "-o", tape, "--for", "720s", "demo:"+tt.scenario+"?seed=7"); r.code != exitOK {
				t.Fatal(r.err)
			}
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			a := &app{out: io.Discard, err: os.Stderr}
			var told story.Collector
			if _, err := a.tellTape(context.Background(), tape, &told); err != nil {
				t.Fatal(err)
			}
			s := told.Story()
			frames := map[string]any{"last": decodedFrame(t, s.Last), "worst": decodedFrame(t, s.Worst)}
			all := pageFigures(t, report.Dossier(s, tt.kind, report.Source{Whole: wholeStage}).HTML())
			if len(all) < tt.least {
				t.Errorf("%d figures", len(all))
			}
			for _, f := range all {
				frame, path, _ := strings.Cut(f.key, "/")
				f.says(t, walk(frames[frame], path))
			}
			snapshotAgrees(t, tape, s.Last)
		})
	}
}

// snapshotAgrees checks that the last frame is the one that snapshot prints, but for the
// stage that stands for the whole.
func snapshotAgrees(t *testing.T, tape string, last *model.Frame) {
	t.Helper()
	bare := *last
	bare.Stages = []model.StageView{}
	bare.Events = withoutStages(last.Events)
	r := headless(t, "snapshot", "-o", "json", tape)
	var b bytes.Buffer
	if err := report.JSON(&b, &bare); err != nil {
		t.Fatal(err)
	}
	if r.out != b.String() {
		at := firstDifference(r.out, b.String())
		t.Errorf("snapshot prints %.300q, the report is of %.300q", r.out[max(0, at-100):], b.String()[max(0, at-100):])
	}
}

func withoutStages(all []model.Event) []model.Event {
	out := []model.Event{}
	for _, e := range all {
		if e.Kind != model.EventStage {
			out = append(out, e)
		}
	}
	return out
}
