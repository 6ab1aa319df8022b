package dialect

import (
	"errors"
	"fmt"
	"slices"

	"slotop/model"
)

// enabling says how to get signals that a server could export and does not: the
// flag, setting or version that it takes.
type enabling struct {
	For []string `yaml:"for"` // signals, or metrics of a device
	Say string   `yaml:"say"`
}

func (e enabling) check() error {
	if e.Say == "" || len(e.For) == 0 {
		return errors.New("a row takes for and say")
	}
	for _, name := range e.For {
		if _, device := model.DeviceMetricNamed(name); !device && !isSignal(model.Signal(name)) {
			return fmt.Errorf("there is no signal %q%s", name, didYouMean(name, signalNames()))
		}
	}
	return nil
}

// Advice is what is known of a signal, or of a metric of devices, that a target
// may lack.
type Advice struct {
	Metric string // the newest exposed name that it is read from, "" for a metric of devices
	Needs  string // the option, version or event that it takes, "" for none
	Enable string // what to do for it: the flag or setting; "" where nothing is known
}

// Advice says how a target tells of a signal, or of a metric of devices. It reports
// false where no page of its engine ever does, and nothing can be done. Another
// engine whose metrics are on the same page has a say as well.
func (s *Set) Advice(about *model.About, name string) (Advice, bool) {
	i := slices.IndexFunc(s.dialects, func(d *Dialect) bool { return d.engine == about.Engine })
	if i < 0 {
		return Advice{}, false
	}
	d := s.dialects[i]
	var a Advice
	found := false
	for _, speaker := range append([]*Dialect{d}, d.also...) {
		if speaker != d && !slices.Contains(about.Notes, carries+speaker.engine) {
			continue
		}
		if ways := speaker.signals[model.Signal(name)]; len(ways) > 0 && !found {
			a.Metric, a.Needs, found = ways[0].called(speaker), ways[0].Needs, true
		}
		for _, e := range speaker.enable {
			if a.Enable == "" && slices.Contains(e.For, name) {
				a.Enable = e.Say
			}
		}
	}
	return a, found || a.Enable != ""
}

// called is the newest exposed name that a way reads first.
func (w *way) called(d *Dialect) string {
	for _, names := range w.operands() {
		if len(names) > 0 {
			return d.under(w)[0] + names[0].name
		}
	}
	return ""
}
