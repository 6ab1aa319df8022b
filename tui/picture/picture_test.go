package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"slotop/tui/layout"
)

const dark = "#1e1e1e"

// node is what a test reads of an SVG.
type node struct {
	name, text string
	attr       map[string]string
}

// nodes parses an SVG and fails where it is not well-formed.
func nodes(t *testing.T, svg []byte) []node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var out []node
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			n := node{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			out = append(out, n)
		case xml.CharData:
			if len(out) > 0 {
				out[len(out)-1].text += strings.TrimRight(string(token), "\n")
			}
		}
	}
}

func drawing(t *testing.T, screen string, w, h int) []node {
	t.Helper()
	svg, err := SVG(screen, layout.Size{W: w, H: h}, dark)
	if err != nil {
		t.Fatal(err)
	}
	return nodes(t, svg)
}

func texts(list []node) []node {
	var out []node
	for _, n := range list {
		if n.name == "text" {
			out = append(out, n)
		}
	}
	return out
}

// A run of letters stands where its cells stand, and is as long as they are.
func TestLettersStandInTheirCells(t *testing.T) {
	got := texts(drawing(t, "ab  \x1b[1mcd e\x1b[m\n 漢x\x1b[31mr", 12, 2))
	want := []struct {
		text    string
		x, y, n int
	}{{"ab", 0, 0, 2}, {"cd e", 4, 0, 4}, {"漢", 1, 1, 2}, {"x", 3, 1, 1}, {"r", 4, 1, 1}}
	if len(got) != len(want) {
		t.Fatalf("%d runs, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		n := got[i]
		if n.text != w.text || n.attr["x"] != strconv.Itoa(margin+w.x*cellW) ||
			n.attr["y"] != strconv.Itoa(margin+w.y*cellH+baseline) || n.attr["textLength"] != strconv.Itoa(w.n*cellW) {
			t.Errorf("run %d is %v, want %v", i, n, w)
		}
	}
}

func TestColours(t *testing.T) {
	tests := []struct{ sgr, want string }{
		{"", inkOnDark}, {"31", "#cd0000"}, {"91", "#ff0000"}, {"38;5;9", "#ff0000"}, {"38;5;16", "#000000"}, {"38;5;231", "#ffffff"},
		{"38;5;244", "#808080"}, {"38;2;1;2;255", "#0102ff"}, {"31;39", inkOnDark}, {"31;0", inkOnDark}, {"7", dark}, {"31;7;27", "#cd0000"},
		{"38;2", inkOnDark}, {"38;9;1", inkOnDark}, {"48;2;1;2;3", inkOnDark},
	}
	for _, tc := range tests {
		rows := cells("\x1b["+tc.sgr+"mx", layout.Size{W: 1, H: 1}, inkOnDark, dark)
		if got := rows[0][0].style.fore; got != tc.want {
			t.Errorf("%q gives %s, want %s", tc.sgr, got, tc.want)
		}
	}
	s := cells("\x1b[1;3;4;48;5;21mx", layout.Size{W: 1, H: 1}, inkOnDark, dark)[0][0].style
	if s != (style{fore: inkOnDark, back: "#0000ff", bold: true, italic: true, underline: true}) {
		t.Errorf("got %+v", s)
	}
	if light, _ := read("x", layout.Size{W: 1, H: 1}, "#ffffff"); light.ink != inkOnLight {
		t.Errorf("on white letters are %s", light.ink)
	}
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		size layout.Size
		back string
		want string
	}{
		{layout.Size{W: 0, H: 1}, dark, "size"}, {layout.Size{W: 1 << 30, H: 1 << 30}, dark, "size"}, {layout.Size{W: 1, H: 1}, "black", "black"},
	} {
		for _, f := range []func(string, layout.Size, string) ([]byte, error){SVG, PNG} {
			if _, err := f("x", tc.size, tc.back); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v: got %v", tc, err)
			}
		}
	}
}

// What screens show is a letter of the font, a shape of ours, or wide: nothing of it
// stands as an empty frame.
func TestEveryCharacterOfTheScreensIsDrawn(t *testing.T) {
	p, err := newPainter(&screen{size: layout.Size{W: 1, H: 1}, back: dark})
	if err != nil {
		t.Fatal(err)
	}
	missing := map[rune]string{}
	count := 0
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".golden" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		count++
		for _, r := range ansi.Strip(string(data)) {
			_, drawn := shapeOf(r)
			_, control := controlCode(r)
			if drawn || control || unicode.IsControl(r) || ansi.StringWidth(string(r)) != 1 || p.has(r, cell{width: 1}) {
				continue
			}
			missing[r] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 50 {
		t.Fatalf("only %d goldens: looking in the wrong place", count)
	}
	for r, name := range missing {
		t.Errorf("%q (%U) of %s is no letter of the font and no shape", r, r, name)
	}
}

// A line's shape reaches the edges that its neighbour's reaches from the other side.
func TestLinesJoin(t *testing.T) {
	for r := rune(0x2500); r < 0x2580; r++ {
		if r >= 0x2571 && r <= 0x2573 || dashes[r] > 0 {
			continue
		}
		s, _ := box(r)
		b := bounds(s)
		kinds := arms[(r-0x2500)*5:]
		reaches := [4]bool{b.y <= 0, b.x+b.w >= cellW, b.y+b.h >= cellH, b.x <= 0}
		for side, reached := range reaches {
			if want := kinds[side] != '0'; reached != want {
				t.Errorf("%c: reaches side %d: %v, want %v", r, side, reached, want)
			}
		}
	}
}

func TestNeighboursBecomeOneShape(t *testing.T) {
	for _, n := range drawing(t, strings.Repeat("─", 40), 40, 1) {
		if n.name == "path" && strings.Count(n.attr["d"], "M") != 1 {
			t.Errorf("a rule of 40 cells is %s", n.attr["d"])
		}
	}
}

// pixel is the colour in the middle of a cell.
func pixel(t *testing.T, im image.Image, x, y int) color.RGBA {
	t.Helper()
	r, g, b, a := im.At((margin+x*cellW+cellW/2)*scale, (margin+y*cellH+cellH/2)*scale).RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: uint8(a >> 8)}
}

func TestPNG(t *testing.T) {
	data, err := PNG("\x1b[38;2;10;200;30m█░\x1b[m \x1b[7m \x1b[m漢\x1b[31m●⣿W", layout.Size{W: 12, H: 2}, dark)
	if err != nil {
		t.Fatal(err)
	}
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if b := im.Bounds(); b.Dx() != (12*cellW+2*margin)*scale || b.Dy() != (2*cellH+2*margin)*scale {
		t.Errorf("the picture is %v", b)
	}
	back := color.RGBA{0x1e, 0x1e, 0x1e, 0xff}
	tests := []struct {
		x    int
		want color.RGBA
	}{
		{0, color.RGBA{10, 200, 30, 255}}, {2, back}, {3, color.RGBA{0xe4, 0xe6, 0xe9, 255}}, {6, color.RGBA{0xcd, 0, 0, 255}}, {10, back},
	}
	for _, tc := range tests {
		if got := pixel(t, im, tc.x, 0); got != tc.want {
			t.Errorf("cell %d is %v, want %v", tc.x, got, tc.want)
		}
	}
	if got := pixel(t, im, 1, 0); got.G <= back.G || got.G >= 200 {
		t.Errorf("a shade is %v", got)
	}
	for x := range 9 { // something is drawn in each, letters and what no font has too
		if x != 2 && x != 5 && !inked(im, x, back) {
			t.Errorf("cell %d is empty", x)
		}
	}
}

// inked reports whether a cell of the first row is not all background.
func inked(im image.Image, x int, back color.RGBA) bool {
	for py := margin * scale; py < (margin+cellH)*scale; py++ {
		for px := (margin + x*cellW) * scale; px < (margin+(x+1)*cellW)*scale; px++ {
			if im.At(px, py) != color.Color(back) {
				return true
			}
		}
	}
	return false
}

// The picture holds every letter of the screen, whatever the screen holds, and stays
// well-formed.
func TestTextIsEscaped(t *testing.T) {
	screen := `<script>&"'` + "\x00\x07\x1b]0;title\x07 \u202e \ufffe end"
	all := ""
	for _, n := range texts(drawing(t, screen, 60, 1)) {
		all += n.text
	}
	for _, want := range []string{`<script>&"'`, "end"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
	if strings.Contains(all, "title") {
		t.Errorf("a sequence was drawn: %q", all)
	}
}

func FuzzPictures(f *testing.F) {
	f.Add("\x1b[1;38;2;1;2;3mab\x1b[m ⣿▓─漢\n👩‍👧‍👦", 20, 3)
	f.Add("\x1b[38;5mx\x1b[48;2;1mx\x1b[;;m", 3, 1)
	f.Fuzz(func(t *testing.T, screen string, w, h int) {
		if w < 1 || h < 1 || w > 40 || h > 8 {
			return
		}
		drawing(t, screen, w, h)
		if w*h > 8 {
			return // painting takes long, and cells do not know of one another
		}
		if _, err := PNG(screen, layout.Size{W: w, H: h}, "#ffffff"); err != nil {
			t.Fatal(err)
		}
	})
}

// A line that is too long ends at the edge, and its styles end with it.
func TestCutLinesKeepTheirStyles(t *testing.T) {
	for _, screen := range []string{"\x1b[31mabcdef\x1b[m\nx", "\x1b[31mabc世\x1b[m\nx"} {
		rows := cells(screen, layout.Size{W: 4, H: 2}, inkOnDark, dark)
		if got := rows[1][0].style.fore; got != inkOnDark {
			t.Errorf("%q colours the next line %s", screen, got)
		}
	}
}
