// Inlining in the shapes compilers describe: templates, members, lambdas, several levels, loops that give an inlined
// function several ranges, a cold part, and calls that only link-time optimisation can inline.
#include "inlines.h"

namespace shapes
{

template <int N> struct Power {
	static inline __attribute__((always_inline)) long of(long base)
	{
		return base * Power<N - 1>::of(base) + N;
	}
};

template <> struct Power<0> {
	static inline __attribute__((always_inline)) long of(long base)
	{
		sink = base;
		return 1;
	}
};

class Counter
{
      public:
	explicit Counter(long start) : value(start)
	{
		sink = start;
	}
	~Counter()
	{
		sink = value;
	}
	void add(long amount)
	{
		value += clamp(amount);
	}
	virtual long total() const
	{
		return value;
	}
	long value;

      private:
	static inline __attribute__((always_inline)) long clamp(long amount)
	{
		if (amount > 100)
			amount = 100;
		return sink > 0 ? amount : -amount;
	}
};

__attribute__((noinline, cold)) void complain(long value)
{
	sink = -value;
}

__attribute__((noinline)) long count(const long *numbers, int size)
{
	Counter counter(size);
	for (int i = 0; i < size; i++) {
		if (__builtin_expect(numbers[i] < 0, 0)) {
			complain(numbers[i]);
			counter.add(Power<2>::of(numbers[i]));
		}
		counter.add(numbers[i]);
	}
	return counter.total();
}

__attribute__((noinline)) long powers(long base)
{
	auto twice = [&](long factor) {
		sink = factor;
		return Power<3>::of(base) * factor;
	};
	return twice(sink) + twice(base) + other_unit(base);
}

} // namespace shapes

volatile long sink;

int main(int argc, char **)
{
	long numbers[] = {argc, 2, -3, argc * 4l};
	return (int)(shapes::count(numbers, 4) + shapes::powers(argc)) & 1;
}
