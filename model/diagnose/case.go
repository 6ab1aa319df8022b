package diagnose

import "slotop/model"

// Case is the diagnosis of one pool over time. Its zero value is ready. It keeps
// what hysteresis needs and nothing else.
type Case struct {
	disturbed bool
}

// Evaluate says what is wrong with the pool. It is called once for each completed
// block. Findings are ordered: causes, what binds, symptoms.
func (c *Case) Evaluate(f *Facts) (model.DiagnosisView, []model.FindingView) {
	v := model.DiagnosisView{Pool: f.Pool, State: model.CannotTell, At: f.At, Factors: Factors(f)}
	v.Binds, _ = Binds(f)
	return v, nil
}

// Disturbed reports whether the baseline must stand still: something changed at
// the last evaluation, confirmed or not yet, or users feel something.
func (c *Case) Disturbed() bool { return c.disturbed }

// Factors is how each factor of the pool's work moved, the largest first.
func Factors(*Facts) []model.FactorView { return nil }

// Binds is what limits the pool now, in a constant and in words.
func Binds(*Facts) (model.Binding, string) { return model.BindsNothing, "" }
