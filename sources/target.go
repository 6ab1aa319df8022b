package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/sources/expo"
)

// Options apply to every target that is opened with them.
type Options struct {
	HTTP     *config.HTTPClientConfig // keys, TLS, headers and proxy; nil for none
	Dialects *dialect.Set             // nil for the built-in ones
	Limits   expo.Limits              // of one page; zero for the defaults
	Version  string                   // of slotop, for the User-Agent

	// Keep names the labels that workflows match on: samples and requests carry
	// them under their own names, and all others are dropped.
	Keep []string
	// WorkflowLabel is the label of a metrics page that names workflows, or several
	// as a|b, the first that is there; "" for the one its dialect has.
	WorkflowLabel string
	// Follow: a file of events is watched as it grows. Otherwise it is played from
	// its first event to its last.
	Follow bool

	// Now reads the clock, for the one source that must say when each byte came: a
	// probe. Nil for the clock.
	Now func() time.Time

	lines *expo.Lines // shared by the targets that are opened together
	host  string      // the name behind an address, for the Host header; "" the address
}

// UsageError is a target argument that cannot be meant as it stands.
type UsageError struct {
	Arg     string // without credentials
	Problem string
	Try     string
}

func (e *UsageError) Error() string {
	s := fmt.Sprintf("target %q: %s", e.Arg, e.Problem)
	if e.Try != "" {
		s += ": " + e.Try
	}
	return s
}

func usage(arg, problem, try string) *UsageError {
	return &UsageError{Arg: Redact(arg), Problem: problem, Try: try}
}

// Resolve opens what TARGET arguments mean. Page files in a row are one target,
// one poll each. The names of the opened targets are unique and short, and
// neither name nor ID holds a credential. What cannot be meant is a *UsageError,
// one for each such argument; a tape is a *TapeError.
func Resolve(ctx context.Context, args []string, opt Options) ([]Opened, error) {
	var specs []Spec
	for _, arg := range args {
		row := len(specs) - 1
		if isPage(arg) && row >= 0 && isPage(specs[row].Address) && savedAs(arg) == savedAs(specs[row].Address) {
			specs[row].More = append(specs[row].More, arg)
			continue
		}
		specs = append(specs, Spec{Address: arg, Options: opt})
	}
	return Open(ctx, specs)
}

// Open opens targets whose settings differ, as in a configuration file.
func Open(ctx context.Context, specs []Spec) ([]Opened, error) {
	if len(specs) == 0 {
		return nil, &UsageError{Problem: "none given", Try: "name one, such as localhost:8000, or run slotop demo"}
	}
	opened, err := openAll(ctx, specs)
	if err == nil {
		err = settle(opened)
	}
	if err != nil {
		return nil, errors.Join(err, CloseAll(opened))
	}
	return opened, nil
}

func openAll(ctx context.Context, specs []Spec) ([]Opened, error) {
	var sets dialects
	lines := &expo.Lines{}
	var opened []Opened
	var errs []error
	for _, spec := range specs {
		set, err := sets.of(spec.Options)
		if err != nil {
			return opened, fmt.Errorf("load the engine dialects: %w", err)
		}
		spec.Options.Dialects, spec.Options.lines = set, lines
		got, err := open(ctx, spec)
		opened = append(opened, got...)
		errs = append(errs, err)
	}
	return opened, errors.Join(errs...)
}

// dialects are the sets in use: targets that share one are read alike, which is
// worked out once for all of them.
type dialects struct {
	builtin *dialect.Set // made once, and only where it is needed
	keeping map[keeping]*dialect.Set
}

type keeping struct {
	set            *dialect.Set
	keep, workflow string
}

// of is the set for a target, which keeps the labels and names the workflows that
// it should.
func (d *dialects) of(opt Options) (*dialect.Set, error) {
	set := opt.Dialects
	if set == nil && d.builtin == nil {
		var err error
		if d.builtin, err = dialect.Builtin(); err != nil {
			return nil, err
		}
	}
	if set == nil {
		set = d.builtin
	}
	if len(opt.Keep) == 0 && opt.WorkflowLabel == "" {
		return set, nil
	}
	which := keeping{set, strings.Join(opt.Keep, "\xff"), opt.WorkflowLabel}
	if kept := d.keeping[which]; kept != nil {
		return kept, nil
	}
	kept, err := set.Keeping(opt.Keep)
	if err == nil {
		kept, err = kept.Naming(opt.WorkflowLabel)
	}
	if err == nil {
		if d.keeping == nil {
			d.keeping = map[keeping]*dialect.Set{}
		}
		d.keeping[which] = kept
	}
	return kept, err
}

func open(ctx context.Context, spec Spec) ([]Opened, error) {
	kind, ok := kindOf(spec.Address)
	if !ok {
		return nil, notATarget(spec.Address)
	}
	opened, err := kind.Open(ctx, spec)
	for i := range opened {
		if len(spec.GPUs) > 0 { // otherwise the simulator knows its own
			opened[i].Target.GPUs = strings.Join(spec.GPUs, " ")
		}
	}
	if spec.Name == "" {
		return opened, err
	}
	for i := range opened {
		opened[i].Target.Name = spec.Name
		if len(opened) > 1 {
			opened[i].Target.Name = fmt.Sprintf("%s/%d", spec.Name, i)
		}
	}
	return opened, err
}

// isPage reports whether an argument is a single saved page.
func isPage(arg string) bool {
	kind, ok := kindOf(arg)
	return ok && kind.Name == pagesKind.Name && !isDir(arg)
}

// CloseAll closes every source and joins what went wrong.
func CloseAll(targets []Opened) error {
	errs := make([]error, 0, len(targets))
	for _, t := range targets {
		errs = append(errs, t.Source.Close())
	}
	return errors.Join(errs...)
}

// settle refuses what cannot run together and makes names unique.
func settle(opened []Opened) error {
	seen := map[model.TargetID]bool{}
	var saved, live model.TargetID
	for _, o := range opened {
		if seen[o.Target.ID] {
			return usage(string(o.Target.ID), "given twice", "name it once: its load would count double")
		}
		seen[o.Target.ID] = true
		switch {
		case o.Saved:
			saved = o.Target.ID
		case !o.Target.Simulated:
			live = o.Target.ID
		}
	}
	if saved != "" && live != "" {
		return usage(string(saved), "what is saved plays on its own clock and cannot stand beside live targets", "run slotop once for each")
	}
	nameApart(opened)
	return nil
}

// nameApart lengthens names that occur twice: to the whole ID, and where that
// is what another is called already, by a number.
func nameApart(opened []Opened) {
	for _, longer := range []func(i int) string{
		func(i int) string { return strings.TrimPrefix(string(opened[i].Target.ID), "http://") },
		func(i int) string { return fmt.Sprintf("%s#%d", opened[i].Target.Name, i+1) },
	} {
		count := map[string]int{}
		for _, o := range opened {
			count[o.Target.Name]++
		}
		for i := range opened {
			if count[opened[i].Target.Name] > 1 {
				opened[i].Target.Name = longer(i)
			}
		}
	}
}

const forms = "give host:port, http(s)://host/path, prom+http(s)://host:port, stats+http(s)://host/path, events:FILE, events+http(s)://host/path, openai+http(s)://host?model=NAME, file_sd:FILE, dns+http(s)://name:port, nvml:, " +
	"saved pages, a directory of them, FILE.tape or demo"

// notATarget says why no kind matches an argument, as far as its form tells.
func notATarget(arg string) *UsageError {
	scheme, rest, found := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return usage(arg, "empty", forms)
	case found && (scheme == "http" || scheme == "https"):
		return usage(arg, "not a complete address", "write "+scheme+"://HOST:PORT/PATH")
	case strings.HasPrefix(rest, "//"):
		return usage(arg, fmt.Sprintf("unknown scheme %q", scheme), forms)
	case isNumber(arg):
		return usage(arg, "a port without a host", "write localhost:"+arg)
	case looksLikePath(arg):
		return usage(arg, "no such file or directory", "check the path; "+forms)
	case !found:
		return usage(arg, "no port, and no such file", fmt.Sprintf("write %s:8000 or http://%s/metrics", arg, arg))
	default:
		return usage(arg, "neither host:port with a port from 1 to 65535 nor an existing file", forms)
	}
}

func looksLikePath(arg string) bool {
	if strings.ContainsAny(arg, `\*`) || strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, "~") {
		return true
	}
	return strings.Contains(arg, "/") || pageSuffix[strings.ToLower(filepath.Ext(arg))]
}

// pageSuffix are the endings that only a file name has; ".com" is not one.
var pageSuffix = map[string]bool{".prom": true, ".txt": true, ".json": true, ".tape": true, ".metrics": true, ".csv": true}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
