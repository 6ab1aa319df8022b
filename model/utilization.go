package model

// UtilizationBasis says where a figure of utilization comes from.
type UtilizationBasis string

// The bases, the most trusted first: hardware counters, the engine's own estimate,
// and the formula from shape and rates.
const (
	ByGPM      UtilizationBasis = "gpm"
	ByDCGM     UtilizationBasis = "dcgm"
	ByEngine   UtilizationBasis = "engine_estimate"
	ByShape    UtilizationBasis = "model"
	ByExporter UtilizationBasis = "exporter" // another exporter's hardware counters
)

// MarshalJSON writes null where there is no basis.
func (b UtilizationBasis) MarshalJSON() ([]byte, error) { return Text(b).MarshalJSON() }

// Bound is which ceiling is near.
type Bound string

// The words for it. Starved: requests wait and neither compute nor bandwidth is
// used; underused: nothing waits. The empty bound, null in JSON, is unknown.
const (
	BoundUnknown   Bound = ""
	BoundBandwidth Bound = "bandwidth-bound"
	BoundCompute   Bound = "compute-bound"
	BoundStarved   Bound = "starved"
	BoundUnder     Bound = "underused"
	BoundMixed     Bound = "mixed"
)

// MarshalJSON writes null where it is not known.
func (b Bound) MarshalJSON() ([]byte, error) { return Text(b).MarshalJSON() }

// MeasureView is compute and bandwidth by one basis. From hardware counters Compute
// is the share of cycles in which the tensor pipe issued and Bandwidth the share in
// which the memory moved data: they are near MFU and MBU and not the same. By
// the other bases they are MFU and MBU. Never clipped: above 1 a peak, a shape or
// a number of GPUs is wrong.
type MeasureView struct {
	Basis     UtilizationBasis `json:"basis"`
	Compute   Reading          `json:"compute"`
	Bandwidth Reading          `json:"bandwidth"`
	FLOPs     Reading          `json:"flops_per_second"` // of all its GPUs; unknown from hardware counters
	Bytes     Reading          `json:"bytes_per_second"`
	Note      Text             `json:"note"` // what it leaves out or assumes
}

// PointView is one point of a roofline: FLOP/s of one GPU over FLOP a byte.
type PointView struct {
	FLOPs     Reading `json:"flops_per_second"`
	Intensity Reading `json:"intensity"`
}

// StepView splits the mean step of an engine into what the step-time model explains
// and what it does not, in seconds. The parts add up to Seconds. Learned from the
// target's own baseline.
type StepView struct {
	Seconds     Reading `json:"seconds"`
	Fixed       Reading `json:"fixed"`       // weights and launches
	KV          Reading `json:"kv"`          // reading the KV cache
	Prefill     Reading `json:"prefill"`     // computing prompts
	Sequences   Reading `json:"sequences"`   // host work for each sequence
	Unexplained Reading `json:"unexplained"` // may be below 0: faster than explained
	Residual    Reading `json:"residual"`    // Seconds over the explained ones
	Floor       Reading `json:"floor"`       // the least that the roofline allows for the work of a mean step, by the shape
	Samples     int     `json:"samples"`     // that the model was fitted to
	Gap         bool    `json:"by_gap"`      // a step is taken to be the gap between two events, for want of a counter
	Why         Text    `json:"why"`         // why there is no split, or what one that there is lacks
}

// The bands of StepView.Residual: below the first the load explains the step, from the
// second on the machine is slower than its own baseline. Incidents of load stay below the
// first, except for the longest prompts; slow machines are above the second.
const (
	ResidualExplained = 1.15
	ResidualSlower    = 1.3
)

// UtilizationView is how much of its accelerators a target uses.
type UtilizationView struct {
	Target string   `json:"target"`
	Models []string `json:"models"` // served names

	Shape      Text    `json:"shape"`       // model whose shape is used; null: not known
	ShapeFrom  Text    `json:"shape_from"`  // table, configuration
	Device     Text    `json:"accelerator"` // as the table calls it
	DeviceFrom Text    `json:"accelerator_from"`
	GPUs       Reading `json:"gpus"` // that serve the target
	Precision  Text    `json:"precision"`
	Confidence Text    `json:"confidence"`            // of the peaks: A, B, C of the table, or "configured"
	PeakNote   Text    `json:"peak_note"`             // what is to be known of the peaks
	PeakFLOPs  Reading `json:"peak_flops_per_second"` // of one GPU, dense
	PeakBytes  Reading `json:"peak_bytes_per_second"`

	MFU      Reading          `json:"mfu"` // by the best basis that gives it
	MBU      Reading          `json:"mbu"`
	Basis    UtilizationBasis `json:"basis"`
	Measures []MeasureView    `json:"measures"` // all there are, the most trusted first
	Gap      Text             `json:"gap"`      // what it means that two of them differ

	Intensity Reading    `json:"intensity"` // FLOP a byte
	Ridge     Reading    `json:"ridge"`
	Point     *PointView `json:"point"`   // where it runs
	Prefill   *PointView `json:"prefill"` // its two phases, where they can be told apart
	Decode    *PointView `json:"decode"`

	Step *StepView `json:"step"`
	Busy Reading   `json:"busy"` // share of time in which some kernel ran, of its GPUs' mean: no utilization

	Bound    Bound    `json:"bound"`
	Likely   bool     `json:"likely"` // by estimates only, or by one sign of two
	Sentence string   `json:"sentence"`
	Missing  []string `json:"missing"` // what would tell more, and how to get it

	Trail []PointView `json:"-"` // of the last ten minutes, oldest first; shared, never written again
}
