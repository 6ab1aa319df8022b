package fleet

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
)

// This file says which engine runs on which GPU: as configured, or because a
// process on the GPU listens where the engine answers, or because both are on one
// host on which nothing else could be meant. It never guesses.

// The ways to know, the surest first.
const (
	byConfiguration = "configuration"
	byProcess       = "process"
	byHost          = "host"
)

// joint is an engine that runs on a device, and how that is known.
type joint struct {
	engine *target
	by     string
}

// thisHost names the host that slotop runs on.
const thisHost = "localhost"

// place is where a target is, as far as its address says: its host, and the port
// on which it answers.
type place struct {
	host string
	port int
}

// placeOf reads a target's address. What has none, such as a saved page, is nowhere.
func placeOf(t model.Target) place {
	id := string(t.ID)
	if !strings.Contains(id, "://") {
		if strings.Contains(id, ":") && t.Kind == model.GPUTarget {
			return place{host: thisHost} // nvml: and its like read this host's own
		}
		return place{}
	}
	_, rest, _ := strings.Cut(id, "://")
	u, err := url.Parse("//" + rest)
	if err != nil || u.Hostname() == "" {
		return place{}
	}
	p := place{host: hostNamed(u.Hostname()), port: 80}
	if strings.HasPrefix(id, "https") || strings.Contains(id, "+https://") {
		p.port = 443
	}
	if n, err := strconv.Atoi(u.Port()); err == nil {
		p.port = n
	}
	return p
}

// hostNamed is one spelling of a host's names: case means nothing, and whatever
// leads back to where slotop runs is that host.
func hostNamed(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "::1" || host == "0.0.0.0" || host == "::" || strings.HasPrefix(host, "127.") {
		return thisHost
	}
	return host
}

// joinDevices joins every device with the engines that run on it.
func (f *Fleet) joinDevices(fr *model.Frame) {
	j := f.newJoiner()
	for _, e := range j.engines {
		if e.spec.GPUs != "" {
			j.configured(e)
		} else {
			j.running(e)
		}
	}
	j.sharing()
	for i, t := range f.targets {
		fr.Targets[i].GPUs = orEmpty(j.gpus[t])
	}
}

// joiner joins the devices of one frame.
type joiner struct {
	devices []*device
	engines []*target
	hosts   map[*device][]string
	at      map[string][]*device // GPUs, not slices, by host
	ports   map[int][]*device    // by the ports at which their processes listen
	gpus    map[*target][]string // names of those that an engine runs on
}

func (f *Fleet) newJoiner() *joiner {
	j := &joiner{
		devices: f.devices.list, hosts: map[*device][]string{},
		at: map[string][]*device{}, ports: map[int][]*device{}, gpus: map[*target][]string{},
	}
	apart := map[*target]bool{} // targets that tell of several hosts
	for _, t := range f.targets {
		if t.kind() == model.EngineTarget {
			j.engines = append(j.engines, t)
		}
		apart[t] = t.kind() == model.PrometheusTarget || t.severalHosts()
	}
	for _, d := range j.devices {
		d.joints = d.joints[:0]
		j.hosts[d] = d.hosts(apart)
		for _, h := range j.hosts[d] {
			if d.parent == nil {
				j.at[h] = append(j.at[h], d)
			}
		}
		for _, p := range d.running() {
			for _, port := range p.Serves {
				if !slices.Contains(j.ports[port], d) {
					j.ports[port] = append(j.ports[port], d)
				}
			}
		}
	}
	return j
}

// hosts are the names of the device's host: as its exporters say, and those of the
// targets that tell of one host only.
func (d *device) hosts(apart map[*target]bool) []string {
	var out []string
	add := func(h string) {
		if h != "" && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for _, tl := range d.tellings {
		add(hostNamed(tl.said.Host))
		if !apart[tl.by] {
			add(tl.by.place.host)
		}
	}
	return out
}

// severalHosts reports whether the devices that a target tells of are on several
// hosts.
func (t *target) severalHosts() bool {
	one := ""
	for _, tl := range t.tells {
		if h := tl.said.Host; h != "" && one != "" && h != one {
			return true
		}
		one = cmp.Or(one, tl.said.Host)
	}
	return false
}

func (j *joiner) join(e *target, d *device, by string) {
	d.joints = append(d.joints, joint{e, by})
	j.gpus[e] = append(j.gpus[e], d.name())
}

// configured joins an engine as the configuration says: with devices by their UUID,
// or with all that a target tells of.
func (j *joiner) configured(e *target) {
	for _, d := range j.devices {
		if slices.ContainsFunc(strings.Fields(e.spec.GPUs), d.isMeant) {
			j.join(e, d, byConfiguration)
		}
	}
}

// isMeant reports whether a word of a configuration means the device: its name, or,
// for what is no slice, that of a target that tells of it.
func (d *device) isMeant(word string) bool {
	if strings.EqualFold(word, d.id) || strings.EqualFold(word, d.name()) {
		return true
	}
	return d.parent == nil && slices.ContainsFunc(d.tellings, func(tl *telling) bool { return tl.by.spec.Name == word })
}

// noteUnknownGPUs says which words of a configuration mean no GPU, once every target
// has been asked.
func (f *Fleet) noteUnknownGPUs(fr *model.Frame) {
	for _, t := range f.targets {
		if t.polls == 0 {
			return
		}
	}
	for i, t := range f.targets {
		for _, word := range strings.Fields(t.spec.GPUs) {
			if !slices.ContainsFunc(f.devices.list, func(d *device) bool { return d.isMeant(word) }) {
				v := &fr.Targets[i]
				v.Notes = slices.Concat(v.Notes, []string{"configured to run on " + word + ", and no target tells of such a GPU"})
			}
		}
	}
}

// running joins an engine with the devices of this host on which a process listens
// at the engine's port.
func (j *joiner) running(e *target) {
	for _, d := range j.ports[e.place.port] {
		if slices.Contains(j.hosts[d], e.place.host) {
			j.join(e, d, byProcess)
		}
	}
}

// serves reports whether a process listens where the engine answers.
func (t *target) serves(p model.Process) bool { return slices.Contains(p.Serves, t.place.port) }

// running are the processes on the device now, or, where nothing of now is known,
// those that were: what ran on a lost one is what its loss hurts.
func (d *device) running() []model.Process {
	var last *telling
	for _, tl := range d.tellings {
		if len(tl.said.Processes) == 0 {
			continue
		}
		if tl.here() {
			return tl.said.Processes
		}
		if last == nil || tl.good.Mono > last.good.Mono {
			last = tl
		}
	}
	if last == nil {
		return nil
	}
	return last.said.Processes
}

// sharing joins by host the engines of which nothing else is known: the one engine
// of a host with the GPUs there that no other runs on, or all with its only GPU.
func (j *joiner) sharing() {
	unknown := map[string][]*target{}
	var order []string
	for _, e := range j.engines {
		if e.place.host == "" || e.spec.GPUs != "" || j.gpus[e] != nil || len(j.at[e.place.host]) == 0 {
			continue
		}
		if unknown[e.place.host] == nil {
			order = append(order, e.place.host)
		}
		unknown[e.place.host] = append(unknown[e.place.host], e)
	}
	for _, host := range order {
		gpus := j.at[host]
		if len(gpus) > 1 {
			if gpus = unjoined(gpus); len(unknown[host]) > 1 {
				continue
			}
		}
		for _, e := range unknown[host] {
			for _, d := range gpus {
				j.join(e, d, byHost)
			}
		}
	}
}

func unjoined(gpus []*device) []*device {
	return slices.DeleteFunc(slices.Clone(gpus), func(d *device) bool { return len(d.joints) > 0 })
}

// seeJoints names the engines on the device, and how that is known.
func (d *device) seeJoints(v *model.DeviceView) {
	v.Engines = []string{}
	var ways []string
	for _, j := range d.joints {
		v.Engines = append(v.Engines, j.engine.spec.Name)
		if !slices.Contains(ways, j.by) {
			ways = append(ways, j.by)
		}
	}
	v.JoinedBy = model.Text(strings.Join(ways, ", "))
}

// servedBy is the engine on the device that a process is, nil for none that is known.
func (d *device) servedBy(p model.Process) *target {
	for _, j := range d.joints {
		if j.by != byHost && j.engine.serves(p) {
			return j.engine
		}
	}
	return nil
}

// How long a GPU must read 0 % busy, poll after poll, while its engine makes tokens
// in each of them, before that is called not credible: of a few short requests one
// may miss every sample.
const (
	falseZeros     = 5
	falseZerosSpan = 10 * time.Second
)

// zeros counts the readings in a row that say nothing runs while something does.
type zeros struct {
	n         int
	from, end model.Instant
}

// doubtIdle marks the devices whose 0 % busy cannot be: the engine on them makes
// tokens, and all of its devices say so.
func (f *Fleet) doubtIdle() {
	on := map[*target][]*device{}
	for _, d := range f.devices.list {
		for _, j := range d.joints {
			on[j.engine] = append(on[j.engine], d)
		}
	}
	for _, d := range f.devices.list {
		d.zeros.note(d.heard(), d.idles() && slices.ContainsFunc(d.joints, func(j joint) bool {
			return j.engine.makesTokens() && !slices.ContainsFunc(on[j.engine], func(o *device) bool { return !o.idles() })
		}))
		d.view.NotCredible = d.zeros.n >= falseZeros && d.zeros.end.Sub(d.zeros.from) >= falseZerosSpan
	}
}

func (z *zeros) note(at model.Instant, contradicted bool) {
	switch {
	case !contradicted:
		*z = zeros{}
	case at.Mono > z.end.Mono || z.n == 0:
		if z.n++; z.n == 1 {
			z.from = at
		}
		z.end = at
	}
}

// heard is when the device was last told of.
func (d *device) heard() model.Instant {
	at := model.Instant{}
	for _, tl := range d.tellings {
		at = latest(at, tl.heard)
	}
	return at
}

// idles reports whether the device says that it does nothing.
func (d *device) idles() bool {
	r := d.view.Values[model.Busy]
	return r.OK() && r.Value == 0
}

// makesTokens reports whether the engine's newest page counts more tokens than the
// one before.
func (t *target) makesTokens() bool {
	return t.fresh() && t.still == 0 && t.view.OutputPerSecond.OK() && t.view.OutputPerSecond.Value > 0
}
