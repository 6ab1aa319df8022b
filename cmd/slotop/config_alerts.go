package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/config"
	"go.yaml.in/yaml/v4"

	"slotop/cmd/slotop/notify"
	"slotop/model"
	"slotop/model/fleet"
)

// fileAlerts is how alerts behave, what else is watched, and who is told.
type fileAlerts struct {
	Grace     *delay       `yaml:"grace"`      // latency alerts wait so long after a restart
	IdleClear duration     `yaml:"idle_clear"` // without a request for so long, what fires is resolved
	Bell      *bool        `yaml:"bell"`       // of the terminal
	Title     *bool        `yaml:"title"`      // of the terminal's window
	Desktop   bool         `yaml:"desktop"`    // notification by OSC 9
	Progress  *bool        `yaml:"progress"`   // on the terminal's tab by OSC 9;4; default: where it is known to be understood
	DryRun    bool         `yaml:"dry_run"`    // send says what it would, and sends nothing
	Rules     []fileRule   `yaml:"rules"`
	Send      []fileSender `yaml:"send"`
}

// defaultGrace covers the kernels that a new engine compiles in its first
// requests.
const defaultGrace = 2 * time.Minute

// fileRule is one rule of the user's own.
type fileRule struct {
	Name     string       `yaml:"name"`
	Signal   string       `yaml:"signal"`
	Over     *level       `yaml:"over"`
	Under    *level       `yaml:"under"`
	Clear    *level       `yaml:"clear"`
	For      delay        `yaml:"for"`
	Hold     delay        `yaml:"hold"`
	Workflow string       `yaml:"workflow"`
	Target   string       `yaml:"target"`
	Severity severityWord `yaml:"severity"`
}

// fileSender is one receiver of alerts: exactly one of the three.
type fileSender struct {
	Name         string        `yaml:"name"`
	Exec         []string      `yaml:"exec"`
	Webhook      *fileReceiver `yaml:"webhook"`
	Alertmanager *fileReceiver `yaml:"alertmanager"`
	Severity     severityWord  `yaml:"severity"` // the least that is sent
	Resolved     *bool         `yaml:"resolved"`
	Every        delay         `yaml:"every"`
	Timeout      duration      `yaml:"timeout"`

	at string // where it is, for messages
}

// fileReceiver is a server that takes alerts.
type fileReceiver struct {
	URL  string                   `yaml:"url"`
	HTTP *config.HTTPClientConfig `yaml:"http"`
}

// policy writes the rules into a policy.
func (a *fileAlerts) policy(p *model.Policy) {
	if a.Grace != nil {
		p.GraceS = a.Grace.seconds()
	}
	p.IdleClearS = a.IdleClear.seconds()
	for i := range a.Rules {
		p.Rules = append(p.Rules, a.Rules[i].spec())
	}
}

func (r *fileRule) spec() model.RuleSpec {
	return model.RuleSpec{
		Name: r.Name, Signal: r.Signal, Over: r.Over.number(), Under: r.Under.number(), Clear: r.Clear.number(),
		ForS: r.For.seconds(), HoldS: r.Hold.seconds(), Workflow: r.Workflow, Target: r.Target,
		Severity: cmp.Or(model.Severity(r.Severity), model.Warn),
	}
}

func (v *level) number() *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// senders are the receivers as the notify package takes them.
func (a *fileAlerts) senders() notify.Config {
	var c notify.Config
	for i := range a.Send {
		s := &a.Send[i]
		name := s.Name
		if name == "" && len(a.Send) > 1 {
			name = fmt.Sprintf("receiver %d", i+1)
		}
		c.Sinks = append(c.Sinks, notify.Sink{
			Name: name, Exec: s.Exec, Webhook: s.Webhook.sink(), Alertmanager: s.Alertmanager.sink(),
			Severity: model.Severity(s.Severity), Resolved: s.Resolved == nil || *s.Resolved,
			Every: time.Duration(s.Every), Timeout: time.Duration(s.Timeout),
		})
	}
	return c
}

// placed is an error about the receivers, with the place of the one it is about.
func (a *fileAlerts) placed(c notify.Config, err error) error {
	for i := range c.Sinks {
		if _, own := notify.New(notify.Config{Sinks: c.Sinks[i : i+1]}, notify.Options{}); own != nil {
			return fmt.Errorf("%s%w", a.Send[i].at, own)
		}
	}
	return err
}

func (r *fileReceiver) sink() *notify.HTTP {
	if r == nil {
		return nil
	}
	return &notify.HTTP{URL: r.URL, Client: r.HTTP}
}

// check says what is wrong with the alerts, each with its place.
func (a *fileAlerts) check(at *placer, n *yaml.Node) error {
	return errors.Join(a.checkRules(at, child(n, "rules")), a.checkSenders(at, child(n, "send")))
}

func (a *fileAlerts) checkRules(at *placer, list *yaml.Node) error {
	first := map[string]int{} // line of each name
	return at.each(list, func(i int, n *yaml.Node) error {
		r, name := &a.Rules[i], child(n, "name")
		line, twice := first[r.Name]
		var wrong error
		switch {
		case r.Name == "":
			wrong = at.at(n, "rule %d has no name: write name: queue-long", i+1)
		case twice:
			wrong = at.at(name, "rule %q is there twice, first in line %d", r.Name, line)
		default:
			first[r.Name] = lineOf(name)
		}
		if more := r.check(at, n); more != nil || wrong != nil {
			return errors.Join(wrong, more)
		}
		return r.refused(at, n)
	})
}

// refused is what the fold itself has against a rule, such as a name that a
// built-in rule has.
func (r *fileRule) refused(at *placer, n *yaml.Node) error {
	_, err := fleet.New(fleet.Config{Every: time.Second, Policy: model.Policy{Rules: []model.RuleSpec{r.spec()}}})
	if err == nil {
		return nil
	}
	return at.at(child(n, "name"), "%v", err)
}

func (r *fileRule) check(at *placer, n *yaml.Node) error {
	var errs []error
	switch known := fleet.RuleSignals(); {
	case r.Signal == "":
		errs = append(errs, at.at(n, "rule %q has no signal: write one of %s", r.Name, strings.Join(known, ", ")))
	case !slices.Contains(known, r.Signal):
		errs = append(errs, at.at(child(n, "signal"), "no signal is called %q%s (known: %s)",
			r.Signal, didYouMean(r.Signal, known), strings.Join(known, ", ")))
	}
	switch {
	case r.Over == nil && r.Under == nil:
		errs = append(errs, at.at(n, "rule %q has no bound: write over or under", r.Name))
	case r.Over != nil && r.Under != nil:
		errs = append(errs, at.at(child(n, "under"), "rule %q has both over and under: write two rules", r.Name))
	case r.Clear == nil:
	case r.Over != nil && *r.Clear > *r.Over:
		errs = append(errs, at.at(child(n, "clear"), "clear is above over: a value could be recovered and beyond the bound at once"))
	case r.Under != nil && *r.Clear < *r.Under:
		errs = append(errs, at.at(child(n, "clear"), "clear is below under: a value could be recovered and beyond the bound at once"))
	}
	for _, key := range []string{"over", "under", "clear"} {
		if bound := child(n, key); bound != nil {
			errs = append(errs, mismatch(at, bound, r.Signal))
		}
	}
	return errors.Join(errs...)
}

// mismatch says that a bound is written in what its signal is not measured in.
func mismatch(at *placer, bound *yaml.Node, signal string) error {
	ratio, err := parseRatio(bound.Value)
	percent, timed := strings.HasSuffix(bound.Value, "%"), err != nil
	switch u := fleet.SignalUnit(signal); {
	case u == "":
		return nil
	case u == model.Seconds && percent:
		return at.at(bound, "%s is a time: write 500ms, or 0.5 for seconds", signal)
	case u == model.Ratio && (timed || ratio < 0 || ratio > 1):
		return at.at(bound, "%s is a share between 0%% and 100%%: write 90%% or 0.9", signal)
	case u != model.Seconds && u != model.Ratio && (timed || percent):
		return at.at(bound, "%s is a plain number: write 6", signal)
	}
	return nil
}

func (a *fileAlerts) checkSenders(at *placer, list *yaml.Node) error {
	first := map[string]int{} // line of each name
	return at.each(list, func(i int, n *yaml.Node) error {
		s, name := &a.Send[i], child(n, "name")
		s.at = at.of(n)
		if line, twice := first[s.Name]; twice {
			return errors.Join(at.at(name, "receiver %q is there twice, first in line %d", s.Name, line), s.check(at, n))
		}
		if s.Name != "" {
			first[s.Name] = lineOf(name)
		}
		return s.check(at, n)
	})
}

func (s *fileSender) check(at *placer, n *yaml.Node) error {
	var given []string
	for _, kind := range []string{"exec", "webhook", "alertmanager"} {
		if child(n, kind) != nil {
			given = append(given, kind)
		}
	}
	switch {
	case len(given) == 0:
		return at.at(n, "a receiver without a way to it: write exec, webhook or alertmanager")
	case len(given) > 1:
		return at.at(child(n, given[1]), "a receiver with both %s: write one row for each", strings.Join(given, " and "))
	case given[0] == "exec":
		if len(s.Exec) == 0 || s.Exec[0] == "" {
			return at.at(child(n, "exec"), "no program: write exec: [program, argument]")
		}
		return nil
	default:
		place := child(n, given[0])
		r := cmp.Or(s.Webhook, s.Alertmanager)
		if r == nil || r.URL == "" {
			return at.at(place, "%s has no address: write url: https://host/path", given[0])
		}
		if err := r.check(); err != nil {
			return at.at(child(place, "url"), "%v", err)
		}
		return nil
	}
}

// check looks at the address. It is never quoted: it may hold a key.
func (r *fileReceiver) check() error {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil || u.Host == "":
		return errors.New("the address cannot be read: write url: https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the address is neither http nor https: write url: https://host/path")
	case u.User != nil:
		return errors.New("the address holds a password: write it in http, as basic_auth")
	}
	return nil
}
