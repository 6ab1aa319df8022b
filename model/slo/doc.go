// Package slo does the arithmetic of promises: which workflow a request belongs
// to, whether it kept its objectives, goodput, burn rates, error budgets and
// whether a latency changed. It is pure: counts in, figures out, no clock and no
// history of its own.
package slo
