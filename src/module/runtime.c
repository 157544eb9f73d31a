/* Recognizes language runtimes by the path of their executable. */
#include "module/runtime.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* "python3.12", "libpython3.12.so.1.0" */
static bool is_python(const char *name, struct runtime *ret_runtime)
{
	unsigned major, minor;
	int end = 0;
	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	if (strncmp(name, "python", 6) != 0 || !isdigit((unsigned char)name[6]) ||
	    sscanf(name + 6, "%4u.%4u%n", &major, &minor, &end) != 2)
		return false;
	*ret_runtime = (struct runtime){RUNTIME_PYTHON, major, minor};
	return true;
}

struct runtime runtime_of_path(const char *path)
{
	static const struct {
		const char *name;
		enum runtime_kind kind;
		bool prefix;
	} known[] = {
		{"node", RUNTIME_NODE, false},
		{"nodejs", RUNTIME_NODE, false},
		{"libnode.so", RUNTIME_NODE, true},
		{"libjvm.so", RUNTIME_JAVA, false},
		{"libcoreclr.so", RUNTIME_DOTNET, false},
		{"beam.smp", RUNTIME_ERLANG, false},
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct runtime runtime = {RUNTIME_NONE, 0, 0};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].prefix ? strncmp(name, known[i].name, strlen(known[i].name)) == 0 :
				      strcmp(name, known[i].name) == 0)
			runtime.kind = known[i].kind;
	if (!runtime.kind)
		is_python(name, &runtime);
	return runtime;
}

void runtime_jit_advice(struct buf *out, enum runtime_kind kind, int32_t pid, const char *map_path, bool mapped)
{
	if (mapped) {
		if (kind == RUNTIME_JAVA)
			buf_printf(
				out,
				"compiled by Java after its perf map was written: run jcmd %d Compiler.perfmap again "
				"at the end of the recording",
				pid);
		return;
	}
	switch (kind) {
	case RUNTIME_NODE:
		buf_str(out, "JIT code of Node.js: start it with node --perf-basic-prof "
			     "--interpreted-frames-native-stack");
		break;
	case RUNTIME_JAVA:
		buf_printf(out,
			   "JIT code of Java: start it with java -XX:+PreserveFramePointer, and run jcmd %d "
			   "Compiler.perfmap while it is recorded",
			   pid);
		break;
	case RUNTIME_DOTNET:
		buf_str(out, "JIT code of .NET: start it with DOTNET_PerfMapEnabled=1 in its environment");
		break;
	case RUNTIME_ERLANG:
		buf_str(out, "JIT code of Erlang: start it with erl +JPperf map");
		break;
	case RUNTIME_PYTHON:
	case RUNTIME_NONE:
		buf_printf(out, "JIT code of process %d, but no %s: enable perf maps in the program", pid, map_path);
		break;
	}
}

const char *runtime_stack_advice(enum runtime_kind kind)
{
	switch (kind) {
	case RUNTIME_JAVA:
		return "start java with -XX:+PreserveFramePointer";
	case RUNTIME_ERLANG:
		return "start erl with +JPperf map";
	default:
		return "";
	}
}

void runtime_python_advice(struct buf *out, struct runtime python)
{
	if (python.kind == RUNTIME_PYTHON && python.major == 3 && python.minor >= 12)
		buf_printf(out, "Python functions are not named: start it with python%u.%u -X perf", python.major,
			   python.minor);
}
