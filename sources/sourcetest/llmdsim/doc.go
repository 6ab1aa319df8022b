// Package llmdsim watches a real server program with slotop and compares what
// slotop shows with what the server's clients measured. The server is
// llm-d-inference-sim, a vLLM-compatible server written in Go; it is built from
// the requirement pinned in this module's go.mod, without cgo.
//
// It is a module of its own, so that neither slotop nor a test of slotop needs
// the server's dependencies. Run it with make live; the first build takes some
// minutes, the test itself less than two. It imports nothing of slotop: what it
// checks is the program, as built by this checkout.
package llmdsim
