package tape

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// version is the format of a tape.
type version uint8

const (
	version1 version = 1
	version2 version = 2
	version3 version = 3
	version4 version = 4
)

var versions = map[string]version{schema1: version1, schema2: version2, schema3: version3, Schema: version4}

// Markers of what follows a header: a segment or the trailer.
const (
	segmentMarker = "SEG\n"
	trailerMarker = "END\n"
	markerLen     = 4
	segment1Len   = markerLen + 4 + 4 + 8 + 8 + 4
	segmentLen    = markerLen + 4 + 4 + 4 + 8 + 8 + 4 + 4 // all fields before the body
	trailerLen    = markerLen + 1 + 8 + 4
)

// segment is the fixed part in front of a compressed body.
type segment struct {
	size        uint32 // of the body
	inputs      uint32
	requests    uint32        // reports of requests among the inputs
	first, last time.Duration // Instant.Mono of the first and the last input
	seed, sum   uint32        // checksum: what that of the body starts from, and what it must be
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// encode writes the fixed part. It has a checksum of its own, so that of a
// damaged body one still knows how long it is and what it held.
func (s segment) encode(body []byte) []byte {
	b := append(make([]byte, 0, segmentLen), segmentMarker...)
	b = binary.LittleEndian.AppendUint32(b, s.size)
	b = binary.LittleEndian.AppendUint32(b, s.inputs)
	b = binary.LittleEndian.AppendUint32(b, s.requests)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.first))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.last))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	return binary.LittleEndian.AppendUint32(b, checksum(body))
}

// fixedLen is the length of a segment's fixed part.
func (v version) fixedLen() int {
	if v == version1 {
		return segment1Len
	}
	return segmentLen
}

// segment reads a fixed part, of fixedLen bytes, and reports whether it is
// intact. Format 1 has one checksum over everything, and cannot tell.
func (v version) segment(b []byte) (segment, bool) {
	if v == version1 {
		return segment{
			size:   binary.LittleEndian.Uint32(b[4:]),
			inputs: binary.LittleEndian.Uint32(b[8:]),
			first:  time.Duration(binary.LittleEndian.Uint64(b[12:])),
			last:   time.Duration(binary.LittleEndian.Uint64(b[20:])),
			seed:   checksum(b[:28]),
			sum:    binary.LittleEndian.Uint32(b[28:]),
		}, true
	}
	return segment{
		size:     binary.LittleEndian.Uint32(b[4:]),
		inputs:   binary.LittleEndian.Uint32(b[8:]),
		requests: binary.LittleEndian.Uint32(b[12:]),
		first:    time.Duration(binary.LittleEndian.Uint64(b[16:])),
		last:     time.Duration(binary.LittleEndian.Uint64(b[24:])),
		sum:      binary.LittleEndian.Uint32(b[36:]),
	}, checksum(b[:32]) == binary.LittleEndian.Uint32(b[32:])
}

// held counts inputs and the reports of requests among them.
type held struct{ inputs, requests int64 }

// held is what a segment that cannot be read held. Format 1 would have it from
// what may be the damaged part.
func (v version) held(s segment) held {
	if v == version1 {
		return held{}
	}
	return held{int64(s.inputs), int64(s.requests)}
}

// kinds are the parts that an input may have.
func (v version) kinds() kind {
	switch v {
	case version1:
		return kinds1
	case version2:
		return kinds2
	case version3:
		return kinds3
	default:
		return kinds4
	}
}

// holds reports whether the body is the one that was written.
func (s segment) holds(body []byte) bool {
	return crc32.Update(s.seed, castagnoli, body) == s.sum
}

func (e Ending) encode() []byte {
	b := append(make([]byte, 0, trailerLen), trailerMarker...)
	full := byte(0)
	if e.Full {
		full = 1
	}
	b = append(b, full)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Dropped))
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// decodeEnding reads a trailer, of trailerLen bytes.
func decodeEnding(b []byte) (Ending, error) {
	if checksum(b[:trailerLen-4]) != binary.LittleEndian.Uint32(b[trailerLen-4:]) {
		return Ending{}, errChecksum
	}
	return Ending{Closed: true, Full: b[4] == 1, Dropped: int64(binary.LittleEndian.Uint64(b[5:]))}, nil
}
