package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// pollAll polls a target until it ends.
func pollAll(t *testing.T, args ...string) ([]model.Batch, []error) {
	t.Helper()
	opened := resolve(t, args...)
	var batches []model.Batch
	var errs []error
	for {
		b, err := opened[0].Source.Poll(t.Context())
		if errors.Is(err, io.EOF) {
			return batches, errs
		}
		b.Samples = append([]model.Sample(nil), b.Samples...)
		batches, errs = append(batches, b), append(errs, err)
	}
}

func TestBadLinesAreCountedAndShown(t *testing.T) {
	many := strings.Repeat("no value\n", 40)
	tests := []struct {
		name, page string
		n          int
		first      string
	}{
		{"none", enginePage, 0, ""},
		{"one", enginePage + "broken{\n", 1, "1 line skipped (17): "},
		{"two", "broken{\n" + enginePage + "half 1 2 3 4\n", 2, "2 lines skipped (1, 18): line 1: "},
		{"many", many + enginePage, 40, "40 lines skipped (1, 2, "},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			batches, _ := pollAll(t, savedPages(t, tc.page)...)
			b := batches[0]
			if b.BadLines != tc.n || !strings.HasPrefix(b.FirstBad, tc.first) || tc.n == 0 && b.FirstBad != "" {
				t.Errorf("got %d: %q", b.BadLines, b.FirstBad)
			}
			if tc.n > 20 && !strings.Contains(b.FirstBad, ", …): line 1: ") {
				t.Errorf("got %q", b.FirstBad)
			}
			if running(t, b) != 4 {
				t.Error("the rest of the page is lost")
			}
		})
	}
}

// TestCaseOC10Note is the part of that case that one poll shows: the target is
// up and the lines are named.
func TestCaseOC10Note(t *testing.T) {
	batches, errs := pollAll(t, filepath.Join(shared.Dir(t, "cases/files"), "one-bad-line.prom"))
	if errs[0] != nil || running(t, batches[0]) != 4 {
		t.Fatalf("got %v", errs[0])
	}
	if got := batches[0].FirstBad; !strings.HasPrefix(got, "2 lines skipped (5, 8): line 5: ") {
		t.Errorf("got %q", got)
	}
	batches, errs = pollAll(t, filepath.Join(shared.Dir(t, "cases/files"), "repeated-type.prom"))
	if errs[0] != nil || batches[0].BadLines != 0 || batches[0].FirstBad != "" {
		t.Errorf("got %v, %q", errs[0], batches[0].FirstBad)
	}
}

func TestProcessStart(t *testing.T) {
	without := strings.Replace(enginePage, "process_start_time_seconds 1.75e+09\n", "", 1)
	tests := []struct {
		name, page string
		want       float64
	}{
		{"as exported", enginePage, 1.75e9},
		{"none", without, 0},
		{"earliest created", without + "a_created 1.76e+09\nb_created{x=\"1\"} 1.7500001e+09\nb_created{x=\"2\"} 1.77e+09\n", 1.7500001e9},
		{"exported wins", enginePage + "a_created 1.74e+09\n", 1.75e9},
		{"not a time", without + "jobs_created 17\n", 0},
		{"two processes", enginePage + "process_start_time_seconds{pid=\"7\"} 1.76e+09\n", 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			batches, _ := pollAll(t, savedPages(t, tc.page)...)
			if got := started(batches[0]); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAboutKeepsItsPointer(t *testing.T) {
	for name, page := range map[string]string{"known": enginePage, "unknown": "node_load1 3\n"} {
		t.Run(name, func(t *testing.T) {
			batches, _ := pollAll(t, savedPages(t, page, page, page+"another 1\n", page)...)
			if batches[0].About == nil || batches[0].About != batches[1].About {
				t.Error("the same page is described anew")
			}
			if batches[2].About != batches[3].About {
				t.Error("a page without news is described anew")
			}
		})
	}
}

// What stricter readers say is shown of every target of a fleet, of the last
// ones some polls later: it must not stand in the way of anybody's first page.
func TestVerdictsOfAFleet(t *testing.T) {
	s := serve(t, reply(enginePage+"odd -nan\n"))
	var args []string
	for i := range 40 {
		args = append(args, fmt.Sprintf("%s/%d", s.URL, i))
	}
	opened := resolve(t, args...)
	shown := func(i int) bool {
		b, err := opened[i].Source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(b.About.Notes, func(n string) bool { return strings.Contains(n, "stricter readers refuse") })
	}
	if !shown(0) || shown(39) || !shown(39) || !shown(39) {
		t.Error("want the first target's verdict at its first poll and the last one's from the second on")
	}
}

func TestUnknownPagesAreUpAndNamed(t *testing.T) {
	tests := []struct{ page, want string }{
		{"node_load1 3\ngo_goroutines 7\n", "the host exporter (node_exporter) (2 series, such as node_load1)"},
		{"go_goroutines 7\n", "a Go program"},
		{"gpu_fan_speed{gpu=\"0\"} 3\n", "a GPU exporter"},
		{"acme_jobs 7\n", "no engine that slotop knows (1 series, such as acme_jobs)"},
		{"# HELP a nothing yet\n# TYPE a counter\n", "without a single series"},
	}
	for _, tc := range tests {
		batches, errs := pollAll(t, savedPages(t, tc.page)...)
		b := batches[0]
		if errs[0] != nil || b.About == nil || b.About.Engine != "" {
			t.Errorf("%q: got %v, %+v", tc.page, errs[0], b.About)
			continue
		}
		if got := strings.Join(b.About.Notes, "; "); !strings.Contains(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.page, got, tc.want)
		}
	}
}

func TestAPageThatChangesItsServer(t *testing.T) {
	batches, errs := pollAll(t, savedPages(t, "node_load1 3\n", enginePage, "<html>", enginePage)...)
	if errs[0] != nil || errs[1] != nil || errs[3] != nil {
		t.Fatalf("got %v", errs)
	}
	if batches[0].About.Engine != "" || batches[1].About.Engine != "vllm" {
		t.Errorf("got %q, then %q", batches[0].About.Engine, batches[1].About.Engine)
	}
	wantFault(t, errs[2], model.NotMetrics)
	if running(t, batches[3]) != 4 {
		t.Error("the target does not come back")
	}
}

func TestSavedPagesThatCannotBeRead(t *testing.T) {
	names := savedPages(t, enginePage, enginePage)
	opened := resolve(t, append(names, filepath.Dir(names[0])+"/a.prom")...)
	if err := os.Remove(names[1]); err != nil {
		t.Fatal(err)
	}
	var words []string
	for {
		_, err := opened[0].Source.Poll(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		word := "good"
		if fault := (*sources.FaultError)(nil); errors.As(err, &fault) {
			word = string(fault.Kind)
		}
		words = append(words, word)
	}
	if got := strings.Join(words, " "); got != "good not_found good" {
		t.Errorf("got %s", got)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := opened[0].Source.Poll(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestCorpusEndsInAWordOrSamples: whatever a file holds, reading it as a page
// ends in samples, a note or a fault, never in a panic or silence.
func TestCorpusEndsInAWordOrSamples(t *testing.T) {
	for _, dir := range []string{"corpus/engines", "corpus/captures/*", "corpus/gateways/*", "corpus/gpu/*", "cases/files"} {
		root, pattern := filepath.Split(filepath.FromSlash(dir))
		files, err := filepath.Glob(filepath.Join(shared.Dir(t, filepath.ToSlash(root)), pattern, "*.*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		perFolder := map[string]int{}
		for _, file := range files {
			// The files of one capture are alike.
			if perFolder[filepath.Dir(file)]++; strings.Contains(dir, "*") && perFolder[filepath.Dir(file)] > 6 {
				continue
			}
			batches, errs := pollAll(t, file)
			if err := errs[0]; err != nil {
				var fault *sources.FaultError
				if !errors.As(err, &fault) || fault.Kind != model.NotMetrics {
					t.Errorf("%s: %v", file, err)
				}
				if filepath.Ext(file) == ".prom" {
					t.Errorf("%s is refused: %v", filepath.Base(file), err)
				}
				checkForeignText(t, err.Error())
				continue
			}
			b := batches[0]
			if b.About == nil || b.About.Engine == "" && len(b.About.Notes) == 0 {
				t.Errorf("%s: neither known nor named", file)
			}
			checkForeignText(t, b.FirstBad)
		}
	}
}

// A row of a sum that is gone stands still, but not after a restart, and a
// start time that is the earliest of several must not move because one is gone.
func TestRowsThatAreGone(t *testing.T) {
	row := func(host string, tokens, created float64) string {
		return fmt.Sprintf("vllm:generation_tokens_total{engine=\"0\",model_name=\"m\",host=\"%s\"} %v\n"+
			"vllm:generation_tokens_created{engine=\"0\",model_name=\"m\",host=\"%s\"} %.1f\n", host, tokens, host, created)
	}
	const head = "# TYPE vllm:generation_tokens_total counter\n"
	polls := []struct {
		page          string
		tokens, start float64
	}{
		{head + row("a", 100, 1.7e9) + row("b", 50, 1.7e9+60), 150, 1.7e9},
		{head + row("b", 55, 1.7e9+60), 155, 1.7e9},
		{head + row("b", 60, 1.7e9+60) + row("c", 5, 1.7e9+900), 165, 1.7e9},
		{head + row("b", 900, 1.7e9+5000), 900, 1.7e9 + 5000},
	}
	var pages []string
	for _, p := range polls {
		pages = append(pages, p.page)
	}
	batches, _ := pollAll(t, savedPages(t, pages...)...)
	for i, p := range polls {
		tokens := 0.0
		for _, s := range batches[i].Samples {
			if s.Signal == model.OutputTokens {
				tokens = s.Value
			}
		}
		if tokens != p.tokens || started(batches[i]) != p.start {
			t.Errorf("page %d: %v tokens and start %v, want %v and %v", i, tokens, started(batches[i]), p.tokens, p.start)
		}
	}
}

// A series with two values on one page is said, once, and until it is forgotten.
func TestSeriesThatStandTwice(t *testing.T) {
	const note = "1 series stood on the page twice, with different values: the last one counts"
	twice := func(v string) string {
		return enginePage + "vllm:num_requests_running{engine=\"0\",model_name=\"x\"} 9\nvllm:num_requests_running{model_name=\"x\",engine=\"0\"} " + v + "\n"
	}
	batches, _ := pollAll(t, savedPages(t, twice("9"), twice("5"), enginePage, twice("6"))...)
	for i, want := range []bool{false, true, true, true} {
		if got := slices.Contains(batches[i].About.Notes, note); got != want {
			t.Errorf("page %d: %q", i, batches[i].About.Notes)
		}
	}
	if batches[2].About.Engine == "" || batches[3].About != batches[1].About && batches[3].About != batches[2].About {
		t.Error("what is known already is told anew")
	}
}

// The label that names workflows is chosen target by target.
func TestWorkflowLabelOfATarget(t *testing.T) {
	const row = `litellm_requests_metric_total{model="m",api_key_alias="k",team="t"} 3` + "\n"
	for label, want := range map[string]string{"": "k", "team": "t", "nobody|team": "t", "nobody": ""} {
		b, err := pollOne(t, serve(t, reply(row)).URL, sources.Options{WorkflowLabel: label, Keep: []string{"zone"}})
		if err != nil || b.About.Kind != model.GatewayTarget {
			t.Fatalf("%v, %+v", err, b.About)
		}
		for _, s := range b.Samples {
			if got := s.Labels.Get(model.LabelWorkflow); got != want {
				t.Errorf("%q: workflow %q, want %q", label, got, want)
			}
		}
		if len(b.Samples) == 0 {
			t.Errorf("%q: nothing is read", label)
		}
	}
}
