// Package model is slotop's vocabulary: what a target is, what one poll of it
// returned, what the fold consumes (Input) and what it gives back (Frame).
//
// It holds plain data and the rules that belong to the data itself. It reads no
// clock, no network and no file, and imports nothing else of slotop.
package model
