/* A whole input file: decompression, detection of the format, blocks, parsers. */
#include "harness.h"
#include "import/import.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct profile profile;
	profile_init(&profile);
	struct import_options options = {.threads = 1};
	struct import_report report = {0};
	struct err err = {0};
	int result = import_file(&profile, path, &options, &report, &err);
	if (!result != (profile.quality.samples + profile.quality.stacks > 0) || (result && !err.text[0]))
		abort();
	profile_release(&profile);
	close(fd);
	return 0;
}
