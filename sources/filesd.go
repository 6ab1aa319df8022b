package sources

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"slotop/model"
)

// Files of targets in the form that Prometheus' file_sd_configs reads, so that
// whatever writes those for a Prometheus server (Kubernetes, Consul, a script)
// tells slotop too:
//
//	[{"targets": ["10.0.0.7:8000", "10.0.0.8:8000"], "labels": {"__metrics_path__": "/metrics"}}]
//
// Of the labels, __scheme__ and __metrics_path__ say how a target is asked;
// instance names it. The others are a server's affair.
var fileSDKind = Kind{
	Name:    "file_sd",
	Doc:     "the targets that file_sd files (JSON or YAML, * in the last part) list, watched as they come and go",
	Example: "file_sd:targets/*.json",
	Match:   func(arg string) bool { return strings.HasPrefix(arg, fileSDScheme) },
	Open:    openFileSD,
}

const (
	fileSDScheme = "file_sd:"
	// maxFileSD bounds one file: an entry takes some 200 bytes.
	maxFileSD = 4 << 20
)

// fileSD reads the files that a pattern names.
type fileSD struct {
	found
	pattern string
}

var _ Finder = (*fileSD)(nil)

func openFileSD(_ context.Context, spec Spec) ([]Opened, error) {
	pattern := strings.TrimPrefix(spec.Address, fileSDScheme)
	if pattern == "" {
		return nil, usage(spec.Address, "no file", "write file_sd:FILE or file_sd:FOLDER/*.json")
	}
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, usage(spec.Address, "not a pattern of files", "check its brackets")
	}
	return []Opened{{
		Target: model.Target{ID: model.TargetID(fileSDScheme + filepath.ToSlash(filepath.Clean(pattern))), Name: fileSDScheme + filepath.Base(pattern), Kind: model.FinderTarget},
		Source: &fileSD{found: found{options: spec.Options}, pattern: pattern},
	}}, nil
}

// Poll reads the files again. One that cannot be read fails the whole look: its
// targets would seem to have gone.
func (f *fileSD) Poll(ctx context.Context) (model.Batch, error) {
	files, err := filepath.Glob(f.pattern)
	if err != nil || len(files) == 0 {
		return model.Batch{}, soon{&FaultError{model.NotFound, "no file is called " + f.pattern}}
	}
	var specs []Spec
	labels := map[string]bool{}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return model.Batch{}, err
		}
		groups, err := readFileSD(name)
		if err != nil {
			return model.Batch{}, soon{&FaultError{model.Malformed, excerpt(fmt.Sprintf("%s: %v", name, err))}}
		}
		for i, g := range groups {
			one, err := g.specs(f.options, labels)
			if err != nil {
				return model.Batch{}, soon{&FaultError{model.Malformed, excerpt(fmt.Sprintf("%s, entry %d: %v", name, i+1, err))}}
			}
			specs = append(specs, one...)
		}
	}
	return f.take(specs, ignored(labels)...), nil
}

// ignored says which labels mean nothing here.
func ignored(labels map[string]bool) []string {
	if len(labels) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(labels))
	return []string{"labels that a server would add are not used: " + excerpt(strings.Join(names, ", "))}
}

// sdGroup is one entry of a file.
type sdGroup struct {
	Targets []string          `yaml:"targets"`
	Labels  map[string]string `yaml:"labels"`
}

// readFileSD reads a file. JSON is YAML.
func readFileSD(name string) ([]sdGroup, error) {
	file, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFileSD+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileSD {
		return nil, fmt.Errorf("larger than %d bytes", maxFileSD)
	}
	var groups []sdGroup
	if err := yaml.Unmarshal(text, &groups); err != nil {
		return nil, err
	}
	return groups, nil
}

// The labels that say how a target is asked.
const (
	sdScheme   = "__scheme__"
	sdPath     = "__metrics_path__"
	sdInstance = "instance"
)

func (g sdGroup) specs(opt Options, unused map[string]bool) ([]Spec, error) {
	for name := range g.Labels {
		if name != sdScheme && name != sdPath && name != sdInstance {
			unused[name] = true
		}
	}
	var specs []Spec
	for _, target := range g.Targets {
		address := cmp.Or(g.Labels[sdScheme], "http") + "://" + target + g.Labels[sdPath]
		if strings.Contains(target, "://") {
			address = target
		}
		if !isAddress(address) {
			return nil, fmt.Errorf("%q is no HOST:PORT", Redact(target))
		}
		spec := Spec{Address: address, Options: opt}
		if len(g.Targets) == 1 {
			spec.Name = g.Labels[sdInstance]
		}
		specs = append(specs, spec)
	}
	return specs, nil
}
