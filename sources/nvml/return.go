package nvml

import "strconv"

// Return is what a call of the library answers.
type Return uint32

// The answers that mean something to somebody. All others are failures.
const (
	Success                 Return = 0
	Uninitialized           Return = 1
	InvalidArgument         Return = 2
	NotSupported            Return = 3
	NoPermission            Return = 4
	NotFound                Return = 6
	InsufficientSize        Return = 7
	DriverNotLoaded         Return = 9
	Timeout                 Return = 10
	LibraryNotFound         Return = 12
	FunctionNotFound        Return = 13
	GPUIsLost               Return = 15
	ResetRequired           Return = 16
	OperatingSystem         Return = 17
	VersionMismatch         Return = 18
	InUse                   Return = 19
	OutOfMemory             Return = 20
	NoData                  Return = 21
	ArgumentVersionMismatch Return = 25
	Deprecated              Return = 26
	NotReady                Return = 27
	GPUNotFound             Return = 28
	Unknown                 Return = 999
)

var returns = map[Return]string{
	Success:                 "success",
	Uninitialized:           "uninitialized",
	InvalidArgument:         "invalid argument",
	NotSupported:            "not supported",
	NoPermission:            "insufficient permissions",
	NotFound:                "not found",
	InsufficientSize:        "insufficient size",
	DriverNotLoaded:         "driver not loaded",
	Timeout:                 "timeout",
	LibraryNotFound:         "library not found",
	FunctionNotFound:        "function not found",
	GPUIsLost:               "GPU is lost",
	ResetRequired:           "GPU requires reset",
	OperatingSystem:         "blocked by the operating system",
	VersionMismatch:         "driver/library version mismatch",
	InUse:                   "in use",
	OutOfMemory:             "insufficient memory",
	NoData:                  "no data",
	ArgumentVersionMismatch: "argument version mismatch",
	Deprecated:              "deprecated",
	NotReady:                "not ready",
	GPUNotFound:             "no such GPU",
	Unknown:                 "unknown error",
}

// String is the answer in words, with its number.
func (r Return) String() string {
	number := strconv.FormatUint(uint64(r), 10)
	if words, ok := returns[r]; ok {
		return words + " (" + number + ")"
	}
	return "error " + number
}
