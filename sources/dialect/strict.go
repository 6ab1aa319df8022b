package dialect

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"slotop/model"
	"slotop/model/spell"

	"go.yaml.in/yaml/v4"
)

// parse reads one dialect file. An error says file:line:column, what is wrong
// and, for a key that does not exist, which one may have been meant.
func parse(name string, data []byte) (*spec, error) {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		return nil, located(name, 1, 1, err)
	}
	if err := knownKeys(&root, reflect.TypeFor[spec]()); err != nil {
		return nil, located(name, 1, 1, err)
	}
	s := &spec{file: name}
	if err := root.Load(s, yaml.WithKnownFields()); err != nil {
		return nil, located(name, 1, 1, err)
	}
	if key, err := s.check(); err != nil {
		line, column := placeOf(&root, key)
		return nil, located(name, line, column, err)
	}
	return s, nil
}

// placedError is an error that knows its place in the file.
type placedError struct {
	line, column int
	err          error
}

func (e *placedError) Error() string { return e.err.Error() }

// located puts file:line:column before an error: its own place where it knows
// it, else the one given.
func located(name string, line, column int, err error) error {
	var placed *placedError
	var several *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &placed):
		line, column, err = placed.line, placed.column, placed.err
	case errors.As(err, &several) && len(several.Errors) > 0:
		one = several.Errors[0]
	default:
		errors.As(err, &one)
	}
	if one != nil {
		err = errors.New(one.Message)
		if one.Mark.Line > 0 {
			line, column = one.Mark.Line, one.Mark.Column
		}
	}
	return fmt.Errorf("%s:%d:%d: %w", name, line, column, err)
}

// placeOf is where a top-level key stands, the start of the file for none.
func placeOf(root *yaml.Node, key string) (line, column int) {
	for root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			return root.Content[i].Line, root.Content[i].Column
		}
	}
	return 1, 1
}

// knownKeys walks a file beside the type it is going to be read into and
// refuses the first key that the type does not have.
func knownKeys(n *yaml.Node, t reflect.Type) error {
	switch {
	case n.Kind == yaml.DocumentNode || n.Kind == yaml.StreamNode:
		for _, c := range n.Content {
			if err := knownKeys(c, t); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() == reflect.Pointer:
		return knownKeys(n, t.Elem())
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, c := range n.Content {
			if err := knownKeys(c, t.Elem()); err != nil {
				return err
			}
		}
		return nil
	case n.Kind != yaml.MappingNode:
		return nil
	case t.Kind() == reflect.Slice: // a list written as its only element
		return knownKeys(n, t.Elem())
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		inner, known := typeOfKey(t, key.Value)
		if inner == nil {
			return &placedError{key.Line, key.Column,
				fmt.Errorf("unknown key %q%s", key.Value, didYouMean(key.Value, known))}
		}
		if err := knownKeys(value, inner); err != nil {
			return err
		}
	}
	return nil
}

// keyTable are the keys of a type with the types behind them.
type keyTable struct {
	types map[string]reflect.Type
	names []string     // for suggestions
	any   reflect.Type // behind any key, nil where only those are known
}

// keyTables are worked out once a type: a set has forty files of the same ones, and
// they are read before anything is shown.
var keyTables sync.Map

// typeOfKey is the type behind a key of t, nil where t has no such key, and the
// keys that t has.
func typeOfKey(t reflect.Type, key string) (inner reflect.Type, known []string) {
	made, ok := keyTables.Load(t)
	if !ok {
		made, _ = keyTables.LoadOrStore(t, newKeyTable(t))
	}
	table := made.(*keyTable)
	if inner = table.types[key]; inner == nil {
		inner = table.any
	}
	return inner, table.names
}

func newKeyTable(t reflect.Type) *keyTable {
	table := &keyTable{types: map[string]reflect.Type{}}
	switch t.Kind() {
	case reflect.Map:
		if table.names = namesOf(t.Key()); table.names == nil {
			table.any = t.Elem()
		}
		for _, name := range table.names {
			table.types[name] = t.Elem()
		}
	case reflect.Struct:
		for f := range t.Fields() {
			switch tag := f.Tag.Get("yaml"); tag {
			case "":
			case ",inline":
				inner := newKeyTable(f.Type)
				maps.Copy(table.types, inner.types)
				table.names = append(table.names, inner.names...)
			default:
				table.types[tag] = f.Type
				table.names = append(table.names, tag)
			}
		}
	}
	return table
}

// namesOf are the keys that a map may have, nil where any key will do.
func namesOf(key reflect.Type) []string {
	switch key {
	case reflect.TypeFor[model.Signal]():
		return signalNames()
	case reflect.TypeFor[deviceKey]():
		return deviceMetricNames()
	case reflect.TypeFor[throttleReason]():
		return throttleReasons
	}
	return nil
}

// didYouMean suggests the known word nearest to what was written, if any is near.
func didYouMean(word string, known []string) string {
	near := spell.Nearest(word, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}
