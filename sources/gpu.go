package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"slotop/model"
)

var nvmlKind = Kind{
	Name:    "nvml",
	Doc:     "this host's NVIDIA GPUs, through the driver's library or else nvidia-smi",
	Example: "nvml:",
	Match:   func(address string) bool { return strings.HasPrefix(address, nvmlScheme) },
	Open:    openGPUs,
}

const (
	nvmlScheme = "nvml:"
	nvmlForms  = "write nvml: for this host's GPUs, nvml:smi to read them through nvidia-smi, or nvml:/path/to/libnvidia-ml.so.1"
)

// gpuReader reads all GPUs of this host.
type gpuReader interface {
	// read reads each of them once, at a time of the schedule. It may take as long as
	// the driver likes.
	read(at time.Duration) (gpuRound, error)
	// doing says what a read that goes on waits for, "" where that is not known.
	doing() string
	// stop makes a read that goes on end soon, and reports whether it can do that.
	stop() bool
	// close gives back what was taken. Nothing is read when it is called, or after.
	close()
}

// gpuRound is what one round of readings found.
type gpuRound struct {
	devices []model.Device
	about   *model.About
	span    time.Duration // between the first and the last reading, 0 not known
}

// gpus is this host's GPUs as a target. Calls of a driver block for as long as it
// likes, so that they are made beside the polls: a round on a goroutine of its own,
// never two at a time. A poll waits for the round as long as its context allows.
type gpus struct {
	reader gpuReader
	rounds chan gpuAnswer // of the round that goes on, with room for it
	now    time.Duration  // of the schedule
	busy   bool           // a round goes on
	began  time.Duration
	waited int // polls that waited in vain for the round that goes on
	last   gpuRound
	slow   *model.About // last.about, said of rounds that outlast polls
	left   atomic.Bool  // nobody waits for the round that goes on
	closed atomic.Bool
}

// gpuAnswer is how a round ended.
type gpuAnswer struct {
	gpuRound
	err error
}

var (
	_ Source   = (*gpus)(nil)
	_ Advancer = (*gpus)(nil)
)

// openGPUs opens nothing yet: loading a driver may take seconds.
func openGPUs(_ context.Context, spec Spec) ([]Opened, error) {
	how := strings.TrimPrefix(spec.Address, nvmlScheme)
	var reader gpuReader
	switch {
	case how == "":
		reader = &hostGPUs{}
	case how == "smi":
		reader = newSMI()
	case strings.Contains(how, "/"):
		reader = &hostGPUs{path: how}
	default:
		return nil, usage(spec.Address, fmt.Sprintf("%q is no way to read GPUs", how), nvmlForms)
	}
	target := model.Target{ID: model.TargetID(spec.Address), Name: "gpus", Kind: model.GPUTarget}
	return []Opened{{Target: target, Source: newGPUs(reader)}}, nil
}

func newGPUs(reader gpuReader) *gpus {
	return &gpus{reader: reader, rounds: make(chan gpuAnswer, 1)}
}

// Advance notes the time of the schedule.
func (g *gpus) Advance(to time.Duration) { g.now = to }

// Poll begins a round, or waits on for the one that goes on.
func (g *gpus) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if !g.busy {
		g.busy, g.began, g.waited = true, g.now, 0
		go g.round(g.now)
	}
	select {
	case a := <-g.rounds:
		g.busy = false
		return g.take(a)
	case <-ctx.Done():
		return g.without(ctx)
	}
}

// round reads once. A panic in a driver's answer is the source's failure.
func (g *gpus) round(at time.Duration) {
	var a gpuAnswer
	defer func() {
		if p := recover(); p != nil {
			a = gpuAnswer{err: &FaultError{model.Malformed, "collector failed: " + excerpt(fmt.Sprint(p))}}
		}
		g.rounds <- a
		if g.left.Load() {
			g.end()
		}
	}()
	a.gpuRound, a.err = g.reader.read(at)
}

// take is the batch of a round that has ended.
func (g *gpus) take(a gpuAnswer) (model.Batch, error) {
	if a.err != nil {
		g.last = gpuRound{} // it is not what is, and no poll shows it again
		return model.Batch{}, a.err
	}
	slow := g.waited > 0
	if a.about != g.last.about || !slow {
		g.slow = nil
	}
	g.last = a.gpuRound
	batch := model.Batch{Devices: a.devices, About: a.about}
	if slow {
		batch.Round = max(a.span, g.now-g.began)
		batch.About = g.slowAbout(batch.Round)
	}
	return batch, nil
}

// slowAbout says of a target that its rounds outlast polls: what it tells is not of
// now, but of the last round.
func (g *gpus) slowAbout(round time.Duration) *model.About {
	const grain = 100 * time.Millisecond
	step := round.Round(grain).Seconds()
	if g.slow == nil || g.slow.StepS != step {
		about := *g.last.about
		about.StepS = step
		about.Notes = append([]string{fmt.Sprintf("a GPU round takes %.1f s: the driver is slow", step)}, about.Notes...)
		g.slow = &about
	}
	return g.slow
}

// maxWaited is how many polls in a row may repeat the last round while another goes
// on. After as many silent intervals any target is out of date.
const maxWaited = 3

// without is a poll whose time ended before the round did: what the last round
// found, marked as such, or that there is nothing.
func (g *gpus) without(ctx context.Context) (model.Batch, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return model.Batch{}, ctx.Err()
	}
	g.waited++
	if g.last.about == nil || g.waited > maxWaited {
		detail := "the GPU driver does not answer, since " + polls(g.waited)
		if call := g.reader.doing(); call != "" {
			detail += ", in " + call
		}
		return model.Batch{}, &FaultError{model.Timeout, detail + "; no other round is begun before it does"}
	}
	if g.slow == nil {
		return model.Batch{Devices: g.last.devices, About: g.last.about}, nil
	}
	return model.Batch{Devices: g.last.devices, About: g.slow, Round: time.Duration(g.slow.StepS * float64(time.Second))}, nil
}

func polls(n int) string {
	if n == 1 {
		return "one poll"
	}
	return fmt.Sprintf("%d polls", n)
}

// Close ends the reading. Calls of a driver cannot be ended, and are not waited for:
// they may hang. Should one return, its round gives back what was taken.
func (g *gpus) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	if g.reader.stop() {
		if g.busy {
			<-g.rounds // nobody else takes it: left is not set
		}
		g.reader.close()
		return nil
	}
	if g.left.Store(true); g.busy {
		g.end()
	} else {
		go g.reader.close()
	}
	return nil
}

// end closes the reader if the last round has ended, for the first who asks.
func (g *gpus) end() {
	select {
	case <-g.rounds:
		go g.reader.close()
	default:
	}
}
