package themes

import (
	"embed"
	"errors"
	"fmt"
	"image/color"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"go.yaml.in/yaml/v4"
)

//go:embed *.yaml
var builtin embed.FS

// order is the order of the built-in themes; a test holds it to the files.
var order = []string{"dark", "light", "mono", "high-contrast", "colour-blind"}

// maxFile bounds a theme file: a long one has 2 KiB.
const maxFile = 64 << 10

// Builtin loads the themes that come with the program.
func Builtin() (*Set, error) {
	s := &Set{}
	for _, name := range order {
		if err := s.addFile(builtin, name+".yaml"); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// AddDir adds every *.yaml of a directory. A theme with the name of an earlier
// one takes its place. All files are tried, so all mistakes are told at once.
func (s *Set) AddDir(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return fmt.Errorf("list themes: %w", err)
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, s.addFile(fsys, name))
	}
	return errors.Join(errs...)
}

func (s *Set) addFile(fsys fs.FS, name string) error {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return fmt.Errorf("read theme: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read theme %s: it is no regular file", name)
	}
	data, err := readFile(fsys, name)
	if err != nil {
		return fmt.Errorf("read theme %s: %w", name, err)
	}
	t, err := parse(name, data)
	if err != nil {
		return err
	}
	s.put(t)
	return nil
}

// readFile checks the size while reading: what a file says of its own may be
// out of date.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return data, err
}

// document is a theme file.
type document struct {
	Name       string         `yaml:"name"`
	About      string         `yaml:"about"`
	Dark       bool           `yaml:"dark"`
	Background []string       `yaml:"background"`
	Palette    yaml.Node      `yaml:"palette"`
	Basic      map[string]int `yaml:"basic"` // palette name → one of 16 colours
	Roles      yaml.Node      `yaml:"roles"`
}

// entry is one key of a mapping with its place, for messages.
type entry struct {
	key, value string
	line       int
}

func entries(n yaml.Node, what string) ([]entry, error) {
	if n.Kind != 0 && n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%d: %s is not a mapping", n.Line, what)
	}
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if v.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("%d: %s %s is not one word or sentence", v.Line, what, k.Value)
		}
		out = append(out, entry{k.Value, v.Value, k.Line})
	}
	return out, nil
}

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// parse reads one theme file. Errors begin with file and line.
func parse(name string, data []byte) (*Theme, error) {
	var doc document
	if err := yaml.Load(data, &doc, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("theme %s: %w", name, err)
	}
	t, err := doc.theme()
	if err != nil {
		return nil, fmt.Errorf("theme %s:%w", name, err)
	}
	if t.Name == "" {
		t.Name = strings.TrimSuffix(path.Base(name), ".yaml")
	}
	return t, nil
}

// theme resolves the document. Errors begin with the line.
func (d document) theme() (*Theme, error) {
	t := &Theme{Name: d.Name, About: d.About, Dark: d.Dark, Background: d.Background}
	for _, b := range d.Background {
		if !hexColour.MatchString(b) {
			return nil, fmt.Errorf("1: background %q is not a #RRGGBB colour", b)
		}
	}
	palette, err := d.colours()
	if err != nil {
		return nil, err
	}
	looks, err := d.looks(palette)
	if err != nil {
		return nil, err
	}
	full := func(n string) color.Color { return colourOf(palette[n]) }
	basic := func(n string) color.Color {
		if i, ok := d.Basic[n]; ok {
			return lipgloss.Color(strconv.Itoa(i))
		}
		return full(n)
	}
	for r := range roles {
		l := resolve(looks, Role(r))
		t.full[r], t.basic[r] = l.style(full), l.style(basic)
	}
	return t, nil
}

func colourOf(hex string) color.Color {
	if hex == "" {
		return nil
	}
	return lipgloss.Color(hex)
}

func (d document) colours() (map[string]string, error) {
	list, err := entries(d.Palette, "palette")
	if err != nil {
		return nil, err
	}
	palette := map[string]string{}
	for _, e := range list {
		if !hexColour.MatchString(e.value) {
			return nil, fmt.Errorf("%d: colour %s is %q, not #RRGGBB", e.line, e.key, e.value)
		}
		palette[e.key] = e.value
	}
	for n, i := range d.Basic {
		if palette[n] == "" {
			return nil, fmt.Errorf("1: basic names %q, which is not in the palette", n)
		}
		if i < 0 || i > 15 {
			return nil, fmt.Errorf("1: basic colour %d of %s is not one of 0 to 15", i, n)
		}
	}
	return palette, nil
}

func (d document) looks(palette map[string]string) (map[Role]look, error) {
	list, err := entries(d.Roles, "role")
	if err != nil {
		return nil, err
	}
	looks := map[Role]look{}
	for _, e := range list {
		r, ok := roleNamed(e.key)
		if !ok {
			return nil, fmt.Errorf("%d: role %q is unknown: there is %s", e.line, e.key, roleNames())
		}
		if looks[r], err = parseLook(e.value, palette); err != nil {
			return nil, fmt.Errorf("%d: role %s: %w", e.line, e.key, err)
		}
	}
	for i, info := range roles {
		if _, ok := looks[Role(i)]; !ok && info.like == Role(i) {
			return nil, fmt.Errorf("1: role %s is missing", info.name)
		}
	}
	return looks, nil
}

// parseLook reads "coral bold on ink": a colour, attributes, a background.
func parseLook(s string, palette map[string]string) (look, error) {
	var l look
	target := &l.fore
	for _, word := range strings.Fields(s) {
		switch {
		case word == "on":
			target = &l.back
		case attributes[word] != nil:
			l.attributes = append(l.attributes, word)
		case word == "default":
			*target = ""
		case palette[word] != "":
			*target = word
		default:
			return l, fmt.Errorf("%q is neither in the palette nor default, bold, italic, underline, reverse or on", word)
		}
	}
	return l, nil
}

// resolve follows the table of roles to the look that the theme gives.
func resolve(looks map[Role]look, r Role) look {
	for {
		if l, ok := looks[r]; ok {
			return l
		}
		r = roles[r].like
	}
}

func roleNames() string {
	names := make([]string, RoleCount)
	for i, info := range roles {
		names[i] = info.name
	}
	return strings.Join(names, ", ")
}
