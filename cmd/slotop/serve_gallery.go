package main

import (
	"cmp"
	"context"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"slotop/cmd/slotop/serve"
	"slotop/model/report"
	"slotop/sources"
	"slotop/themes"
	"slotop/tui"
)

// gallery is what all viewers look at.
type gallery struct {
	core   *core
	conf   settings
	shared tui.Options
	themes *themes.Set
	rope   rope
}

func newGallery(c *core, s settings, opened []sources.Opened, al *alerting) (*gallery, error) {
	set, err := loadThemes()
	if err != nil {
		return nil, usageError(err)
	}
	if _, err := set.Find(cmp.Or(s.theme, set.Names()[0])); err != nil {
		return nil, usageError(err)
	}
	return &gallery{core: c, conf: s, themes: set, shared: tui.Options{
		Targets: targetsOf(opened), Every: s.interval(opened), Past: c.kept, Signals: s.file.Alerts.attention(), Outbox: al.outbox(), Notes: s.notes.said,
		Latest: c.box.latest, Themes: set, Mouse: s.mouse, Markdown: report.Markdown, Enables: enables(s.opt.Dialects),
	}}, nil
}

// screen makes the screen of one viewer, who may change nothing that others see.
func (g *gallery) screen(v serve.Viewer) (tea.Model, func(), error) {
	news, left := g.rope.take()
	opt := g.shared
	opt.Tick = (&beat{news: news}).tick
	opt.Theme = g.conf.theme
	if name := v.Get(serve.Theme); name != "" && slices.Contains(g.themes.Names(), name) {
		opt.Theme = name
	}
	opt.ASCII = g.conf.ascii || asciiLocale(v.Get)
	unknowing(&opt, v.Get)
	wall := g.conf.wall
	wall.on = v.Get(serve.Kiosk) != ""
	opt.Kiosk, opt.Still = wall.kiosk(), wall.still || v.Get(stillSwitch) != ""
	m, err := tui.New(opt)
	if err != nil {
		left()
		return nil, nil, err
	}
	return m, left, nil
}

// text is the newest frame for a viewer without a terminal.
func (g *gallery) text(v serve.Viewer) (string, int) {
	f := g.core.box.latest()
	if f == nil {
		return "slotop: not a single poll ended yet\n", exitUntold
	}
	text := report.Text(f, report.Options{Width: textColumns, ASCII: g.conf.ascii || asciiLocale(v.Get)})
	if !anyGood(f) {
		return text, exitUntold
	}
	return text, exitOK
}

// textColumns is the width of text where no terminal says its own.
const textColumns = 100

// ring tells every viewer of each new frame.
func (g *gallery) ring(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.core.box.news:
			g.rope.pull()
		}
	}
}

// rope rings a bell for each viewer: a frame is news to all of them, and none waits
// for another.
type rope struct {
	mu    sync.Mutex
	bells map[chan struct{}]struct{}
}

// take hangs a bell up; left takes it down.
func (r *rope) take() (bell <-chan struct{}, left func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bells == nil {
		r.bells = map[chan struct{}]struct{}{}
	}
	b := make(chan struct{}, 1)
	r.bells[b] = struct{}{}
	return b, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.bells, b)
	}
}

// pull rings every bell that is not ringing already.
func (r *rope) pull() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for b := range r.bells {
		select {
		case b <- struct{}{}:
		default:
		}
	}
}
