package reel

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"slotop/model"
)

// This file writes a frame as bytes and reads it again, the same in every field: nil
// stays nil and empty empty, and no number is rounded. It serves this process alone, so
// the types of the frame are all the format there is.

var timeType = reflect.TypeFor[time.Time]()

// write puts what a value consists of behind b.
func write(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return write(append(b, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			b = write(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		if v.Type() == timeType {
			t := v.Interface().(time.Time)
			return binary.AppendVarint(binary.AppendVarint(b, t.Unix()), int64(t.Nanosecond()))
		}
		for i := range v.NumField() {
			b = write(b, v.Field(i))
		}
		return b
	default:
		panic("reel: a frame holds a " + v.Kind().String())
	}
}

// reading is what is left of what write wrote.
type reading struct{ b []byte }

func (p *reading) uvarint() uint64 {
	n, size := binary.Uvarint(p.b)
	p.b = p.b[size:]
	return n
}

func (p *reading) varint() int64 {
	n, size := binary.Varint(p.b)
	p.b = p.b[size:]
	return n
}

func (p *reading) take(n int) []byte {
	out := p.b[:n]
	p.b = p.b[n:]
	return out
}

// value fills a value.
func (p *reading) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(p.take(1)[0] == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(p.varint())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(p.uvarint())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(p.take(8))))
	case reflect.String:
		v.SetString(string(p.take(int(p.uvarint()))))
	case reflect.Pointer:
		if p.take(1)[0] == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			p.value(v.Elem())
		}
	case reflect.Slice:
		if n := int(p.uvarint()) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			p.each(v)
		}
	case reflect.Array:
		p.each(v)
	case reflect.Struct:
		if v.Type() == timeType {
			sec, nano := p.varint(), p.varint()
			v.Set(reflect.ValueOf(time.Unix(sec, nano).UTC()))
			return
		}
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	}
}

func (p *reading) each(v reflect.Value) {
	for i := range v.Len() {
		p.value(v.Index(i))
	}
}

// press packs frames and unpacks them.
type press struct {
	down *zstd.Encoder
	up   *zstd.Decoder
	raw  []byte
}

// window is how far back repetition is looked for. Targets resemble their neighbours; a
// longer one costs megabytes and finds little more.
const window = 256 << 10

// newPress makes a press that takes little room itself. Neither side can fail: the
// options are right, and what is unpacked was packed here.
func newPress() press {
	down, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window))
	up, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return press{down: down, up: up}
}

func (p *press) pack(f *model.Frame) []byte {
	p.raw = write(p.raw[:0], reflect.ValueOf(f).Elem())
	return slices.Clone(p.down.EncodeAll(p.raw, nil))
}

func (p *press) unpack(packed []byte) *model.Frame {
	raw, _ := p.up.DecodeAll(packed, nil)
	f := &model.Frame{}
	(&reading{raw}).value(reflect.ValueOf(f).Elem())
	return f
}
