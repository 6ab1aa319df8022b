package panes

import (
	"testing"

	"slotop/themes"
)

func TestSpots(t *testing.T) {
	draw := func(spots bool) string {
		k := Look{Spots: spots}
		return k.line(40).pad(1).parts(2,
			say(0, themes.Text, "chat"), say(0, themes.Text, "漢字 7").of("n", "a;b\x1b%"), say(0, themes.Muted, "9 ms").of("ttft", "chat")).String()
	}
	plain, spots := Unmark(draw(true))
	if plain != draw(false) {
		t.Errorf("%q, without spots %q", plain, draw(false))
	}
	want := []Spot{{About: About{"n", "a;b\x1b%"}, X: 7, W: 6, Text: "漢字 7"}, {About: About{"ttft", "chat"}, X: 15, W: 4, Text: "9 ms"}}
	if len(spots) != 2 || spots[0] != want[0] || spots[1] != want[1] {
		t.Errorf("%+v", spots)
	}
}
