package notify

import (
	"context"
	"time"

	"slotop/model"
)

// Schema is the version of what a webhook gets. Keys may be added under it; none
// changes its meaning or goes away.
const Schema = "slotop.alert/1"

// maxBatch bounds the alerts in one request.
const maxBatch = 64

// message is the body of a webhook's request.
type message struct {
	Schema string          `json:"schema"`
	Alerts []messageNotice `json:"alerts"`
}

// messageNotice is an alert as in a frame, and whether it is made up.
type messageNotice struct {
	model.AlertView
	Simulated bool `json:"simulated"`
}

// webhook posts alerts to a server of the user's own.
type webhook struct{ *server }

func newWebhook(life context.Context, s Sink, opt Options) (*webhook, error) {
	server, err := newServer(life, s.Webhook, "", s.Timeout, opt)
	return &webhook{server}, err
}

func (h *webhook) where() string          { return h.place }
func (h *webhook) limit() int             { return maxBatch }
func (h *webhook) refresh() time.Duration { return 0 }

func (h *webhook) carry(ctx context.Context, sent []notice) error {
	return h.post(ctx, messageOf(sent))
}

func (h *webhook) show(sent []notice) string { return h.wouldPost(messageOf(sent)) }

func messageOf(sent []notice) message {
	m := message{Schema: Schema}
	for _, n := range sent {
		a := cleaned(n.alert)
		a.ResolvedAt = resolvedAt(a)
		m.Alerts = append(m.Alerts, messageNotice{a, n.simulated})
	}
	return m
}
