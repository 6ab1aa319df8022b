package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"slotop/model"
	"slotop/model/unit"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

func jsonLine(t testing.TB, f *model.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var frames = []struct {
	name string
	make func() *model.Frame
}{
	{"calm", calm}, {"incident", incident}, {"empty", empty}, {"load-test", loadTest}, {"gpus", gpus}, {"explained", explained},
}

func TestGolden(t *testing.T) {
	for _, f := range frames {
		var indented bytes.Buffer
		if err := json.Indent(&indented, jsonLine(t, f.make()), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, f.name+".json", indented.Bytes())
		for _, width := range []int{40, 80, 120} {
			golden(t, fmt.Sprintf("%s-%d.txt", f.name, width), []byte(Text(f.make(), Options{Width: width})))
		}
		golden(t, f.name+"-80-ascii.txt", []byte(Text(f.make(), Options{ASCII: true})))
	}
}

// TestTextIsPlain: no line is wider than asked, and no byte is anything but
// printable text and our own line feeds.
func TestTextIsPlain(t *testing.T) {
	for _, f := range frames {
		for width := 1; width <= 200; width += 3 {
			for _, ascii := range []bool{false, true} {
				checkPlain(t, Text(f.make(), Options{Width: width, ASCII: ascii}), max(width, leastWidth), ascii)
			}
		}
	}
}

func checkPlain(t *testing.T, text string, width int, ascii bool) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if n := unit.Width(line); n > width {
			t.Fatalf("%d cells, not %d: %q", n, width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Fatalf("blanks at the end: %q", line)
		}
		for _, r := range line {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || ascii && r > '~' {
				t.Fatalf("%q holds %U", line, r)
			}
		}
	}
}

func TestTextSaysTheWords(t *testing.T) {
	crowd := calm()
	crowd.Workflows[0].Name, crowd.Workflows[0].Members = "other", 49980
	tests := []struct {
		frame *model.Frame
		want  []string
	}{
		{crowd, []string{"other (49980) undecided 17.2", "other (49980), undecided since"}},
		{incident(), []string{
			"SIMULATED", "partial: 20 s covered", "stalled", "2 lines skipped (5, 8)",
			"not metrics: an HTML page", "last good answer at 03:11:00 (3 min 00 s ago)",
			"it never answered", "12 of 60 polls failed", "restarted 1 time, last at 03:09:03",
			"17 series refused by a limit", "engine reports 412 tok/s", "8 process copies",
			"started 7200, finished 3500, failed not exported", "unaccounted 3696, since start",
			"no percentile: a bucket line was lost", "no percentile: only sum and count are exported",
			"tpot 50 ms for 95 %: cannot compute", "ttft 1 s for 95 %: no traffic", "p95 > 7.5 s (few)",
			"prefix hits no samples", "prompt stale", "n 10",
			"–: no data", "old: stale", "n/e: not exported", "n=0: no samples", "1 of 2 targets fresh",
			"ALERT   firing stalled", "ITL from vllm:time_per_output_token_seconds: gap between two chunks",
		}},
		{calm(), []string{
			"p50 182 ms", "p95 ~640 ms (500–750)", "n 240 mean 210 ms", "p50 ≤ 0.3 s", "p99 > 160 s",
			"ttft 1 s for 95 %: met, 97.9 % within it, assumed", "tpot 50 ms for 95 %: undecided, 90–97 % within it",
			"58 s covered", "2 targets", "failed 0,", "not exported: prefill",
		}},
		{loadTest(), []string{
			"failed 429 rate_limited: 9 of 46, 19.6 %", "at least 915 output tokens (2 of 5 unknown, n 3)", "generator behind by 900 ms",
			"since 03:09:00 UTC (5 min 00 s ago), 2 times, acknowledged: burn 400", "no new data, 3 targets", "because of target down",
			"TTFT 500 ms for 99.9 %: missed, 75.0 % within it", "nearest bucket edges 10 ms and 25 ms", "1st answer p50 1.2 s",
			"45 judged, 36 finished, 9 failed, 1 cancelled, 1 of them not counted", "budget spent, 18 bad of 4 allowed", "18 of 45 bad in 5 min",
			"queued 1, preparing context 0", "needs 1 h 07 min, requests to go 1200, done 0.3/s", "cannot evaluate wait too long checkout: no target exports",
			"stage A, from 03:00:00 UTC to 03:10:00 UTC", "log 18 more before", "72.0 % of users", "4 requests that share their fate counted as one",
			"wait now 300 ms to the first token, longer than promised in 40 s", "slowest vllm-1:8000, its TTFT p50 ~7.5 s",
		}},
		{empty(), []string{"nothing covered yet", "no target has named a model yet", "localhost:8000", "no data"}},
		{onlyGPUs(), []string{"workflow none: no target serves requests"}},
	}
	for _, tc := range tests {
		text := strings.Join(strings.Fields(Text(tc.frame, Options{Width: 200})), " ")
		for _, w := range tc.want {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(strings.Join(strings.Fields(w), " "))) {
				t.Errorf("no %q in\n%s", w, Text(tc.frame, Options{Width: 200}))
			}
		}
	}
}

// contract is section by section what the public form of a frame promises. A
// key may be null; it may not be absent.
var contract = map[string][]string{
	"":                             {"schema", "at", "window_s", "covered_s", "simulated", "targets", "workflows", "devices", "utilization", "alerts", "findings"},
	"targets":                      {"name", "kind", "engine", "version", "state", "fault", "polls", "failed_polls", "bad_lines", "restarts", "models", "missing", "running", "waiting", "kv_cache_usage", "engines"},
	"targets.fault":                {"kind", "detail", "last_good_at"},
	"targets.engines":              {"id", "running", "waiting", "kv_cache_usage"},
	"workflows":                    {"name", "assumed_objectives", "requests", "tokens", "ttft", "tpot", "itl", "e2e", "queue", "prefill", "decode", "kv_cache_usage", "prefix_cache_hit", "preemptions_per_second", "objectives", "goodput", "budget"},
	"workflows.requests":           {"started", "finished", "per_second", "running", "waiting", "failed", "cancelled", "unaccounted"},
	"workflows.tokens":             {"prompt_per_second", "output_per_second", "cached_prompt_share"},
	"workflows.ttft":               {"n", "mean", "p50", "p90", "p95", "p99", "basis"},
	"workflows.ttft.p50":           {"value", "lo", "hi", "open", "enough"},
	"workflows.objectives":         {"metric", "max_s", "share"},
	"workflows.objectives.share":   {"lo", "hi", "point"},
	"workflows.goodput":            {"share", "per_second", "basis", "n", "target", "verdict", "of"},
	"workflows.goodput.per_second": {"lo", "hi"},
	"workflows.budget":             {"burn", "remaining"},
	"workflows.budget.burn":        {"2m", "5m", "30m"},
	"workflows.phases":             {"queued", "preparing_context", "waiting_for_model", "streaming", "unknown"},
	"workflows.load":               {"offered_per_second", "sent_per_second", "behind_s"},
	"alerts":                       {"id", "rule", "workflow", "target", "state", "since", "text"},
	"alert_log":                    {"at", "id", "state", "text"},
	"cannot_evaluate":              {"rule", "workflow", "target", "why"},
	"stages":                       {"name", "from", "to", "workflows"},
	"stages.workflows":             {"name", "finished", "per_second", "ttft", "tpot", "goodput"},
}

// nothingYet are the keys that no part of this version fills.
var nothingYet = []string{"devices", "utilization", "findings"}

func TestContract(t *testing.T) {
	doc := []any{}
	for _, f := range []*model.Frame{incident(), loadTest()} {
		var one any
		if err := json.Unmarshal(jsonLine(t, f), &one); err != nil {
			t.Fatal(err)
		}
		doc = append(doc, one)
	}
	for path, keys := range contract {
		found := 0
		for _, object := range objects(any(doc), path) {
			found++
			for _, key := range keys {
				if _, ok := object[key]; !ok {
					t.Errorf("%s lacks %q", path, key)
				}
			}
		}
		if found == 0 {
			t.Errorf("the frame has no %s to check", path)
		}
	}
	for _, path := range nothingYet {
		parent, key := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent, key = path[:i], path[i+1:]
		}
		for _, object := range objects(any(doc), parent) {
			if v, ok := object[key]; !ok || v != nil {
				t.Errorf("%s is %v, want null", path, v)
			}
		}
	}
}

// objects collects the objects at a path, through lists, null ones left out.
func objects(v any, path string) []map[string]any {
	if list, ok := v.([]any); ok {
		var out []map[string]any
		for _, e := range list {
			out = append(out, objects(e, path)...)
		}
		return out
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if path == "" {
		return []map[string]any{object}
	}
	key, rest, _ := strings.Cut(path, ".")
	return objects(object[key], rest)
}

// TestUnknownIsNull pins how each kind of nothing looks in JSON.
func TestUnknownIsNull(t *testing.T) {
	line := string(jsonLine(t, incident()))
	for _, want := range []string{
		`"covered_s":20`, `"simulated":true`, `"engine":null`, `"state":null`, `"last_good_at":null`,
		`"p95":{"value":null,"lo":7.5,"hi":null,"open":true,"enough":false}`,
		`"share":null`, `"tpot":null`, `"itl":{"n":0,"mean":null,"p50":null,`, `"waiting":7`, `"at":"2026-08-17T03:14:00Z"`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Error("a frame is one line")
	}
}

// TestJSONIsClean: foreign text comes out whole, and holds nothing a terminal acts on.
func TestJSONIsClean(t *testing.T) {
	f := incident()
	line := jsonLine(t, f)
	checkClean(t, line)
	if !bytes.Contains(line, []byte(`"name":"acme\u001b]0;owned\u0007\u001b[2J\u202egnp.70b\r0 OK\u009b5m模型"`)) {
		t.Errorf("name is not escaped as agreed: %s", line)
	}
	var back struct{ Workflows []struct{ Name string } }
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	if back.Workflows[0].Name != f.Workflows[0].Name {
		t.Errorf("got %q", back.Workflows[0].Name)
	}
}

func checkClean(t *testing.T, line []byte) {
	t.Helper()
	for _, r := range string(bytes.TrimSuffix(line, []byte("\n"))) {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U in %s", r, line)
		}
	}
}

func FuzzForeignText(f *testing.F) {
	f.Add("acme\x1b[2J", "\U000e0041\u2028\xff")
	f.Add("模型/é", "a b")
	f.Fuzz(func(t *testing.T, name, detail string) {
		frame := incident()
		frame.Workflows[0].Name = name
		frame.Targets[0].Name = name
		frame.Targets[0].Fault.Detail = detail
		frame.Targets[1].FirstBad = model.Text(detail)
		frame.Alerts[0].Text = detail
		for _, ascii := range []bool{false, true} {
			checkPlain(t, Text(frame, Options{Width: 60, ASCII: ascii}), 60, ascii)
		}
		line := jsonLine(t, frame)
		checkClean(t, line)
		var back struct{ Alerts []struct{ Text *string } }
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		if got := back.Alerts[0].Text; got == nil || *got != strings.ToValidUTF8(detail, "\uFFFD") && len([]rune(*got)) != len([]rune(detail)) {
			t.Errorf("got %v, want %q", got, detail)
		}
	})
}

func TestJSONErrors(t *testing.T) {
	f := empty()
	f.WindowS = math.NaN()
	if err := JSON(&bytes.Buffer{}, f); err == nil {
		t.Error("NaN was written")
	}
	gone := errors.New("broken pipe")
	if err := JSON(errWriter{gone}, empty()); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

// TestFrameIsNotTouched: nobody writes to a frame.
func TestFrameIsNotTouched(t *testing.T) {
	f := incident()
	_ = jsonLine(t, f)
	_ = Text(f, Options{})
	if !reflect.DeepEqual(f, incident()) {
		t.Error("the frame changed")
	}
}

// BenchmarkFleet writes a frame of a thousand targets.
func BenchmarkFleet(b *testing.B) {
	f := calm()
	f.At = at(time.Hour)
	for i := range 1000 {
		f.Targets = append(f.Targets, healthy(fmt.Sprintf("10.0.%d.%d:8000", i/250, i%250)))
	}
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			b.SetBytes(int64(len(jsonLine(b, f))))
		}
	})
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			b.SetBytes(int64(len(Text(f, Options{}))))
		}
	})
}
