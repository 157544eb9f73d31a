/* Reads the formats of tracepoints and PMU events from tracefs and sysfs. */
#include "capture/pmu.h"

#include "symbol/elf_symbols.h"
#include "system/system.h"
#include "system/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices"
#define FILE_MAX 4096

/* The first line of a small file; false when it cannot be read. `ret_error` gets errno. */
static bool read_line(const char *path, char line[FILE_MAX], int *ret_error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		*ret_error = errno;
		return false;
	}
	ssize_t size = read(fd, line, FILE_MAX - 1);
	*ret_error = errno;
	close(fd);
	if (size < 0)
		return false;
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return true;
}

bool pmu_tracepoint_format(struct buf *out, const char *system, const char *name)
{
	struct tracefs tracefs = tracefs_open(true);
	bool read = tracefs.fd >= 0 && tracefs_read(&tracefs, system, name, "format", out) == 0;
	tracefs_close(&tracefs);
	return read && out->size;
}

static int no_tracefs(const char *system, const char *name, int error, struct err *err)
{
	if (error == ENODEV)
		return err_set(err, ERR_SYSTEM, "tracepoint %s:%s: this kernel has no tracefs (CONFIG_TRACING)", system,
			       name);
	if (geteuid() != 0)
		return err_set(err, ERR_SYSTEM,
			       "tracepoint %s:%s: tracefs is not mounted, and only root can mount it: run wick with "
			       "sudo",
			       system, name);
	return err_set(err, ERR_SYSTEM,
		       "tracepoint %s:%s: tracefs is not mounted, and cannot be mounted here (%s): a container needs "
		       "CAP_SYS_ADMIN, or the host's /sys/kernel/tracing",
		       system, name, strerror(error));
}

static int no_tracepoint(const struct tracefs *tracefs, const char *system, const char *name, int error,
			 struct err *err)
{
	const char *place = tracefs->place;
	if (error == EACCES && place)
		return err_set(err, ERR_SYSTEM,
			       "permission denied for %s/events/%s/%s/id: run with sudo, or as root: chmod a+rx %s",
			       place, system, name, place);
	if (error != ENOENT)
		return err_set(err, ERR_SYSTEM, "tracepoint %s:%s: cannot read tracefs: %s", system, name,
			       strerror(error));
	return err_set(err, ERR_USAGE, "unknown event '%s:%s'; see %s%s", system, name, place ? place : "",
		       place ? "/available_events" : "perf list tracepoint");
}

int pmu_tracepoint(struct perf_event_attr *attr, const char *system, const char *name, struct err *err)
{
	CLEANUP_BUF struct buf id = {0};
	if (!tracefs_is_name(system) || !tracefs_is_name(name))
		return err_set(err, ERR_USAGE, "unknown event '%s:%s'", system, name);
	struct tracefs tracefs = tracefs_open(true);
	if (tracefs.fd < 0)
		return no_tracefs(system, name, tracefs.error, err);
	int error = tracefs_read(&tracefs, system, name, "id", &id);
	int result = error ? no_tracepoint(&tracefs, system, name, error, err) : 0;
	tracefs_close(&tracefs);
	if (!result) {
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = strtoull(id.data, NULL, 10);
	}
	return result;
}

/* Puts the bits of a value where a format such as "config1:0-7,21" says. False when the format is another. */
static bool place_bits(struct perf_event_attr *attr, const char *format, uint64_t value)
{
	__u64 *field;
	__u64 config1 = attr->config1, config2 = attr->config2, config = attr->config;
	if (!strncmp(format, "config1:", 8))
		field = &config1, format += 8;
	else if (!strncmp(format, "config2:", 8))
		field = &config2, format += 8;
	else if (!strncmp(format, "config:", 7))
		field = &config, format += 7;
	else
		return false;
	while (*format) {
		char *end;
		unsigned long first = strtoul(format, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (end == format || last > 63 || first > last || (*end && *end != ','))
			return false;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1) {
			*field &= ~(1ull << bit);
			*field |= (value & 1) << bit;
		}
		format = *end ? end + 1 : end;
	}
	attr->config = config;
	attr->config1 = config1;
	attr->config2 = config2;
	return true;
}

struct pmu_folder {
	const char *root, *name;
	unsigned depth; /* an event is described by terms, which must not be events again */
};

static int take_terms(struct perf_event_attr *attr, const struct pmu_folder *pmu, const char *terms, struct err *err);

/* "event=0x3c", or the name of an event that the kernel describes. */
static int take_term(struct perf_event_attr *attr, const struct pmu_folder *pmu, const char *term, struct err *err)
{
	CLEANUP_BUF struct buf path = {0};
	char line[FILE_MAX], *end;
	int error;
	const char *equals = strchr(term, '=');
	size_t length = equals ? (size_t)(equals - term) : strlen(term);
	uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
	if (!length || memchr(term, '/', length) || *term == '.' || (equals && (end == equals + 1 || *end)))
		return err_set(err, ERR_USAGE, "%s/%s/: terms must be NAME or NAME=NUMBER", pmu->name, term);
	if (equals && !strncmp(term, "config", length) && length == 6) {
		attr->config = value;
		return 0;
	}
	buf_printf(&path, "%s/%s/events/%.*s", pmu->root, pmu->name, (int)length, term);
	if (!equals && !pmu->depth && read_line(path.data, line, &error))
		return take_terms(attr, &(struct pmu_folder){pmu->root, pmu->name, 1}, line, err);
	buf_clear(&path);
	buf_printf(&path, "%s/%s/format/%.*s", pmu->root, pmu->name, (int)length, term);
	if (read_line(path.data, line, &error) && place_bits(attr, line, value))
		return 0;
	return err_set(err, ERR_USAGE, "PMU %s has no event or term '%.*s'; see %s/%s/", pmu->name, (int)length, term,
		       pmu->root, pmu->name);
}

static int take_terms(struct perf_event_attr *attr, const struct pmu_folder *pmu, const char *terms, struct err *err)
{
	while (*terms) {
		CLEANUP_BUF struct buf term = {0};
		size_t length = strcspn(terms, ",");
		buf_add(&term, terms, length);
		int result = take_term(attr, pmu, term.data, err);
		if (result)
			return result;
		terms += length + (terms[length] == ',');
	}
	return 0;
}

int pmu_event(struct perf_event_attr *attr, const char *root, const char *pmu, const char *terms, struct err *err)
{
	CLEANUP_BUF struct buf path = {0};
	char line[FILE_MAX];
	int error;
	root = root ? root : DEVICES;
	buf_printf(&path, "%s/%s/type", root, pmu);
	if (*pmu == '.' || !read_line(path.data, line, &error))
		return err_set(err, ERR_USAGE, "this machine has no PMU '%s'; see %s", pmu, root);
	attr->type = (uint32_t)strtoul(line, NULL, 10);
	return take_terms(attr, &(struct pmu_folder){root, pmu, 0}, terms, err);
}

static int offset_of_function(const char *path, const char *function, uint64_t *ret_offset, struct err *err)
{
	struct elf_file *elf;
	uint64_t address;
	int result = elf_open(&elf, path, err);
	if (result)
		return result;
	if (!elf_symbols_address(elf, function, &address)) {
		elf_close(elf);
		return err_set(err, ERR_USAGE, "%s has no symbol '%s'; use %s+0xOFFSET", path, function, path);
	}
	result = err_set(err, ERR_FORMAT, "%s: %s is not in a loaded segment", path, function);
	for (size_t i = 0; i < elf_segment_count(elf) && result; i++) {
		const Elf64_Phdr *segment = elf_segment(elf, i);
		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz) {
			*ret_offset = address - segment->p_vaddr + segment->p_offset;
			result = 0;
		}
	}
	elf_close(elf);
	return result;
}

int pmu_probe(struct perf_event_attr *attr, const char *path, const char *function, uint64_t offset, struct err *err)
{
	char line[FILE_MAX];
	int error;
	if (!read_line(DEVICES "/uprobe/type", line, &error))
		return err_set(err, ERR_SYSTEM,
			       "this kernel does not support uprobes (CONFIG_UPROBE_EVENTS, "
			       "Linux 4.17)");
	attr->type = (uint32_t)strtoul(line, NULL, 10);
	int result = function ? offset_of_function(path, function, &offset, err) : 0;
	attr->config2 = offset;
	return result;
}

bool pmu_has_cycles(void)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1u << 30,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	return system_this().open_event(&attr) == 0;
}
