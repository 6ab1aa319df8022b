// Package roofline says what an accelerator could do and what a model asks of it:
// peaks by name and precision, FLOPs and bytes by shape, and what follows from the
// two. It is arithmetic on two tables; it reads no clock and no sample, and where a
// name, a shape or a peak is not known it says so instead of taking a similar one.
//
// The terms: MFU is observed FLOP/s over peak FLOP/s (PaLM, Chowdhery et al., arXiv
// 2204.02311; its forward third for inference: Pope et al., arXiv 2211.05102). MBU is
// bytes/s that the model must move over peak bandwidth (Databricks, "LLM Inference
// Performance Engineering: Best Practices", 2023). The roofline and its ridge:
// Williams, Waterman, Patterson, CACM 2009.
//
// All FLOPs are in FLOP, all sizes in bytes, all times in seconds. NaN stands for
// what is not known.
package roofline

import "math"

// Roof is the two ceilings of one device, or of several together: FLOP/s and bytes/s.
type Roof struct{ FLOPs, Bytes float64 }

// Ridge is the intensity in FLOP a byte at which the two ceilings meet.
func (r Roof) Ridge() float64 { return r.FLOPs / r.Bytes }

// Floor is the least time in which work can be done: whichever of the two takes
// longer.
func (r Roof) Floor(w Work) float64 { return math.Max(w.Bytes/r.Bytes, w.FLOPs/r.FLOPs) }

// Times is the roof of n such devices.
func (r Roof) Times(n float64) Roof { return Roof{r.FLOPs * n, r.Bytes * n} }

// Work is FLOP and bytes of a step, or of a second.
type Work struct{ FLOPs, Bytes float64 }

// Intensity is FLOP a byte.
func (w Work) Intensity() float64 { return w.FLOPs / w.Bytes }

// Per is the work of each of n seconds, steps or devices.
func (w Work) Per(n float64) Work { return Work{w.FLOPs / n, w.Bytes / n} }

// MFU is the share of the compute ceiling that work of a second uses. It is not
// clipped: above 1 the peak, the shape or the number of devices is wrong.
func (r Roof) MFU(perSecond Work) float64 { return perSecond.FLOPs / r.FLOPs }

// MBU is the share of the bandwidth ceiling that work of a second uses, not clipped.
func (r Roof) MBU(perSecond Work) float64 { return perSecond.Bytes / r.Bytes }
