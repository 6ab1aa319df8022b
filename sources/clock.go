package sources

import (
	"net/http"
	"time"

	"slotop/model"
)

// dateDigits is what a Date header leaves out: it counts whole seconds.
const dateDigits = time.Second

// tellClock notes what an answer's Date header says of the server's clock. A cache
// that answers in its place would tell of the past, and says how old its answer is.
func tellClock(batch *model.Batch, response *http.Response) {
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil || response.Header.Get("Age") != "" {
		return
	}
	batch.Clock, batch.ClockError = at.Add(dateDigits/2), dateDigits
}
