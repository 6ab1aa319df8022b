package dialect

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestPages reads every real and reconstructed page there is and compares what
// was understood with the golden beside it. A page that no dialect claims has a
// golden too: it says unknown.
func TestPages(t *testing.T) {
	set := builtinSet(t)
	var want []string
	for _, area := range []string{"engines", "captures", "gateways"} {
		root := shared.Dir(t, "corpus/"+area)
		for _, page := range pagesIn(t, root) {
			golden := filepath.Join("testdata", "golden", area, strings.TrimSuffix(page, filepath.Ext(page))+".golden")
			want = append(want, golden)
			t.Run(area+"/"+page, func(t *testing.T) {
				body, err := os.ReadFile(filepath.Join(root, page))
				if err != nil {
					t.Fatal(err)
				}
				compare(t, golden, describe(t, set, body))
			})
		}
	}
	for _, golden := range pagesIn(t, filepath.Join("testdata", "golden")) {
		if !slices.Contains(want, filepath.Join("testdata", "golden", golden)) {
			t.Errorf("%s belongs to no page", golden)
		}
	}
}

// pagesIn lists the pages below a folder: the .prom files, and the one exposition
// that is a .txt because its content type is another.
func pagesIn(t *testing.T, root string) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || d.IsDir() || ext != ".prom" && ext != ".golden" && !strings.HasSuffix(path, "colons-escaped.txt") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		pages = append(pages, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v (run with -update, then read the file)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs\n--- got\n%s\n--- want\n%s", golden, got, want)
	}
}

func builtinSet(t testing.TB) *Set {
	t.Helper()
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func scan(t testing.TB, body []byte) *expo.Page {
	t.Helper()
	s := expo.NewScanner(expo.Limits{})
	s.Complete = true
	page, err := s.Scan(body)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// describe writes down what was read from a page: never its text, only what it
// means.
func describe(t *testing.T, set *Set, body []byte) string {
	page := scan(t, body)
	d, ok := set.Detect(page)
	if !ok {
		return "unknown\n"
	}
	plan := d.Compile(page)
	return write(plan.Read(page, nil), plan.About(page))
}

func write(samples []model.Sample, about *model.About) string {
	var b strings.Builder
	fmt.Fprintf(&b, "engine   %s\nversion  %s\nmodels   %s\nmissing  %s\n",
		about.Engine, about.Version, strings.Join(about.Models, " "), joined(about.Missing))
	for _, n := range about.Notes {
		fmt.Fprintf(&b, "note     %s\n", n)
	}
	for _, m := range about.Meanings {
		fmt.Fprintf(&b, "\n%s = %s\n", m.Signal, m.Metric)
		if m.Measures != "" {
			fmt.Fprintf(&b, "  means %s\n", m.Measures)
		}
		if m.AtFinish {
			b.WriteString("  moves when a request finishes\n")
		}
		for i := range samples {
			if samples[i].Signal == m.Signal {
				fmt.Fprintf(&b, "  %s %s\n", samples[i].Labels, valueText(&samples[i]))
			}
		}
	}
	return b.String()
}

func joined(signals []model.Signal) string {
	texts := make([]string, len(signals))
	for i, s := range signals {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}

func valueText(s *model.Sample) string {
	if s.Kind != model.Histogram {
		return number(s.Value)
	}
	sum := "unknown"
	if s.Hist.Sum.OK() {
		sum = number(s.Hist.Sum.Value)
	}
	text := fmt.Sprintf("n %s, sum %s, %d bounds", number(s.Hist.N()), sum, len(s.Hist.Bounds))
	if len(s.Hist.Bounds) > 0 {
		text += fmt.Sprintf(" %s to %s", number(s.Hist.Bounds[0]), number(s.Hist.Bounds[len(s.Hist.Bounds)-1]))
	}
	if s.Hist.Incomplete {
		text += ", incomplete"
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// TestSequences polls each saved sequence as one target: what a plan that lives
// from page to page reads must be what a new one would.
func TestSequences(t *testing.T) {
	set := builtinSet(t)
	for _, dir := range []string{
		"engines/seq/vllm-overload", "engines/seq/sglang-load", "captures/llama.cpp-b10470",
		"captures/llm-d-inference-sim-0.10.2", "captures/llm-d-inference-sim-0.10.2-lora",
		"captures/gomodel-0.1.18", "captures/llm-d-router-epp-ebab68792",
	} {
		t.Run(dir, func(t *testing.T) {
			root := shared.Dir(t, "corpus/"+dir)
			p := newPoller(t)
			for _, page := range pagesIn(t, root) {
				if strings.Count(page, ".") > 1 { // another server's, or a page more
					continue
				}
				body, err := os.ReadFile(filepath.Join(root, page))
				if err != nil {
					t.Fatal(err)
				}
				got := p.poll(string(body))
				if want := describe(t, set, body); sorted(write(got.samples, got.about)) != sorted(want) {
					t.Errorf("%s\n--- in its sequence\n%s\n--- alone\n%s", page, write(got.samples, got.about), want)
				}
			}
		})
	}
}

// sorted puts lines in order: rows stand in the order in which they first came.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
