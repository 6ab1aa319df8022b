package sources

import (
	"sync/atomic"
	"time"

	"slotop/sources/nvml"
)

// hostGPUs reads the GPUs through the driver's library, or where there is none
// through nvidia-smi. Which it is, is looked at until there is one of them.
type hostGPUs struct {
	path  string // of the library; "" where it usually lies, or else nvidia-smi
	retry retry
	found atomic.Pointer[gpuReader] // it is set by a round, and asked for beside it
}

func (h *hostGPUs) read(at time.Duration) (gpuRound, error) {
	if h.reader() == nil {
		if err := h.retry.early(at); err != nil {
			return gpuRound{}, err
		}
		found, fault := h.look()
		if fault != nil {
			return gpuRound{}, h.retry.after(at, fault)
		}
		h.found.Store(&found)
	}
	return h.reader().read(at)
}

// look finds a way to the GPUs.
func (h *hostGPUs) look() (gpuReader, *FaultError) {
	driver, err := nvml.Open(h.path)
	if err == nil {
		return newNVMLReader(driver), nil
	}
	fault := noLibrary(err)
	if h.path != "" {
		fault.Detail += ": nvml: looks for it where it usually lies, and reads through nvidia-smi where it is not"
		return nil, fault
	}
	tool := newSMI()
	if tool.path == "" {
		fault.Detail += "; nor is there an nvidia-smi: install the NVIDIA driver, or name its library as nvml:/path/libnvidia-ml.so.1; in a container, give it the GPUs (--gpus all)"
		return nil, fault
	}
	tool.why = fault.Detail
	return tool, nil
}

func (h *hostGPUs) reader() gpuReader {
	if r := h.found.Load(); r != nil {
		return *r
	}
	return nil
}

func (h *hostGPUs) doing() string {
	if r := h.reader(); r != nil {
		return r.doing()
	}
	return ""
}

func (h *hostGPUs) stop() bool {
	r := h.reader()
	return r != nil && r.stop()
}

func (h *hostGPUs) close() {
	if r := h.reader(); r != nil {
		r.close()
	}
}

// retry spaces attempts to start a driver: rarely where only a person can help, and
// less and less often otherwise.
type retry struct {
	fault *FaultError // of the last attempt, nil after a good one
	next  time.Duration
	wait  time.Duration
}

// early is the last attempt's fault while it is too early for another.
func (r *retry) early(at time.Duration) error {
	if r.fault != nil && at < r.next {
		return r.fault
	}
	return nil
}

// after notes that an attempt failed, and gives its fault.
func (r *retry) after(at time.Duration, fault *FaultError) error {
	r.wait = min(max(2*r.wait, firstRetry), slowRetry)
	if needsPerson(fault.Kind) {
		r.wait = slowRetry
	}
	r.fault, r.next = fault, at+r.wait
	return fault
}

// well notes that there is nothing to try.
func (r *retry) well() { *r = retry{} }
