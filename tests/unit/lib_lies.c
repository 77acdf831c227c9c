/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Backends that lie: with each lie of tests/plugins/lies.h a program of its own
 * opens the device, uses a pool and closes all again. Whatever the statuses
 * are, it comes to its end. Where an output is refused, the sentence names the
 * slot.
 */
#include "../plugins/lies.h"
#include "../tap.h"
#include <gpumem/gpumem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 120

/* Not outlived: who ends the process or writes behind a struct is in it. */
static const char *const deadly[] = {
	"info-beyond", "hang", "exit", "crash", "thread", "abort",
};

static bool is_deadly(const char *lie)
{
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		if (!strcmp(deadly[i], lie))
			return true;
	return false;
}

static bool any_process(const struct gpumem_process *process, void *user)
{
	(void)process;
	(void)user;
	return true;
}

static bool refusal_names(const char *text)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	return !text || strstr(error.text, text) != NULL;
}

static const size_t sizes[] = {1, 4096, 1 << 20, 40 << 20};

/* No byte of a block is another's too. */
static void is_apart(void *const block[4])
{
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			if (block[i] && block[j] &&
			    (uintptr_t)block[i] - (uintptr_t)block[j] +
					    sizes[i] - 1 <
				    sizes[i] + sizes[j] - 1)
				_exit(2);
}

/* What a program does, whatever comes of it. */
static void use_pool(gpumem_device *device, gpumem_pool *pool)
{
	gpumem_stream stream = NULL;
	void *block[4] = {NULL};

	(void)!gpumem_stream_create(device, &stream);
	for (int i = 0; i < 4; i++)
		(void)!gpumem_alloc(pool, sizes[i], stream, &block[i]);
	is_apart(block);
	for (int i = 0; i < 4; i++)
		if (block[i])
			(void)!gpumem_free(block[i], i % 2 ? NULL : stream);
	(void)!gpumem_pool_trim(pool, 0, NULL);
	(void)!gpumem_pool_check(pool);
	if (stream)
		(void)!gpumem_stream_destroy(device, stream);
}

/* Two pools at a time; true when a refusal was told. */
static bool use_pools(gpumem_device *device, const char *text)
{
	gpumem_pool *pools[2];
	bool named = false;
	int count = 0;

	while (count < 2 &&
	       gpumem_pool_create(device, NULL, &pools[count]) == GPUMEM_OK) {
		use_pool(device, pools[count++]);
		named = named || refusal_names(text);
	}
	named = named || refusal_names(text);
	while (count)
		(void)!gpumem_pool_destroy(pools[--count], true);
	return named;
}

/* In a process of its own; 0: it came to its end and told what it had to. */
static int tell(const char *lie, const char *plugin, const char *conf,
		const char *text)
{
	gpumem_device *device;
	char name[16];
	bool named;

	alarm(SECONDS);
	setenv("LIE", lie, 1);
	setenv("GPUMEM_CONF", conf, 1);
	if (gpumem_backend_load(plugin, name) != GPUMEM_OK ||
	    gpumem_device_open("liar:0", &device) != GPUMEM_OK)
		return !refusal_names(text);
	(void)!gpumem_device_processes(device, any_process, NULL);
	named = refusal_names(text);
	named = use_pools(device, text) || named;
	(void)!gpumem_device_close(device);
	return !named;
}

/* The sentence that a refused output ends in, or NULL. */
static const char *sentence(const char *lie, const char *conf)
{
	static const struct {
		const char *lie, *conf, *text;
	} known[] = {
		{"zero", "vm:off",
		 "alloc: the backend returned success and no "
		 "address"},
		{"unset", "vm:off",
		 "alloc: the backend returned success and "
		 "no address"},
		{"odd", "vm:off",
		 "alloc: the backend returned success and the "
		 "address"},
		{"address", "vm:off", "beyond 48 bits"},
		{"overlap", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"overlap-half", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"repeat", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"open-unset", NULL,
		 "device_open returned success and no "
		 "device"},
		{"reserve-zero", "vm:on",
		 "va_reserve: the backend returned success and "
		 "no address"},
		{"reserve-unset", "vm:on",
		 "va_reserve: the backend returned success "
		 "and no address"},
		{"reserve-odd", "vm:on",
		 "va_reserve: the backend returned success and "
		 "the address"},
		{"reserve-above", "vm:on", "beyond 48 bits"},
		{"reserve-again", "vm:on",
		 "that liar:0 gave and has not taken back"},
		{"page-again", "vm:on",
		 "page_create: the backend returned success and the page"},
		{"granularity", NULL, "granularity of 3000000 bytes"},
		{"alignment", NULL, "alignment of 0 bytes"},
		{"largest", NULL, "largest allocation is 0 bytes"},
		{"process-null", NULL,
		 "device_processes: the backend returned "
		 "success and no process"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].lie, lie) &&
		    (!known[i].conf || !strcmp(known[i].conf, conf)))
			return known[i].text;
	return NULL;
}

static void check(const char *lie, const char *plugin, const char *conf)
{
	const char *text = sentence(lie, conf);
	int how = 0;
	pid_t pid;

	if (is_deadly(lie))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(tell(lie, plugin, conf, text));
	if (pid < 0 || waitpid(pid, &how, 0) != pid)
		bail("no process");
	ok(how == 0, "%s: the lie \"%s\" is outlived%s (0x%x)", conf, lie,
	   text ? ", and its slot named" : "", (unsigned)how);
}

int main(void)
{
	const char *folder = getenv("top_builddir");
	char plugin[4096];

	snprintf(plugin, sizeof(plugin), "%s/tests/plugins/.libs/liar.so",
		 folder ? folder : ".");
	if (access(plugin, R_OK))
		skip_all("there is no plugin that lies");
	setenv("LIAR_CONF", "host.capacity:1GiB", 1);
#define CHECK(lie, slot, function)                                             \
	check(lie, plugin, "vm:on");                                           \
	check(lie, plugin, "vm:off");
	LIES(CHECK)
#undef CHECK
	return done_testing();
}
