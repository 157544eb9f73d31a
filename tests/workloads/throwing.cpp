// Four threads that sort strings, throw through several frames and catch, for as many rounds as the argument says.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct guard { // has to be destroyed while the exception passes
	std::string text;
	~guard() { text.clear(); }
};

__attribute__((noinline)) static int descend(int depth, int seed)
{
	guard held{std::to_string(seed + depth)};
	if (depth == 0) {
		if (seed % 3)
			throw std::runtime_error(held.text);
		return seed;
	}
	return descend(depth - 1, seed) + static_cast<int>(held.text.size());
}

__attribute__((noinline)) static std::size_t sort_words(int seed)
{
	std::vector<std::string> words;
	for (int i = 0; i < 200; i++)
		words.push_back(std::to_string((seed * 7919 + i * 104729) % 10007));
	std::sort(words.begin(), words.end(),
		  [](const std::string &left, const std::string &right) { return left.compare(right) < 0; });
	std::map<std::string, std::size_t> places;
	for (std::size_t i = 0; i < words.size(); i++)
		places[words[i]] = i;
	return places.size();
}

static void work(int number, int rounds, std::size_t *result)
{
	for (int i = 0; i < rounds; i++) {
		try {
			*result += static_cast<std::size_t>(descend(12, number + i));
		} catch (const std::runtime_error &error) {
			*result += std::string(error.what()).size();
		}
		*result += sort_words(i);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
	std::vector<std::thread> threads;
	std::size_t results[4] = {};
	for (int i = 0; i < 4; i++)
		threads.emplace_back(work, i, rounds, &results[i]);
	for (std::thread &thread : threads)
		thread.join();
	return results[0] + results[1] + results[2] + results[3] == 0;
}
