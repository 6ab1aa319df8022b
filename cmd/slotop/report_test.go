package main

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slotop/sources/sourcetest/shared"
)

// reported are the reports that are kept as files, to be read as their readers would.
var reported = []struct {
	golden string
	args   []string
}{
	{"calm.md", []string{"--kind", "capacity", "--for", "720s", "demo:S0?seed=7"}},
	{"surge.md", []string{"--for", "720s", "demo:S1?seed=7"}},
	{"throttled.md", []string{"--for", "720s", "demo:S4?seed=7"}},
	{"throttled-capacity.md", []string{"--kind", "capacity", "--for", "720s", "demo:S4?seed=7"}},
	{"gap-and-restart.md", []string{"--for", "720s", "demo:S4?seed=7&with=gap,restart"}},
	{"nothing-breached.md", []string{"--kind", "incident", "--for", "120s", "demo:S0?seed=7"}},
	{"series.csv", []string{"--format", "csv", "--every", "20s", "--for", "60s", "demo:S4?seed=7&at=30s"}},
	{"page.md", []string{"corpus/engines/vllm-0.12.0-v1.prom"}},
}

func TestReportGoldens(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	for _, one := range reported {
		t.Run(one.golden, func(t *testing.T) {
			t.Parallel()
			args := slices.Clone(one.args)
			if last := len(args) - 1; strings.HasPrefix(args[last], "corpus/") {
				args[last] = shared.Dir(t, args[last])
			}
			r := headless(t, append([]string{"report"}, args...)...)
			if r.code != exitOK || r.err != "" {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			said := strings.ReplaceAll(r.out, filepath.Dir(args[len(args)-1])+"/", "")
			golden := filepath.Join("testdata", "report", one.golden)
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(said), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if said != string(want) {
				at := firstDifference(said, string(want))
				t.Errorf("%.300q\nwas\n%.300q\nrun with -update and read the difference to %s", said[max(0, at-40):], string(want)[max(0, at-40):], golden)
			}
		})
	}
}

// A tape tells what its targets told when it was recorded.
func TestReportOfATape(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	tape := filepath.Join(t.TempDir(), "x.tape")
	if r := headless(t, "record", "-o", tape, "--for", "720s", "demo:S1?seed=7"); r.code != exitOK {
		t.Fatal(r.err)
	}
	of := func(what string) string {
		r := headless(t, "report", "--for", "720s", what)
		if r.code != exitOK {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		return strings.ReplaceAll(r.out, filepath.Base(what), "SOURCE")
	}
	if live, replayed := of("demo:S1?seed=7"), of(tape); live != replayed {
		at := firstDifference(live, replayed)
		t.Errorf("live %.200q, replayed %.200q", live[max(0, at-40):], replayed[max(0, at-40):])
	}
}

// What cannot be done is said in a line: what, where, and what to do instead.
func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.md")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args  []string
		words []string
	}{
		{nil, []string{"name what to report on"}},
		{[]string{"demo:S1"}, []string{"--for", "never ends"}},
		{[]string{"--kind", "party", "demo:S1"}, []string{"--kind party", "incident or capacity"}},
		{[]string{"--format", "pdf", "demo:S1"}, []string{"--format pdf", "markdown, html or csv"}},
		{[]string{"-o", filepath.Join(dir, "x.pdf"), "demo:S1"}, []string{"x.pdf", ".html"}},
		{[]string{"-o", there, "--for", "10s", "demo:S1"}, []string{there, "--force"}},
		{[]string{"-o", filepath.Join(dir, "no", "x.md"), "--for", "10s", "demo:S1"}, []string{"folder does not exist"}},
		{[]string{"-o", dir, "--format", "html", "--for", "10s", "demo:S1"}, []string{dir, "is a folder"}},
		{[]string{"--csv", there, "--for", "10s", "demo:S1"}, []string{there, "name a folder"}},
		{[]string{"--from", "00:05", "--to", "00:08", there + ".tape"}, []string{"--from and --to", "past of a Prometheus server", "a tape is read from its beginning"}},
		{[]string{filepath.Join(dir, "missing.tape")}, []string{"missing.tape"}},
	} {
		headless(t, append([]string{"report"}, tt.args...)...).refuses(t, exitUsage, tt.words...)
	}
	if b, err := os.ReadFile(there); err != nil || string(b) != "mine" {
		t.Errorf("what was there reads %q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A file is written as a whole, over another only when told to; "-" is the standard
// output; the series go into a folder that is made.
func TestReportWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := t.TempDir()
	page, series := filepath.Join(dir, "r.HTML"), filepath.Join(dir, "new", "series")
	if err := os.WriteFile(page, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := headless(t, "report", "--force", "-o", page, "--csv", series, "--for", "30s", "demo:S0")
	if r.code != exitOK || r.out != "" {
		t.Fatalf("exit %d: %q %s", r.code, r.out, r.err)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.HasPrefix(string(b), "<!DOCTYPE html>") || !strings.HasSuffix(string(b), "</html>\n") {
		t.Errorf("%.100s, %v", b, err)
	}
	for _, name := range []string{"workflows.csv", "targets.csv", "pools.csv", "devices.csv"} {
		if rows := rowsOf(t, filepath.Join(series, name)); len(rows) < 2 {
			t.Errorf("%s has %d rows", name, len(rows))
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".slotop-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	if r := headless(t, "report", "-o", "-", "--format", "html", "--for", "30s", "demo:S0"); r.code != exitOK || !strings.HasPrefix(r.out, "<!DOCTYPE html>") || r.err != "" {
		t.Errorf("exit %d: %.100q %s", r.code, r.out, r.err)
	}
}

// A report of what never answered is written, says so, and the exit code too.
func TestReportOfSilence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "engine")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1.prom", "2.prom"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<html>not metrics</html>\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"incident", "capacity"} {
		r := headless(t, "report", "--kind", kind, dir)
		if r.code != exitUntold || !strings.Contains(r.out, "engine") || !strings.Contains(r.err, "no target ever answered") {
			t.Errorf("exit %d: %s %s", r.code, r.out, r.err)
		}
		if strings.Contains(r.out, "No objective was breached") || strings.Contains(r.out, "no promise was broken") {
			t.Errorf("silence is called a promise kept: %s", r.out)
		}
	}
	r := headless(t, "report", "--kind", "incident", dir)
	brief := headless(t, "report", "--kind", "incident", "--for", "3s", "demo:S0?seed=7")
	says(t, "a report of three seconds", brief.out, "; undecided at the end: 3 of 3 workflows.")
	says(t, "the report", r.out, "# Nothing can be told: no target ever answered\n")
	says(t, "the report", r.out, "> Whether a promise was kept is not known: no target ever answered in the ")
}

// Where nothing can be written is known before the targets are watched, and is told
// without the name of a file that nobody asked for.
func TestWritableBeforeWatching(t *testing.T) {
	const closed = "/proc" // takes files from nobody, whoever asks
	if _, err := os.Stat(closed); err != nil {
		if runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		t.Skip("no folder that takes no files: ", err)
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	for _, args := range [][]string{
		{"report", "-o", closed + "/x.html"}, {"report", "--csv", closed + "/series/of"}, {"snapshot", "--picture", closed + "/x.svg"},
	} {
		r := headless(t, append(args, "--for", "1s", server.URL)...)
		r.refuses(t, exitFailed, "write "+closed)
		if strings.Contains(r.err, ".slotop-") {
			t.Errorf("%v: a name that nobody asked for: %s", args, r.err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("targets were asked %d times before", n)
	}
}

func rowsOf(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

// The series of names that mean no good: every row has its nine columns, no cell is a
// formula, what is not known is empty, and numbers are numbers.
func TestSeriesOfHostileNames(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := filepath.Join(t.TempDir(), "series")
	args := append([]string{"report", "-o", filepath.Join(t.TempDir(), "r.md"), "--csv", dir}, hostilePages(t, "http://127.0.0.1:9/")...)
	if r := headless(t, args...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	names := map[string]bool{}
	for _, row := range rowsOf(t, filepath.Join(dir, "workflows.csv"))[1:] {
		names[row[2]] = true
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Fatalf("a spreadsheet would compute %q", cell)
			}
			if i < 5 || cell == "" || cell == "Inf" {
				continue
			}
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsNaN(v) {
				t.Fatalf("%q is no number in %q", cell, row)
			}
		}
		if _, err := time.Parse(time.RFC3339Nano, row[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range hostileNames("http://127.0.0.1:9/") {
		if want := visible(name); !names[want] && !names["'"+want] {
			t.Errorf("no series of %q", want)
		}
	}
}

// Reports of every page of the corpus are written, and are well-formed.
func TestReportOfTheCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("a run for every page, with nothing beside it")
	}
	pages, err := filepath.Glob(filepath.Join(shared.Dir(t, "corpus/engines"), "*.prom"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for i, page := range pages {
		kind := []string{"incident", "capacity"}[i%2]
		r := headless(t, "report", "--format", "html", "--kind", kind, page, page)
		if r.code != exitOK && r.code != exitUntold {
			t.Errorf("%s: exit %d: %s", filepath.Base(page), r.code, r.err)
			continue
		}
		d := xml.NewDecoder(strings.NewReader(r.out))
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", filepath.Base(page), err)
		}
	}
}

// BenchmarkReport prints how many times faster than real time a tape is reported on, by
// the processor's time: other tests may run beside it.
func BenchmarkReport(b *testing.B) {
	tape := filepath.Join(b.TempDir(), "x.tape")
	if r := headless(b, "record", "-o", tape, "--for", "720s", "demo:S4?seed=7"); r.code != exitOK {
		b.Fatal(r.err)
	}
	took, n := time.Duration(0), 0
	for b.Loop() {
		cmd := exec.Command(program(b), "report", "--format", "html", tape)
		cmd.Env = sandbox(b)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		n++
	}
	b.ReportMetric(720*float64(n)/took.Seconds(), "×real")
}
