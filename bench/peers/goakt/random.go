// The seeded generator of the Rust bench: the same sequence for everybody.
package main

type random uint64

func newRandom(seed uint64) *random {
	state := random((seed+1)*0x9E37_79B9_7F4A_7C15 | 1)
	return &state
}

func (r *random) next() uint64 {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return uint64(*r)
}

func (r *random) below(bound uint64) uint64 { return (r.next() >> 16) % bound }
