package sim

// queue is a first-in first-out line of requests in which the head may be given
// its place back.
type queue struct {
	ring       []*request
	head, size int
}

func (q *queue) len() int { return q.size }

func (q *queue) at(i int) *request { return q.ring[(q.head+i)%len(q.ring)] }

func (q *queue) first() *request { return q.ring[q.head] }

func (q *queue) pushBack(r *request) {
	q.grow()
	q.ring[(q.head+q.size)%len(q.ring)] = r
	q.size++
}

func (q *queue) pushFront(r *request) {
	q.grow()
	q.head = (q.head - 1 + len(q.ring)) % len(q.ring)
	q.ring[q.head] = r
	q.size++
}

func (q *queue) popFront() *request {
	r := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.size--
	return r
}

func (q *queue) grow() {
	if q.size < len(q.ring) {
		return
	}
	larger := make([]*request, max(16, 2*len(q.ring)))
	for i := range q.size {
		larger[i] = q.at(i)
	}
	q.ring, q.head = larger, 0
}
