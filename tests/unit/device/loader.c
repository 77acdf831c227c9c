/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Plugins from files: the good ones work, each bad one is refused for its own
 * reason, by path and by name.
 */
#include "base/error.h"
#include "base/option.h"
#include "device/device.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "../../tap.h"
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define CUDA_IS_MISSING                                                        \
	"plugin cuda.so is not installed: on Debian apt install "              \
	"libgpumem-plugin1-cuda, else build gpumem with it (looked in "

static char plugins[3000]; /* where they were built */
static char scratch[3000];

static struct gpumem_error last_error(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error;
}

static const char *last_text(void)
{
	static struct gpumem_error error;

	error = last_error();
	return error.text;
}

/* "FOLDER/NAME.so"; two at a time. */
static const char *path_of(const char *folder, const char *name)
{
	static char paths[2][4096];
	static unsigned turn;

	turn = !turn;
	snprintf(paths[turn], sizeof(paths[turn]), "%s/%s.so", folder, name);
	return paths[turn];
}

static const struct {
	const char *name;
	gpumem_status status;
	const char *sentence; /* a part of it */
} bad[] = {
	{"bad-nosymbol", GPUMEM_ABI,
	 "it is no plugin: it has no function gpumem_plugin"},
	{"bad-null", GPUMEM_ABI, "its gpumem_plugin() returned NULL"},
	{"bad-abi", GPUMEM_ABI,
	 "it was built for plugin ABI 2, this library has 1"},
	{"bad-short", GPUMEM_ABI, "bytes, the required slots take"},
	{"bad-slot", GPUMEM_ABI, "its required slot free is NULL"},
	{"bad-group", GPUMEM_ABI,
	 "its group COPY is incomplete: copy is there, fill is NULL"},
	{"bad-name", GPUMEM_ABI, "it calls itself \"other\", not \"bad-name\""},
	{"bad-option", GPUMEM_ABI,
	 "option \"bad-option.size\": its default \"large\" is no size"},
	{"bad-init", GPUMEM_NO_DRIVER,
	 "bad-init: libfake.so.1 cannot be loaded: no such file "
	 "(FAKE_ERROR_NO_LIBRARY, 100)"},
	{"garbage", GPUMEM_ABI, "it cannot be loaded: "},
	{"folder", GPUMEM_ABI, "it cannot be loaded: "},
};

#define BAD_COUNT (sizeof(bad) / sizeof(bad[0]))

static void test_bad_names(void)
{
	const struct gm_backend *backend = NULL;
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	char before[1024];
	size_t i;

	for (i = 0; i < BAD_COUNT; i++) {
		is_status(gm_backend_find(bad[i].name, &backend), bad[i].status,
			  "%s", bad[i].name);
		if (!ok(strstr(last_text(), bad[i].sentence), "is refused: %s",
			bad[i].sentence))
			diag("%s", last_text());
		is_str(last_error().backend, bad[i].name, "names the backend");
		is_ptr(backend, NULL, "output left alone");
		snprintf(before, sizeof(before), "%s", last_text());
		gm_fail(GPUMEM_INVALID, "between");
		is_status(gm_backend_find(bad[i].name, &backend), bad[i].status,
			  "again");
		is_str(last_text(), before, "for the same reason");
	}
	gm_backend_find("bad-init", &backend);
	is_int(last_error().native_code, 100, "a refusal of init: its number");
	is_str(last_error().native_name, "FAKE_ERROR_NO_LIBRARY", "its name");
	is_status(gm_option_get("bad-option.fine", &option), GPUMEM_NOT_FOUND,
		  "a refused plugin leaves no options");
}

static void test_bad_paths(void)
{
	char name[16] = "untouched";
	const char *path;
	size_t i;

	for (i = 0; i < BAD_COUNT; i++) {
		path = path_of(i < BAD_COUNT - 2 ? plugins : scratch,
			       bad[i].name);
		if (strcmp(bad[i].name, "bad-name") == 0)
			continue;
		is_status(gm_backend_load(path, name), bad[i].status, "%s.so",
			  bad[i].name);
		if (!ok(strstr(last_text(), bad[i].sentence), "its reason"))
			diag("%s", last_text());
	}
	is_status(gm_backend_load(path_of(scratch, "absent"), name),
		  GPUMEM_NOT_FOUND, "no such file");
	is_str(last_text() + strlen("no such file: "),
	       path_of(scratch, "absent"), "says which");
	is_status(gm_backend_load("", name), GPUMEM_NOT_FOUND, "no path");
	is_status(gm_backend_load("libc.so.6", name), GPUMEM_NOT_FOUND,
		  "what is no path is not searched for");
	is_str(name, "untouched", "the name is left alone");
	is_status(gm_backend_load(path_of(plugins, "bad-name"), name),
		  GPUMEM_OK, "by path, any name will do");
	is_str(name, "other", "and is told");
}

static void test_good(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	const struct gm_backend *backend;
	struct gpumem_device *device;
	struct gm_driver driver;
	uint64_t address = 0;
	char name[16] = "";

	is_status(gm_option_set("good.capacity", "8192"), GPUMEM_NOT_FOUND,
		  "options of a plugin that is not loaded are unknown");
	gm_fail(GPUMEM_BUSY, "before");
	gm_backend_options("good.capacity");
	gm_backend_options("nowhere.key");
	gm_backend_options("limit");
	gm_backend_options("a-name-that-is-too-long.key");
	is_str(last_text(), "before", "looking for options is no failure");
	is_status(gm_option_set("good.capacity", "8192"), GPUMEM_OK,
		  "and can be set before it starts");
	is_status(gm_backend_find("good", &backend), GPUMEM_OK, "find");
	is_str(backend->info.driver_version, "1.0", "version");
	is_str(backend->info.path, path_of(plugins, "good"), "path");
	is_int(backend->info.device_count, 1, "devices");
	is_str(backend->info.reason, "", "no reason against it");
	is_status(gm_backend_load(path_of(plugins, "good"), name), GPUMEM_OK,
		  "loading it again is fine");
	is_str(name, "good", "name");
	is_status(gm_backend_load(path_of(scratch, "link"), name), GPUMEM_OK,
		  "also by another path to the same file");
	is_status(gm_backend_load(path_of(scratch, "copy"), name), GPUMEM_BUSY,
		  "but not another file of that name");

	is_status(gm_device_open("good:0", &device), GPUMEM_OK, "open");
	gm_driver_init(&driver, device);
	is_status(gm_driver_alloc(&driver, 8192, &address), GPUMEM_OK, "alloc");
	ok(address && address % 4096 == 0, "an aligned address");
	memset((void *)(uintptr_t)address, 1, 8192);
	is_status(gm_driver_alloc(&driver, 4096, &address), GPUMEM_NO_MEMORY,
		  "the capacity that was set before");
	is_str(last_text(),
	       "good:0: alloc: no 4096 bytes are left (GOOD_NO_MEMORY, 1)",
	       "in the plugin's words");
	is_status(gm_driver_memory_info(&driver, &memory), GPUMEM_OK, "info");
	is_uint(memory.free_bytes, 0, "nothing is free");
	is_status(gm_driver_free(&driver, address, 8192), GPUMEM_OK, "free");
	gm_driver_memory_info(&driver, &memory);
	is_uint(memory.free_bytes, 8192, "all is free");
	gm_device_release(device);
}

static void test_future(void)
{
	const struct gm_backend *backend;

	is_status(gm_backend_find("good2", &backend), GPUMEM_OK,
		  "a table with slots from the future");
	is_uint(backend->ops.size > sizeof(backend->ops), 1, "is larger");
	ok(backend->ops.free && !backend->ops.capture_id, "and works");
}

struct listing {
	int count, good, cuda, host, bad, hidden, chosen;
	bool refused_well;
};

static bool list(const struct gpumem_backend_info *info, void *user)
{
	struct listing *listing = user;
	size_t i;

	for (i = 0; i < BAD_COUNT; i++) {
		if (strcmp(info->name, bad[i].name) != 0)
			continue;
		listing->bad++;
		if (info->status != bad[i].status ||
		    (strlen(info->reason) < 200 &&
		     !strstr(info->reason, bad[i].sentence)))
			listing->refused_well = false;
	}
	if (strcmp(info->name, "good") == 0)
		listing->good = listing->count;
	if (strcmp(info->name, "cuda") == 0)
		listing->cuda = listing->count;
	if (strcmp(info->name, "host") == 0)
		listing->host = listing->count;
	if (strcmp(info->name, "cuda") == 0 &&
	    info->status == GPUMEM_NOT_FOUND &&
	    strncmp(info->reason, CUDA_IS_MISSING, strlen(CUDA_IS_MISSING)))
		listing->refused_well = false;
	if (strchr(info->name, '.') || strcmp(info->name, "Upper") == 0)
		listing->hidden++;
	listing->chosen += info->chosen;
	listing->count++;
	return true;
}

static bool stop(const struct gpumem_backend_info *info, void *user)
{
	(void)info;
	return ++*(int *)user != 2;
}

static void test_visit(void)
{
	struct listing listing = {.good = -1, .cuda = -1, .refused_well = true};
	int count = 0;

	gm_fail(GPUMEM_BUSY, "before");
	is_status(gm_backend_visit(list, &listing), GPUMEM_OK, "visit");
	is_str(last_text(), "before", "refusals in it are not its failure");
	is_int(listing.cuda, 0, "cuda first, there or not");
	ok(listing.good > 2, "plugins of the folders");
	is_int(listing.host, listing.count - 1, "host last");
	is_int(listing.bad, BAD_COUNT, "bad ones too");
	ok(listing.refused_well, "with their reasons");
	is_int(listing.hidden, 0, "what can be no backend is not listed");
	is_int(listing.chosen, 1, "one is chosen");
	is_status(gm_backend_visit(stop, &count), GPUMEM_OK, "visit");
	is_int(count, 2, "until the visitor has enough");
}

static void *find(void *user)
{
	const struct gm_backend *backend = NULL;

	(void)user;
	if (gm_backend_find("good2", &backend) != GPUMEM_OK)
		return NULL;
	return (void *)(uintptr_t)backend;
}

/* The first to ask loads and starts it; all get the same. */
static void test_threads(void)
{
	void *found[4];
	pthread_t ids[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, find, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], &found[i]);
	ok(found[0] && found[0] == found[1] && found[0] == found[2] &&
		   found[0] == found[3],
	   "threads find the same backend");
}

static void copy_file(const char *to, const char *from)
{
	char bytes[4096];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t length;

	if (!in || !out)
		bail("cannot copy %s", from);
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		fwrite(bytes, 1, length, out);
	fclose(in);
	fclose(out);
}

static void set_up(void)
{
	const char *build = getenv("top_builddir");
	char good[4096], path[8000];
	FILE *file;

	snprintf(plugins, sizeof(plugins), "%s/tests/plugins/.libs",
		 build ? build : ".");
	snprintf(good, sizeof(good), "%s/good.so", plugins);
	if (access(good, F_OK) != 0)
		bail("%s is not built", good);
	if (!realpath(plugins, path))
		bail("no folder of plugins");
	snprintf(plugins, sizeof(plugins), "%.2999s", path);
	snprintf(scratch, sizeof(scratch), "%s/gpumem-loader-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(scratch))
		bail("no scratch folder");
	file = fopen(path_of(scratch, "garbage"), "w");
	if (!file)
		bail("no scratch file");
	fputs("this is no library\n", file);
	fclose(file);
	copy_file(path_of(scratch, "Upper"), path_of(scratch, "garbage"));
	mkdir(path_of(scratch, "folder"), 0700);
	copy_file(path_of(scratch, "copy"), good);
	if (symlink(good, path_of(scratch, "link")) != 0)
		bail("no link");
	snprintf(path, sizeof(path), "/nowhere:%s:%s", scratch, plugins);
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
}

static void clean_up(void)
{
	static const char *const files[] = {"garbage", "Upper", "copy", "link"};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_of(scratch, files[i]));
	rmdir(path_of(scratch, "folder"));
	rmdir(scratch);
}

int main(void)
{
	alarm(120);
	unsetenv("GPUMEM_CONF");
	setenv("GPUMEM_BACKEND", "host", 1);
	set_up();
	test_threads();
	test_good();
	test_bad_names();
	test_bad_paths();
	test_future();
	test_visit();
	clean_up();
	return done_testing();
}
