// usage: truth_exceptions [MILLISECONDS]: three() takes three times what one() does, both called where an exception was
// caught or is on its way.
#include "spin.h"

#include <stdexcept>

namespace
{

volatile uint64_t result;

__attribute__((noinline)) void burn()
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

} // namespace

extern "C" __attribute__((noinline)) void three()
{
	for (int i = 0; i < 3; i++)
		burn();
	result = result + 1;
}

extern "C" __attribute__((noinline)) void one()
{
	burn();
	result = result + 1;
}

namespace
{

// Its destructor runs while the stack is unwound.
struct Guard {
	~Guard()
	{
		for (int i = 0; i < 20; i++)
			one();
	}
};

__attribute__((noinline)) void refuse(int depth)
{
	if (depth == 0) {
		Guard guard;
		throw std::runtime_error("sold out");
	}
	refuse(depth - 1);
	result = result + 1;
}

__attribute__((noinline)) void attempt()
{
	try {
		refuse(10);
	} catch (const std::exception &problem) {
		for (int i = 0; i < 20; i++)
			three();
		result = result + static_cast<uint64_t>(problem.what()[0]);
	}
}

} // namespace

int main(int argc, char **argv)
{
	long end = spin_clock() + spin_milliseconds(argc, argv);
	while (spin_clock() < end)
		attempt();
	return 0;
}
