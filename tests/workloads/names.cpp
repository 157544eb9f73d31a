/*
 * Functions that only their whole names tell apart: lambdas, overloads, instances of templates, operators. Built with
 * -DINLINE the compiler may inline what it likes, so that their names come from debug information.
 */
#include "spin.h"

#include <functional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#ifdef INLINE
#define APART
#define TOGETHER __attribute__((always_inline))
#else
#define APART __attribute__((noinline))
#define TOGETHER
#endif

volatile uint64_t result;

#define WORK()                            \
	do {                              \
		uint64_t value = result;  \
		SPIN(value);              \
		result = value;           \
	} while (0)

namespace tcqa
{

__attribute__((noinline)) void call(const std::function<void()> &work)
{
	work();
}

struct Gen {
	uint64_t seed = 1;
	__attribute__((noinline)) void run(int count)
	{
		call([this, count] {
			WORK();
			seed += (uint64_t)count;
		});
		call([this, count] {
			WORK();
			seed ^= (uint64_t)count;
		});
	}
};

APART TOGETHER static inline void over(int by)
{
	WORK();
	result = result + (uint64_t)by;
}

APART TOGETHER static inline void over(const char *by)
{
	WORK();
	result = result + (uint64_t)*by;
}

template <typename T> __attribute__((noinline)) T instance(T by)
{
	WORK();
	return by + (T)result;
}

struct First {
	__attribute__((noinline)) void operator()(int by) const
	{
		WORK();
		result = result + (uint64_t)by;
	}
};

struct Second {
	__attribute__((noinline)) void operator()(int by) const
	{
		WORK();
		result = result ^ (uint64_t)by;
	}
};

namespace
{

struct Hidden {
	std::vector<int> items{1, 2, 3};
	__attribute__((noinline)) int sum(std::vector<int> &more)
	{
		WORK();
		return items[0] + more[0];
	}
};

} // namespace

struct Money {
	uint64_t cents = 1;
	__attribute__((noinline)) operator double() const
	{
		WORK();
		return (double)cents;
	}
	__attribute__((noinline)) operator std::string() const
	{
		WORK();
		return std::to_string(cents);
	}
};

__attribute__((noinline)) std::ostream &operator<<(std::ostream &out, const Money &money)
{
	WORK();
	return out << money.cents;
}

/* The type it returns gives it the tag [abi:cxx11]. */
__attribute__((noinline)) std::string tagged()
{
	WORK();
	return std::to_string(result);
}

} // namespace tcqa

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	tcqa::Gen gen;
	tcqa::Hidden hidden;
	tcqa::Money money;
	while (spin_clock() < end) {
		gen.run(argc);
		tcqa::over(argc);
		tcqa::over(argv[0]);
		result = result + (uint64_t)tcqa::instance(argc) + (uint64_t)tcqa::instance((double)argc);
		tcqa::First()(argc);
		tcqa::Second()(argc);
		result = result + (uint64_t)hidden.sum(hidden.items);
		result = result + (uint64_t)(double)money + std::string(money).size() + tcqa::tagged().size();
		std::ostringstream text;
		text << money;
	}
	return 0;
}
