package main

import (
	"bytes"
	"image/color"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// reportOf writes a report of a simulated incident in virtual time.
func reportOf(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if r := headless(t, append([]string{"report", "-o", path}, args...)...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	return path
}

// pages are the pages that are opened in a browser.
var pages = []struct {
	name string
	args []string
}{
	{"incident", []string{"--for", "720s", "demo:S1?seed=7"}},
	{"capacity", []string{"--kind", "capacity", "--for", "720s", "demo:S0?seed=7"}},
	{"gap", []string{"--for", "720s", "demo:S4?seed=7&with=gap,restart"}},
}

// A page opens from a file, asks for nothing, complains of nothing, and is not wider
// than a phone, a screen, or paper. Where SLOTOP_PICTURES names a folder its pictures
// are left there to be looked at.
func TestReportPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it is a browser that works here")
	}
	b := chromium(t)
	for _, page := range pages {
		t.Run(page.name, func(t *testing.T) {
			path := reportOf(t, page.name+".html", page.args...)
			tab := b.open("file://"+path, view{1280, 900, false})
			shown := map[string][]byte{}
			for _, l := range []struct {
				name string
				view view
			}{
				{"light", view{1280, 900, false}}, {"dark", view{1280, 900, true}},
				{"phone", view{375, 812, false}}, {"phone-dark", view{375, 812, true}}, {"tablet", view{768, 1024, false}},
			} {
				tab.resize(l.view)
				var width int
				tab.eval("document.documentElement.scrollWidth", &width)
				if width > l.view.width {
					t.Errorf("%s: %d pixels wide, on a screen of %d", l.name, width, l.view.width)
				}
				if l.name == "light" || l.name == "dark" || os.Getenv("SLOTOP_PICTURES") != "" {
					shown[l.name] = tab.picture()
					keep(t, page.name+"-"+l.name+".png", shown[l.name])
				}
			}
			keep(t, page.name+".pdf", printedOn(t, tab))
			if got := tab.requests("file://" + path); len(got) > 0 {
				t.Errorf("the page asks for %q", got)
			}
			if err := tab.complaints(); err != nil {
				t.Error(err)
			}
			light, dark := brightness(t, shown["light"]), brightness(t, shown["dark"])
			if light < 0.8 || dark > 0.3 {
				t.Errorf("brightness %.2f in the light scheme, %.2f in the dark one", light, dark)
			}
		})
	}
}

// keep leaves a picture to be looked at.
func keep(t *testing.T, name string, content []byte) {
	t.Helper()
	if dir := os.Getenv("SLOTOP_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// printedOn prints a page and checks that no picture is torn by the end of a sheet.
func printedOn(t *testing.T, tab tab) []byte {
	t.Helper()
	pdf := tab.printed()
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("/Page")) {
		t.Errorf("not a document: %.20q", pdf)
	}
	tab.call(tab.session, "Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	var whole bool
	tab.eval(`[...document.querySelectorAll("figure")].every(f => getComputedStyle(f).breakInside === "avoid")`, &whole)
	if !whole {
		t.Error("a picture may be torn in print")
	}
	return pdf
}

// brightness is the mean of a picture, 0 black to 1 white.
func brightness(t *testing.T, picture []byte) float64 {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 7 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 7 {
			sum += float64(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y) / 255
			n++
		}
	}
	return sum / float64(n)
}

// A page that names of others try to break into shows them, runs nothing and asks
// nobody. The listener is what they would ask.
func TestReportPageOfHostileNames(t *testing.T) {
	b := chromium(t)
	ear, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ear.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_ = c.Close()
		}
	}()
	path := reportOf(t, "hostile.html", hostilePages(t, "http://"+ear.Addr().String()+"/")...)
	tab := b.open("file://"+path, view{375, 812, false})
	if got := tab.requests("file://" + path); len(got) > 0 {
		t.Errorf("the page asks for %q", got)
	}
	if err := tab.complaints(); err != nil {
		t.Error(err)
	}
	var found struct {
		Scripts, Images, Links, Width int
		Ran                           bool
		Text                          string
	}
	tab.eval(`({scripts: document.querySelectorAll("script").length, images: document.querySelectorAll("img, iframe, object, embed").length,
		links: document.querySelectorAll("a[href], form, base").length, width: document.documentElement.scrollWidth,
		ran: window.broken === true, text: document.body.innerText})`, &found)
	if found.Scripts+found.Images+found.Links > 0 || found.Ran || found.Width > 375 {
		t.Errorf("%d scripts, %d images, %d links, ran %v, %d pixels wide", found.Scripts, found.Images, found.Links, found.Ran, found.Width)
	}
	for _, name := range hostileNames("http://" + ear.Addr().String() + "/") {
		if shown := visible(name); !bytes.Contains([]byte(found.Text), []byte(shown)) {
			t.Errorf("the page does not show %q", shown)
		}
	}
	_ = ear.Close()
	<-done
	if n := asked.Load(); n > 0 {
		t.Errorf("asked %d times", n)
	}
}
