package sources

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// stoppable is a reader whose read goes on until it is stopped, and is over before
// stop returns.
type stoppable struct {
	asked  chan struct{}
	closed int
}

func (s *stoppable) read(time.Duration) (gpuRound, error) {
	<-s.asked
	return gpuRound{}, context.Canceled
}

func (s *stoppable) doing() string { return "" }

func (s *stoppable) stop() bool {
	close(s.asked)
	synctest.Wait()
	return true
}

func (s *stoppable) close() { s.closed++ }

// TestCloseTakesTheLastRound: a round that ends while the source is closed is waited for
// once, and what was taken is given back once.
func TestCloseTakesTheLastRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &stoppable{asked: make(chan struct{})}
		g := newGPUs(reader)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Poll(ctx); err == nil {
			t.Error("a read that goes on has an answer")
		}
		for range 2 {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if reader.closed != 1 {
			t.Errorf("closed %d times", reader.closed)
		}
	})
}
