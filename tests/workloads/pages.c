/*
 * Touches memory for the first time: 3,000 pages in many() and 1,000 in few(). With a file as argument it also reads 500
 * pages of it through a mapping, one by one, after the kernel was asked to forget them: they come from the disk again.
 * With "huge" as argument it touches 64 MiB in huge(), in huge pages where the kernel has some.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define FILE_PAGES 500

static size_t page;
static volatile char sum;

static char *fresh(size_t pages)
{
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, pages * page, MADV_NOHUGEPAGE))
		exit(1);
	return memory;
}

KEEP void touch(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memset(memory + i * page, 1, page);
	__asm__ volatile("" ::: "memory");
}

KEEP void many(void)
{
	touch(fresh(3000), 3000);
	__asm__ volatile("" ::: "memory");
}

KEEP void few(void)
{
	touch(fresh(1000), 1000);
	__asm__ volatile("" ::: "memory");
}

KEEP void huge(void)
{
	const size_t size = (size_t)64 << 20, large = (size_t)2 << 20;
	char *memory = mmap(NULL, size + large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	memory += large - (uintptr_t)memory % large;
	if (madvise(memory, size, MADV_HUGEPAGE))
		exit(1);
	touch(memory, size / page);
	__asm__ volatile("" ::: "memory");
}

KEEP void read_file(const char *path)
{
	int file = open(path, O_RDWR);
	if (file < 0 || fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
		exit(1);
	char *memory = mmap(NULL, FILE_PAGES * page, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED || madvise(memory, FILE_PAGES * page, MADV_RANDOM))
		exit(1);
	for (size_t i = 0; i < FILE_PAGES; i++)
		sum += memory[i * page];
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	many();
	few();
	if (argc > 1 && strcmp(argv[1], "huge") == 0)
		huge();
	else if (argc > 1)
		read_file(argv[1]);
	return 0;
}
