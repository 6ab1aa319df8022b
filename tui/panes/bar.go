package panes

import (
	"strings"
	"time"

	"slotop/model"
	"slotop/themes"
)

// Bar is where on a span of time the picture stands, and where something happened. It
// is comparable. The zero Bar is none.
type Bar struct {
	Known    bool
	At       uint8  // one of barPlaces
	Breaches uint64 // a bit for each place where one began
	Others   uint64 // and where something else happened
}

// barPlaces is how finely a bar tells places apart: a mark in 60 of its cells is as
// good as one can point at.
const barPlaces = 64

// NewBar places an instant and events between two instants. What lies outside is not
// shown; there is no bar without a span.
func NewBar(from, to, at model.Instant, events []model.Event) Bar {
	whole := to.Sub(from)
	if whole <= 0 {
		return Bar{}
	}
	b := Bar{Known: true, At: place(at.Sub(from), whole)}
	for i := range events {
		d := events[i].At.Sub(from)
		if d < 0 || d > whole {
			continue
		}
		if bit := uint64(1) << place(d, whole); events[i].Kind == model.EventBreach {
			b.Breaches |= bit
		} else {
			b.Others |= bit
		}
	}
	return b
}

func place(d, whole time.Duration) uint8 {
	return uint8(min(max(float64(d)/float64(whole), 0), 1) * (barPlaces - 1))
}

// part draws the bar over w cells.
func (b Bar) part(w, drop int, look Look) part {
	p := part{drop: drop}
	if !b.Known || w <= 0 {
		return p
	}
	cell := func(place int) int { return place * (w - 1) / (barPlaces - 1) }
	at := cell(int(b.At))
	for x := range w {
		role, text := themes.Rule, look.pick("─", "-")
		if x < at {
			role, text = themes.Muted, look.pick("━", "=")
		}
		for i := range barPlaces {
			switch {
			case cell(i) != x:
			case b.Breaches>>i&1 == 1:
				role, text = themes.Breach, look.pick("▲", "!")
			case b.Others>>i&1 == 1 && role != themes.Breach:
				role, text = themes.Text, look.pick("╂", "+")
			}
		}
		if x == at {
			role, text = themes.Strong, look.pick("●", "O")
		}
		if n := len(p.segs); n > 0 && p.segs[n-1].role == role {
			p.segs[n-1].text += text
			continue
		}
		p.segs = append(p.segs, seg{role, text})
	}
	return p
}

// EventText is an event in a few words with its time of day. Names in it are as they
// came: who shows it escapes them.
func EventText(e model.Event) string {
	return strings.TrimSpace(e.At.Wall.UTC().Format("15:04:05") + " " + happening(e))
}
