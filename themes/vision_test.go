package themes

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// vision is how linear red, green and blue reach an eye. The matrices are those of
// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
// Color Vision Deficiency" (2009), at severity 1.
type vision struct {
	name   string
	matrix [3][3]float64
}

var visions = []vision{
	{"all cones", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protanopia", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
	{"deuteranopia", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
	{"tritanopia", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}

// seen is a colour as an eye sees it, in CIE L*a*b* under D65.
func (v vision) seen(hex string) lab {
	r, g, b, _ := lipgloss.Color(hex).RGBA()
	in := [3]float64{linear(r), linear(g), linear(b)}
	var out [3]float64
	for i, row := range v.matrix {
		out[i] = min(max(row[0]*in[0]+row[1]*in[1]+row[2]*in[2], 0), 1)
	}
	return labOf(out)
}

// lab is a colour in CIE L*a*b*.
type lab struct{ l, a, b float64 }

func labOf(rgb [3]float64) lab {
	x := 0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]
	y := 0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2]
	z := 0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	fx, fy, fz := f(x/0.95047), f(y), f(z/1.08883)
	return lab{116*fy - 16, 500 * (fx - fy), 200 * (fy - fz)}
}

// apart is the CIEDE2000 difference of two colours, after Sharma, Wu and Dalal (2005):
// about 1 is the least that is seen side by side.
func apart(p, q lab) float64 {
	c7 := math.Pow((math.Hypot(p.a, p.b)+math.Hypot(q.a, q.b))/2, 7)
	g := 0.5 * (1 - math.Sqrt(c7/(c7+math.Pow(25, 7))))
	pa, qa := p.a*(1+g), q.a*(1+g)
	pc, qc := math.Hypot(pa, p.b), math.Hypot(qa, q.b)
	ph, qh := hue(pa, p.b), hue(qa, q.b)
	dl, dc := q.l-p.l, qc-pc
	dh, mh := 0.0, ph+qh
	if pc*qc != 0 {
		switch dh = qh - ph; {
		case dh > 180:
			dh -= 360
		case dh < -180:
			dh += 360
		}
		switch {
		case math.Abs(ph-qh) <= 180:
			mh = (ph + qh) / 2
		case ph+qh < 360:
			mh = (ph + qh + 360) / 2
		default:
			mh = (ph + qh - 360) / 2
		}
	}
	dH := 2 * math.Sqrt(pc*qc) * sind(dh/2)
	ml, mc := (p.l+q.l)/2, (pc+qc)/2
	t := 1 - 0.17*cosd(mh-30) + 0.24*cosd(2*mh) + 0.32*cosd(3*mh+6) - 0.20*cosd(4*mh-63)
	sl := 1 + 0.015*(ml-50)*(ml-50)/math.Sqrt(20+(ml-50)*(ml-50))
	sc, sh := 1+0.045*mc, 1+0.015*mc*t
	mc7 := math.Pow(mc, 7)
	rt := -2 * math.Sqrt(mc7/(mc7+math.Pow(25, 7))) * sind(60*math.Exp(-((mh-275)/25)*((mh-275)/25)))
	return math.Sqrt(dl/sl*dl/sl + dc/sc*dc/sc + dH/sh*dH/sh + rt*dc/sc*dH/sh)
}

func hue(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 0
	}
	return math.Mod(math.Atan2(b, a)*180/math.Pi+360, 360)
}

func sind(deg float64) float64 { return math.Sin(deg * math.Pi / 180) }
func cosd(deg float64) float64 { return math.Cos(deg * math.Pi / 180) }

// Pairs of the test data that Sharma, Wu and Dalal publish with their formula.
func TestDifferenceOfColours(t *testing.T) {
	tests := []struct {
		p, q lab
		want string
	}{
		{lab{50, 2.6772, -79.7751}, lab{50, 0, -82.7485}, "2.0425"},
		{lab{50, -1.3802, -84.2814}, lab{50, 0, -82.7485}, "1.0000"},
		{lab{50, 2.5, 0}, lab{50, 0, -2.5}, "4.3065"},
		{lab{50, 2.5, 0}, lab{73, 25, -18}, "27.1492"},
		{lab{50, 2.5, 0}, lab{61, -5, 29}, "22.8977"},
		{lab{60.2574, -34.0099, 36.2677}, lab{60.4626, -34.1751, 39.4387}, "1.2644"},
		{lab{22.7233, 20.0904, -46.6940}, lab{23.0331, 14.9730, -42.5619}, "2.0373"},
		{lab{2.0776, 0.0795, -1.1350}, lab{0.9033, -0.0636, -0.5514}, "0.9082"},
	}
	for _, tc := range tests {
		if got := fmt.Sprintf("%.4f", apart(tc.p, tc.q)); got != tc.want {
			t.Errorf("%v and %v: %s, want %s", tc.p, tc.q, got, tc.want)
		}
	}
	if white := labOf([3]float64{1, 1, 1}); math.Abs(white.l-100) > 0.01 || math.Hypot(white.a, white.b) > 0.02 {
		t.Errorf("white is %v", white)
	}
}

// Differences that the roles of a theme keep, in CIEDE2000. Side by side 2 is seen by
// everybody; a word of one colour is told from a word of another, apart on the screen,
// from about 8 on.
const (
	apartForAll  = 20 // in the theme made for it
	apartAtLeast = 8  // in the others, where every state has its word and mark too
	apartAlone   = 14 // in the others, where no weight tells them apart as well
)

// TestNobodyTakesOneStateForAnother holds the colours of states, and of the lines of a
// chart, apart for every eye.
func TestNobodyTakesOneStateForAnother(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]Role{{OK, Warn}, {OK, Breach}, {Warn, Breach}, {Low, High}, {High, Over}, {Low, Over}, {Objective, High}, {Objective, Low}}
	for _, theme := range s.themes {
		for _, p := range pairs {
			a, b := foreground(theme, p[0]), foreground(theme, p[1])
			if a == "" || b == "" {
				continue // mono has no colours: the next test is its
			}
			want := float64(apartAlone)
			switch {
			case theme.Name == "colour-blind":
				want = apartForAll
			case weight(theme, p[0]) != weight(theme, p[1]):
				want = apartAtLeast
			}
			for _, v := range visions {
				if got := apart(v.seen(a), v.seen(b)); got < want {
					t.Errorf("%s: with %s %s %s and %s %s are %.1f apart, want %.0f", theme.Name, v.name, p[0], a, p[1], b, got, want)
				}
			}
		}
	}
}

// weight is what a role has beside its colour.
func weight(t *Theme, r Role) [3]bool {
	s := t.Style(r)
	return [3]bool{s.GetBold(), s.GetUnderline(), s.GetReverse()}
}

// Whatever the theme, a breach does not rest on its colour.
func TestABreachHasWeight(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range s.themes {
		if weight(theme, Breach) == weight(theme, OK) {
			t.Errorf("%s: only its colour tells a breach", theme.Name)
		}
	}
	mono, err := s.Find("mono")
	if err != nil {
		t.Fatal(err)
	}
	if weight(mono, Warn) == weight(mono, OK) || weight(mono, Warn) == weight(mono, Breach) {
		t.Error("mono tells a warning by nothing")
	}
}

// TestContrastOf256 holds the contrast where a terminal has 256 colours and shows the
// nearest one.
func TestContrastOf256(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range s.themes {
		for _, r := range Roles() {
			fore := foreground(theme, r)
			for _, back := range theme.Background {
				if fore == "" {
					continue
				}
				near := colorprofile.ANSI256.Convert(lipgloss.Color(fore))
				if got := contrast(near, lipgloss.Color(back)); got < 4.5 {
					t.Errorf("%s: %s %s of 256 colours on %s has %.2f:1", theme.Name, r, fore, back, got)
				}
			}
			if c := visions[0].seen(fore); fore != "" && math.Hypot(c.a, c.b) < 10 && !isGrey(colorprofile.ANSI256.Convert(lipgloss.Color(fore))) {
				t.Errorf("%s: %s %s is nearly grey, and of 256 colours it is not", theme.Name, r, fore)
			}
		}
	}
}

func isGrey(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	return r == g && g == b
}
