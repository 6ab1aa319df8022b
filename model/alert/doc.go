// Package alert turns judgements into alerts: when one is pending, fires, and
// may be called resolved, under which identity, explained by which other. It is
// pure: observations and instants in, views out. It never decides that silence
// is recovery, and it sends nothing.
//
// The life of an alert:
//
//	inactive ─► pending ─► firing ─► resolved ─► inactive
//	          for        hold      shown
//
// Where nothing can be told, an alert that does not fire is unknown, and one
// that fires goes on firing, marked stale.
package alert
