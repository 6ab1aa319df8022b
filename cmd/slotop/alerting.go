package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"slotop/cmd/slotop/notify"
	"slotop/sources"
	"slotop/tui"
	"slotop/tui/panes"
)

const (
	// lastWords is how long a run with a screen tries to deliver what is waiting
	// when it ends: the terminal is restored before, and the shell's user waits.
	lastWords = 40 * time.Millisecond
	// lastWordsHeadless is the same without anybody at the keyboard, and lastWordsTold
	// where a signal said to end: whoever sent it waits for a second.
	lastWordsHeadless = 5 * time.Second
	lastWordsTold     = 700 * time.Millisecond
	// maxDry bounds what a dry run remembers while the screen is in its way.
	maxDry = 1 << 20
)

// alerting carries a run's alerts out. The zero alerting tells nobody.
type alerting struct {
	sender *notify.Sender
	dry    *held
	out    io.Writer
	done   chan struct{}
}

// alerting is who is told of these targets' alerts. What is simulated, saved or
// recorded is over, or never was: it is told to nobody, and only a dry run says
// what would have been sent.
func (a *app) alerting(s settings, opened []sources.Opened) (*alerting, error) {
	al := &alerting{out: a.err}
	dry := a.flags.dryRun || s.file.Alerts.DryRun
	conf := s.file.Alerts.senders()
	over := plays(opened) || slices.ContainsFunc(opened, func(o sources.Opened) bool { return o.Target.Simulated })
	if len(conf.Sinks) == 0 || over && !dry {
		return al, nil
	}
	opt := notify.Options{Version: version()}
	if dry {
		al.dry = &held{}
		opt.DryRun = al.dry
	}
	sender, err := notify.New(conf, opt)
	if err != nil {
		return nil, usageError(s.file.Alerts.placed(conf, err))
	}
	al.sender = sender
	return al, nil
}

// attention is how the screen calls people.
func (a *fileAlerts) attention() tui.Attention {
	return tui.Attention{Bell: a.Bell == nil || *a.Bell, Title: a.Title == nil || *a.Title, Desktop: a.Desktop}
}

// follow gives the sender every frame of a core, and starts to deliver.
func (al *alerting) follow(c *core) {
	if al.sender == nil {
		return
	}
	c.hear = al.sender.Frame
	al.done = make(chan struct{})
	go func() {
		defer close(al.done)
		al.sender.Run(context.Background()) // until end
	}()
}

// outbox is how the deliveries go, nil where there are none.
func (al *alerting) outbox() func() []panes.Delivery {
	if al.sender == nil {
		return nil
	}
	return func() []panes.Delivery {
		var out []panes.Delivery
		for _, s := range al.sender.Status() {
			out = append(out, panes.Delivery{
				Name: s.Name, Waiting: s.Waiting, Delivered: s.Delivered, Failures: s.Failures, Dropped: s.Dropped, Error: s.LastError,
			})
		}
		return out
	}
}

// endHeadless is end for a run without a screen.
func (al *alerting) endHeadless(told context.Context) {
	if told.Err() != nil {
		al.end(lastWordsTold)
		return
	}
	al.end(lastWordsHeadless)
}

// end tries to deliver what is waiting and says what could not be delivered.
func (al *alerting) end(within time.Duration) {
	if al.done == nil {
		return
	}
	al.sender.Close(within)
	<-al.done
	if al.dry != nil {
		al.dry.tell(al.out)
		return
	}
	for _, s := range al.sender.Status() {
		if n := s.Waiting + s.Dropped; n > 0 {
			fmt.Fprintf(al.out, "slotop: alerts to %s: %s not delivered%s\n", s.Name, count(n, "message"), because(s.LastError))
		}
	}
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

// held keeps what a dry run would have sent until nobody draws any more.
type held struct {
	mu   sync.Mutex
	text bytes.Buffer
	lost int
}

// Write implements io.Writer.
func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len()+len(p) > maxDry {
		h.lost++
		return len(p), nil
	}
	return h.text.Write(p)
}

func (h *held) tell(w io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = w.Write(h.text.Bytes())
	if h.lost > 0 {
		fmt.Fprintf(w, "slotop: %s more would have been sent\n", count(h.lost, "message"))
	}
}
