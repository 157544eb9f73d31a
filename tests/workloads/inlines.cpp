/* Inlined chains, the standard library, threads and exceptions. */
#include "spin.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define INLINED __attribute__((always_inline)) static inline

namespace shop
{

volatile uint64_t result;

INLINED uint64_t innermost(uint64_t value)
{
	SPIN(value);
	return value;
}

INLINED uint64_t middle(uint64_t value)
{
	return innermost(value + 1) ^ value;
}

INLINED uint64_t outer(uint64_t value)
{
	return middle(value * 3);
}

__attribute__((noinline)) void inlined_chain()
{
	result = outer(result);
}

template <typename T> struct Basket {
	std::map<std::string, T> prices;
	T total() const
	{
		return std::accumulate(prices.begin(), prices.end(), T(0),
				       [](T sum, const auto &entry) { return sum + entry.second; });
	}
};

__attribute__((noinline)) void containers()
{
	Basket<int> basket;
	for (int i = 0; i < 300; i++)
		basket.prices["item " + std::to_string(i * 7919 % 1009)] = i;
	std::vector<std::string> names;
	for (const auto &entry : basket.prices)
		names.push_back(entry.first);
	std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a.back() < b.back(); });
	result = result + (uint64_t)basket.total() + names.size();
}

__attribute__((noinline)) void refuse(int depth)
{
	if (depth == 0)
		throw std::runtime_error("sold out");
	refuse(depth - 1);
	result = result + 1;
}

__attribute__((noinline)) void exceptions()
{
	for (int i = 0; i < 20; i++) {
		try {
			refuse(5);
		} catch (const std::exception &problem) {
			result = result + (uint64_t)problem.what()[0];
		}
	}
}

void serve(long end)
{
	while (spin_clock() < end) {
		for (int i = 0; i < 20; i++)
			inlined_chain();
		containers();
		exceptions();
	}
}

} // namespace shop

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv) / 2;
	std::thread other(shop::serve, end);
	shop::serve(end);
	other.join();
	return 0;
}
