package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/tui"
	"slotop/tui/layout"
)

func TestAlbum(t *testing.T) {
	dir := t.TempDir()
	shot := tui.Shot{Screen: "\x1b[1mslotop\x1b[m ⣿", Size: layout.Size{W: 40, H: 10}, Back: "#1e1e1e", At: time.Date(2026, 3, 1, 4, 14, 30, 999, time.FixedZone("", 3600))}
	for _, want := range []string{"slotop-20260301T031430Z", "slotop-20260301T031430Z-2"} {
		where, err := album{dir}.keep(shot)
		if err != nil || where != filepath.Join(dir, want)+".svg and .png" {
			t.Fatalf("%q %v", where, err)
		}
		isSVG(t, filepath.Join(dir, want+".svg"))
		isPNG(t, filepath.Join(dir, want+".png"))
	}
	// Nothing is written over, not even half of a pair.
	lone := filepath.Join(dir, "slotop-20260301T031430Z-3.png")
	if err := os.WriteFile(lone, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if where, err := (album{dir}).keep(shot); err != nil || !strings.Contains(where, "Z-4.svg") {
		t.Errorf("%q %v", where, err)
	}
	if text, _ := os.ReadFile(lone); string(text) != "mine" {
		t.Error("a file was written over")
	}
	if _, err := os.Stat(filepath.Join(dir, "slotop-20260301T031430Z-3.svg")); err == nil {
		t.Error("half of a pair was left behind")
	}
	if _, err := (album{filepath.Join(dir, "none")}).keep(shot); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	shot.At = time.Time{} // before the first frame
	if where, err := (album{dir}).keep(shot); err != nil || where != filepath.Join(dir, "slotop")+".svg and .png" {
		t.Errorf("%q %v", where, err)
	}
	shot.Size = layout.Size{}
	if _, err := (album{dir}).keep(shot); err == nil {
		t.Error("a picture of nothing")
	}
}

func isSVG(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return string(data)
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

func isPNG(t *testing.T, path string) (w, h int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	im, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return im.Bounds().Dx(), im.Bounds().Dy()
}

// A picture needs no terminal, and is the screen that one would show.
func TestSnapshotPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		if r := headless(t, append([]string{"snapshot", "--for", "690s", "demo:S1?seed=7"}, args...)...); r.code != exitOK || r.out != "" || r.err != "" {
			t.Errorf("%v: %d %q %q", args, r.code, r.out, r.err)
		}
	}
	run("--picture", file("a.svg"), "--size", "120x40", "--screen", "2", "--theme", "light")
	a := isSVG(t, file("a.svg"))
	for _, want := range []string{`width="1104" height="784"`, `fill="#ffffff"`, ">LATENCY<", "BREACHED"} {
		says(t, "the picture", a, want)
	}
	run("--picture", file("b.svg"), "--size", "120x40", "--screen", "latency", "--theme", "light")
	if b := isSVG(t, file("b.svg")); b != a {
		t.Error("a screen by its name is another picture than by its key")
	}
	run("--picture", file("c.png"), "--size", "80x24")
	if w, h := isPNG(t, file("c.png")); w != 2*(80*9+24) || h != 2*(24*19+24) {
		t.Errorf("the PNG has %d by %d pixels", w, h)
	}
	run("--picture", file("c.png"), "--size", "100x30") // over the one before: it is named
	if w, _ := isPNG(t, file("c.png")); w != 2*(100*9+24) {
		t.Error("the picture of a name that is there is the old one")
	}
	says(t, "a picture of what plays", a, ">LIVE<")
	if r := headless(t, "snapshot", "--picture", file("tape.svg"), recorded(t, "S0")); r.code != exitOK {
		t.Error(r.err)
	}
	if tape := isSVG(t, file("tape.svg")); !strings.Contains(tape, ">RECORDED<") || strings.Contains(tape, ">LIVE<") {
		t.Error("a picture of a tape is called live")
	}
	for _, tc := range []struct{ args, words []string }{
		{[]string{"--picture", file("x.gif")}, []string{".svg or .png"}},
		{[]string{"--picture", file("x.svg"), "--screen", "9"}, []string{"--screen 9", "overview"}},
		{[]string{"--picture", file("x.svg"), "--size", "120"}, []string{"120x40"}},
		{[]string{"--picture", file("x.svg"), "--size", "10x5"}, []string{"40x10"}},
		{[]string{"--picture", file("x.svg"), "--theme", "pink"}, []string{"pink", "dark"}},
	} {
		headless(t, append([]string{"snapshot", "--for", "5s", "demo"}, tc.args...)...).refuses(t, exitUsage, tc.words...)
	}
	headless(t, "snapshot", "--for", "5s", "demo", "--picture", file("none/x.svg")).refuses(t, exitFailed, "x.svg", "no such file")
}

// The key p writes both into the folder that was chosen, and says where.
func TestPictureOfTheScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := t.TempDir()
	s, _ := watching(t, setup{cols: 120, rows: 30}, "--pictures", dir)
	s.press("p")
	s.shows("wrote ")
	names := regexp.MustCompile(`^slotop-\d{8}T\d{6}Z\.(svg|png)$`)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v %v", entries, err)
	}
	for _, e := range entries {
		if !names.MatchString(e.Name()) {
			t.Errorf("a picture is called %s", e.Name())
		}
	}
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".svg" })
	svg := isSVG(t, filepath.Join(dir, entries[i].Name()))
	for _, want := range []string{"slotop", "quit", `width="1104"`} {
		says(t, "the picture", svg, want)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil { // the superuser may all the same
		_ = f.Close()
		return
	}
	s.press("p")
	s.shows("permission denied")
}
