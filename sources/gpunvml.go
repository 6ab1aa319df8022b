package sources

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/sources/nvml"
)

const (
	// slowEvery is how often what seldom changes is read: limits, highest clocks,
	// processes, MIG instances, which number each GPU has.
	slowEvery = 10 * time.Second
	// maxGPUs bounds the devices of a host, MIG instances apart, with those that were
	// lost; the largest hosts have 16.
	maxGPUs = 256
)

// nvmlReader reads the GPUs through the driver's library. A round asks for what
// is shown and for nothing else: once how many GPUs there are, and of each six
// calls, two more where it has performance counters.
type nvmlReader struct {
	driver  nvml.Driver
	version string
	began   bool // Init succeeded and was not ended since
	failing bool // the last round had no answer
	retry   retry

	cards  []*card  // in the order of first sight
	hidden int      // GPUs of the host that are not ours to read
	unseen []string // others that were never read, and why
	count  int
	slowAt time.Duration // of the next round that reads what seldom changes
	procs  processTable
	about  *model.About
}

func newNVMLReader(driver nvml.Driver) *nvmlReader {
	return &nvmlReader{driver: driver, procs: processTable{root: "/proc"}}
}

func (r *nvmlReader) doing() string { return r.driver.Doing() }

// stop cannot end a call of the driver.
func (r *nvmlReader) stop() bool { return false }

// read reads a round. A library that answers nothing any more is started anew, less
// and less often; in between it is asked on, which costs one call.
func (r *nvmlReader) read(at time.Duration) (gpuRound, error) {
	early := r.retry.early(at)
	if !r.began && early != nil {
		return gpuRound{}, early
	}
	anew := !r.began || r.failing && early == nil
	if anew {
		if fault := r.begin(at); fault != nil {
			return gpuRound{}, r.retry.after(at, fault)
		}
	}
	round, fault := r.round(at)
	switch {
	case fault == nil:
		r.failing = false
		r.retry.well()
		return round, nil
	case anew || !r.failing:
		r.failing = true
		return gpuRound{}, r.retry.after(at, fault)
	default:
		return gpuRound{}, fault
	}
}

// begin starts the library, after it was ended where it stopped to answer.
func (r *nvmlReader) begin(at time.Duration) *FaultError {
	r.close()
	if answer := r.driver.Init(); answer != nvml.Success {
		return noDriver(answer)
	}
	r.began = true
	r.version, _ = r.driver.Version()
	r.slowAt = at
	return nil
}

// close ends the library. Every handle and sample is void then.
func (r *nvmlReader) close() {
	if !r.began {
		return
	}
	for _, c := range r.cards {
		c.forget(r.driver)
	}
	r.began = false
	_ = r.driver.Shutdown() // whatever it answers, all that can be done is to begin anew
}

// round reads every GPU. It fails where the driver answers nothing at all.
func (r *nvmlReader) round(at time.Duration) (gpuRound, *FaultError) {
	n, answer := r.driver.Count()
	if answer != nvml.Success {
		return gpuRound{}, noAnswer(answer)
	}
	slow := at >= r.slowAt || n != r.count
	if slow {
		r.count = n
		r.slowAt = at + slowEvery
		r.enumerate(min(n, maxGPUs))
	}
	if len(r.cards) == 0 {
		return gpuRound{}, r.nothing()
	}
	reading := reading{driver: r.driver, at: at, proc: r.procs.root, slow: slow}
	for _, c := range r.cards {
		c.read(&reading)
	}
	if reading.answered == 0 && reading.failed != nvml.Success {
		return gpuRound{}, noAnswer(reading.failed)
	}
	round := gpuRound{devices: r.devices(), span: reading.span()}
	r.procs.name(round.devices, at)
	r.describe()
	round.about = r.about
	return round, nil
}

// nothing says why there is no GPU to read.
func (r *nvmlReader) nothing() *FaultError {
	switch {
	case r.hidden > 0:
		return noDriver(nvml.NoPermission)
	case len(r.unseen) > 0:
		return &FaultError{model.Refused, strings.Join(r.unseen, "; ")}
	default:
		return noGPUs
	}
}

// enumerate finds which GPU has which number now. One that is not found keeps its
// place and is lost; one whose number gives no answer now stays as it was.
func (r *nvmlReader) enumerate(n int) {
	found := make([]*card, n)
	errs := make([]nvml.Return, n)
	r.unseen, r.hidden = nil, 0
	for i := range n {
		found[i], errs[i] = r.find(i)
	}
	for _, c := range r.cards {
		if slices.Contains(found, c) {
			continue
		}
		if was := c.device.Index; was >= 0 && was < n && found[was] == nil {
			if isLost(errs[was]) || c.handle == 0 { // its number is nobody else's: that is its answer
				c.lose(r.driver, errs[was])
			}
			continue
		}
		c.lose(r.driver, nvml.NotFound)
		c.device.Index = -1
	}
	for i, answer := range errs {
		switch {
		case found[i] != nil || r.numbered(i):
		case answer == nvml.NoPermission: // a container has been given others
			r.hidden++
		default:
			r.unseen = append(r.unseen, fmt.Sprintf("GPU %d cannot be reached: %s", i, answer))
		}
	}
}

// find is the card that has a number now.
func (r *nvmlReader) find(index int) (*card, nvml.Return) {
	handle, answer := r.driver.Handle(index)
	if answer != nvml.Success {
		return nil, answer
	}
	uuid, answer := r.driver.Text(handle, nvml.UUID)
	if answer != nvml.Success {
		return nil, answer
	}
	uuid = deviceUUID(uuid)
	at := slices.IndexFunc(r.cards, func(c *card) bool { return c.device.UUID == uuid })
	if at < 0 {
		if len(r.cards) == maxGPUs {
			return nil, nvml.InsufficientSize // of ours
		}
		r.cards = append(r.cards, newCard(uuid))
		at = len(r.cards) - 1
	}
	c := r.cards[at]
	c.take(r.driver, handle, index)
	return c, nvml.Success
}

// numbered reports whether a number is, or was last, that of a card.
func (r *nvmlReader) numbered(index int) bool {
	return slices.ContainsFunc(r.cards, func(c *card) bool { return c.device.Index == index })
}

// devices are all cards with their instances, as they are handed out: the reader
// does not write to them again.
func (r *nvmlReader) devices() []model.Device {
	n := len(r.cards)
	for _, c := range r.cards {
		n += len(c.instances)
	}
	all := make([]model.Device, 0, n)
	for _, c := range r.cards {
		all = append(all, c.device)
		for _, i := range c.instances {
			all = append(all, i.device)
		}
	}
	return all
}

// describe says what the readings come from. The same pointer is handed out until
// something in it changes.
func (r *nvmlReader) describe() {
	notes := append([]string{"through the NVIDIA driver's library"}, r.unseen...)
	if r.hidden > 0 {
		notes = append(notes, fmt.Sprintf("%d of the host's %d GPUs are not ours to read", r.hidden, r.count))
	}
	if r.about == nil || r.about.Version != r.version || !slices.Equal(r.about.Notes, notes) {
		r.about = &model.About{Engine: "nvml", Version: r.version, Notes: notes}
	}
}
