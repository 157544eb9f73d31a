/* Who is in a cgroup, by its path. */
#include "container/cgroup_path.h"
#include "unit.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define TASK "0123456789abcdef0123456789abcdef-1234567890"
#define POD "12345678-9abc-def0-1234-56789abcdef0"
#define POD_UNIT "12345678_9abc_def0_1234_56789abcdef0"

struct expected {
	const char *path, *engine, *id, *pod, *unit;
	uint32_t user;
};

static void check(const struct expected *expected)
{
	struct cgroup_owner owner;
	cgroup_path_read(expected->path, &owner);
	if (expected->engine)
		assert_string_equal(owner.engine, expected->engine);
	else
		assert_null(owner.engine);
	assert_string_equal(owner.id, expected->id ? expected->id : "");
	assert_string_equal(owner.pod, expected->pod ? expected->pod : "");
	assert_string_equal(owner.unit, expected->unit ? expected->unit : "");
	assert_int_equal(owner.user, expected->user ? expected->user : UINT32_MAX);
}

static void engines_are_known_by_their_layouts(void **state)
{
	(void)state;
	static const struct expected all[] = {
		{"/system.slice/docker-" ID ".scope", "docker", ID, NULL, "docker-" ID ".scope", 0},
		{"/docker/" ID, "docker", ID, NULL, NULL, 0},
		{"/docker/" ID "/init.scope", "docker", ID, NULL, NULL, 0},
		{"/machine.slice/libpod-" ID ".scope/container", "podman", ID, NULL, "libpod-" ID ".scope", 0},
		{"/libpod_parent/libpod-" ID, "podman", ID, NULL, NULL, 0},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container", "podman", ID,
		 NULL, "libpod-" ID ".scope", 1000},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_UNIT ".slice/cri-containerd-" ID
		 ".scope",
		 "containerd", ID, POD, "cri-containerd-" ID ".scope", 0},
		{"/kubepods/besteffort/pod" POD "/" ID, "container", ID, POD, NULL, 0},
		{"/kubepods.slice/kubepods-pod" POD_UNIT ".slice/crio-" ID ".scope/container", "cri-o", ID, POD,
		 "crio-" ID ".scope", 0},
		{"/ecs/0123456789abcdef/" TASK, "container", TASK, NULL, NULL, 0},
		{"/default/" ID, "containerd", ID, NULL, NULL, 0},
		{"/lxc.payload.web/system.slice/nginx.service", "lxc", "web", NULL, NULL, 0},
		{"/lxc/web", "lxc", "web", NULL, NULL, 0},
		{"/machine.slice/systemd-nspawn@deb\\x2dian.service/payload", "nspawn", "deb-ian", NULL,
		 "systemd-nspawn@deb\\x2dian.service", 0},
		{"/machine.slice/machine-web.scope", "nspawn", "web", NULL, "machine-web.scope", 0},
		{"/machine.slice/libpod_pod_" ID ".slice/libpod-" OTHER ".scope", "podman", OTHER, "0123456789ab",
		 "libpod-" OTHER ".scope", 0},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		check(&all[i]);
}

static void other_cgroups_are_no_containers(void **state)
{
	(void)state;
	static const struct expected all[] = {
		{"/", NULL, NULL, NULL, NULL, 0},
		{"/system.slice/nginx.service", NULL, NULL, NULL, "nginx.service", 0},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-shell.scope", NULL, NULL, NULL,
		 "app-shell.scope", 1000},
		{"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, NULL, "libpod-conmon-" ID ".scope", 0},
		{"/lxc.monitor.web", NULL, NULL, NULL, NULL, 0},
		{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL, NULL, NULL, "machine-qemu\\x2d1\\x2dvm.scope",
		 0},
		{"/machine.slice/libpod_pod_" ID ".slice", NULL, NULL, "0123456789ab", NULL, 0},
		{"/system.slice/docker-0123.scope", NULL, NULL, NULL, "docker-0123.scope", 0},
		{"/kubepods.slice/kubepods-pod" POD_UNIT ".slice", NULL, NULL, POD, NULL, 0},
		{"", NULL, NULL, NULL, NULL, 0},
		{"cgroup ID 123", NULL, NULL, NULL, NULL, 0},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		check(&all[i]);
}

static void the_innermost_container_counts(void **state)
{
	(void)state;
	struct cgroup_owner owner;
	static const char path[] = "/system.slice/docker-" ID ".scope/docker/" OTHER "/init.scope";
	cgroup_path_read(path, &owner);
	assert_string_equal(owner.id, OTHER);
	assert_string_equal(owner.unit, "docker-" ID ".scope");
	assert_int_equal(owner.outer, strlen("/system.slice/docker-" ID ".scope"));
	assert_int_equal(owner.length, strlen(path) - strlen("/init.scope"));
	assert_false(cgroup_path_is_container(path, &owner));
	assert_true(cgroup_path_is_container("/docker/" ID, &owner));
	assert_int_equal(owner.outer, 0);
}

static void long_and_odd_names_do_no_harm(void **state)
{
	(void)state;
	char path[4096] = "/lxc.payload.";
	struct cgroup_owner owner;
	memset(path + strlen(path), 'x', sizeof path - strlen(path) - 1);
	path[sizeof path - 1] = '\0';
	cgroup_path_read(path, &owner);
	assert_null(owner.engine);
	cgroup_path_read("/machine.slice/machine-a\\x00b\\x2.scope", &owner);
	assert_string_equal(owner.id, "a\\x00b\\x2");
	cgroup_path_read("/machine.slice/machine-\\x1b.scope///", &owner);
	assert_string_equal(owner.id, "\033");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_are_known_by_their_layouts),
		cmocka_unit_test(other_cgroups_are_no_containers),
		cmocka_unit_test(the_innermost_container_counts),
		cmocka_unit_test(long_and_odd_names_do_no_harm),
	};
	return cmocka_run_group_tests_name("cgroup_path", tests, NULL, NULL);
}
