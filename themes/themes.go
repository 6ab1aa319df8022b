// Package themes turns theme files into styles by role. It knows what a role
// means and what colour it has; it never decides where a role is used.
package themes

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Theme is one loaded theme: a style for every role.
type Theme struct {
	Name       string
	About      string
	Dark       bool     // made for a dark background
	Background []string // hex: backgrounds it is made for; never painted

	full  [RoleCount]lipgloss.Style // 24-bit colours; the terminal's depth is met when writing
	basic [RoleCount]lipgloss.Style // for terminals of 16 colours
}

// Style is the style of a role in full colour.
func (t *Theme) Style(r Role) lipgloss.Style { return t.full[r] }

// Basic is the style of a role on a terminal of 16 colours, where the theme
// names the colour itself: the nearest one by arithmetic is often unreadable.
func (t *Theme) Basic(r Role) lipgloss.Style { return t.basic[r] }

// Canvas is the background of a picture of the theme, #rrggbb: the first that it is
// made for.
func (t *Theme) Canvas() string {
	switch {
	case len(t.Background) > 0:
		return t.Background[0]
	case t.Dark:
		return "#1e1e1e"
	default:
		return "#ffffff"
	}
}

// Set is an ordered collection of themes.
type Set struct{ themes []*Theme }

// Names lists the themes in the order in which a key steps through them.
func (s *Set) Names() []string {
	names := make([]string, len(s.themes))
	for i, t := range s.themes {
		names[i] = t.Name
	}
	return names
}

// Find is the theme of that name, or an error that lists the names there are.
func (s *Set) Find(name string) (*Theme, error) {
	for _, t := range s.themes {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("find theme %q: there is %s", name, strings.Join(s.Names(), ", "))
}

// For is the first theme made for a dark or a light background.
func (s *Set) For(dark bool) *Theme {
	for _, t := range s.themes {
		if t.Dark == dark {
			return t
		}
	}
	return s.themes[0]
}

// After is the theme that follows the named one, the first after the last.
func (s *Set) After(name string) *Theme {
	for i, t := range s.themes {
		if t.Name == name {
			return s.themes[(i+1)%len(s.themes)]
		}
	}
	return s.themes[0]
}

// put adds a theme, in the place of one with the same name.
func (s *Set) put(t *Theme) {
	for i, old := range s.themes {
		if old.Name == t.Name {
			s.themes[i] = t
			return
		}
	}
	s.themes = append(s.themes, t)
}

// look is a role's value, parsed: "coral bold on ink".
type look struct {
	fore, back string // palette names, "" or default for the terminal's own
	attributes []string
}

// attributes a role may have beside its colours. Faint is not among them: how
// far it fades is the terminal's choice, so its contrast cannot be promised.
var attributes = map[string]func(lipgloss.Style) lipgloss.Style{
	"bold":      func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) },
	"italic":    func(s lipgloss.Style) lipgloss.Style { return s.Italic(true) },
	"underline": func(s lipgloss.Style) lipgloss.Style { return s.Underline(true) },
	"reverse":   func(s lipgloss.Style) lipgloss.Style { return s.Reverse(true) },
}

func (l look) style(colour func(name string) color.Color) lipgloss.Style {
	s := lipgloss.NewStyle()
	if c := colour(l.fore); c != nil {
		s = s.Foreground(c)
	}
	if c := colour(l.back); c != nil {
		s = s.Background(c)
	}
	for _, a := range l.attributes {
		s = attributes[a](s)
	}
	return s
}
