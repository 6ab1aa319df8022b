package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"slotop/model"
	"slotop/model/roofline"
	"slotop/model/slo"
)

// fileHardware is one row of hardware: the machine behind a target. The first row
// that matches a target says it.
type fileHardware struct {
	Target      string        `yaml:"target"`      // glob of target names; "" is all
	Accelerator string        `yaml:"accelerator"` // a row of the table, or as the driver prints it
	GPUs        int           `yaml:"gpus"`        // that serve one target
	Precision   precisionWord `yaml:"precision"`   // of the arithmetic
	TFLOPs      float64       `yaml:"peak_tflops"` // of one GPU, dense
	GBs         float64       `yaml:"bandwidth_gbs"`
	Sequences   int           `yaml:"sequences"`    // the engine's cap on running requests
	TokenBudget int           `yaml:"token_budget"` // of a step
	GPUHour     float64       `yaml:"gpu_hour"`     // price of one GPU for an hour
}

// fileModel is one row of models: the shape of a served model, where its name
// does not tell it. The first row that matches a served name says it.
type fileModel struct {
	Name         string  `yaml:"name"`                   // glob of served names
	Shape        string  `yaml:"shape"`                  // a row of the table of models
	WeightBytes  float64 `yaml:"weight_bytes_per_param"` // what differs from the row, or a shape of its own
	KVBytes      float64 `yaml:"kv_bytes_per_element"`
	Params       float64 `yaml:"params"`
	ActiveParams float64 `yaml:"active_params"`
	Layers       int     `yaml:"layers"`
	Hidden       int     `yaml:"hidden"`
	Heads        int     `yaml:"heads"`
	KVHeads      int     `yaml:"kv_heads"`
	HeadSize     int     `yaml:"head_size"`
	Vocabulary   int     `yaml:"vocabulary"`
}

// filePrices is what things cost.
type filePrices struct {
	Currency string  `yaml:"currency"`
	GPUHour  float64 `yaml:"gpu_hour"` // of one GPU, unless its hardware says
}

// precisionWord is a number format of the arithmetic.
type precisionWord string

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *precisionWord) UnmarshalYAML(n *yaml.Node) error {
	return oneOf(p, n.Value, "bf16", "fp16", "fp8", "fp4", "int8")
}

// equipment writes what the file says of machines, models and prices into a policy.
func (c *fileConfig) equipment(p *model.Policy) {
	for _, h := range c.Hardware {
		p.Hardware = append(p.Hardware, model.HardwareSpec{
			Target: h.Target, Accelerator: h.Accelerator, GPUs: h.GPUs, Precision: string(h.Precision),
			PeakFLOPs: h.TFLOPs * 1e12, PeakBytes: h.GBs * 1e9, Sequences: h.Sequences, TokenBudget: h.TokenBudget, GPUHour: h.GPUHour,
		})
	}
	for _, m := range c.Models {
		p.Models = append(p.Models, model.ModelSpec(m))
	}
	p.Prices = model.PriceSpec(c.Prices)
	p.Forecast = maps.Clone(c.Forecast)
}

// equipped takes over, section by section, what a file says of machines, models
// and prices: where it was named its sections count, else only those that the
// recording lacks.
func equipped(recorded, file model.Policy, named bool) model.Policy {
	if len(file.Hardware) > 0 && (named || len(recorded.Hardware) == 0) {
		recorded.Hardware = file.Hardware
	}
	if len(file.Models) > 0 && (named || len(recorded.Models) == 0) {
		recorded.Models = file.Models
	}
	if file.Prices != (model.PriceSpec{}) && (named || recorded.Prices == model.PriceSpec{}) {
		recorded.Prices = file.Prices
	}
	if len(file.Forecast) > 0 && (named || len(recorded.Forecast) == 0) {
		recorded.Forecast = file.Forecast
	}
	return recorded
}

// ranged is a number of the file and what it can be.
type ranged struct {
	key            string
	v, least, most float64
	unit           string
}

// ranges says which of the numbers that are given cannot be: a peak in the wrong
// unit would be believed on every screen.
func (p *placer) ranges(n *yaml.Node, all ...ranged) error {
	var errs []error
	for _, w := range all {
		at := child(n, w.key)
		if at == nil || w.v >= w.least && w.v <= w.most {
			continue
		}
		unit := ""
		if w.unit != "" {
			unit = " " + w.unit
		}
		errs = append(errs, p.at(at, "%s %v: from %v to %v%s", w.key, w.v, w.least, w.most, unit))
	}
	return errors.Join(errs...)
}

// What one GPU and one engine can have. The bounds are far from all that exists:
// beyond them the unit is wrong.
const (
	maxGPUs      = 4096
	maxSequences = 1e6
	maxBudget    = 1e8
	minTFLOPs    = 0.5
	maxTFLOPs    = 1e5
	minGBs       = 10
	maxGBs       = 1e6
	minPrice     = 1e-4
	maxPrice     = 1e7
	maxRate      = 1e6
)

// checkEquipment says what is wrong with hardware, models, prices and forecast.
func (c *fileConfig) checkEquipment(at *placer, root *yaml.Node) error {
	prices := child(root, "prices")
	return errors.Join(
		at.emptyRows(child(root, "hardware")), at.emptyRows(child(root, "models")),
		c.checkHardware(at, child(root, "hardware")),
		c.checkModels(at, child(root, "models")),
		at.ranges(prices, ranged{"gpu_hour", c.Prices.GPUHour, minPrice, maxPrice, "for one GPU and hour"}),
		c.Prices.check(at, prices),
		c.checkForecast(at, child(root, "forecast")),
	)
}

func (c *fileConfig) checkHardware(at *placer, list *yaml.Node) error {
	var before []string
	return at.each(list, func(i int, n *yaml.Node) error {
		h := &c.Hardware[i]
		glob := cmp.Or(h.Target, "*")
		err := at.shadowed(cmp.Or(child(n, "target"), n), "hardware of", glob, &before)
		return errors.Join(err, h.check(at, n))
	})
}

// shadowed says that a row can match nothing, as one before it takes all that it
// would.
func (p *placer) shadowed(n *yaml.Node, what, glob string, before *[]string) error {
	if k := slices.IndexFunc(*before, func(b string) bool { return slo.Glob(b, glob) }); k >= 0 {
		return p.at(n, "nothing is left for the %s %q: %q before it takes all that is called so; put it first", what, glob, (*before)[k])
	}
	if len(*before) < maxGlobs {
		*before = append(*before, glob)
	}
	return nil
}

func (h *fileHardware) check(at *placer, n *yaml.Node) error {
	if *h == (fileHardware{Target: h.Target}) && !anyKey(n, "gpus", "peak_tflops", "bandwidth_gbs", "sequences", "token_budget", "gpu_hour") {
		return at.at(n, "hardware that says nothing: write accelerator, gpus or what else is known of it")
	}
	return errors.Join(h.named(at, n), at.ranges(n,
		ranged{"gpus", float64(h.GPUs), 1, maxGPUs, "that serve one target"},
		ranged{"peak_tflops", h.TFLOPs, minTFLOPs, maxTFLOPs, "TFLOP/s of one GPU"},
		ranged{"bandwidth_gbs", h.GBs, minGBs, maxGBs, "GB/s of one GPU"},
		ranged{"sequences", float64(h.Sequences), 1, maxSequences, ""},
		ranged{"token_budget", float64(h.TokenBudget), 1, maxBudget, "tokens a step"},
		ranged{"gpu_hour", h.GPUHour, minPrice, maxPrice, "for one GPU and hour"},
	))
}

// named refuses an accelerator that the table does not have, unless its peaks are
// said: nothing could be computed with it, and nobody would know why.
func (h *fileHardware) named(at *placer, n *yaml.Node) error {
	if h.Accelerator == "" || roofline.NamedPeaks(h.Accelerator) != nil || h.TFLOPs > 0 && h.GBs > 0 {
		return nil
	}
	return at.at(child(n, "accelerator"), "no accelerator of the table is called %q, and its peak_tflops and bandwidth_gbs are not written%s", shortened(h.Accelerator), ofTheTable(h.Accelerator))
}

// ofTheTable is the accelerators that were perhaps meant. Names of one generation
// differ in a letter and are other machines: those that go on from what was
// written come before those that are spelt alike.
func ofTheTable(name string) string {
	var longer, all []string
	written := strings.TrimSpace(name)
	if maker, rest, _ := strings.Cut(written, " "); strings.EqualFold(maker, "NVIDIA") {
		written = rest // drivers begin with it, products do not
	}
	for _, a := range roofline.Accelerators() {
		all = append(append(all, a.Product), a.Names...)
		if goesOn(a.Product, written) {
			longer = append(longer, a.Product)
		}
	}
	switch len(longer) {
	case 0:
		return didYouMean(name, all)
	case 1:
		return ": did you mean " + longer[0] + "?"
	default:
		return ": which one, " + strings.Join(longer, ", ") + "?"
	}
}

// goesOn reports whether a product's name begins with what was written, and not
// with a longer number: H20 does not begin H200.
func goesOn(product, written string) bool {
	if written == "" || len(written) >= len(product) || !strings.EqualFold(product[:len(written)], written) {
		return false
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return !(digit(written[len(written)-1]) && digit(product[len(written)]))
}

func anyKey(n *yaml.Node, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return child(n, key) != nil })
}

func (c *fileConfig) checkModels(at *placer, list *yaml.Node) error {
	var before []string
	return at.each(list, func(i int, n *yaml.Node) error {
		m := &c.Models[i]
		if m.Name == "" {
			return at.at(n, "model %d has no name: write name: llama-*, as it is served", i+1)
		}
		err := at.shadowed(child(n, "name"), "model", m.Name, &before)
		return errors.Join(err, m.check(at, n))
	})
}

func (m *fileModel) check(at *placer, n *yaml.Node) error {
	if *m == (fileModel{Name: m.Name}) {
		return at.at(n, "model %q has no shape: write shape, or what is known of it", m.Name)
	}
	err := at.ranges(n,
		ranged{"weight_bytes_per_param", m.WeightBytes, 0.1, 8, "bytes"},
		ranged{"kv_bytes_per_element", m.KVBytes, 0.1, 8, "bytes"},
		ranged{"params", m.Params, 1e6, 1e14, "parameters: write 70.6e9"},
		ranged{"active_params", m.ActiveParams, 1e6, 1e14, "parameters: write 3.3e9"},
		ranged{"layers", float64(m.Layers), 1, 1e4, ""},
		ranged{"hidden", float64(m.Hidden), 1, 1e6, ""},
		ranged{"heads", float64(m.Heads), 1, 1e4, ""},
		ranged{"kv_heads", float64(m.KVHeads), 1, 1e4, ""},
		ranged{"head_size", float64(m.HeadSize), 1, 1e4, ""},
		ranged{"vocabulary", float64(m.Vocabulary), 1, 1e8, ""},
	)
	if m.Params > 0 && m.ActiveParams > m.Params {
		err = errors.Join(err, at.at(child(n, "active_params"), "active_params %v: no more than params, %v", m.ActiveParams, m.Params))
	}
	if m.Heads > 0 && m.KVHeads > m.Heads {
		err = errors.Join(err, at.at(child(n, "kv_heads"), "kv_heads %d: no more than heads, %d", m.KVHeads, m.Heads))
	}
	return errors.Join(err, m.shaped(at, n))
}

// shaped refuses a shape that the table does not have, and one of its own that is
// not enough to compute with.
func (m *fileModel) shaped(at *placer, n *yaml.Node) error {
	if m.Shape != "" && roofline.FindShape(m.Shape) == nil {
		var known []string
		for _, s := range roofline.Models() {
			known = append(known, s.Model, path.Base(s.Model))
		}
		return at.at(child(n, "shape"), "no model of the table is called %q%s", shortened(m.Shape), didYouMean(m.Shape, known))
	}
	if isGlob(m.Name) {
		return nil // what it matches may be in the table
	}
	if _, why := roofline.Configured(model.ModelSpec(*m), m.Name); why != "" {
		return at.at(n, "model %q: %s: write it, or shape", m.Name, why)
	}
	return nil
}

// maxCurrency is longer than any sign or code of a currency.
const maxCurrency = 4

func (p *filePrices) check(at *placer, n *yaml.Node) error {
	letters := []rune(p.Currency)
	if len(letters) > maxCurrency || slices.ContainsFunc(letters, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsDigit(r) }) {
		return at.at(child(n, "currency"), "%q is no currency: write its sign or code, such as $ or EUR", shortened(p.Currency))
	}
	return nil
}

// checkForecast refuses what is no rate, and a workflow that is written wrong.
func (c *fileConfig) checkForecast(at *placer, n *yaml.Node) error {
	names := make([]string, len(c.Workflows))
	for i := range c.Workflows {
		names[i] = c.Workflows[i].Name
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Forecast)) {
		rate, place := c.Forecast[name], child(n, name)
		if name == "" {
			errs = append(errs, at.at(place, "a forecast of no workflow: write the workflow's name before the rate"))
		}
		if !(rate > 0 && rate <= maxRate) {
			errs = append(errs, at.at(place, "forecast %v: a rate above 0 and up to %v requests a second", rate, float64(maxRate)))
		}
		known := slices.ContainsFunc(names, func(glob string) bool { return slo.Glob(glob, name) })
		if near := didYouMean(name, names); near != "" && !known {
			errs = append(errs, at.at(place, "no workflow is called %q%s", shortened(name), near))
		}
		if len(errs) >= maxErrors {
			return errors.Join(append(errs, at.more(lineOf(place), 1))...)
		}
	}
	return errors.Join(errs...)
}

// equipment writes machines, models, prices and forecast as they are read.
func (p *showing) equipment(c *fileConfig) {
	places := rows(child(p.root, "hardware"))
	for i := range c.Hardware {
		p.listed("hardware", i, c.Hardware[i].text(), places[i])
	}
	places = rows(child(p.root, "models"))
	for i := range c.Models {
		p.listed("models", i, c.Models[i].text(), places[i])
	}
	if n := child(p.root, "prices"); n != nil {
		p.value("", "prices", fields("currency", c.Prices.Currency, "gpu_hour", c.Prices.GPUHour), p.line(n))
	}
	if len(c.Forecast) > 0 {
		var pairs []any
		for _, name := range slices.Sorted(maps.Keys(c.Forecast)) {
			pairs = append(pairs, scalar(name), c.Forecast[name])
		}
		p.value("", "forecast", fields(pairs...), p.line(child(p.root, "forecast")))
	}
}

// listed writes one row of a list, under the list's key where it is the first.
func (p *showing) listed(key string, i int, text string, at *yaml.Node) {
	if i == 0 {
		p.value("", key, "", "")
	}
	p.b.WriteString(besides("  - "+text, p.line(at)))
}

func (h *fileHardware) text() string {
	return fields("target", h.Target, "accelerator", h.Accelerator, "gpus", h.GPUs, "precision", string(h.Precision), "peak_tflops", h.TFLOPs,
		"bandwidth_gbs", h.GBs, "sequences", h.Sequences, "token_budget", h.TokenBudget, "gpu_hour", h.GPUHour)
}

func (m *fileModel) text() string {
	return fields("name", m.Name, "shape", m.Shape, "weight_bytes_per_param", m.WeightBytes, "kv_bytes_per_element", m.KVBytes, "params", m.Params,
		"active_params", m.ActiveParams, "layers", m.Layers, "hidden", m.Hidden, "heads", m.Heads, "kv_heads", m.KVHeads, "head_size", m.HeadSize, "vocabulary", m.Vocabulary)
}

// fields writes pairs of keys and values as a section in one row, without those
// that say nothing.
func fields(pairs ...any) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" {
				parts = append(parts, fmt.Sprintf("%s: %s", pairs[i], scalar(v)))
			}
		case int:
			if v != 0 {
				parts = append(parts, fmt.Sprintf("%s: %d", pairs[i], v))
			}
		case float64:
			if v != 0 {
				parts = append(parts, fmt.Sprintf("%s: %g", pairs[i], v))
			}
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
