package fleet

import (
	"testing"
	"time"

	"slotop/model"
)

// refused is a request that was turned away at once.
func (b *bench) refused(id, retryOf string) model.Request {
	r := b.done(id, 0, 0.01, 0)
	r.FirstToken, r.OutputTokens, r.Outcome, r.Status, r.RetryOf = 0, model.Reading{}, model.RequestFailed, 429, retryOf
	return r
}

// leftEarly is one whose client left before it had waited for too long.
func (b *bench) leftEarly(id, retryOf string) model.Request {
	r := b.refused(id, retryOf)
	r.Outcome, r.Reason, r.Status = model.RequestCancelled, "client_disconnect", 499
	return r
}

func (b *bench) retried(id, retryOf string) model.Request {
	r := b.done(id, 0.2, 2.2, 101)
	r.RetryOf = retryOf
	return r
}

// A user who was refused, came again and left at once was not served: that the
// last try cannot be judged does not undo the one before it.
func TestUserIsNotForgottenForLeaving(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report(b.refused("a", ""), b.leftEarly("b", "a"), b.retried("c", ""))
	g := workflowNamed(t, b.tick(), "chat").Goodput
	near(t, "users", g.UserShare.Point, 0.5)
	b.report(b.retried("d", "b")) // in the end it was
	g = workflowNamed(t, b.tick(), "chat").Goodput
	near(t, "users", g.UserShare.Point, 1)
}

// A retry takes back what its first try counted as where that was counted, and
// not from a window that never held it.
func TestUsersAcrossWindows(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.f.Step(model.Input{At: b.at, Window: 10 * time.Second})
	b.report(b.refused("a", ""), b.refused("x", ""), b.retried("y", ""))
	near(t, "before", workflowNamed(t, b.tick(), "chat").Goodput.UserShare.Point, 1./3)
	b.pass(25 * time.Second)
	b.report(b.retried("b", "a"), b.retried("z", ""), b.retried("c", "")) // b came too late
	near(t, "after", workflowNamed(t, b.tick(), "chat").Goodput.UserShare.Point, 2./3)
}
