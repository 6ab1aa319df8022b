// Package nvmllayout compares what slotop knows of the structures, numbers and
// functions of NVIDIA's library with NVIDIA's own header, which comes with the
// requirement pinned in this module's go.mod. It needs a C compiler, and neither
// cgo nor the library.
//
// It is a module of its own, so that nothing else needs that requirement. Run it
// with make live.
package nvmllayout
