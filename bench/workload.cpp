// A program to record: deep recursion through the standard library, so that
// the stacks carry the long template names real C++ services have. Compiling
// this file is a second workload, for the compiler's own stacks.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

namespace doc {

struct value;
using list = std::vector<value>;
using object = std::map<std::string, std::shared_ptr<value>>;
struct value {
	std::variant<double, std::string, list, object> v;
};

static value make(std::mt19937 &rng, int depth)
{
	switch (depth > 0 ? rng() % 4 : rng() % 2) {
	case 0:
		return { double(rng() % 1000) };
	case 1:
		return { std::string(rng() % 20, char('a' + rng() % 26)) };
	case 2: {
		list l;
		std::generate_n(std::back_inserter(l), rng() % 6,
				[&] { return make(rng, depth - 1); });
		return { std::move(l) };
	}
	default: {
		object o;
		for (unsigned i = 0, n = rng() % 6; i < n; i++)
			o["key" + std::to_string(rng() % 50)] =
				std::make_shared<value>(make(rng, depth - 1));
		return { std::move(o) };
	}
	}
}

struct printer {
	std::ostream &out;

	void operator()(double d) const { out << d; }
	void operator()(const std::string &s) const { out << '"' << s << '"'; }
	void operator()(const list &l) const
	{
		out << '[';
		std::for_each(l.begin(), l.end(), [this](const value &e) {
			std::visit(*this, e.v);
			out << ',';
		});
		out << ']';
	}
	void operator()(const object &o) const
	{
		out << '{';
		for (const auto &[key, e] : o) {
			(*this)(key);
			out << ':';
			std::visit(*this, e->v);
		}
		out << '}';
	}
};

} // namespace doc

template <typename T> static T fold(std::function<T(int)> f, int n)
{
	if (n <= 1)
		return f(n);
	return fold<T>(f, n / 2) +
	       fold<T>([&](int i) { return f(i + n / 2); }, n - n / 2);
}

static std::size_t work(unsigned seed, double seconds)
{
	using clock = std::chrono::steady_clock;
	const auto end = clock::now() + std::chrono::duration<double>(seconds);
	std::unordered_map<std::string, std::vector<std::size_t>> index;
	std::mt19937 rng(seed);
	std::size_t total = 0;

	while (clock::now() < end) {
		// sorting an ever larger index would end up as all there is
		if (index.size() > 500)
			index.clear();
		std::ostringstream out;
		std::visit(doc::printer{ out }, doc::make(rng, 12).v);
		const std::string text = out.str().substr(0, 4000);
		std::istringstream in(text);
		for (std::string piece; std::getline(in, piece, ',');)
			index[piece.substr(0, 12)].push_back(text.size());
		std::vector<std::string> keys;
		for (const auto &[key, at] : index)
			keys.push_back(key);
		std::stable_sort(keys.begin(), keys.end(),
				 [](const auto &a, const auto &b) {
					 return a.size() != b.size() ?
							a.size() < b.size() :
							a < b;
				 });
		total += fold<std::size_t>(
			[&](int i) {
				return keys.empty() ? 0 :
						      keys[std::size_t(i) %
							   keys.size()]
							      .size();
			},
			64);
	}
	return total;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
	std::size_t a = 0, b = 0;
	std::thread other([&] { a = work(1, seconds); });

	b = work(2, seconds);
	other.join();
	return (a + b) % 251 == 250;
}
