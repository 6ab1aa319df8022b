package roofline

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Card is what is known of a device. NaN, 0 and "" say nothing.
type Card struct {
	Name       string  // as its driver prints it
	Profile    string  // of a slice of it: "3g.40gb"
	Memory     float64 // bytes; of a slice its own
	Capability string  // compute capability: "9.0"
	Cores      int     // CUDA cores
	SMClockMax float64 // Hz
	Bandwidth  float64 // bytes/s: 2 × highest memory clock × bus width
}

// Where peaks come from.
const (
	FromTable         = "table"
	FromDerived       = "derived"
	FromConfiguration = "configuration"
)

// Peaks are the ceilings of one device, or of a slice of one.
type Peaks struct {
	Product    string
	From       string
	Confidence string  // A, B, C
	Bytes      float64 // bytes/s
	BoostHz    float64 // clock at which they hold
	Memory     float64 // bytes
	Note       string

	dense map[Precision]float64
}

// FindPeaks finds the peaks of a device: by its exact name, else as the only card of
// its compute capability with its memory, else from its clocks. A name is never
// matched by its beginning: H20 begins H200, L4 begins L40S. Where nothing fits it
// returns nil and says why.
func FindPeaks(c Card) (p *Peaks, why string) {
	name := strings.TrimSpace(c.Name)
	if whole, profile, sliced := cutMIG(name); sliced {
		name, c.Profile = whole, profile
	}
	switch {
	case name == "":
		return nil, "the device has no name"
	case isPartNumber(name):
		return nil, fmt.Sprintf("%s is the part number of a board, not the name of a card", name)
	case isVirtual(name):
		return nil, fmt.Sprintf("%s is a virtual GPU, a share of a card that its name does not tell", name)
	}
	a := accelerators().byName[plain(name)]
	if a != nil {
		return sliceOf(a.of(c), a, c.Profile)
	}
	if c.Profile != "" {
		return nil, fmt.Sprintf("a slice (%s) of %s, which is not in the table", c.Profile, name)
	}
	if a = alike(c); a != nil {
		return a.of(c), ""
	}
	if p := derive(name, c); p != nil {
		return p, ""
	}
	return nil, name + " is not in the table of accelerators"
}

// NamedPeaks finds the peaks of an accelerator as an operator names it: as a driver
// does, or by its product's name.
func NamedPeaks(name string) *Peaks {
	whole, profile, _ := cutMIG(strings.TrimSpace(name))
	a := accelerators().byName[plain(whole)]
	if a == nil {
		return nil
	}
	p, _ := sliceOf(a.of(Card{}), a, profile)
	return p
}

// quotedTwice is the card whose data sheets give two bandwidths: its own clock decides.
const quotedTwice = "RTX PRO 6000 Blackwell Server"

func (a *Accelerator) of(c Card) *Peaks {
	p := &Peaks{
		Product: a.Product, From: FromTable, Confidence: a.Confidence, Bytes: a.bytes, BoostHz: a.BoostHz,
		Memory: a.Memory, Note: a.Note, dense: a.peaks,
	}
	if a.Product == quotedTwice && c.Bandwidth > 0 && c.Profile == "" {
		p.Bytes, p.Note = c.Bandwidth, "bandwidth by its own memory clock"
	}
	return p
}

// plain is a name without what differs between drivers: case, runs of blanks and a
// leading NVIDIA, which drivers before the 470s left out.
func plain(name string) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(strings.ToLower(name)), " "), "nvidia ")
}

// cutMIG splits the name of a slice: NVIDIA A100-SXM4-40GB MIG 2g.10gb.
func cutMIG(name string) (whole, profile string, sliced bool) {
	at := slice.FindStringIndex(name)
	if at == nil {
		return name, "", false
	}
	return name[:at[0]], strings.TrimSpace(name[at[1]:]), true
}

var (
	slice      = regexp.MustCompile(`(?i) MIG `)
	virtual    = regexp.MustCompile(`^(?i:GRID )|-\d+[ABCQ]$`)
	partNumber = regexp.MustCompile(`^\d{3}-[A-Z0-9]+(-[A-Z0-9]+)*$`)
	profiles   = regexp.MustCompile(`^(\d)g\.(\d+)gb(\+.*)?$`)
)

func isVirtual(name string) bool    { return virtual.MatchString(name) }
func isPartNumber(name string) bool { return partNumber.MatchString(name) }

// sliceOf scales the peaks of a card to one of its MIG instances: 1g of seven has a
// seventh of the multiprocessors and an eighth of the memory slices.
func sliceOf(p *Peaks, a *Accelerator, profile string) (*Peaks, string) {
	if profile == "" {
		return p, ""
	}
	compute, memory := parts(a)
	m := profiles.FindStringSubmatch(strings.ToLower(profile))
	if m == nil || compute == 0 {
		return nil, fmt.Sprintf("it is not known which share of %s a slice %s is", a.Product, profile)
	}
	g, _ := strconv.ParseFloat(m[1], 64)
	gb, _ := strconv.ParseFloat(m[2], 64)
	share := math.Max(1, math.Round(memory*gb*1e9/a.Memory)) / memory
	if g < 1 || g > compute || share > 1 {
		return nil, fmt.Sprintf("%s has no slice %s", a.Product, profile)
	}
	s := *p
	s.Product, s.Bytes, s.Memory = p.Product+" "+profile, p.Bytes*share, gb*1e9
	s.dense = map[Precision]float64{}
	for k, v := range p.dense {
		s.dense[k] = v * g / compute
	}
	return &s, ""
}

// parts are how many slices of compute and of memory a card has, 0 for one that is
// not known to be divisible.
func parts(a *Accelerator) (compute, memory float64) {
	switch {
	case a.Vendor != "NVIDIA":
		return 0, 0
	case a.Product == "A30" || strings.HasPrefix(a.Product, "RTX PRO 6000"):
		return 4, 4
	case a.Capability == "8.0" || a.Capability == "9.0" || strings.HasPrefix(a.Capability, "10."):
		return 7, 8
	default:
		return 0, 0
	}
}

// alike is the only card of the table with the device's compute capability and its
// memory to within 5 %. Where cards with other peaks fit as well it is none.
func alike(c Card) *Accelerator {
	if c.Capability == "" || !(c.Memory > 0) {
		return nil
	}
	var one *Accelerator
	rows := accelerators().rows
	for i := range rows {
		a := &rows[i]
		if a.Capability != c.Capability || !a.holds(c.Memory) {
			continue
		}
		if one != nil && (one.bytes != a.bytes || one.peaks[FP16] != a.peaks[FP16] || one.peaks[FP8] != a.peaks[FP8]) {
			return nil
		}
		if one == nil {
			one = a
		}
	}
	return one
}

// holds reports whether a memory is the card's: as drivers were seen to report it,
// or as it is sold, in either meaning of a gigabyte.
func (a *Accelerator) holds(bytes float64) bool {
	for _, own := range []float64{a.seen, a.Memory, a.Memory / 1e9 * (1 << 30)} {
		if math.Abs(bytes/own-1) <= 0.05 {
			return true
		}
	}
	return false
}

// generation is what one multiprocessor of a generation does in a clock, dense with 16
// bits and wide accumulators. This reproduces the data sheets of every NVIDIA card of
// the table that states its clock to within 2 %.
type generation struct {
	cores float64 // CUDA cores of a multiprocessor
	flops float64
	small float64 // of GeForce cards, whose rate with wide accumulators is halved; 0: the same
	half  bool    // no BF16
	eight bool    // twice as fast in FP8
}

var generations = map[string]generation{
	"7.0":  {cores: 64, flops: 1024, half: true},
	"7.5":  {cores: 64, flops: 1024, half: true},
	"8.0":  {cores: 64, flops: 2048},
	"8.6":  {cores: 128, flops: 1024, small: 512},
	"8.9":  {cores: 128, flops: 1024, small: 512, eight: true},
	"9.0":  {cores: 128, flops: 4096, eight: true},
	"10.0": {cores: 128, flops: 8192, eight: true},
	"10.3": {cores: 128, flops: 8192, eight: true},
	"12.0": {cores: 128, flops: 1024, small: 512, eight: true},
}

// derive works a card's peaks out of its clocks. Some parts have their compute cut by
// other means: the figures are marked with the lowest confidence.
func derive(name string, c Card) *Peaks {
	g, known := generations[c.Capability]
	p := &Peaks{
		Product: name, From: FromDerived, Confidence: "C", Bytes: math.NaN(), BoostHz: c.SMClockMax, Memory: c.Memory,
		Note: "derived from multiprocessors × FLOP a clock × highest clock, and 2 × memory clock × bus width", dense: map[Precision]float64{},
	}
	if c.Bandwidth > 0 {
		p.Bytes = c.Bandwidth
	}
	if known && c.Cores > 0 && c.SMClockMax > 0 {
		perSM := g.flops
		if g.small > 0 && strings.Contains(strings.ToLower(name), "geforce") {
			perSM = g.small
		}
		flops := float64(c.Cores) / g.cores * perSM * c.SMClockMax
		p.dense[FP16] = flops
		if !g.half {
			p.dense[BF16] = flops
		}
		if g.eight {
			p.dense[FP8] = 2 * flops
		}
	}
	if len(p.dense) == 0 && math.IsNaN(p.Bytes) {
		return nil
	}
	return p
}
