package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
	"slotop/sources/sim"
	"slotop/tui/layout"
	"slotop/tui/picture"
)

// illustration is a picture of the README, made from the simulator.
type illustration struct {
	name, demo string
	at         time.Duration // since the beginning; an incident begins after ten minutes
	size       layout.Size
	keys       []string
	says       string // to those who do not see it
}

var illustrations = []illustration{
	{"overview", "demo:S4?seed=7", 690 * time.Second, layout.Size{W: 100, H: 30}, nil,
		"The overview: chat is breached because of a throttled GPU; its objectives, what is tried next, and TTFT and TPOT over time"},
	{"latency", "demo:S1?seed=7", 690 * time.Second, layout.Size{W: 100, H: 32}, []string{"2"},
		"Latency: percentiles of TTFT over time within their brackets, a heat map of its distribution, and the phases that make it up"},
	{"utilization", "demo:S4?seed=7", 690 * time.Second, layout.Size{W: 100, H: 32}, []string{"4"},
		"Utilization: each engine on its roofline, what a step is made of, and GPUs that heat and power hold back"},
	{"fleet", "demo:S10?seed=7&with=dead", 780 * time.Second, layout.Size{W: 100, H: 11}, []string{"5"},
		"The fleet: a row a target, worst first, one of which refuses every connection"},
	{"capacity", "demo:S1?seed=7", 690 * time.Second, layout.Size{W: 100, H: 32}, []string{"7"},
		"Capacity: how much room there is at what was promised, what binds first, and what would help"},
}

// The bounds keep a clone small and the README quick.
const (
	maxPicture  = 120 << 10
	maxPictures = 800 << 10
)

const picturesDir = "../../docs/pictures"

// TestDocsPictures holds the pictures to what the simulator gives now: make pictures.
func TestDocsPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	set, err := loadThemes()
	if err != nil {
		t.Fatal(err)
	}
	frames := map[string]*model.Frame{}
	want := map[string]bool{}
	total := 0
	for _, p := range illustrations {
		from := fmt.Sprint(p.demo, p.at)
		if frames[from] == nil {
			played := unrolled(t, p.demo, p.at)
			frames[from] = played[len(played)-1]
		}
		for _, theme := range []string{"dark", "light"} {
			shot, err := still(frames[from], set, posed{size: p.size, theme: theme}, p.keys...)
			if err != nil {
				t.Fatal(err)
			}
			svg, err := picture.SVG(shot.Screen, shot.Size, shot.Back)
			if err != nil {
				t.Fatal(err)
			}
			if len(svg) > maxPicture {
				t.Errorf("%s has %d bytes", p.name, len(svg))
			}
			total += len(svg)
			name := p.name + "-" + theme + ".svg"
			want[name] = true
			isFresh(t, filepath.Join(picturesDir, name), svg)
		}
	}
	if total > maxPictures {
		t.Errorf("the pictures have %d bytes together", total)
	}
	left, err := os.ReadDir(picturesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if !want[f.Name()] {
			t.Errorf("docs/pictures/%s is none of them", f.Name())
		}
	}
}

// isFresh compares a generated file with what it should be; -update writes it.
func isFresh(t *testing.T, path string, fresh []byte) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, fresh) {
		return
	}
	if !*update {
		t.Errorf("%s is not what the program gives now (%v): make pictures, or go test ./cmd/slotop -run Docs -update", path, err)
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, fresh, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unrolled is every frame of a simulated service up to a time, on the clock of a recording.
func unrolled(t *testing.T, demo string, until time.Duration) []*model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{demo}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	policy := model.Policy{Workflows: sim.Promises(), Models: []model.ModelSpec{{Name: "*", Shape: simulatedShape}}}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var frames []*model.Frame
	c.hear = func(f *model.Frame) { frames = append(frames, f) }
	opt := sources.PlayOptions{Every: time.Second, For: until}
	if err := sources.Play(context.Background(), opened, opt, c.take); err != nil {
		t.Fatal(err)
	}
	return frames
}

// readmePicture is the picture of a name as GitHub shows it in the reader's scheme.
func readmePicture(name string) string {
	i := slices.IndexFunc(illustrations, func(p illustration) bool { return p.name == name })
	p := illustrations[i]
	return strings.Join([]string{
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="docs/pictures/` + p.name + `-light.svg">`,
		`  <img alt="` + p.says + `" src="docs/pictures/` + p.name + `-dark.svg">`,
		"</picture>",
	}, "\n") + "\n"
}

// readmePictures are all but the first, which stands at the top.
func readmePictures(*testing.T) string {
	var out []string
	for _, p := range illustrations[1:] {
		out = append(out, readmePicture(p.name))
	}
	return strings.Join(out, "\n")
}
