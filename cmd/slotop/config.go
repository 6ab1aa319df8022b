package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/prometheus/common/config"
	"go.yaml.in/yaml/v4"
)

// fileConfig is the configuration file. Flags override it; unknown keys are errors.
type fileConfig struct {
	Every   duration     `yaml:"every"`   // poll interval; 0 chooses by the number of targets
	Timeout duration     `yaml:"timeout"` // of one poll
	Window  duration     `yaml:"window"`  // span of every rate and percentile
	Theme   string       `yaml:"theme"`
	ASCII   bool         `yaml:"ascii"`
	Mouse   bool         `yaml:"mouse"`
	HTTP    yaml.Node    `yaml:"http"` // keys, TLS, headers and proxy for every target
	Targets []fileTarget `yaml:"targets"`

	http *config.HTTPClientConfig
}

// fileTarget is one row of targets.
type fileTarget struct {
	Address string    `yaml:"address"`
	Name    string    `yaml:"name"`
	HTTP    yaml.Node `yaml:"http"`

	http *config.HTTPClientConfig
}

// duration reads "5s" or "1m30s".
type duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: %q is not a duration such as 5s or 1m30s", n.Line, n.Value)
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
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return fileConfig{}, nil
	}
	if err != nil {
		return fileConfig{}, fmt.Errorf("read the configuration: %w", err)
	}
	if info.Size() > maxConfig {
		return fileConfig{}, fmt.Errorf("read the configuration %s: %d bytes, more than %d", path, info.Size(), maxConfig)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fileConfig{}, fmt.Errorf("read the configuration: %w", err)
	}
	return parseConfig(path, text)
}

// parseConfig reads a configuration. Its errors begin with file and line.
func parseConfig(path string, text []byte) (fileConfig, error) {
	var c fileConfig
	if len(strings.TrimSpace(string(text))) == 0 {
		return c, nil
	}
	if err := yaml.Load(text, &c, yaml.WithKnownFields()); err != nil {
		return c, placed(path, text, err)
	}
	dir := filepath.Dir(path)
	var err error
	if c.http, err = httpConfig(&c.HTTP, dir); err != nil {
		return c, fmt.Errorf("%s:%d: http: %w", path, c.HTTP.Line, err)
	}
	for i := range c.Targets {
		t := &c.Targets[i]
		if t.Address == "" {
			return c, fmt.Errorf("%s: target %d has no address: write address: host:port", path, i+1)
		}
		if t.http, err = httpConfig(&t.HTTP, dir); err != nil {
			return c, fmt.Errorf("%s:%d: http of target %d: %w", path, t.HTTP.Line, i+1, err)
		}
	}
	return c, nil
}

var (
	lineOf      = regexp.MustCompile(`line (\d+)(?:, column (\d+))?`)
	unknownKey  = regexp.MustCompile(`field (\S+) not found`)
	environment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// placed rewrites a YAML error as file:line:column, what, and what was meant.
func placed(path string, text []byte, err error) error {
	msg := strings.TrimSpace(strings.TrimPrefix(err.Error(), "yaml: "))
	line, column := 1, 1
	if m := lineOf.FindStringSubmatch(msg); m != nil {
		fmt.Sscan(m[1], &line)
		fmt.Sscan(m[2], &column)
	}
	m := unknownKey.FindStringSubmatch(msg)
	if m == nil {
		return fmt.Errorf("%s:%d:%d: %s", path, line, column, oneLine(msg))
	}
	if lines := strings.Split(string(text), "\n"); line <= len(lines) {
		if i := strings.Index(lines[line-1], m[1]); i >= 0 {
			column = i + 1
		}
	}
	hint := "known keys: " + strings.Join(configKeys, ", ")
	if near := nearest(m[1], configKeys); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("%s:%d:%d: unknown key %q: %s", path, line, column, m[1], hint)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// configKeys are the keys of the file, for suggestions; a test holds them to the types.
var configKeys = []string{"every", "timeout", "window", "theme", "ascii", "http", "targets", "address", "name"}

// nearest is the key at most two edits away, "" when there is none.
func nearest(word string, keys []string) string {
	best, at := "", 3
	for _, k := range keys {
		if d := edits(word, k); d < at {
			best, at = k, d
		}
	}
	return best
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

// httpConfig reads an http section in the form of Prometheus' own, with
// ${NAME} taken from the environment so that no key need stand in the file.
func httpConfig(n *yaml.Node, dir string) (*config.HTTPClientConfig, error) {
	if n.Kind == 0 {
		return nil, nil
	}
	text, err := yaml.Dump(n)
	if err != nil {
		return nil, err
	}
	var unset, secrets []string
	filled := environment.ReplaceAllStringFunc(string(text), func(ref string) string {
		name := environment.FindStringSubmatch(ref)[1]
		v, ok := os.LookupEnv(name)
		if !ok {
			unset = append(unset, name)
		}
		if v != "" {
			secrets = append(secrets, v, "${"+name+"}")
		}
		return v
	})
	if len(unset) > 0 {
		return nil, fmt.Errorf("environment variable %s is not set", strings.Join(unset, ", "))
	}
	c, err := config.LoadHTTPConfig(filled)
	if err != nil {
		// The message may quote a value; what came from the environment is secret.
		return nil, errors.New(strings.NewReplacer(secrets...).Replace(oneLine(err.Error())))
	}
	c.SetDirectory(dir)
	return c, nil
}
