// Package notify carries alerts out: it runs a program, posts JSON to a webhook,
// or speaks to an Alertmanager, once for an alert that fires and once when it is
// resolved. It judges nothing: what fires, and how much it matters, the frame
// says. It refuses to wait: a receiver that fails or hangs delays neither the
// screen nor another receiver.
package notify

import (
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
)

// Config lists where alerts go.
type Config struct {
	Sinks []Sink `yaml:"sinks"`
}

// Sink is one receiver. Exactly one of Exec, Webhook and Alertmanager is given.
type Sink struct {
	Name string `yaml:"name"` // for messages; unique; "" is its kind
	// Exec is a program and its arguments. It runs without a shell; the alert
	// comes in its environment.
	Exec         []string `yaml:"exec"`
	Webhook      *HTTP    `yaml:"webhook"`
	Alertmanager *HTTP    `yaml:"alertmanager"` // URL without /api/v2/alerts
	// Severity is the least that is sent; "" is warn.
	Severity model.Severity `yaml:"severity"`
	Resolved bool           `yaml:"resolved"` // tell also that an alert is over
	// Every is the least time between two deliveries: what happens between them
	// is sent together. 0 sends at once.
	Every   time.Duration `yaml:"every"`
	Timeout time.Duration `yaml:"timeout"` // of one delivery; 0 is DefaultTimeout
}

// HTTP is a server that takes alerts.
type HTTP struct {
	URL    string                   `yaml:"url"`
	Client *config.HTTPClientConfig `yaml:"http"` // keys, TLS, headers and proxy; nil for none
}

// DefaultTimeout bounds one delivery where a sink says nothing.
const DefaultTimeout = 10 * time.Second
