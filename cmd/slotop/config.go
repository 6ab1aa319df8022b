package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
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
	Every     duration                 `yaml:"every"`   // poll interval; 0 chooses by the number of targets
	Timeout   duration                 `yaml:"timeout"` // of one poll
	Window    duration                 `yaml:"window"`  // span of every rate and percentile
	Theme     string                   `yaml:"theme"`
	ASCII     bool                     `yaml:"ascii"`
	Mouse     bool                     `yaml:"mouse"`
	Still     bool                     `yaml:"reduced_motion"`
	Kiosk     fileKiosk                `yaml:"kiosk"`    // a screen for the wall
	Pictures  string                   `yaml:"pictures"` // folder for what the key p makes
	HTTP      *config.HTTPClientConfig `yaml:"http"`     // keys, TLS, headers and proxy for every target
	Targets   []fileTarget             `yaml:"targets"`
	Workflows []fileWorkflow           `yaml:"workflows"` // the first that matches takes a request
	Alerts    fileAlerts               `yaml:"alerts"`
	Hardware  []fileHardware           `yaml:"hardware"` // the first that matches a target says it
	Models    []fileModel              `yaml:"models"`   // the first that matches a served name
	Prices    filePrices               `yaml:"prices"`
	Forecast  map[string]float64       `yaml:"forecast"` // requests a second, by workflow
	// Annotations is a file in which a deployment tool notes what it did.
	Annotations string `yaml:"annotations"`

	themeAt string // where the theme is named, for messages
	notesAt string // and the file of annotations
	veil    veil   // over what came from the environment
}

// fileTarget is one row of targets.
type fileTarget struct {
	Address string                   `yaml:"address"`
	Name    string                   `yaml:"name"`
	HTTP    *config.HTTPClientConfig `yaml:"http"` // instead of the one for every target
	// WorkflowLabel is the label of its page or records that names workflows; "" for the usual one.
	WorkflowLabel string `yaml:"workflow_label"`
	// GPUs that it runs on: UUIDs, or names of the targets that tell of them.
	GPUs []string `yaml:"gpus"`

	at string // where its address is, for messages
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
		return c, at.wrong(err)
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
	if err := at.crowded(root); err != nil {
		return c, err
	}
	if err := at.fill(root); err != nil {
		return c, err
	}
	if err := root.Load(&c, yaml.WithKnownFields()); err != nil {
		return c, at.wrong(err)
	}
	if n := child(root, "theme"); n != nil {
		c.themeAt = at.of(n)
	}
	if n := child(root, "annotations"); n != nil {
		c.notesAt = at.of(n)
	}
	c.veil = at.veil
	c.setDirectory(filepath.Dir(path))
	alerts := child(root, "alerts")
	return c, errors.Join(
		at.emptyRows(child(root, "targets")), at.emptyRows(child(root, "workflows")),
		at.emptyRows(child(alerts, "rules")), at.emptyRows(child(alerts, "send")),
		c.checkSpans(&at, root),
		c.checkTargets(&at, child(root, "targets")),
		c.checkWorkflows(&at, child(root, "workflows")),
		c.Alerts.check(&at, alerts),
		c.checkEquipment(&at, root),
	)
}

// setDirectory says where relative files of keys and certificates are.
func (c *fileConfig) setDirectory(dir string) {
	c.HTTP.SetDirectory(dir)
	if c.Annotations != "" && !filepath.IsAbs(c.Annotations) {
		c.Annotations = filepath.Join(dir, c.Annotations)
	}
	for i := range c.Targets {
		c.Targets[i].HTTP.SetDirectory(dir)
	}
	for _, s := range c.Alerts.Send {
		for _, h := range []*fileReceiver{s.Webhook, s.Alertmanager} {
			if h != nil {
				h.HTTP.SetDirectory(dir)
			}
		}
	}
}

func (c *fileConfig) checkSpans(at *placer, root *yaml.Node) error {
	for _, d := range []struct {
		key         string
		v           duration
		least, most time.Duration
	}{
		{"every", c.Every, minEvery, maxEvery},
		{"timeout", c.Timeout, minTimeout, maxEvery},
		{"window", c.Window, fleet.MinWindow, fleet.MaxWindow},
	} {
		if v := time.Duration(d.v); v != 0 && (v < d.least || v > d.most) {
			return at.at(child(root, d.key), "%s %v: from %v to %v", d.key, v, d.least, d.most)
		}
	}
	if v := time.Duration(c.Kiosk.Page); v != 0 && (v < shortestPage || v > longestPage) {
		return at.at(child(child(root, "kiosk"), "page"), "page %v: from %v to %v", v, shortestPage, longestPage)
	}
	return nil
}

// labelNames are names of labels, or of keys of a log's lines, with | between them.
var labelNames = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*(\|[A-Za-z_][A-Za-z0-9_./-]*)*$`)

func (c *fileConfig) checkTargets(at *placer, list *yaml.Node) error {
	return at.each(list, func(i int, n *yaml.Node) error {
		t := &c.Targets[i]
		if t.at = at.of(cmp.Or(child(n, "address"), n)); t.Address == "" {
			return at.at(n, "target %d has no address: write address: host:port", i+1)
		}
		if l := t.WorkflowLabel; l != "" && !labelNames.MatchString(l) {
			return at.at(child(n, "workflow_label"), "%q names no label: write one, such as team_alias, or several as team|key", l)
		}
		return c.checkGPUs(at, t, child(n, "gpus"))
	})
}

// checkGPUs refuses what is no single name, and a name of a target that is written
// wrong: nothing would be joined with it, and nobody would know why.
func (c *fileConfig) checkGPUs(at *placer, t *fileTarget, list *yaml.Node) error {
	if err := at.emptyRows(list); err != nil {
		return err
	}
	var names []string
	for _, other := range c.Targets {
		if other.Name != "" {
			names = append(names, other.Name)
		}
	}
	return at.each(list, func(i int, n *yaml.Node) error {
		word := t.GPUs[i]
		if len(strings.Fields(word)) != 1 || word != strings.TrimSpace(word) {
			return at.at(n, "%q is no GPU: write a UUID, such as GPU-…, or the name of a target, one a row", word)
		}
		if near := didYouMean(word, names); near != "" && !slices.Contains(names, word) {
			return at.at(n, "no target is called %q%s", word, near)
		}
		return nil
	})
}

// maxKeys bounds the keys of one section: that of labels may have a few dozen, and
// more cost the decoder time by their square.
const maxKeys = 1000

// crowded says that a section has more keys than any has.
func (p *placer) crowded(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys {
		return p.at(n, "a section of %d keys: none has more than %d", len(n.Content)/2, maxKeys)
	}
	for _, c := range n.Content {
		if err := p.crowded(c); err != nil {
			return err
		}
	}
	return nil
}

// child is the value of a key of a document or a section, its own before one that
// is merged into it; nil where there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	n = target(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.DocumentNode:
		return child(n.Content[0], key)
	case n.Kind != yaml.MappingNode:
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			if v := merged(n.Content[i+1], key); v != nil {
				return v
			}
		}
	}
	return nil
}

// merged is the value of a key of what is merged: a section, or the first of a
// list that has it.
func merged(n *yaml.Node, key string) *yaml.Node {
	if n = target(n); n == nil || n.Kind != yaml.SequenceNode {
		return child(n, key)
	}
	for _, one := range n.Content {
		if v := child(one, key); v != nil {
			return v
		}
	}
	return nil
}

// target is what an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// rows are the rows of a list. Empty rows are none.
func rows(list *yaml.Node) []*yaml.Node {
	if list = target(list); list == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list.Content), isEmpty)
}

func isEmpty(n *yaml.Node) bool { return target(n).Tag == "!!null" }

// emptyRows says which row of a list holds nothing: it would be left out.
func (p *placer) emptyRows(list *yaml.Node) error {
	if list = target(list); list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	if i := slices.IndexFunc(list.Content, isEmpty); i >= 0 {
		return p.at(list.Content[i], "an empty row: fill it, or take it out")
	}
	return nil
}
