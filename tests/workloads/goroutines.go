// usage: goroutines: two goroutines compute, one of them in growing stacks and with garbage for the collector, as far as
// the packages of the run-time system alone allow: others would have to be compiled first.
package main

var sum uint64

//go:noinline
func spin(value uint64) uint64 {
	for i := 0; i < 2000; i++ {
		value ^= value >> 29
		value *= 0xbf58476d1ce4e5b9
	}
	return value
}

//go:noinline
func descend(depth int, value uint64) uint64 {
	if depth == 0 {
		return spin(value)
	}
	return descend(depth-1, value+1) + uint64(depth)
}

//go:noinline
func deep(rounds int, done chan uint64) {
	var value uint64
	for i := 0; i < rounds; i++ {
		fresh := make(chan uint64)
		go func() { fresh <- descend(100, uint64(i)) }()
		value += <-fresh
	}
	done <- value
}

//go:noinline
func allocate(rounds int, done chan uint64) {
	var kept [64][]uint64
	for i := 0; i < rounds; i++ {
		kept[i%len(kept)] = make([]uint64, 1024)
		kept[i%len(kept)][i%1024] = spin(uint64(i))
	}
	done <- kept[0][0]
}

// Some seconds, so that few samples are from the first moments, when wick has no unwind tables in the kernel yet.
func main() {
	done := make(chan uint64)
	go deep(160000, done)
	go allocate(160000, done)
	sum = <-done + <-done
}
