package sources_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/sources"
)

// listing is a finder whose looks a test writes down: addresses, or "!" for a
// look that fails.
type listing struct {
	scripted
	looks []string
	now   []sources.Spec
}

func newListing(looks ...string) *listing {
	l := &listing{looks: looks}
	l.script = func(_ context.Context, n int) (model.Batch, error) {
		look := l.looks[min(n, len(l.looks))-1]
		if look == "!" {
			return model.Batch{}, &sources.FaultError{Kind: model.Malformed, Detail: "as written"}
		}
		l.now = nil
		for _, a := range strings.Fields(look) {
			l.now = append(l.now, sources.Spec{Address: a})
		}
		return model.Batch{}, nil
	}
	return l
}

func (l *listing) Found() []sources.Spec { return l.now }

// rolls is what a run said of who is watched: "+a" and "-a" in order, each at the
// number of looks there had been.
func rolls(inputs []model.Input) string {
	var out []string
	for _, in := range inputs {
		switch {
		case in.Join != nil:
			out = append(out, "+"+in.Join.Name)
		case in.Leave != "":
			out = append(out, "-"+strings.TrimSuffix(strings.TrimPrefix(string(in.Leave), "http://"), "/metrics"))
		}
	}
	return strings.Join(out, " ")
}

func runListings(t *testing.T, span time.Duration, more []sources.Opened, finders ...*listing) (rolled string, inputs []model.Input) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		targets := slices.Clone(more)
		for i, f := range finders {
			id := model.TargetID(fmt.Sprintf("finder-%d", i))
			targets = append(targets, sources.Opened{Target: model.Target{ID: id, Name: string(id), Kind: model.FinderTarget}, Source: f})
		}
		watch(t, targets, sources.RunOptions{Every: time.Second, Timeout: 100 * time.Millisecond}, span, collect(&inputs))
		for i, f := range finders {
			if f.closed != 1 {
				t.Errorf("finder %d was closed %d times", i, f.closed)
			}
		}
	})
	return rolls(inputs), inputs
}

// Targets of this address refuse at once, in virtual time too.
const nobody = "127.0.0.1:1"

func TestFound(t *testing.T) {
	named, err := sources.Resolve(t.Context(), []string{"localhost:1"}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		looks [][]string
		want  string
	}{
		{"one comes, one goes, one comes back", [][]string{{nobody, nobody + " 127.0.0.2:1", "127.0.0.2:1", nobody}},
			"+127.0.0.1:1 +127.0.0.2:1 -127.0.0.1:1 +127.0.0.1:1 -127.0.0.2:1"},
		{"a look that fails changes nothing", [][]string{{nobody, "!", "!", nobody}}, "+127.0.0.1:1"},
		{"nothing is left", [][]string{{nobody, ""}}, "+127.0.0.1:1 -127.0.0.1:1"},
		{"one that the user named stays", [][]string{{"localhost:1", ""}}, ""},
		{"one that two list goes with the last", [][]string{{nobody, nobody, "", ""}, {nobody, nobody, nobody, ""}}, "+127.0.0.1:1 -127.0.0.1:1"},
		{"one that cannot be opened leaves the others", [][]string{{nobody + " nonsense://x"}}, "+127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var finders []*listing
			for _, looks := range c.looks {
				finders = append(finders, newListing(looks...))
			}
			keep := named[0]
			keep.Source = &scripted{script: good}
			if got, _ := runListings(t, 5*time.Second, []sources.Opened{keep}, finders...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What cannot be opened is told at each look, not only at the first.
func TestFoundTroubleIsToldAgain(t *testing.T) {
	_, inputs := runListings(t, 5*time.Second, nil, newListing(nobody+" nonsense://x"))
	told := 0
	for _, in := range inputs {
		if in.Batch != nil && in.Batch.Target == "finder-0" {
			if in.Batch.Fault == nil || !strings.Contains(in.Batch.Fault.Detail, "nonsense") {
				t.Fatalf("a look with an address that is none says %+v", in.Batch.Fault)
			}
			told++
		}
	}
	if told < 2 {
		t.Errorf("told %d times", told)
	}
}

// What a target that went still brings is nobody's, and its source is closed once.
func TestGoneWhileItAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	f := newListing(address, address, "")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	gone := false
	err := sources.Run(ctx, []sources.Opened{{Target: model.Target{ID: "f", Name: "f"}, Source: f}},
		sources.RunOptions{Every: 20 * time.Millisecond, Timeout: time.Minute}, func(in model.Input) {
			if in.Batch != nil && in.Batch.Target != "f" && gone {
				t.Error("a batch of one that went")
			}
			if in.Leave != "" {
				gone = true
				cancel()
			}
		})
	if err != nil || !gone {
		t.Errorf("err %v, gone %v", err, gone)
	}
}

func TestFileSD(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := sources.Resolve(t.Context(), []string{"file_sd:" + filepath.Join(dir, "*.json")}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := opened[0].Source.(sources.Finder)
	defer func() { _ = f.Close() }()
	look := func() (addresses, notes, fault string) {
		b, err := f.Poll(t.Context())
		for _, s := range f.Found() {
			addresses += strings.TrimSpace(s.Name+" "+s.Address) + "\n"
		}
		if err != nil {
			return addresses, "", err.Error()
		}
		return addresses, strings.Join(b.About.Notes, "; "), ""
	}
	if _, _, fault := look(); !strings.Contains(fault, "no file is called") {
		t.Errorf("without a file: %q", fault)
	}
	write("a.json", `[{"targets": ["10.0.0.8:8000", "10.0.0.7:8000"], "labels": {"job": "vllm", "__metrics_path__": "/m"}},
		{"targets": ["10.0.0.9:443"], "labels": {"__scheme__": "https", "instance": "nine"}}]`)
	write("b.json", "- targets: ['10.0.0.7:8000']\n  labels: {__metrics_path__: /m}\n")
	want := "http://10.0.0.7:8000/m\nhttp://10.0.0.8:8000/m\nnine https://10.0.0.9:443\n"
	got, notes, fault := look()
	if got != want || fault != "" || !strings.Contains(notes, "3 found") || !strings.Contains(notes, "job") {
		t.Errorf("got %q, notes %q, fault %q", got, notes, fault)
	}
	for text, says := range map[string]string{
		`[{"targets": `:              "b.json",
		`[{"targets": ["x:99999"]}]`: "b.json, entry 1",
		`{"a": 1}`:                   "b.json",
	} {
		write("b.json", text)
		if got, _, fault := look(); got != want || !strings.Contains(fault, says) {
			t.Errorf("%s: fault %q, then %q: what was found before must stay", text, fault, got)
		}
	}
	for _, bad := range []string{"file_sd:", "file_sd:[x"} {
		if _, err := sources.Resolve(t.Context(), []string{bad}, sources.Options{}); err == nil {
			t.Errorf("%s was opened", bad)
		}
	}
}
