// A service with a pool of threads. Two of its habits are slow: all threads count what they did under one lock, and
// every request builds its text from many small strings. `service --fixed` does neither.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static bool fixed_version;

// --- the pool ---

class Pool {
public:
	explicit Pool(unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			threads.emplace_back([this] { work(); });
	}
	~Pool()
	{
		{
			std::lock_guard<std::mutex> held(lock);
			stopping = true;
		}
		changed.notify_all();
		for (auto &thread : threads)
			thread.join();
	}
	void submit(std::function<void()> job)
	{
		std::unique_lock<std::mutex> held(lock);
		room.wait(held, [this] { return jobs.size() < 64; });
		jobs.push_back(std::move(job));
		changed.notify_one();
	}

private:
	void work()
	{
		for (;;) {
			std::unique_lock<std::mutex> held(lock);
			changed.wait(held, [this] { return stopping || !jobs.empty(); });
			if (jobs.empty())
				return;
			auto job = std::move(jobs.front());
			jobs.pop_front();
			room.notify_one();
			held.unlock();
			job();
		}
	}
	std::mutex lock;
	std::condition_variable changed, room;
	std::deque<std::function<void()>> jobs;
	std::vector<std::thread> threads;
	bool stopping = false;
};

// --- what a request does ---

static std::mutex statistics_lock;
static std::map<std::string, long> statistics;
static std::atomic<long> requests;

// Holds the lock while it works: the other threads wait for it.
__attribute__((noinline)) static void count_request(const std::string &kind, unsigned long work)
{
	if (fixed_version) {
		thread_local std::map<std::string, long> own; // no lock
		own[kind] += (long)(work & 1);
		return;
	}
	std::lock_guard<std::mutex> held(statistics_lock);
	volatile unsigned long sum = work;
	for (int i = 0; i < 60000; i++)
		sum = sum * 31 + (unsigned long)i;
	statistics[kind] += (long)(sum & 1);
}

// Many short strings that live for a moment.
__attribute__((noinline)) static std::string build_answer(long number)
{
	std::string answer;
	if (fixed_version) {
		char line[64];
		answer.reserve(4096);
		for (int i = 0; i < 100; i++)
			answer.append(line, (size_t)snprintf(line, sizeof line, "item-%d;", i + (int)(number % 7)));
		return answer;
	}
	std::vector<std::string> parts;
	for (int i = 0; i < 100; i++)
		parts.push_back(std::string("item-") + std::to_string(i + number % 7) + std::string(";") +
				std::string(24, ' '));
	for (const auto &part : parts)
		answer = answer + part.substr(0, part.find(' '));
	return answer;
}

__attribute__((noinline)) static unsigned long checksum(const std::string &text)
{
	unsigned long sum = 5381;
	for (int round = 0; round < 20; round++)
		for (char c : text)
			sum = sum * 33 ^ (unsigned char)c;
	return sum;
}

// A disk that is slow: one request in sixteen waits for it.
__attribute__((noinline)) static void save(const std::string &answer)
{
	char path[] = "/var/tmp/service-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0)
		return;
	unlink(path);
	if (write(fd, answer.data(), answer.size()) > 0)
		fsync(fd);
	close(fd);
	std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

static void answer_request(long number)
{
	std::string answer = build_answer(number);
	count_request(number % 3 ? "read" : "write", checksum(answer));
	if (number % 16 == 0)
		save(answer);
	requests++;
}

int main(int argc, char **argv)
{
	fixed_version = argc > 1 && !strcmp(argv[1], "--fixed");
	const char *text = getenv("SERVICE_SECONDS");
	double seconds = text ? atof(text) : 5;
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
	{
		Pool pool(4);
		for (long number = 0; std::chrono::steady_clock::now() < end; number++)
			pool.submit([number] { answer_request(number); });
	}
	printf("%.0f requests per second\n", (double)requests / seconds);
}
