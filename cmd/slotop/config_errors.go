package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"slotop/model/spell"

	"go.yaml.in/yaml/v4"
)

// placer says where in the file an error is, and keeps credentials out of it.
type placer struct {
	path    string
	private map[int]bool // lines that may hold credentials
	veil    veil         // over values from the environment
}

// note remembers the lines of all http sections, and of receivers' addresses.
func (p *placer) note(n *yaml.Node, private bool) {
	if private {
		if p.private == nil {
			p.private = map[int]bool{}
		}
		p.private[n.Line] = true
	}
	for i, c := range n.Content {
		key := ""
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key = n.Content[i-1].Value
		}
		p.note(c, private || key == "http" || key == "url")
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
			if !ok {
				unset = name
			}
			p.veil.add(v, ref)
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
	return errors.New(p.place(line, column) + p.veil.over(what, 0))
}

func (p *placer) place(line, column int) string {
	return fmt.Sprintf("%s:%d:%d: ", p.path, max(line, 1), max(column, 1))
}

// of is the place of a value, for a message that is made later.
func (p *placer) of(n *yaml.Node) string {
	if n == nil {
		return p.place(0, 0)
	}
	return p.place(n.Line, n.Column)
}

func lineOf(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	return n.Line
}

// maxErrors bounds how many things are said to be wrong: whoever mends so many
// reads it again.
const maxErrors = 20

// more says that there may be more wrong than is told.
func (p *placer) more(line, column int) error {
	return p.say(line, column, fmt.Sprintf("%d things are wrong up to here: mend them first", maxErrors))
}

// each looks at the rows of a list one by one, until too much is wrong.
func (p *placer) each(list *yaml.Node, look func(i int, n *yaml.Node) error) error {
	var errs []error
	for i, n := range rows(list) {
		if err := look(i, n); err != nil {
			errs = append(errs, err)
		}
		if len(errs) == maxErrors {
			return errors.Join(append(errs, p.more(n.Line, n.Column))...)
		}
	}
	return errors.Join(errs...)
}

// at is an error at a value, or at the beginning of the file where there is none.
func (p *placer) at(n *yaml.Node, format string, args ...any) error {
	if n == nil {
		n = &yaml.Node{}
	}
	return p.say(n.Line, n.Column, fmt.Sprintf(format, args...))
}

var (
	unknownKey = regexp.MustCompile(`^field (\S+) not found in type (\S+)`)
	wrongKind  = regexp.MustCompile("^cannot construct !!(\\w+)(?: `.*`)? into (.*)$")
	quoted     = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")
)

// wrong rewrites an error of the YAML package: one line for each thing that is
// wrong, with its place, what is known there, and what was perhaps meant.
func (p *placer) wrong(err error) error {
	var all *yaml.LoadErrors
	if errors.As(err, &all) {
		var errs []error
		for i, e := range all.Errors[:min(len(all.Errors), maxErrors)] {
			if errs = append(errs, p.placeOne(e)); i+1 == maxErrors {
				errs = append(errs, p.more(e.Mark.Line, e.Mark.Column))
			}
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
	msg := p.veil.over(strings.Join(strings.Fields(e.Message), " "), 0)
	if m := unknownKey.FindStringSubmatch(msg); m != nil {
		msg = fmt.Sprintf("unknown key %q%s", shortened(m[1]), suggestion(m[1], m[2]))
	} else if m := wrongKind.FindStringSubmatch(msg); m != nil {
		msg = "this cannot be " + kindWords(m[1]) + ": write " + kindWords(m[2])
	} else if p.private[e.Mark.Line] {
		msg = quoted.ReplaceAllString(msg, "the value")
	}
	return p.say(e.Mark.Line, e.Mark.Column, msg)
}

// kindWords is what people call a kind of value, by its name in YAML or in Go.
func kindWords(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "seq" || strings.HasPrefix(kind, "[]"):
		return "a list"
	case kind == "str" || kind == "string" || strings.HasPrefix(kind, "secret."):
		return "a text"
	default:
		return "a section of keys"
	}
}

// maxWord is longer than any key.
const maxWord = 64

func shortened(word string) string {
	if len(word) <= maxWord {
		return word
	}
	return strings.ToValidUTF8(word[:maxWord], "") + "…"
}

// suggestion is the known key that was perhaps meant: one of the section, named
// by its Go type, or else of another one.
func suggestion(word, section string) string {
	if len(word) > maxWord {
		return ""
	}
	all := knownKeys(reflect.TypeFor[fileConfig]())
	near := didYouMean(word, all[section])
	// One workflow: is workflows: without its s, though a match has a workflow too.
	if slices.Contains(all[section], word+"s") {
		return near
	}
	if word == "url" && slices.Contains(all[section], "address") {
		return ": did you mean address?" // of a target; the url is a webhook's
	}
	if at := sectionOf(reflect.TypeFor[fileConfig](), word); at != "" {
		return ": it belongs under " + at
	}
	if near != "" {
		return near
	}
	every := slices.Concat(slices.Collect(maps.Values(all))...)
	slices.Sort(every)
	return didYouMean(word, every)
}

// didYouMean is the end of a message about a word that is not known, "" where no
// known one is near.
func didYouMean(word string, known []string) string {
	near := spell.Nearest(word, known)
	if near == "" {
		return ""
	}
	return ": did you mean " + near + "?"
}

// knownKeys are the keys of a section and of those below it, by Go type.
func knownKeys(t reflect.Type) map[string][]string {
	all := map[string][]string{}
	addKeys(all, t)
	return all
}

// sectionOf is the key of the first section that has a key of that name, "" where
// none has.
func sectionOf(t reflect.Type, word string) string {
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		section := t.Field(i).Type
		for section.Kind() == reflect.Pointer || section.Kind() == reflect.Slice {
			section = section.Elem()
		}
		if key == "" || section.Kind() != reflect.Struct {
			continue
		}
		if slices.Contains(knownKeys(section)[section.String()], word) {
			return key
		}
		if at := sectionOf(section, word); at != "" {
			return key + ": " + at
		}
	}
	return ""
}

func addKeys(to map[string][]string, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		addKeys(to, t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	name := t.String()
	if _, known := to[name]; known {
		return
	}
	to[name] = nil
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key != "" && key != "-" {
			to[name] = append(to[name], key)
			addKeys(to, t.Field(i).Type)
		}
	}
}
