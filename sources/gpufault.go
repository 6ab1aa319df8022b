package sources

import (
	"errors"

	"slotop/model"
	"slotop/sources/nvml"
)

// statusOf is what an answer of the driver means for the reading that was asked for.
func statusOf(r nvml.Return) model.Status {
	switch r {
	case nvml.Success:
		return model.Measured
	case nvml.NotSupported, nvml.FunctionNotFound, nvml.ArgumentVersionMismatch, nvml.Deprecated:
		return model.NotSupported
	case nvml.NoPermission, nvml.InUse:
		return model.NotPermitted
	case nvml.Timeout, nvml.OutOfMemory, nvml.NoData, nvml.NotReady:
		return model.NotReady
	default:
		return model.Failing
	}
}

// partStatus is what the answer of one field or metric of many means: a driver that
// does not know it calls it an invalid argument.
func partStatus(r nvml.Return) model.Status {
	if r == nvml.InvalidArgument {
		return model.NotSupported
	}
	return statusOf(r)
}

// isLost reports whether an answer says that the GPU itself cannot be used. After
// it every call of the GPU gives the same, and some take long.
func isLost(r nvml.Return) bool {
	return r == nvml.GPUIsLost || r == nvml.ResetRequired || r == nvml.GPUNotFound
}

// lostDetail says what is known of a GPU that is lost, and what to do.
func lostDetail(r nvml.Return) string {
	switch r {
	case nvml.GPUIsLost:
		return "fell off the bus: see dmesg for its Xid; it takes a reset or a reboot"
	case nvml.ResetRequired:
		return "needs a reset: nvidia-smi --gpu-reset, or reboot"
	case nvml.NotFound:
		return "not listed by the driver any more"
	default:
		return "cannot be reached: " + r.String()
	}
}

// noDriver says why the driver could not be started, and what to do.
func noDriver(r nvml.Return) *FaultError {
	switch r {
	case nvml.VersionMismatch:
		return &FaultError{model.UnsupportedPage, "library and kernel module of the NVIDIA driver differ, e.g. after an upgrade: reload the module, or reboot"}
	case nvml.DriverNotLoaded:
		return &FaultError{model.UnsupportedPage, "the NVIDIA driver is not loaded: modprobe nvidia; in a container, give it the GPUs (--gpus all)"}
	case nvml.NoPermission, nvml.OperatingSystem:
		return &FaultError{model.Denied, "the NVIDIA driver refuses (" + r.String() + "): it takes rights to /dev/nvidiactl and /dev/nvidia*, in a container its device access"}
	case nvml.LibraryNotFound, nvml.FunctionNotFound, nvml.GPUNotFound:
		return &FaultError{model.UnsupportedPage, "the NVIDIA driver cannot be used: " + r.String() + ": install it anew"}
	default:
		return &FaultError{model.Refused, "the NVIDIA driver does not start: " + r.String()}
	}
}

// noAnswer says that a driver that ran answers nothing any more.
func noAnswer(r nvml.Return) *FaultError {
	if r == nvml.VersionMismatch || r == nvml.DriverNotLoaded {
		return noDriver(r)
	}
	return &FaultError{model.Refused, "GPU telemetry lost: every call of the NVIDIA driver gives " + r.String() +
		"; in a container its device access may have been revoked: restart it"}
}

// noGPUs is the fault of a driver that runs and has no GPU.
var noGPUs = &FaultError{model.NotFound, "the NVIDIA driver runs and finds no GPU: see lspci and dmesg; in a container, give it the GPUs (--gpus all)"}

// noLibrary says why the library could not be loaded.
func noLibrary(err error) *FaultError {
	if errors.Is(err, nvml.ErrUnbound) {
		return &FaultError{model.UnsupportedPage, "this build of slotop cannot load the NVIDIA driver's library"}
	}
	return &FaultError{model.NotFound, excerpt(err.Error())}
}
