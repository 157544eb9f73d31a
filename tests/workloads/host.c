/* usage: host MILLISECONDS PLUGIN — loads the plugin, uses it, unloads it, again and again. */
#include "spin.h"

#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) static int use_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*work)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_work") : NULL;
	if (!work) {
		fprintf(stderr, "host: %s\n", dlerror());
		return 1;
	}
	work(2000);
	return dlclose(plugin);
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	int result = 0;
	while (argc > 2 && !result && spin_clock() < end)
		result = use_plugin(argv[2]);
	return result;
}
