package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/prometheus/common/config"
	"go.yaml.in/yaml/v4"

	"slotop/model/fleet"
)

// fileConfig is the configuration file. Flags override it; unknown keys are
// errors; ${NAME} in a value is taken from the environment, so that no key need
// stand in the file.
type fileConfig struct {
	Every   duration                 `yaml:"every"`   // poll interval; 0 chooses by the number of targets
	Timeout duration                 `yaml:"timeout"` // of one poll
	Window  duration                 `yaml:"window"`  // span of every rate and percentile
	Theme   string                   `yaml:"theme"`
	ASCII   bool                     `yaml:"ascii"`
	Mouse   bool                     `yaml:"mouse"`
	HTTP    *config.HTTPClientConfig `yaml:"http"` // keys, TLS, headers and proxy for every target
	Targets []fileTarget             `yaml:"targets"`

	themeAt string // where the theme is named, for messages
}

// fileTarget is one row of targets.
type fileTarget struct {
	Address string                   `yaml:"address"`
	Name    string                   `yaml:"name"`
	HTTP    *config.HTTPClientConfig `yaml:"http"` // instead of the one for every target
}

// duration reads "5s" or "1m30s".
type duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("%q is not a duration such as 5s or 1m30s", n.Value)
	}
	*d = duration(v)
	return nil
}

// configDir is where the configuration, the user's dialects and themes live.
func configDir() string { return filepath.Join(xdg.ConfigHome, "slotop") }

// maxConfig bounds a configuration file: a thousand targets fit in 100 KiB.
const maxConfig = 1 << 20

// loadConfig reads the file at path, or the one at the usual place when path is
// empty; that one need not exist.
func loadConfig(path string) (fileConfig, error) {
	named := path != ""
	if !named {
		path = filepath.Join(configDir(), "config.yaml")
	}
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return fileConfig{}, nil
	}
	if err != nil {
		return fileConfig{}, fmt.Errorf("read the configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return fileConfig{}, fmt.Errorf("read the configuration: %w", err)
	}
	if len(text) > maxConfig {
		return fileConfig{}, fmt.Errorf("read the configuration %s: more than %d bytes", path, maxConfig)
	}
	return parseConfig(path, text)
}

// parseConfig reads a configuration. Its errors begin with file, line and column.
func parseConfig(path string, text []byte) (fileConfig, error) {
	var c fileConfig
	at := placer{path: path}
	var documents []yaml.Node
	if err := yaml.Load(text, &documents, yaml.WithAllDocuments()); err != nil {
		return c, at.place(err)
	}
	switch len(documents) {
	case 0:
		return c, nil
	case 1:
	default:
		return c, at.say(documents[1].Line, documents[1].Column, "a second document: write one")
	}
	root := &documents[0]
	at.note(root, false)
	if err := at.fill(root); err != nil {
		return c, err
	}
	if err := root.Load(&c, yaml.WithKnownFields()); err != nil {
		return c, at.place(err)
	}
	for _, d := range []struct {
		key         string
		v           duration
		least, most time.Duration
	}{
		{"every", c.Every, minEvery, maxEvery},
		{"window", c.Window, fleet.MinWindow, fleet.MaxWindow},
	} {
		if v := time.Duration(d.v); v != 0 && (v < d.least || v > d.most) {
			n := child(root, d.key)
			return c, at.say(n.Line, n.Column, fmt.Sprintf("%s %v: from %v to %v", d.key, v, d.least, d.most))
		}
	}
	if n := child(root, "theme"); n != nil {
		c.themeAt = fmt.Sprintf("%s:%d:%d: ", path, n.Line, n.Column)
	}
	for i, t := range c.Targets {
		if t.Address == "" {
			row := child(root, "targets").Content[i]
			return c, at.say(row.Line, row.Column, fmt.Sprintf("target %d has no address: write address: host:port", i+1))
		}
		t.HTTP.SetDirectory(filepath.Dir(path))
	}
	c.HTTP.SetDirectory(filepath.Dir(path))
	return c, nil
}

// child is the value of a key of a document or a section.
func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// placer says where in the file an error is, and keeps credentials out of it.
type placer struct {
	path    string
	private map[int]bool // lines that may hold credentials
	secrets []string     // values from the environment, each before its name
}

// note remembers the lines of all http sections.
func (p *placer) note(n *yaml.Node, private bool) {
	if private {
		if p.private == nil {
			p.private = map[int]bool{}
		}
		p.private[n.Line] = true
	}
	for i, c := range n.Content {
		inHTTP := n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "http"
		p.note(c, private || inHTTP)
	}
}

var environment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// fill puts the environment into the values. It works on what was parsed: a
// value may hold any character that means something to YAML.
func (p *placer) fill(n *yaml.Node) error {
	var unset string
	if n.Kind == yaml.ScalarNode && environment.MatchString(n.Value) {
		n.Value = environment.ReplaceAllStringFunc(n.Value, func(ref string) string {
			name := environment.FindStringSubmatch(ref)[1]
			v, ok := os.LookupEnv(name)
			switch {
			case !ok:
				unset = name
			case v != "": // an empty word would be replaced everywhere
				p.secrets = append(p.secrets, v, ref)
			}
			return v
		})
	}
	if unset != "" {
		return p.say(n.Line, n.Column, "environment variable "+unset+" is not set")
	}
	for _, c := range n.Content {
		if err := p.fill(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) say(line, column int, what string) error {
	return fmt.Errorf("%s:%d:%d: %s", p.path, max(line, 1), max(column, 1), what)
}

var (
	unknownKey = regexp.MustCompile(`^field (\S+) not found`)
	wrongKind  = regexp.MustCompile("^cannot construct !!(\\w+)(?: `.*`)? into (.*)$")
	quoted     = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")
)

// place rewrites an error of the YAML package: one line for each thing that is
// wrong, with its place, what is known there, and what was perhaps meant.
func (p *placer) place(err error) error {
	var all *yaml.LoadErrors
	if errors.As(err, &all) {
		var errs []error
		for _, e := range all.Errors {
			errs = append(errs, p.placeOne(e))
		}
		return errors.Join(errs...)
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return p.placeOne(one)
	}
	return fmt.Errorf("%s: %w", p.path, err)
}

func (p *placer) placeOne(e *yaml.LoadError) error {
	msg := strings.Join(strings.Fields(e.Message), " ")
	if m := unknownKey.FindStringSubmatch(msg); m != nil {
		msg = fmt.Sprintf("unknown key %q%s", m[1], suggestion(m[1]))
	} else if m := wrongKind.FindStringSubmatch(msg); m != nil {
		msg = "this cannot be " + kindWords(m[1]) + ": write " + kindWords(m[2])
	} else if p.private[e.Mark.Line] {
		msg = quoted.ReplaceAllString(msg, "the value")
	}
	return p.say(e.Mark.Line, e.Mark.Column, strings.NewReplacer(p.secrets...).Replace(msg))
}

// kindWords is what people call a kind of value, by its name in YAML or in Go.
func kindWords(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case kind == "int" || kind == "float":
		return "a number"
	case kind == "seq" || strings.HasPrefix(kind, "[]"):
		return "a list"
	case kind == "str" || kind == "string" || strings.HasPrefix(kind, "secret."):
		return "a text"
	default:
		return "a section of keys"
	}
}

// suggestion is the known key that was perhaps meant.
func suggestion(word string) string {
	if near := nearest(word, knownKeys(reflect.TypeFor[fileConfig]())); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// nearest is the word at most two edits away, "" when there is none.
func nearest(word string, known []string) string {
	best, at := "", 3
	for _, k := range known {
		if d := edits(word, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// knownKeys are the keys of a section and of those below it.
func knownKeys(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return knownKeys(t.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			keys = append(append(keys, name), knownKeys(t.Field(i).Type)...)
		}
	}
	return keys
}

// edits is the Levenshtein distance of two short ASCII words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
