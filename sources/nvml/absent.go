//go:build nonvml || !linux || !(amd64 || arm64)

package nvml

// Open says that this build cannot load the library.
func Open(string) (Driver, error) { return nil, ErrUnbound }
