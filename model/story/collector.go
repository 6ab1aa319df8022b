package story

import (
	"time"

	"slotop/model"
)

// Collector gathers a story. Its zero value is ready.
type Collector struct {
	story Story
	axis  Axis
	last  int // point of the latest frame

	workflows, targets, pools, devices group

	hurt     hurts
	alerts   episodes
	findings finds
	events   events
	gaps     gaps
	worst    float64 // rank of the worst frame
}

// group is the subjects of one kind, by name.
type group struct {
	all   []Subject
	index map[string]int
	left  map[string]bool // that there was no room for
}

// Take adds a frame. Frames come in order; nobody writes to one after it was taken.
func (c *Collector) Take(f *model.Frame) {
	s := &c.story
	if s.First == nil {
		s.First = f
		c.begin(f)
	}
	from, to := c.advance(f)
	c.gaps.take(f, s.Last, c.axis.Poll)
	s.Last = f
	s.Frames++
	c.measure(f, from, to)
	c.hurt.take(f)
	c.alerts.take(f)
	c.findings.take(f)
	c.events.take(f)
	if bad := badness(f); s.Worst == nil || bad >= c.worst && better(f, s.Worst, bad > c.worst) {
		s.Worst, c.worst = f, bad
	}
}

func (c *Collector) begin(f *model.Frame) {
	poll := f.Every
	if poll <= 0 {
		poll = time.Second
	}
	c.axis = Axis{Start: f.At, Step: poll, Poll: poll, Merged: 1}
}

// advance moves the axis to the frame. It returns the points that the frame stands
// for: its own, and those since the frame before it where it was only late.
func (c *Collector) advance(f *model.Frame) (from, to int) {
	i := c.axis.place(f.At)
	for i >= maxPoints {
		c.halve()
		i = c.axis.place(f.At)
	}
	i = max(i, c.last) // a clock that ran backwards adds to the present point
	from = i
	if c.story.Last != nil && f.At.Sub(c.story.Last.At) <= late(c.axis.Poll) {
		from = min(i, c.last+1)
	}
	c.last = i
	c.axis.N = max(c.axis.N, i+1)
	return from, i
}

// late is how far apart two frames are where only a poll was slow.
func late(poll time.Duration) time.Duration { return 5 * poll / 2 }

// halve makes the step twice as long.
func (c *Collector) halve() {
	c.axis.Step *= 2
	c.axis.Merged *= 2
	for _, g := range c.groups() {
		for i := range g.all {
			for _, s := range g.all[i].Series {
				s.halve()
			}
		}
	}
	c.axis.N = (c.axis.N + 2) / 2
	c.last = (c.last + 1) / 2
}

func (c *Collector) groups() []*group {
	return []*group{&c.workflows, &c.targets, &c.pools, &c.devices}
}

func (c *Collector) measure(f *model.Frame, from, to int) {
	for i := range f.Workflows {
		w := &f.Workflows[i]
		s := put(&c.workflows, w.Name, w, workflowSignals, from, to)
		if s != nil && w.History != nil {
			s.warm(w.History)
		}
	}
	c.measureTargets(f, from, to)
	for i := range f.Capacity {
		put(&c.pools, f.Capacity[i].Pool, &f.Capacity[i], poolSignals, from, to)
	}
	for i := range f.Devices {
		put(&c.devices, f.Devices[i].UUID, &f.Devices[i], deviceSignals, from, to)
	}
}

// measureTargets gives every target of a small fleet its series; of a large one those
// that were in trouble, from then on.
func (c *Collector) measureTargets(f *model.Frame, from, to int) {
	few := len(f.Targets) <= maxSubjects
	for i := range f.Targets {
		t := engine{TargetView: &f.Targets[i]}
		if _, known := c.targets.index[t.Name]; !known && !few && fine(&t) {
			c.targets.leave(t.Name)
			continue
		}
		t.use = use(f, t.Name, i)
		put(&c.targets, t.Name, &t, targetSignals, from, to)
	}
}

// fine reports whether a target answers and works.
func fine(t *engine) bool {
	return t.State == model.Up || t.State == model.Idle || t.State == ""
}

// use is what the accelerators of a target do; views come in the order of targets.
func use(f *model.Frame, target string, near int) *model.UtilizationView {
	n := len(f.Utilization)
	for i := range n {
		if u := &f.Utilization[(near+i)%n]; u.Target == target {
			return u
		}
	}
	return nil
}

// put adds what a view shows to the points of its subject; nil where there is no room.
func put[V any](g *group, name string, view *V, table []signal[V], from, to int) *Subject {
	i, ok := g.index[name]
	if !ok {
		if len(g.all) >= maxSubjects {
			g.leave(name)
			return nil
		}
		i = g.add(name)
		for _, row := range table {
			g.all[i].Series = append(g.all[i].Series, &Series{Signal: row.name, Unit: row.unit, Keep: row.keep, Wide: row.wide})
		}
	}
	for k, row := range table {
		p := row.read(view)
		for at := from; at <= to; at++ {
			g.all[i].Series[k].set(at, p)
		}
	}
	return &g.all[i]
}

func (g *group) add(name string) int {
	if g.index == nil {
		g.index = map[string]int{}
	}
	delete(g.left, name)
	g.index[name] = len(g.all)
	g.all = append(g.all, Subject{Name: name})
	return len(g.all) - 1
}

// leave counts a subject that has no series.
func (g *group) leave(name string) {
	if g.left == nil {
		g.left = map[string]bool{}
	}
	if len(g.left) < maxPolls {
		g.left[name] = true
	}
}

// Story is what has happened so far.
func (c *Collector) Story() *Story {
	s := c.story
	s.Axis = c.axis
	for _, g := range c.groups() {
		s.Left.Subjects += len(g.left)
		for i := range g.all {
			g.all[i].finish(c.axis.N)
		}
	}
	s.Workflows, s.Targets, s.Pools, s.Devices = c.workflows.all, c.targets.all, c.pools.all, c.devices.all
	s.Breaches, s.Left.Breaches = c.hurt.list(), c.hurt.left
	s.Alerts, s.Left.Alerts = c.alerts.list(), c.alerts.left
	s.Findings, s.Left.Findings = c.findings.list(), len(c.findings.out)
	s.Events, s.Left.Events = c.events.list(), c.events.left()
	s.Gaps, s.Left.Gaps = c.gaps.list(), c.gaps.left
	s.Polls, s.Left.Polls = polls(s.First, s.Last)
	return &s
}

// finish makes every series as long as the axis.
func (s *Subject) finish(n int) {
	for _, one := range s.Series {
		for one.Len() < n {
			one.push(nowhere)
		}
	}
	s.Heats = map[string]*model.Heat{}
	for name, h := range s.heats {
		if v := h.view(); v != nil {
			s.Heats[name] = v
		}
	}
}

// badness is how many requests of the frame's window were surely bad, over all
// workflows that miss their promise. One whose servers do not answer counts as one
// that lost all it was sent, which nobody knows the number of.
func badness(f *model.Frame) float64 {
	sum := 0.0
	for i := range f.Workflows {
		w := &f.Workflows[i]
		if w.Condition == model.IsDown || w.Condition == model.IsStalled {
			sum++
		}
		if g := w.Goodput; g != nil && g.Verdict == model.Missed && g.Share.Hi.OK() {
			sum += g.N * (1 - g.Share.Hi.Value)
		}
	}
	return sum
}

// better reports whether f stands for the worst moment rather than old: more was bad,
// or as much and more is known of why.
func better(f, old *model.Frame, worse bool) bool {
	return worse || badness(f) == 0 || len(f.Findings) > len(old.Findings)
}
