/* The bytes of perf.data, as far as <linux/perf_event.h> does not define them. Little-endian. */
#ifndef WICK_PERFDATA_FORMAT_H
#define WICK_PERFDATA_FORMAT_H

#include "base/bytes.h"

#include <linux/perf_event.h>

#define PERFDATA_MAGIC "PERFILE2"
#define PERFDATA_MAGIC_SWAPPED "2ELIFREP"
#define PERFDATA_MAGIC_OLD "PERFFILE" /* before Linux 3.2 */

struct file_section {
	uint64_t offset, size;
};

#define FEATURE_BITS 256

struct file_header {
	char magic[8];
	uint64_t size; /* of this header; 16: a pipe, nothing else follows */
	uint64_t attr_size; /* of one entry of `attrs`: the attr and the section of its ids */
	struct file_section attrs, data, event_types;
	uint64_t features[FEATURE_BITS / 64];
};

#define PIPE_HEADER_SIZE 16
#define FILE_HEADER_MIN 72 /* without features */
#define ATTR_MIN PERF_ATTR_SIZE_VER0

enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_SIMPLEPERF_META = 129,
};

/* Kernel records that older headers do not name. */
#define RECORD_CALLCHAIN_DEFERRED 22

/* Records that perf itself writes. */
enum user_record {
	USER_ATTR = 64,
	USER_EVENT_TYPE,
	USER_TRACING_DATA, /* its payload follows the record */
	USER_BUILD_ID,
	USER_FINISHED_ROUND,
	USER_ID_INDEX,
	USER_AUXTRACE_INFO,
	USER_AUXTRACE, /* its payload follows the record */
	USER_AUXTRACE_ERROR,
	USER_THREAD_MAP,
	USER_CPU_MAP,
	USER_STAT_CONFIG,
	USER_STAT,
	USER_STAT_ROUND,
	USER_EVENT_UPDATE,
	USER_TIME_CONV,
	USER_FEATURE,
	USER_COMPRESSED,
	USER_FINISHED_INIT,
	USER_COMPRESSED2,
	USER_LAST_KNOWN = 86, /* BPF metadata and scheduler statistics */
};

/* simpleperf's records start here; their size has its upper 16 bits in `misc`. */
#define SIMPLEPERF_FIRST 32768u
/* No writer has types from here on: what claims to be one is garbage. */
#define RECORD_TYPE_END 65536u

#define RECORD_SIZE_MAX 65536u

#define EVENT_UPDATE_NAME 2

/* Bits of header.misc that older headers do not name. */
#define MISC_MMAP_DATA (1u << 13)
#define MISC_COMM_EXEC (1u << 13)
#define MISC_SWITCH_OUT (1u << 13)
#define MISC_SWITCH_OUT_PREEMPT (1u << 14)
#define MISC_MMAP_BUILD_ID (1u << 14)
#define MMAP_BUILD_ID_MAX 20u /* bytes of a build-id in a MMAP2 record */
#define MISC_EXACT_IP (1u << 14)
#define MISC_BUILD_ID_SIZE (1u << 15)
#define MISC_LOST_SAMPLES_BPF (1u << 15) /* dropped by a filter, on purpose: Linux 6.2 */
#define MISC_LOST_OTHERS (1u << 13) /* set by wick in LOST records: no samples are among them */

#define BRANCH_HW_INDEX (1ull << 17)
#define BRANCH_COUNTERS (1ull << 19) /* Linux 6.8 */
#define READ_FORMAT_LOST (1ull << 4) /* Linux 6.0 */
#define REGISTERS_ABI_SIMD 4u /* vector registers follow the others */

/* Ends a chain whose user part comes later, in a CALLCHAIN_DEFERRED record with the same cookie, the last entry. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

#endif
