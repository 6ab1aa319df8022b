package dialect

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"slotop/model"
)

//go:embed *.yaml
var builtin embed.FS

// Set is every dialect there is to choose from.
type Set struct {
	specs    map[string]*spec // by engine
	dialects []*Dialect       // in the order in which they are asked
	keep     []string         // labels that samples also carry, see Keeping
	workflow string           // the label that names workflows, see Naming
	layouts  layouts
}

// Dialect is the name table of one engine, with what it shares filled in.
type Dialect struct {
	engine      string
	kind        string // "" for an engine
	also        []*Dialect
	priority    int
	prefixes    []string
	detect      condition
	versions    []version
	labels      labelNames
	keep        []string // labels that samples carry under their own names
	lowerModels bool
	only        matchers
	reasons     map[string]string // exposed to canonical
	failures    map[string]string // exposed to canonical
	collected   bool
	choose      *choice
	lazy        bool
	notes       []note
	enable      []enabling
	signals     map[model.Signal]many[way]
	devices     *deviceSpec // nil where its pages tell of none
}

// Builtin is the set of dialects that slotop brings along.
func Builtin() (*Set, error) {
	s := &Set{specs: map[string]*spec{}}
	if err := s.AddDir(builtin); err != nil {
		return nil, fmt.Errorf("load built-in dialects: %w", err)
	}
	return s, nil
}

// Keeping is a set of the same dialects whose samples also carry the labels with
// the given names, as the page has them: series that differ in one of them stay
// apart. Names that have a meaning of their own (model, engine, reason, workflow,
// adapter, le) and the labels of rows that repeat one another are never kept.
func (s *Set) Keeping(names []string) (*Set, error) { return s.variant(names, s.workflow) }

// Naming is a set of the same dialects in which the label, or the first that is
// there of "a|b", names the workflow: of every dialect, and in place of its own.
func (s *Set) Naming(label string) (*Set, error) { return s.variant(s.keep, label) }

func (s *Set) variant(keep []string, workflow string) (*Set, error) {
	v := &Set{specs: s.specs, keep: keep, workflow: workflow}
	var err error
	if v.dialects, err = resolveAll(s.specs); err != nil {
		return nil, err
	}
	for _, d := range v.dialects {
		d.keep = d.keepable(keep)
		if workflow != "" {
			d.labels.Workflow = workflow
		}
	}
	return v, nil
}

// reserved are the labels that have a meaning of their own.
var reserved = []string{model.LabelModel, model.LabelEngine, model.LabelReason, model.LabelWorkflow, model.LabelAdapter, "le"}

// keepable are the names, each once and in order, of labels that may be kept.
func (d *Dialect) keepable(names []string) []string {
	keep := slices.Sorted(slices.Values(names))
	return slices.DeleteFunc(slices.Compact(keep), func(name string) bool {
		return slices.Contains(reserved, name) || slices.Contains(d.labels.Ranks, name) || slices.Contains(d.labels.Copies, name)
	})
}

// WorkflowLabel is the label that names workflows on an engine's pages, or several
// as a|b, the first that is there; "" where none does.
func (s *Set) WorkflowLabel(engine string) string {
	i := slices.IndexFunc(s.dialects, func(d *Dialect) bool { return d.engine == engine })
	if i < 0 {
		return ""
	}
	return s.dialects[i].labels.Workflow
}

// Kind is what the dialect's targets are, of the kinds of targets: "" for an engine.
func (d *Dialect) Kind() string { return d.kind }

// Engines names the engines of the set, in alphabetical order.
func (s *Set) Engines() []string { return slices.Sorted(maps.Keys(s.specs)) }

// Kind is what the targets of an engine of the set are, "" for one that serves a
// model itself.
func (s *Set) Kind(engine string) string {
	for _, d := range s.dialects {
		if d.engine == engine {
			return d.kind
		}
	}
	return ""
}

// AddDir adds the dialects in the *.yaml files of fsys. One with the engine name
// of a dialect that is already there takes its place, and may say like: itself to
// keep what it does not state. After an error the set is as it was before.
func (s *Set) AddDir(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return fmt.Errorf("list dialects: %w", err)
	}
	specs := maps.Clone(s.specs)
	from := map[string]string{}
	for i, read := range readAll(fsys, names) {
		name, one := names[i], read.spec
		if read.err != nil {
			return read.err
		}
		if other, twice := from[one.Engine]; twice {
			return fmt.Errorf("%s: engine %q is described in %s already", name, one.Engine, other)
		}
		from[one.Engine] = name
		one.shadow = s.specs[one.Engine]
		specs[one.Engine] = one
	}
	dialects, err := resolveAll(specs)
	if err != nil {
		return err
	}
	s.specs, s.dialects = specs, dialects
	s.layouts.forget()
	return nil
}

// parsed is a file as read.
type parsed struct {
	spec *spec
	err  error
}

// readAll reads files side by side: every start of the program waits for it.
func readAll(fsys fs.FS, names []string) []parsed {
	all := make([]parsed, len(names))
	var done sync.WaitGroup
	for i, name := range names {
		done.Go(func() {
			data, err := readFile(fsys, name)
			if err != nil {
				all[i].err = fmt.Errorf("read dialect %s: %w", name, err)
				return
			}
			all[i].spec, all[i].err = parse(name, data)
		})
	}
	done.Wait()
	return all
}

// maxFile bounds a dialect file: a long one has 10 KiB.
const maxFile = 1 << 20

// readFile reads a regular file of a sensible size. The size is checked while
// reading: what a file says of its own may be out of date.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
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

// resolveAll fills in what dialects share and puts the most specific first.
func resolveAll(specs map[string]*spec) ([]*Dialect, error) {
	byEngine := map[string]*Dialect{}
	for _, engine := range slices.Sorted(maps.Keys(specs)) {
		d, err := resolve(specs, specs[engine], nil)
		if err != nil {
			return nil, err
		}
		byEngine[engine] = d
	}
	all := make([]*Dialect, 0, len(byEngine))
	for _, engine := range slices.Sorted(maps.Keys(specs)) {
		d := byEngine[engine]
		for _, other := range specs[engine].Also {
			o, ok := byEngine[other]
			if !ok {
				return nil, unknownEngine(specs, specs[engine], "also", other)
			}
			d.also = append(d.also, o)
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b *Dialect) int { return cmp.Compare(b.priority, a.priority) })
	return all, nil
}

// resolve lays a spec over the one it is like. The chain of those already laid
// guards against a circle.
func resolve(specs map[string]*spec, s *spec, chain []*spec) (*Dialect, error) {
	if slices.Contains(chain, s) {
		return nil, fmt.Errorf("%s: like: %q leads back to itself", s.file, s.Like)
	}
	d := &Dialect{prefixes: []string{""}}
	if s.Like != "" {
		base, ok := specs[s.Like]
		if base == s {
			base, ok = s.shadow, s.shadow != nil
		}
		if !ok {
			return nil, unknownEngine(specs, s, "like", s.Like)
		}
		var err error
		if d, err = resolve(specs, base, append(chain, s)); err != nil {
			return nil, err
		}
	}
	d.lay(s)
	return d, nil
}

func unknownEngine(specs map[string]*spec, s *spec, key, engine string) error {
	return fmt.Errorf("%s: %s: there is no engine %q%s", s.file, key, engine,
		didYouMean(engine, slices.Sorted(maps.Keys(specs))))
}

// lay puts what a spec states over what d has. Detection and priority belong to
// one dialect alone; everything else is kept where the spec is silent.
func (d *Dialect) lay(s *spec) {
	d.engine, d.priority, d.detect = s.Engine, s.Priority, s.Detect
	switch s.Kind {
	case "":
	case model.EngineTarget:
		d.kind = ""
	default:
		d.kind = s.Kind
	}
	d.prefixes = stated(s.Prefixes, d.prefixes)
	d.versions = stated(s.Versions, d.versions)
	d.notes = stated(s.Notes, d.notes)
	d.enable = stated(s.Enable, d.enable)
	d.only = stated(s.only, d.only)
	if s.Labels != nil {
		d.labels = *s.Labels
	}
	if s.Choose != nil {
		d.choose = s.Choose
	}
	if s.Lazy != nil {
		d.lazy = *s.Lazy
	}
	d.lowerModels = d.lowerModels || s.LowerModels
	d.collected = d.collected || s.Collected
	if s.Reasons != nil {
		d.reasons = canonical(s.Reasons)
	}
	if s.Failures != nil {
		d.failures = canonical(s.Failures)
	}
	if s.Devices != nil {
		d.devices = s.Devices
	}
	signals := maps.Clone(d.signals)
	if signals == nil {
		signals = map[model.Signal]many[way]{}
	}
	for _, signal := range s.Without {
		delete(signals, signal)
	}
	maps.Copy(signals, s.Signals)
	d.signals = signals
}

// canonical is the canonical word for each exposed one.
func canonical(words map[string][]string) map[string]string {
	byExposed := map[string]string{}
	for word, exposed := range words {
		for _, e := range exposed {
			byExposed[e] = word
		}
	}
	return byExposed
}

// stated is what a file says, or what was there before where it is silent. An
// empty list counts as said.
func stated[S ~[]E, E any](said, before S) S {
	if said == nil {
		return before
	}
	return said
}
