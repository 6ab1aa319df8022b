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
	secrets []string     // values from the environment, each before its name
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
	what = strings.NewReplacer(p.secrets...).Replace(what)
	return fmt.Errorf("%s:%d:%d: %s", p.path, max(line, 1), max(column, 1), what)
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
		msg = fmt.Sprintf("unknown key %q%s", m[1], suggestion(m[1], m[2]))
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

// suggestion is the known key that was perhaps meant: one of the section, named
// by its Go type, or else of another one.
func suggestion(word, section string) string {
	all := knownKeys(reflect.TypeFor[fileConfig]())
	if near := didYouMean(word, all[section]); near != "" {
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
