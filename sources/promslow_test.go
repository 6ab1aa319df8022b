package sources_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"slotop/sources"
)

// reluctant answers only once the poll that asked has been called off.
type reluctant struct {
	of      http.Handler
	arrived chan struct{}
	gate    chan struct{}
}

// ServeHTTP implements http.Handler.
func (r *reluctant) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	select {
	case r.arrived <- struct{}{}:
		<-r.gate
	case <-q.Context().Done():
	}
	r.of.ServeHTTP(w, q)
}

// A server each of whose answers takes longer than a poll is known after as many polls
// as there are questions.
func TestPrometheusGoesOnWithASlowServer(t *testing.T) {
	slow := &reluctant{aFleet(2), make(chan struct{}), make(chan struct{})}
	server := httptest.NewServer(slow)
	t.Cleanup(server.Close)
	source := resolve(t, "prom+"+server.URL)[0].Source
	for polls := 1; ; polls++ {
		source.(sources.Advancer).Advance(time.Duration(polls) * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		asked := make(chan bool, 1)
		go func() {
			select {
			case <-slow.arrived:
				asked <- true
				cancel()
			case <-ended:
				asked <- false
			}
		}()
		batch, err := source.Poll(ctx)
		close(ended)
		if <-asked {
			slow.gate <- struct{}{}
		}
		cancel()
		if err == nil && len(batch.Samples) > 0 {
			t.Logf("known after %d polls", polls)
			return
		}
		if polls == 30 {
			t.Fatalf("still unknown after %d polls: %v", polls, err)
		}
	}
}
