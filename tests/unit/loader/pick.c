/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_BACKEND: a name, a device, a list, auto; what the list of backends
 * shows as chosen is what an open gets; and the log says once why it is not
 * another.
 */
#include "base/error.h"
#include "base/log.h"
#include "loader/loader_parts.h"
#include "../../tap.h"
#include "fake.h"
#include <unistd.h>

static struct {
	int count;
	char text[1300];
} seen;

static void keep(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	if (level != GPUMEM_LOG_INFO)
		return;
	seen.count++;
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static bool find_chosen(const struct gpumem_backend_info *info, void *user)
{
	if (info->chosen)
		snprintf(user, 32, "%s:%d", info->name, info->chosen_index);
	return true;
}

static void wish(const char *text)
{
	if (text)
		setenv("GPUMEM_BACKEND", text, 1);
	else
		unsetenv("GPUMEM_BACKEND");
}

static void picks_device(const char *text, const char *name)
{
	const struct gm_backend *backend = NULL;
	char chosen[32] = "", got[32];
	int index = -1;

	wish(text);
	gm_fail(GPUMEM_BUSY, "before");
	if (is_status(gm_backend_visit(find_chosen, chosen), GPUMEM_OK,
		      "GPUMEM_BACKEND=%s", text ? text : "(not set)"))
		is_str(chosen, name, "the list shows %s", name);
	if (is_status(gm_backend_default(&backend, &index), GPUMEM_OK,
		      "a default"))
		snprintf(got, sizeof(got), "%s:%d", backend->info.name, index);
	else
		*got = '\0';
	is_str(got, name, "is %s", name);
	is_str(last_text(), "before", "those passed over are no failure");
}

/* Its first device. */
static void picks(const char *text, const char *name)
{
	char device[32];

	snprintf(device, sizeof(device), "%s:0", name);
	picks_device(text, device);
}

static void fails(const char *text, gpumem_status status, const char *start)
{
	const struct gm_backend *backend = NULL;
	char chosen[32] = "";
	int index = -1;

	wish(text);
	is_status(gm_backend_default(&backend, &index), status, "\"%s\"", text);
	is_ptr(backend, NULL, "output left alone");
	if (!ok(strncmp(last_text(), start, strlen(start)) == 0, "%s", start))
		diag("%s", last_text());
	is_status(gm_backend_visit(find_chosen, chosen), GPUMEM_OK, "visit");
	is_str(chosen, "", "shows none as chosen");
}

/* Three that the program brings. The real plugins are not in the folders of
 * this test, so "cuda" is free for one that has no device until it adopts one,
 * and is passed over. */
static void bring(void)
{
	static struct gpumem_backend cuda, zeta;

	cuda = zeta = fake_table;
	cuda.name = "cuda";
	zeta.name = "zeta";
	fake.count_status = GPUMEM_NO_DEVICE;
	is_status(gm_backend_register(&cuda), GPUMEM_OK, "cuda");
	fake.count_status = GPUMEM_OK;
	is_status(gm_backend_register(&zeta), GPUMEM_OK, "zeta");
	is_status(gm_backend_register(&fake_table), GPUMEM_OK, "fake");
}

static void test_log(void)
{
	picks("auto", "host");
	is_int(seen.count, 1, "the fallback is said");
	ok(strstr(seen.text, "GPUMEM_BACKEND=auto picks host, since others "
			     "are not usable: plugin cuda.so is not") &&
		   strstr(seen.text, "; plugin hip.so is not installed") &&
		   strstr(seen.text, "; plugin opencl.so is not installed"),
	   "with the reasons of the others");
	diag("%s", seen.text);
	picks("auto", "host");
	picks(NULL, "host");
	picks("", "host");
	is_int(seen.count, 1, "only once");
}

static void test_lists(void)
{
	picks("zeta", "zeta");
	is_str(seen.text, "GPUMEM_BACKEND=zeta picks zeta", "another is news");
	picks("fake", "fake");
	picks("cuda,fake,zeta", "fake");
	picks("cuda,zeta,fake", "zeta");
	picks(" cuda , zeta ", "zeta");
	picks(",,host", "host");
	picks("cuda,auto", "zeta");
	picks("nowhere,../x,host", "host");
	picks("auto", "zeta");
	picks(NULL, "zeta");
}

/* What only the host's processor computes is for those who ask for it. */
static void test_processor(void)
{
	fake.caps |= GPUMEM_CAP_CPU;
	picks("auto", "host");
	ok(strstr(seen.text, "fake has only CPU devices") != NULL,
	   "and says why");
	picks("zeta", "zeta");
	picks("nowhere,fake", "fake");
	picks("nowhere,auto", "host");
	fake.caps &= ~(uint32_t)GPUMEM_CAP_CPU;
	picks("auto", "zeta");
}

/* A device of a backend, by all names that it has, and in lists. */
static void test_devices(void)
{
	static struct gpumem_backend many;

	fake.devices = 3;
	many = fake_table;
	many.name = "many";
	is_status(gm_backend_register(&many), GPUMEM_OK, "three devices");
	picks_device("many:1", "many:1");
	is_str(seen.text, "GPUMEM_BACKEND=many:1 picks many:1", "is news");
	picks_device("many:2", "many:2");
	picks_device("many", "many:0");
	picks_device("many:3,nowhere:1,host:1,many:2", "many:2");
	picks_device("many:x,host", "host:0");
	picks_device("cuda:0,auto", "zeta:0");
	picks_device("many:GPU-0123ABCD-0000-0000-0000-000000000002", "many:2");
	picks_device("many:0123abcd-0000-0000-0000-000000000001", "many:1");
	picks_device("many:0000:3b:00.2", "many:2");
	fails("many:3", GPUMEM_NO_DEVICE,
	      "many:3: there are 3 devices, many:0 to many:2");
	fails("host:1", GPUMEM_NO_DEVICE, "host:1: there is 1 device, host:0");
	fails("host:", GPUMEM_INVALID, "\"host:\" is no name of a device");
	fails("many:one", GPUMEM_INVALID,
	      "\"many:one\" is no name of a device");
	fails("many:GPU-00000000-0000-0000-0000-000000000009", GPUMEM_NO_DEVICE,
	      "many has no device with the UUID ");
	fails("many:0000:3b:00.7", GPUMEM_NO_DEVICE,
	      "many has no device with the PCI place ");
	fails("auto:1", GPUMEM_NOT_FOUND, "no backend can be called \"auto\"");
	fails("many:7,host:8", GPUMEM_NO_DEVICE,
	      "no backend of GPUMEM_BACKEND=\"many:7,host:8\" is usable: "
	      "many:7: there are 3 devices, many:0 to many:2; host:8: ");
}

static void test_failures(void)
{
	fails("cuda", GPUMEM_NO_DEVICE, "cuda: no such device is present");
	fails("nowhere", GPUMEM_NOT_FOUND,
	      "plugin nowhere.so is not installed (looked in ");
	fails("HOST", GPUMEM_NOT_FOUND, "no backend can be called \"HOST\"");
	fails("a-name-that-is-much-too-long-for-a-backend", GPUMEM_NOT_FOUND,
	      "no backend can be called \"a-name-that-is-much-too-long-for-a-");
	fails(",", GPUMEM_NOT_FOUND, "GPUMEM_BACKEND=\",\" names no backend");
	fails("cuda,nowhere", GPUMEM_NO_DEVICE,
	      "no backend of GPUMEM_BACKEND=\"cuda,nowhere\" is usable: cuda: "
	      "no such device is present; plugin nowhere.so is not ");
}

/* A name that is not there, but nearly. What GPUMEM_BACKEND alone has is no
 * backend that could have been meant. */
static void test_misspelt(void)
{
	fails("hsot", GPUMEM_NOT_FOUND,
	      "plugin hsot.so is not installed, did you mean \"host\"? (looked "
	      "in /nowhere)");
	fails("cudda", GPUMEM_NOT_FOUND,
	      "plugin cudda.so is not installed, did you mean \"cuda\"? ");
	fails("zetta", GPUMEM_NOT_FOUND,
	      "plugin zetta.so is not installed, did you mean \"zeta\"? ");
	fails("Host", GPUMEM_NOT_FOUND,
	      "no backend can be called \"Host\", did you mean \"host\"?");
	fails("nvidia", GPUMEM_NOT_FOUND,
	      "plugin nvidia.so is not installed, did you mean \"cuda\"? ");
	fails("rocm", GPUMEM_NOT_FOUND,
	      "plugin rocm.so is not installed, did you mean \"hip\"? ");
	fails("amd:1", GPUMEM_NOT_FOUND,
	      "plugin amd.so is not installed, did you mean \"hip\"? ");
	fails("cl", GPUMEM_NOT_FOUND,
	      "plugin cl.so is not installed, did you mean \"opencl\"? ");
	fails("Intel", GPUMEM_NOT_FOUND,
	      "no backend can be called \"Intel\", did you mean \"opencl\"?");
	fails("nowere,nowhere", GPUMEM_NOT_FOUND,
	      "no backend of GPUMEM_BACKEND=\"nowere,nowhere\" is usable: "
	      "plugin nowere.so is not installed (looked in /nowhere); plugin "
	      "nowhere.so is not installed (looked in /nowhere)");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	gm_loader_root = "/nowhere"; /* whatever GPU this machine has */
	gm_log_set(GPUMEM_LOG_INFO, keep, NULL);
	test_log();
	bring();
	test_lists();
	test_processor();
	test_failures();
	test_misspelt();
	test_devices();
	return done_testing();
}
