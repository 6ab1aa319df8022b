package sources

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/nvml"
)

// instance is one MIG instance of a card.
type instance struct {
	device model.Device
	handle nvml.Device
	number uint32 // of its GPU instance
	gpm    gpm
}

// maxSlots bounds the MIG instances of a card: seven is the most there are.
const maxSlots = 64

// divide finds the MIG instances of a card. They come and go as an administrator
// likes, and none of them is lost for that.
func (c *card) divide(r *reading) nvml.Return {
	mode, answer := r.driver.Number(c.handle, nvml.MigMode)
	r.took(answer)
	if isLost(answer) {
		return answer
	}
	c.divided = answer == nvml.Success && mode == 1
	if !c.divided {
		c.keep(r.driver, nil)
		return nvml.Success
	}
	slots, answer := r.driver.Number(c.handle, nvml.MigSlots)
	r.took(answer)
	if answer != nvml.Success {
		return answer
	}
	var there []*instance
	for slot := range min(int(slots), maxSlots) {
		handle, answer := r.driver.Instance(c.handle, slot)
		if isLost(answer) {
			return answer
		}
		if answer != nvml.Success { // an empty slot
			continue
		}
		if i := c.instance(r, handle, slot); i != nil {
			there = append(there, i)
		}
	}
	c.keep(r.driver, there)
	return nvml.Success
}

// keep replaces the instances, and frees those that are gone.
func (c *card) keep(d nvml.Driver, there []*instance) {
	for _, i := range c.instances {
		if !slices.Contains(there, i) {
			i.gpm.free(d)
		}
	}
	c.instances = there
}

// instance is what is known of the instance in a slot, nil where it does not even
// have a name.
func (c *card) instance(r *reading, handle nvml.Device, slot int) *instance {
	uuid, answer := r.driver.Text(handle, nvml.UUID)
	if r.took(answer) != nvml.Success {
		return nil
	}
	uuid = deviceUUID(uuid)
	at := slices.IndexFunc(c.instances, func(i *instance) bool { return i.device.UUID == uuid })
	if at >= 0 && c.instances[at].handle == handle {
		i := c.instances[at]
		i.device.Processes, _ = runningOn(r, handle, i.device.Processes)
		return i
	}
	i := &instance{handle: handle, device: model.Device{
		UUID: uuid, Index: slot, Parent: c.device.UUID, Name: c.device.Name, Bus: c.device.Bus,
	}}
	if name, answer := r.driver.Text(handle, nvml.Name); answer == nvml.Success {
		i.device.Name, i.device.Profile = splitProfile(name, c.device.Name)
	}
	number, answer := r.driver.Number(handle, nvml.GPUInstance)
	i.number = uint32(number)
	i.gpm.supported = c.gpm.supported && answer == nvml.Success
	i.device.Processes, _ = runningOn(r, handle, nil)
	return i
}

// splitProfile cuts an instance's name, "NVIDIA H100 80GB HBM3 MIG 3g.40gb", into
// that of its GPU and its profile.
func splitProfile(name, gpu string) (string, string) {
	if before, profile, found := strings.Cut(name, " MIG "); found {
		return before, profile
	}
	return gpu, ""
}

// readInstances reads the instances: memory, and the performance counters. That it
// does not know how busy one is the driver need not be asked.
func (c *card) readInstances(r *reading) nvml.Return {
	for _, i := range c.instances {
		if answer := i.read(r, c.handle); isLost(answer) {
			return answer
		}
		if i.gpm.detail != "" {
			c.device.Detail = i.gpm.detail
		}
	}
	return nvml.Success
}

func (i *instance) read(r *reading, gpu nvml.Device) nvml.Return {
	i.device.State = model.DevicePresent
	m, answer := r.driver.Memory(i.handle)
	status := statusOf(r.took(answer))
	if answer == nvml.Success && m.Total == 0 {
		status = model.NotSupported
	}
	putMemory(&i.device, m, status)
	if isLost(answer) {
		return answer
	}
	return i.gpm.update(r, &i.device, wantedMetrics(len(metricOf)), func(s nvml.Sample) nvml.Return {
		return r.driver.TakeInstance(gpu, i.number, s)
	})
}
