// Package story gathers frames, in the order in which they came, into what happened:
// how every figure went over time, what was breached and for how long, which alerts
// fired, which findings held, what was restarted, marked or missing. It judges nothing
// by itself: what a frame does not say is not in the story.
//
// A story is bounded whatever the length of what it is told of: points are merged in
// pairs once there are too many of them. No percentile is ever averaged: of the points
// that are merged one is kept, and each series says which.
package story
