package panes

import (
	"fmt"

	"slotop/themes"
)

// Delivery is how alerts reach one receiver. It holds no secret.
type Delivery struct {
	Name      string
	Waiting   int // not delivered yet
	Delivered int
	Failures  int // tries that failed and were, or will be, made again
	Dropped   int // alerts for which there was no room
	Error     string
}

// deliveries is a line for each receiver of alerts.
func (s *sheet) deliveries(outbox *[]Delivery) {
	if outbox == nil || len(*outbox) == 0 {
		return
	}
	s.rule("SENT TO")
	for _, d := range *outbox {
		mark, role := s.look.pick("✓", "v"), themes.OK
		if d.Error != "" || d.Dropped > 0 {
			mark, role = s.look.pick("▲", "!"), themes.Breach
		}
		line := []part{
			{segs: []seg{{role, mark + " "}, {themes.Strong, s.look.foreign(d.Name, 30)}}},
			say(0, themes.Text, fmt.Sprintf("%d delivered", d.Delivered)),
		}
		for _, n := range []struct {
			n    int
			word string
		}{{d.Waiting, "waiting"}, {d.Failures, "tries failed"}, {d.Dropped, "DROPPED"}} {
			if n.n > 0 {
				line = append(line, say(0, themes.Warn, fmt.Sprintf("%d %s", n.n, n.word)))
			}
		}
		s.out = append(s.out, s.look.line(s.w).pad(1).parts(3, line...).String())
		if d.Error != "" {
			s.text(indent, themes.Muted, s.look.sentence(d.Error, 300))
		}
	}
}
