package model

import (
	"encoding/json"
	"strconv"
	"strings"
)

// DeviceMetric is one thing that a GPU's counters can say.
type DeviceMetric uint8

// The metrics of a device. Ratios are 0–1. Busy is the share of time in which
// some kernel ran, MemBusy that in which the memory was touched: neither says how
// much of the chip or of the bandwidth is used. SMActive, TensorActive and
// DRAMActive do, and only hardware counters give them.
const (
	Busy DeviceMetric = iota
	MemBusy
	SMActive
	SMOccupancy
	TensorActive
	DRAMActive
	MemTotal    // bytes
	MemReserved // bytes, by the driver
	MemUsed     // bytes, reserved ones not included
	Power       // watts
	PowerLimit  // watts
	Energy      // joules since the driver was loaded
	SMClock     // hertz
	SMClockMax  // hertz
	MemClock    // hertz
	MemClockMax // hertz
	Temperature // degrees Celsius
	MemTemperature
	PCIeTx    // bytes/s out of the device
	PCIeRx    // bytes/s
	NVLinkTx  // bytes/s, all links
	NVLinkRx  // bytes/s
	ECCErrors // uncorrected since the driver was loaded
	DRAMPeak  // bytes/s, as the source states it
	NumDeviceMetrics
)

// deviceMetrics are the keys of the metrics in dialects and in JSON, and their words.
var deviceMetrics = [NumDeviceMetrics]struct{ key, title string }{
	Busy:           {"busy", "busy"},
	MemBusy:        {"memory_busy", "memory busy"},
	SMActive:       {"sm_active", "SM active"},
	SMOccupancy:    {"sm_occupancy", "SM occupancy"},
	TensorActive:   {"tensor_active", "tensor active"},
	DRAMActive:     {"dram_active", "DRAM active"},
	MemTotal:       {"memory_total", "memory"},
	MemReserved:    {"memory_reserved", "memory reserved"},
	MemUsed:        {"memory_used", "memory used"},
	Power:          {"power_w", "power"},
	PowerLimit:     {"power_limit_w", "power limit"},
	Energy:         {"energy_j", "energy"},
	SMClock:        {"sm_clock_hz", "SM clock"},
	SMClockMax:     {"sm_clock_max_hz", "SM clock, highest"},
	MemClock:       {"memory_clock_hz", "memory clock"},
	MemClockMax:    {"memory_clock_max_hz", "memory clock, highest"},
	Temperature:    {"temperature_c", "temperature"},
	MemTemperature: {"memory_temperature_c", "memory temperature"},
	PCIeTx:         {"pcie_tx_bytes_per_second", "PCIe out"},
	PCIeRx:         {"pcie_rx_bytes_per_second", "PCIe in"},
	NVLinkTx:       {"nvlink_tx_bytes_per_second", "NVLink out"},
	NVLinkRx:       {"nvlink_rx_bytes_per_second", "NVLink in"},
	ECCErrors:      {"ecc_uncorrected", "uncorrected ECC errors"},
	DRAMPeak:       {"dram_peak_bytes_per_second", "DRAM bandwidth, peak"},
}

// String is the metric's key.
func (m DeviceMetric) String() string { return deviceMetrics[m].key }

// Title is the metric's word on screen.
func (m DeviceMetric) Title() string { return deviceMetrics[m].title }

// DeviceMetricNamed finds a metric by its key.
func DeviceMetricNamed(key string) (DeviceMetric, bool) {
	for m := range NumDeviceMetrics {
		if deviceMetrics[m].key == key {
			return m, true
		}
	}
	return 0, false
}

// Status says why a device's reading has a value, or has none.
type Status uint8

// The states of a device's reading. The zero state means that the source does not
// export the reading at all. BadSample is a value that cannot be: it is counted
// and never used.
const (
	NotExported Status = iota
	Measured
	NotSupported // the device or its driver has no such reading
	NotPermitted // it takes rights, or another profiler holds the counter
	NotReady     // for the moment: a first sample, a time-out
	BadSample
	Failing // the call or the field says that something is wrong
)

// String is the word for a reading without a value.
func (s Status) String() string {
	switch s {
	case Measured:
		return "measured"
	case NotSupported:
		return "n/a"
	case NotPermitted:
		return "needs admin rights"
	case NotReady:
		return "no sample yet"
	case BadSample:
		return "bad sample"
	case Failing:
		return "error"
	default:
		return "not exported"
	}
}

// Brief is the word in at most five cells.
func (s Status) Brief() string {
	switch s {
	case Measured:
		return ""
	case NotSupported:
		return "n/a"
	case NotPermitted:
		return "admin"
	case NotReady:
		return "wait"
	case BadSample:
		return "bad"
	case Failing:
		return "error"
	default:
		return "n/e"
	}
}

// DeviceReading is one metric of one device. Value is used only where Status is
// Measured.
type DeviceReading struct {
	Value  float64
	Status Status
}

// Measure is a reading of v.
func Measure(v float64) DeviceReading { return DeviceReading{Value: v, Status: Measured} }

// Reading is the value, or that there is none.
func (r DeviceReading) Reading() Reading {
	switch r.Status {
	case Measured:
		return Of(r.Value)
	case NotReady, BadSample, Failing:
		return Reading{}
	default:
		return Missing(Unsupported)
	}
}

// DeviceState says whether a device is there.
type DeviceState string

// The states of a device. A lost one fell off the bus, or its source no longer
// lists it. Unsupported: it is no discrete GPU, or nothing can be read of it.
const (
	DevicePresent     DeviceState = "present"
	DeviceLost        DeviceState = "lost"
	DeviceUnsupported DeviceState = "unsupported"
)

// Precision ranks what reads one device twice: the higher one's readings are shown.
type Precision uint8

// From text that a tool prints, from the driver or an exporter, and from hardware
// counters (GPM, DCGM's profiling fields).
const (
	FromText Precision = iota
	FromDriver
	FromCounters
)

// Device is what one poll says of one GPU, or of one MIG instance of it.
type Device struct {
	// UUID names it for good, with its prefix: GPU-…, MIG-…; where the source has
	// none, whatever it calls it, unique on its host.
	UUID    string
	Index   int    // as its source numbers it now; -1 unknown. It may change
	Name    string // "NVIDIA H100 80GB HBM3"
	Bus     string // PCI address
	Host    string // as the exporter says; "" the target's own
	Parent  string // UUID of the GPU that a MIG instance or a partition is part of
	Profile string // of a MIG instance: "3g.40gb"

	Capability string // compute capability: "9.0"; "" unknown
	Cores      int    // CUDA cores; 0 unknown

	State  DeviceState
	Detail string // why it is lost or unsupported, or how to get more of it
	Shared bool   // its memory is the host's
	From   [NumDeviceMetrics]Precision

	Readings [NumDeviceMetrics]DeviceReading

	// Throttle are the reasons for which it runs slower than it could, in the words
	// of ThrottleReasons; ThrottleStatus says whether they are known.
	Throttle       []string
	ThrottleStatus Status

	Processes []Process
	Pods      []string // namespace/pod/container that it is given to, on Kubernetes
}

// Reasons to run slower than possible. A power cap alone is normal under load.
const (
	ThrottlePowerCap  = "power cap"
	ThrottleSlowdown  = "hardware slowdown"
	ThrottleThermal   = "thermal"
	ThrottleHWThermal = "hardware thermal"
	ThrottleBrake     = "power brake"
)

// Process is one that uses a device.
type Process struct {
	PID    int
	Name   string
	Memory DeviceReading // bytes
	// Serves are the TCP ports on which it, or the process that started it, listens
	// on this host.
	Serves []int
}

// DeviceView is one device as the screen and the JSON show it. A lost one keeps
// its place.
type DeviceView struct {
	UUID    string      `json:"uuid"`
	Name    Text        `json:"name"`
	Target  string      `json:"target"` // that told of it; of several the most precise
	Index   Reading     `json:"index"`
	Bus     Text        `json:"bus"`
	Host    Text        `json:"host"`
	Parent  Text        `json:"parent"`
	Profile Text        `json:"profile"`
	Slices  int         `json:"slices"` // that it is divided into now
	State   DeviceState `json:"state"`
	Since   Instant     `json:"since"`        // when the state began
	GoodAt  Instant     `json:"last_good_at"` // when it was read last
	Stale   bool        `json:"stale"`        // too old to act on: values are those of GoodAt
	Detail  Text        `json:"detail"`
	Shared  bool        `json:"memory_shared_with_host"`

	Values DeviceValues `json:"-"` // in JSON: a key each beside the others

	Throttled   []string      `json:"throttled"` // [] none, null not known
	Processes   []ProcessView `json:"processes"`
	Pods        []string      `json:"pods"`
	BadSamples  int           `json:"bad_samples"`
	UnchangedS  Reading       `json:"unchanged_s"`       // how long no value moved, where an exporter repeats itself
	Engines     []string      `json:"engines"`           // targets that run on it
	JoinedBy    Text          `json:"joined_by"`         // process, host or configuration
	NotCredible bool          `json:"busy_not_credible"` // 0 % busy while its engine makes tokens
}

// Division is the word for how the GPU of a slice, or one that has slices, is
// divided; "" for one that is whole. Its driver does not know how busy it is.
func (d *DeviceView) Division() string {
	switch whole := strings.TrimPrefix(string(d.Parent)+d.UUID, "MIG-"); {
	case d.Parent == "" && d.Slices == 0:
		return ""
	case strings.HasPrefix(whole, "GPU-") || strings.HasPrefix(d.UUID, "MIG-"):
		return "MIG"
	default:
		return "partitions"
	}
}

// DeviceValues are a device's readings by metric.
type DeviceValues [NumDeviceMetrics]DeviceValue

// DeviceValue is a reading, and why there is none.
type DeviceValue struct {
	Reading
	Status Status
}

// MarshalJSON writes the view with a key for each metric.
func (d DeviceView) MarshalJSON() ([]byte, error) {
	type plain DeviceView
	b, err := json.Marshal(plain(d))
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	for m := range NumDeviceMetrics {
		b = append(append(append(b, ','), strconv.Quote(m.String())...), ':')
		v, err := d.Values[m].Reading.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

// ProcessView is a process on a device.
type ProcessView struct {
	PID    int     `json:"pid"`
	Name   Text    `json:"name"`
	Memory Reading `json:"memory_used"`
	Engine Text    `json:"engine"` // the target that it is, where known
}

// DevicesView sums devices up. Fleet figures are over those that are present and
// fresh; MIG instances are not counted beside their GPU.
type DevicesView struct {
	Total    int     `json:"total"`
	Present  int     `json:"present"`
	Measured int     `json:"measured"` // that say how busy they are
	Busy     Reading `json:"busy"`     // mean over those
	PowerW   Reading `json:"power_w"`  // sum over those that say
	Used     Reading `json:"memory_used"`
	Memory   Reading `json:"memory_total"`
	TookS    Reading `json:"round_s"` // the longest round of readings
	Bad      int     `json:"bad_samples"`
}
