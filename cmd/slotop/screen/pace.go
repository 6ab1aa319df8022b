package screen

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's renderer looks for a new view many times a second, for as long as the
// program runs, and where nothing moves those wake-ups are most of what a screen costs.
// It has no option to look only after something changed (charmbracelet/bubbletea, pull
// requests 1776 and 1796); until it has one, pace slows its ticker down.
const (
	framesPerSecond = 50                    // while something changes
	alert           = 45 * time.Millisecond // after a change: two looks, for a busy machine misses one
	drowsy          = time.Second           // between two looks while nothing changes
)

// pace is how often a renderer looks for a new view.
type pace struct {
	mu     sync.Mutex
	ticker *time.Ticker // the renderer's
	until  time.Time    // it is alert
	sleep  *time.Timer  // makes it drowsy
}

// newPace is the pace of a program that runs. It is nil, and the ticker keeps its own
// pace, where Bubble Tea has no such ticker any more.
func newPace(p *tea.Program) *pace {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	ticker := *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
	if ticker == nil {
		return nil
	}
	c := &pace{ticker: ticker}
	c.sleep = time.AfterFunc(alert, c.rest)
	return c
}

// wake makes the renderer look soon.
func (c *pace) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !now.Before(c.until) { // a ticker that runs is not put off
		c.ticker.Reset(time.Second / framesPerSecond)
	}
	c.until = now.Add(alert)
	c.sleep.Reset(alert)
}

func (c *pace) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(c.until) {
		c.ticker.Reset(drowsy)
	}
}
