package notify

import (
	"context"
	"strings"
	"time"

	"slotop/model"
)

const (
	alertsPath = "/api/v2/alerts"
	// resend is how often an Alertmanager hears that an alert still fires. It
	// takes one for resolved that it has not heard of for its resolve_timeout,
	// five minutes unless configured.
	resend = time.Minute
)

// alertmanager posts alerts to the API of an Alertmanager.
type alertmanager struct {
	*server
	every time.Duration
}

func newAlertmanager(life context.Context, s Sink, opt Options) (*alertmanager, error) {
	server, err := newServer(life, s.Alertmanager, alertsPath, s.Timeout, opt)
	return &alertmanager{server, resend}, err
}

func (m *alertmanager) where() string          { return m.place }
func (m *alertmanager) limit() int             { return maxBatch }
func (m *alertmanager) refresh() time.Duration { return m.every }

func (m *alertmanager) carry(ctx context.Context, sent []notice) error {
	return m.post(ctx, postables(sent))
}

func (m *alertmanager) show(sent []notice) string { return m.wouldPost(postables(sent)) }

// postable is an alert of Alertmanager's API. Its labels are its identity there.
// It has no end while it fires: then the Alertmanager's own clock decides when it
// has not been heard of for too long, not the difference between two clocks.
type postable struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      *time.Time        `json:"endsAt,omitempty"`
}

func postables(sent []notice) []postable {
	all := make([]postable, 0, len(sent))
	for _, n := range sent {
		all = append(all, postableOf(cleaned(n.alert), n.simulated))
	}
	return all
}

func postableOf(a model.AlertView, simulated bool) postable {
	p := postable{
		Labels: given(map[string]string{
			"alertname": a.Rule,
			"rule":      a.Rule,
			"workflow":  string(a.Workflow),
			"target":    string(a.Target),
			"severity":  string(a.Severity),
		}),
		Annotations: given(map[string]string{
			"summary": a.Text,
			"id":      string(a.ID),
			"since":   stamp(a.Since),
			"value":   number(a.Value),
			"peak":    number(a.Peak),
			"limit":   number(a.Limit),
			"cause":   string(a.Cause),
			"members": strings.Join(a.Members, ", "),
		}),
		StartsAt: a.FiredAt.Wall.UTC(),
	}
	if simulated {
		p.Labels["simulated"] = "true"
	}
	if at := resolvedAt(a); !at.IsZero() {
		end := at.Wall.UTC()
		if end.Before(p.StartsAt) { // the clock was set back; an end before the start is refused
			end = p.StartsAt
		}
		p.EndsAt = &end
	}
	return p
}

// given drops the keys without a value: to an Alertmanager they are absent.
func given(all map[string]string) map[string]string {
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}
