package unit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Escape makes foreign text safe to print: whatever a terminal would obey, or
// would not show, becomes a visible mark on the same line, ␛ for the escape
// character, \x9b for a C1 control, \u202e for a change of writing direction. In
// ASCII everything but printable ASCII is written that way. Text without any is
// returned as it is.
func Escape(s string, ascii bool) string {
	i := firstUnsafe(s, ascii)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			writeHex(&b, 'x', rune(s[i]), 2)
		case safe(r, ascii):
			b.WriteString(s[i : i+n])
		default:
			writeMark(&b, r, ascii)
		}
		i += n
	}
	return b.String()
}

func firstUnsafe(s string, ascii bool) int {
	for i, r := range s {
		if !safe(r, ascii) {
			return i
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// safe reports whether a terminal shows the rune and does nothing else with it.
func safe(r rune, ascii bool) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7f
	}
	if ascii {
		return false
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func writeMark(b *strings.Builder, r rune, ascii bool) {
	switch {
	case !ascii && r == '\n':
		b.WriteRune('␤')
	case !ascii && r < ' ':
		b.WriteRune('␀' + r)
	case !ascii && r == 0x7f:
		b.WriteRune('␡')
	case r <= 0xff:
		writeHex(b, 'x', r, 2)
	case r <= 0xffff:
		writeHex(b, 'u', r, 4)
	default:
		writeHex(b, 'U', r, 8)
	}
}

func writeHex(b *strings.Builder, kind byte, r rune, digits int) {
	const hex = "0123456789abcdef"
	b.WriteByte('\\')
	b.WriteByte(kind)
	for i := digits - 1; i >= 0; i-- {
		b.WriteByte(hex[r>>(4*i)&0xf])
	}
}

// signs are those that slotop itself writes into sentences, and what ASCII has for
// them.
var signs = strings.NewReplacer("−", "-", "–", "-", "…", "...", "×", "x", "≤", "<=", "≥", ">=", "≈", "~", "→", "->", " · ", "; ", "·", "*", "λ", "lambda", "ρ", "rho", "Δ", "delta ", "Σ", "sum")

// Sentence makes a sentence safe to print as Escape does, names of targets in it
// included. In ASCII the signs that sentences of our own hold have a stand-in: ->
// for an arrow, x for times.
func Sentence(s string, ascii bool) string {
	if ascii {
		s = signs.Replace(s)
	}
	return Escape(s, ascii)
}

// Width is the number of cells that s takes on screen.
func Width(s string) int { return ansi.StringWidth(s) }

// TruncateLeft shortens s to n cells and keeps its end, as paths need it:
// …/acme/chat 70b/.
func TruncateLeft(s string, n int, ascii bool) string {
	if Width(s) <= n {
		return s
	}
	mark := ellipsis(n, ascii)
	return mark + lastCells(s, n-Width(mark))
}

// leastMiddle is the room in which a beginning and an end still say something, of which
// the end gets a third: many names end in the same port.
const leastMiddle = 12

// TruncateMiddle shortens s to n cells and keeps its beginning and its end: names of one
// family differ in either. In very few cells only the beginning stays.
func TruncateMiddle(s string, n int, ascii bool) string {
	if Width(s) <= n {
		return s
	}
	if n < leastMiddle {
		return TruncateRight(s, n, ascii)
	}
	mark := ellipsis(n, ascii)
	room := n - Width(mark)
	return ansi.Truncate(s, room-room/3, "") + mark + lastCells(s, room/3)
}

// lastCells is the end of s in at most n cells.
func lastCells(s string, n int) string {
	// A wide character may straddle the cut: it goes whole.
	for w := Width(s); s != "" && w > n; {
		cluster, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		w -= cells
	}
	return s
}

// TruncateRight shortens s to n cells and keeps its beginning.
func TruncateRight(s string, n int, ascii bool) string {
	if Width(s) <= n {
		return s
	}
	return ansi.Truncate(s, max(0, n), ellipsis(n, ascii))
}

// ellipsis says that something is missing, in at most n cells.
func ellipsis(n int, ascii bool) string {
	switch {
	case n <= 0:
		return ""
	case ascii:
		return ".."[:min(n, 2)]
	default:
		return "…"
	}
}

// PadLeft right-aligns s in n cells.
func PadLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-Width(s))) + s
}

// PadRight left-aligns s in n cells.
func PadRight(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}
