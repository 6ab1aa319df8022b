package expo

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"slotop/sources/sourcetest/shared"
)

// perSequence is how many pages of one sequence are read: they differ in little
// but their numbers.
const perSequence = 3

// realPages calls f with the saved pages of the material.
func realPages(tb testing.TB, f func(name string, body []byte)) {
	tb.Helper()
	for _, dir := range []string{"corpus", "cases/files"} {
		root, read := shared.Dir(tb, dir), map[string]int{}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".prom" {
				return err
			}
			if folder := filepath.Dir(path); sequence.MatchString(folder) {
				if read[folder]++; read[folder] > perSequence {
					return nil
				}
			}
			body, err := os.ReadFile(path)
			if err == nil {
				name, _ := filepath.Rel(root, path)
				f(filepath.Join(dir, name), body)
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

var sequence = regexp.MustCompile(`[/\\](captures|seq)[/\\]`)

// Every real page that expfmt takes is read as expfmt reads it.
func TestRealPagesAgainstExpfmt(t *testing.T) {
	var pages, refused int
	realPages(t, func(name string, body []byte) {
		pages++
		p, err := NewScanner(Limits{}).Scan(body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		want, ok := reference(body)
		if !ok {
			refused++
			t.Logf("%s: expfmt refuses it: %s; we skip %d of %d lines", name, p.Verdict, p.Bad, p.Lines)
			return
		}
		if p.Verdict != "" || p.Bad != 0 || p.Dropped != 0 {
			t.Errorf("%s: verdict %q, %d bad, %d dropped: %v", name, p.Verdict, p.Bad, p.Dropped, p.BadLines)
		}
		if d := difference(p.set(), want); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	})
	t.Logf("%d pages, %d refused by expfmt", pages, refused)
}

// One scanner that reads all pages in turn says of each what a fresh one says.
func TestRealPagesInTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	s := NewScanner(Limits{})
	realPages(t, func(name string, body []byte) {
		fresh, err := NewScanner(Limits{}).Scan(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again(t, s, body, fresh)
		again(t, s, body, fresh)
		if s.page.New != 0 {
			t.Errorf("%s: %d new series on the same page", name, s.page.New)
		}
	})
}

// samePage compares everything but the order of series and their history.
func samePage(t testing.TB, name string, got, want *Page) {
	t.Helper()
	if d := difference(got.set(), want.set()); d != "" {
		t.Errorf("%s: %s", name, d)
	}
	if d := difference(got.kinds(), want.kinds()); d != "" {
		t.Errorf("%s: kinds: %s", name, d)
	}
	if got.Lines != want.Lines || got.Bad != want.Bad || got.Dropped != want.Dropped || got.Repeated != want.Repeated {
		t.Errorf("%s: %d lines, %d bad, %d dropped, %d repeated; want %d, %d, %d, %d", name,
			got.Lines, got.Bad, got.Dropped, got.Repeated, want.Lines, want.Bad, want.Dropped, want.Repeated)
	}
	for i := range got.BadLines {
		if got.BadLines[i] != want.BadLines[i] {
			t.Errorf("%s: bad line %+v, want %+v", name, got.BadLines[i], want.BadLines[i])
		}
	}
}

// kinds is the type of each family, and the type and the family of each series
// that is there.
func (p *Page) kinds() sampleSet {
	out := sampleSet{}
	for _, f := range p.Families {
		out[strconv.Quote(f.Name)] = float64(f.Type)
	}
	for i, s := range p.Series {
		if p.Seen[i] {
			out[key(s.Name, s.allLabels())+" "+strconv.Quote(s.Family)] = float64(s.Type)
		}
	}
	return out
}
