// Package notify carries alerts out: it runs a program, posts JSON to a webhook,
// or speaks to an Alertmanager, once for an alert that fires and once when it is
// resolved. It judges nothing: what fires, and how much it matters, the frame
// says. It refuses to wait: a receiver that fails or hangs delays neither the
// screen nor another receiver.
//
// What each receiver gets is described in docs/notify.md.
package notify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
)

// Config lists where alerts go.
type Config struct {
	Sinks []Sink
}

// Sink is one receiver. Exactly one of Exec, Webhook and Alertmanager is given.
type Sink struct {
	Name string // for messages; unique; "" is its kind
	// Exec is a program and its arguments. It runs without a shell; the alert
	// comes in its environment.
	Exec         []string
	Webhook      *HTTP
	Alertmanager *HTTP // URL without /api/v2/alerts
	// Severity is the least that is sent; "" is warn.
	Severity model.Severity
	Resolved bool // tell also that an alert is over
	// Every is the least time between two deliveries: what happens between them
	// is sent together where the receiver takes several. 0 sends at once.
	Every   time.Duration
	Timeout time.Duration // of one delivery; 0 is DefaultTimeout
}

// HTTP is a server that takes alerts.
type HTTP struct {
	URL    string
	Client *config.HTTPClientConfig // keys, TLS, headers and proxy; nil for none
}

// DefaultTimeout bounds one delivery where a sink says nothing.
const DefaultTimeout = 10 * time.Second

func (s Sink) withDefaults() Sink {
	s.Name = cmp.Or(s.Name, s.kind())
	s.Severity = cmp.Or(s.Severity, model.Warn)
	s.Timeout = cmp.Or(s.Timeout, DefaultTimeout)
	return s
}

// kind is the word for what the sink is, "" where it is nothing.
func (s Sink) kind() string {
	switch {
	case len(s.Exec) > 0:
		return "exec"
	case s.Webhook != nil:
		return "webhook"
	case s.Alertmanager != nil:
		return "alertmanager"
	default:
		return ""
	}
}

func (s Sink) check() error {
	given := 0
	for _, is := range []bool{len(s.Exec) > 0, s.Webhook != nil, s.Alertmanager != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("give exactly one of exec, webhook and alertmanager")
	case !slices.Contains(severities, s.Severity):
		return fmt.Errorf("severity %s: write page, warn or note", clean(string(s.Severity)))
	case s.Every < 0 || s.Timeout < 0:
		return errors.New("every and timeout cannot be negative")
	}
	return nil
}
