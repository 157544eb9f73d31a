// A big C++ program to record: templates, deep inlining, recursion, exceptions, the standard library.
//
// It is compiled many times, with UNIT from 1 up, and linked into one program: each unit has functions and types of its
// own, four times over, and its own debug information. main() is in the unit 0.
//
//	big CPU-SECONDS
//	big rounds COUNT	the same work every time
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

struct unit {
	std::size_t (*run)(unsigned seed);
};
std::vector<unit> &units();

#if UNIT == 0

std::vector<unit> &units()
{
	static std::vector<unit> all;
	return all;
}

int main(int argc, char **argv)
{
	const bool counted = argc > 2 && std::strcmp(argv[1], "rounds") == 0;
	const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
	long rounds = counted ? std::atol(argv[2]) : 0;
	std::size_t sum = 0;
	unsigned seed = 1;

	while (counted ? rounds-- > 0 : double(std::clock()) / CLOCKS_PER_SEC < seconds)
		for (const unit &u : units())
			sum += u.run(seed++);
	return sum % 251 == 250;
}

#else

#include <algorithm>
#include <deque>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>

namespace big {

// A document: made at random, printed, parsed again, walked by visitors.
template <int U> struct value;
template <int U> using list = std::vector<std::unique_ptr<value<U>>>;
template <int U> using object = std::map<std::string, std::unique_ptr<value<U>>>;
template <int U> struct value {
	std::variant<std::monostate, bool, long, double, std::string, list<U>, object<U>> v;
};
template <int U> using pointer = std::unique_ptr<value<U>>;

template <class... F> struct overloaded : F... {
	using F::operator()...;
};
template <class... F> overloaded(F...) -> overloaded<F...>;

template <int U> class maker {
	std::mt19937 random;

    public:
	explicit maker(unsigned seed) : random(seed * 7919 + U)
	{
	}
	unsigned pick(unsigned n)
	{
		return std::uniform_int_distribution<unsigned>(0, n - 1)(random);
	}
	std::string word()
	{
		std::string text;
		for (unsigned i = 3 + pick(9); i > 0; i--)
			text += char('a' + pick(26));
		return text;
	}
	pointer<U> make(int depth)
	{
		auto p = std::make_unique<value<U>>();
		switch (depth > 0 ? pick(8) : pick(4)) {
		case 0:
			p->v = pick(2) == 0;
			break;
		case 1:
			p->v = long(pick(1000000));
			break;
		case 2:
			p->v = pick(100000) / 17.0;
			break;
		case 3:
			p->v = word();
			break;
		case 4:
		case 5: {
			list<U> l;
			for (unsigned i = 1 + pick(4); i > 0; i--)
				l.push_back(make(depth - 1));
			p->v = std::move(l);
			break;
		}
		default: {
			object<U> o;
			for (unsigned i = 1 + pick(4); i > 0; i--)
				o[word()] = make(depth - 1);
			p->v = std::move(o);
		}
		}
		return p;
	}
};

template <int U> void print(std::ostream &out, const value<U> &v)
{
	std::visit(overloaded{
			   [&](std::monostate) { out << "null"; },
			   [&](bool b) { out << (b ? "true" : "false"); },
			   [&](long n) { out << n; },
			   [&](double d) { out << std::fixed << std::setprecision(3) << d; },
			   [&](const std::string &s) { out << '"' << s << '"'; },
			   [&](const list<U> &l) {
				   out << '[';
				   for (std::size_t i = 0; i < l.size(); i++) {
					   out << (i ? "," : "");
					   print(out, *l[i]);
				   }
				   out << ']';
			   },
			   [&](const object<U> &o) {
				   out << '{';
				   bool first = true;
				   for (const auto &[name, item] : o) {
					   out << (first ? "\"" : ",\"") << name << "\":";
					   print(out, *item);
					   first = false;
				   }
				   out << '}';
			   },
		   },
		   v.v);
}

template <int U> struct syntax_error : std::runtime_error {
	using std::runtime_error::runtime_error;
};

template <int U> class parser {
	const std::string &text;
	std::size_t at = 0;

	[[noreturn]] void fail(const char *what) const
	{
		throw syntax_error<U>(std::string(what) + " at " + std::to_string(at));
	}
	char next()
	{
		if (at >= text.size())
			fail("the end");
		return text[at++];
	}
	bool skip(char c)
	{
		if (at < text.size() && text[at] == c) {
			at++;
			return true;
		}
		return false;
	}
	std::string quoted()
	{
		std::string s;
		for (char c = next(); c != '"'; c = next())
			s += c;
		return s;
	}
	void elements(list<U> &l)
	{
		while (!skip(']')) {
			l.push_back(parse());
			skip(',');
		}
	}
	void members(object<U> &o)
	{
		while (!skip('}')) {
			if (next() != '"')
				fail("no name");
			std::string name = quoted();
			if (next() != ':')
				fail("no colon");
			o.emplace(std::move(name), parse());
			skip(',');
		}
	}
	void number(value<U> &v)
	{
		std::size_t end = text.find_first_not_of("0123456789.-", --at);
		std::istringstream in(text.substr(at, end - at));
		double d = 0;
		in >> d;
		if (!in)
			fail("no number");
		at = end == std::string::npos ? text.size() : end;
		v.v = d;
	}

    public:
	explicit parser(const std::string &t) : text(t)
	{
	}
	pointer<U> parse()
	{
		auto p = std::make_unique<value<U>>();
		switch (char c = next(); c) {
		case '[':
			elements(p->v.template emplace<list<U>>());
			break;
		case '{':
			members(p->v.template emplace<object<U>>());
			break;
		case '"':
			p->v = quoted();
			break;
		case 't':
		case 'f':
			p->v = c == 't';
			at += c == 't' ? 3 : 4;
			break;
		default:
			number(*p);
		}
		return p;
	}
};

// Calls through many layers: each is a function of its own, some inlined, some not.
template <int U, int N> struct layer {
	static std::size_t apply(const value<U> &v, const std::function<std::size_t(const value<U> &)> &leaf)
	{
		std::size_t sum = leaf(v);
		if (const auto *l = std::get_if<list<U>>(&v.v))
			for (const auto &item : *l)
				sum += layer<U, N - 1>::apply(*item, [&](const value<U> &w) { return leaf(w) + N; });
		if (const auto *o = std::get_if<object<U>>(&v.v))
			sum = std::accumulate(o->begin(), o->end(), sum, [&](std::size_t s, const auto &item) {
				return s + item.first.size() + layer<U, N - 1>::apply(*item.second, leaf);
			});
		return sum;
	}
};
template <int U> struct layer<U, 0> {
	static std::size_t apply(const value<U> &v, const std::function<std::size_t(const value<U> &)> &leaf)
	{
		return leaf(v);
	}
};

template <int U> struct entry {
	std::string name;
	double weight = 0;
	std::set<long> places;

	friend bool operator<(const entry &a, const entry &b)
	{
		return a.weight != b.weight ? a.weight > b.weight : a.name < b.name;
	}
};

template <int U> class table {
	std::unordered_map<std::string, entry<U>> entries;

    public:
	void add(const std::string &name, double weight, long place)
	{
		entry<U> &e = entries[name];
		e.name = name;
		e.weight += weight;
		e.places.insert(place);
	}
	void add(const value<U> &v, const std::string &path, long place)
	{
		if (const auto *o = std::get_if<object<U>>(&v.v)) {
			for (const auto &[name, item] : *o)
				add(*item, path.substr(0, 8) + '.' + name, place + 1);
		} else if (const auto *l = std::get_if<list<U>>(&v.v)) {
			for (const auto &item : *l)
				add(*item, path, place + 3);
		} else if (const auto *d = std::get_if<double>(&v.v)) {
			add(path, *d, place);
		}
	}
	std::vector<entry<U>> sorted() const
	{
		std::vector<entry<U>> all;
		for (const auto &[name, e] : entries)
			all.push_back(e);
		std::sort(all.begin(), all.end());
		std::stable_sort(all.begin(), all.end(), [](const entry<U> &a, const entry<U> &b) {
			return a.places.size() > b.places.size();
		});
		return all;
	}
};

template <int U> std::size_t matches(const std::string &text)
{
	static const std::regex pattern("\"([a-z]+(a|e|i|o|u)[a-z]*)\":(\\[|\\{|[0-9.]+)");
	std::size_t sum = 0;
	for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
		sum += static_cast<std::size_t>(it->length(1));
	return sum;
}

template <int U> std::size_t damage(std::string text, maker<U> &random)
{
	text.resize(1 + random.pick(static_cast<unsigned>(text.size())));
	try {
		parser<U>(text).parse();
	} catch (const syntax_error<U> &e) {
		return std::string(e.what()).size();
	}
	return 0;
}

template <int U> std::size_t run(unsigned seed)
{
	maker<U> random(seed);
	table<U> all;
	std::deque<std::string> texts;
	std::size_t sum = 0;

	for (int i = 0; i < 4; i++) {
		auto document = random.make(6);
		std::ostringstream out;
		print(out, *document);
		texts.push_back(out.str());
		auto again = parser<U>(texts.back()).parse();
		all.add(*again, "root", i);
		sum += layer<U, 8>::apply(*again, [](const value<U> &v) { return v.v.index(); });
		sum += matches<U>(texts.back().substr(0, 400)) + damage<U>(texts.back(), random);
	}
	for (const auto &e : all.sorted())
		sum += e.name.size() + e.places.size();
	return sum;
}

} // namespace big

namespace {
template <int U> const bool added = (units().push_back({big::run<U>}), true);
template const bool added<4 * UNIT>;
template const bool added<4 * UNIT + 1>;
template const bool added<4 * UNIT + 2>;
template const bool added<4 * UNIT + 3>;
}

#endif
