/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which GPUs can be seen, in folders made for it; and what that is to
 * GPUMEM_BACKEND: where one can be seen and not used, "auto" fails with the
 * reason instead of going on to the simulated one.
 */
#include "base/error.h"
#include "loader/loader_parts.h"
#include "loader/sight.h"
#include "../../tap.h"
#include "fake.h"
#include <stdlib.h>
#include <unistd.h>

static char root[256];

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void shell(const char *format, const char *argument)
{
	char command[1024];

	snprintf(command, sizeof(command), "cd '%s' && ", root);
	snprintf(command + strlen(command), sizeof(command) - strlen(command),
		 format, argument);
	if (system(command) != 0)
		bail("%s", command);
}

static void forget_all(void)
{
	shell("rm -rf dev sys && mkdir -p dev/dri sys/class/drm%s", "");
}

static void node(const char *path)
{
	shell("touch dev/%s", path);
}

static void render(const char *name, const char *vendor)
{
	shell("touch dev/dri/%s", name);
	shell("mkdir -p sys/class/drm/%s/device", name);
	shell("cd sys/class/drm/ && echo %s >last", vendor);
	shell("mv sys/class/drm/last sys/class/drm/%s/device/vendor", name);
}

/* "cuda /dev/nvidia0;" for each. */
static void sees(const char *expected)
{
	struct gm_sight sights[GM_SIGHTS];
	size_t count = gm_sight(root, sights), i;
	char text[400] = "";

	for (i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s %s;", sights[i].backend, sights[i].node);
	is_str(text, expected, "seen: %s", *expected ? expected : "nothing");
}

static void test_nodes(void)
{
	static const char *const nothing[] = {
		"nvidia",      "nvidia-uvm", "nvidia-modeset",
		"nvidia-caps", "nvidia0x",   "nvidiactl2",
		"kfd0",	       "dri/card0",  "dri/controlD64",
		"null",	       "dxgkrnl",    "dri/renderD1"};
	size_t i;

	sees("");
	for (i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		node(nothing[i]);
	sees("");
	node("nvidia12");
	sees("cuda /dev/nvidia12;");
	node("nvidia0");
	node("nvidiactl");
	sees("cuda /dev/nvidia0;");
	node("kfd");
	sees("cuda /dev/nvidia0;hip /dev/kfd;");
	forget_all();
	node("nvidiactl");
	sees("cuda /dev/nvidiactl;");
	forget_all();
	node("dxg");
	sees("cuda /dev/dxg;");
	shell("rm -rf dev sys%s", "");
	sees("");
}

static void test_render(void)
{
	forget_all();
	render("renderD128", "0x1af4"); /* of a virtual machine */
	render("renderD129", "0x1a03"); /* of a server's management */
	render("renderD130", "''");
	render("renderD131", "nonsense");
	sees("");
	render("renderD132", "0x8086");
	sees("opencl /dev/dri/renderD132;");
	render("renderD133", "0x1002");
	render("renderD134", "0x10de");
	sees("cuda /dev/dri/renderD134;hip /dev/dri/renderD133;"
	     "opencl /dev/dri/renderD132;");
}

/* "/dev/nvidia0 /dev/nvidia1 = 2" of so much room. */
static void has(const char *backend, size_t room, const char *expected)
{
	struct gm_sight gpus[8];
	size_t count = gm_sight_gpus(root, backend, gpus, room), i;
	char text[400] = "";

	for (i = 0; i < count && i < room; i++) {
		is_str(gpus[i].backend, backend, "of %s", backend);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s ", gpus[i].node);
	}
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "= %zu",
		 count);
	is_str(text, expected, "each GPU of %s", backend);
}

static void test_each(void)
{
	forget_all();
	has("cuda", 8, "= 0");
	has("nonsense", 8, "= 0");
	node("nvidiactl");
	node("kfd");
	has("cuda", 8, "= 0");
	has("hip", 8, "= 0");
	render("renderD130", "0x1002");
	render("renderD129", "0x10de");
	render("renderD128", "0x1002");
	has("cuda", 8, "/dev/dri/renderD129 = 1");
	has("hip", 8, "/dev/dri/renderD128 /dev/dri/renderD130 = 2");
	has("opencl", 8, "= 0");
	node("nvidia10");
	node("nvidia0");
	node("nvidia2");
	node("nvidia-uvm");
	has("cuda", 8, "/dev/nvidia0 /dev/nvidia2 /dev/nvidia10 = 3");
	has("cuda", 2, "/dev/nvidia0 /dev/nvidia2 = 3");
	has("cuda", 0, "= 3");
	has("hip", 8, "/dev/dri/renderD128 /dev/dri/renderD130 = 2");
}

static bool find_chosen(const struct gpumem_backend_info *info, void *user)
{
	if (info->chosen)
		snprintf(user, 16, "%s", info->name);
	return true;
}

static void picks(const char *wish, const char *name)
{
	const struct gm_backend *backend = NULL;
	int index = -1;
	char chosen[16] = "";

	setenv("GPUMEM_BACKEND", wish, 1);
	is_status(gm_backend_default(&backend, &index), GPUMEM_OK, "%s", wish);
	is_str(backend ? backend->info.name : "", name, "is %s", name);
	is_status(gm_backend_visit(find_chosen, chosen), GPUMEM_OK, "visit");
	is_str(chosen, name, "shows the same");
}

static void fails(const char *wish, gpumem_status status, const char *reasons)
{
	const struct gm_backend *backend = NULL;
	int index = -1;
	char chosen[16] = "";
	const char *start = "there is a GPU that cannot be used; for the "
			    "simulated one set GPUMEM_BACKEND=host; ";

	setenv("GPUMEM_BACKEND", wish, 1);
	is_status(gm_backend_default(&backend, &index), status, "\"%s\"", wish);
	is_ptr(backend, NULL, "output left alone");
	is_int(strncmp(last_text(), start, strlen(start)), 0, "what to do");
	ok(strstr(last_text(), reasons) != NULL, "and why: %s", reasons);
	diag("%s", last_text());
	is_status(gm_backend_visit(find_chosen, chosen), GPUMEM_OK, "visit");
	is_str(chosen, "", "shows none as chosen");
}

static void test_pick(void)
{
	static struct gpumem_backend hip;

	forget_all();
	picks("auto", "host");
	node("nvidia0");
	fails("auto", GPUMEM_NOT_FOUND,
	      "/dev/nvidia0: plugin cuda.so is not installed: on Debian apt "
	      "install ");
	fails("", GPUMEM_NOT_FOUND, "/dev/nvidia0: plugin cuda.so is not ");
	fails("nowhere,auto", GPUMEM_NOT_FOUND, "/dev/nvidia0: plugin cuda.so");
	picks("host", "host");
	picks("cuda,host", "host");
	picks("auto,host", "host");
	forget_all();
	hip = fake_table;
	hip.name = "hip";
	hip.device_adopt = NULL;
	fake.count_status = GPUMEM_NO_DEVICE;
	is_status(gm_backend_register(&hip), GPUMEM_NO_DEVICE, "hip");
	picks("auto", "host");
	node("kfd");
	render("renderD128", "0x8086");
	fails("auto", GPUMEM_NO_DEVICE,
	      "/dev/kfd: hip: no such device is present; "
	      "/dev/dri/renderD128: plugin opencl.so is not installed");
	fake.count_status = GPUMEM_OK;
	is_status(gm_backend_register(&fake_table), GPUMEM_OK,
		  "one that works");
	picks("auto", "fake");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	snprintf(root, sizeof(root), "%s/sight-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(root))
		bail("no folder");
	gm_loader_root = root;
	forget_all();
	test_nodes();
	test_render();
	test_each();
	test_pick();
	shell("rm -rf '%s'", root);
	return done_testing();
}
