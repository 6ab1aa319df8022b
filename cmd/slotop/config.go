package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
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
	HTTP      *config.HTTPClientConfig `yaml:"http"` // keys, TLS, headers and proxy for every target
	Targets   []fileTarget             `yaml:"targets"`
	Workflows []fileWorkflow           `yaml:"workflows"` // the first that matches takes a request
	Alerts    fileAlerts               `yaml:"alerts"`

	themeAt string // where the theme is named, for messages
}

// fileTarget is one row of targets.
type fileTarget struct {
	Address string                   `yaml:"address"`
	Name    string                   `yaml:"name"`
	HTTP    *config.HTTPClientConfig `yaml:"http"` // instead of the one for every target
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
	if n := child(root, "theme"); n != nil {
		c.themeAt = fmt.Sprintf("%s:%d:%d: ", path, n.Line, n.Column)
	}
	c.setDirectory(filepath.Dir(path))
	return c, errors.Join(
		c.checkSpans(&at, root),
		c.checkTargets(&at, child(root, "targets")),
		c.checkWorkflows(&at, child(root, "workflows")),
		c.Alerts.check(&at, child(root, "alerts")),
	)
}

// setDirectory says where relative files of keys and certificates are.
func (c *fileConfig) setDirectory(dir string) {
	c.HTTP.SetDirectory(dir)
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
		{"window", c.Window, fleet.MinWindow, fleet.MaxWindow},
	} {
		if v := time.Duration(d.v); v != 0 && (v < d.least || v > d.most) {
			return at.at(child(root, d.key), "%s %v: from %v to %v", d.key, v, d.least, d.most)
		}
	}
	return nil
}

func (c *fileConfig) checkTargets(at *placer, list *yaml.Node) error {
	for i, t := range c.Targets {
		if t.Address == "" {
			return at.at(list.Content[i], "target %d has no address: write address: host:port", i+1)
		}
	}
	return nil
}

// child is the value of a key of a document or a section, nil where there is
// none.
func child(n *yaml.Node, key string) *yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.DocumentNode:
		return child(n.Content[0], key)
	case n.Kind == yaml.AliasNode:
		return child(n.Alias, key)
	case n.Kind != yaml.MappingNode:
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// row is a row of a list, nil where there is none.
func row(list *yaml.Node, i int) *yaml.Node {
	if list != nil && list.Kind == yaml.AliasNode {
		list = list.Alias
	}
	if list == nil || i >= len(list.Content) {
		return nil
	}
	return list.Content[i]
}
