/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file of option `oom`: a line for each allocation that fails, whether the
 * program has set a function or not, and what it is not written to. What the
 * function is told is in oom.c.
 */
#include "oom.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[] = "/tmp/gpumem-oom-XXXXXX";

static size_t lines_of(const char *path)
{
	static char line[1 << 18];
	FILE *file = fopen(path, "r");
	size_t lines = 0;

	if (!file)
		return 0;
	for (; fgets(line, sizeof(line), file); lines++) {
		line[strcspn(line, "\n")] = '\0';
		ok(json_whole(line), "line %zu is JSON", lines + 1);
	}
	fclose(file);
	return lines;
}

/* The soft one; what is larger ends the program. */
static void must_limit(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		bail("no limit");
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		bail("no limit");
}

/* What the name has become since the option was set: it is left alone, and the
 * error is that of the allocation. */
static void fails_alike(gpumem_pool *pool, const char *what)
{
	void *none = NULL;

	is_status(gpumem_alloc(pool, 17 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "to %s", what);
	ok(strstr(last_text(), " out of memory"), "the error stays");
}

static void test_no_file(gpumem_pool *pool)
{
	char target[80], victim[80];

	snprintf(target, sizeof(target), "%s/target", folder);
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	close(open(victim, O_WRONLY | O_CREAT, 0600));
	option("oom", target);
	if (mkfifo(target, 0600))
		bail("no fifo");
	fails_alike(pool, "a pipe that nobody reads");
	is_status(gpumem_option_set("oom", target), GPUMEM_INVALID,
		  "the option is refused now");
	ok(strstr(last_text(), "no ordinary file"), "with why: %s",
	   last_text());
	unlink(target);
	if (symlink(victim, target))
		bail("no link");
	fails_alike(pool, "a symbolic link");
	is_uint(lines_of(victim), 0, "which is not followed");
	is_status(gpumem_option_set("oom", target), GPUMEM_INVALID,
		  "the option is refused now");
	unlink(target);
	if (link(victim, target))
		bail("no link");
	fails_alike(pool, "a file with two names");
	is_uint(lines_of(victim), 0, "which is left alone");
	unlink(target);
	unlink(victim);
	is_status(gpumem_option_set("oom", "/nowhere/at/all"), GPUMEM_INVALID,
		  "where there is no folder");
	ok(strstr(last_text(), "/nowhere/at/all\" cannot be written: No such"),
	   "is known at once: %s", last_text());
	is_status(gpumem_option_set("leaks", "/nowhere/at/all"), GPUMEM_INVALID,
		  "that of leaks, too");
	fails_alike(pool, "the file that was set last");
	ok(access(target, F_OK) == 0, "which is made");
	unlink(target);
}

static void test_file(void)
{
	char given[80], path[80];
	gpumem_pool *pool = new_pool(16 * MIB);
	unsigned calls = told.calls;
	gpumem_status status;
	void *none = NULL;

	snprintf(given, sizeof(given), "%s/%%p.json", folder);
	snprintf(path, sizeof(path), "%s/%ld.json", folder, (long)getpid());
	option("oom", given);
	for (int i = 0; i < 2; i++)
		is_status(gpumem_alloc(pool, 17 * MIB, NULL, &none),
			  GPUMEM_LIMIT, "beyond the limit");
	is_uint(lines_of(path), 2, "a line for each in %s", path);
	is_uint(told.calls, calls + 2, "the function is called as well");
	gpumem_oom_set(NULL, NULL);
	is_status(gpumem_alloc(pool, 17 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "without a function");
	is_uint(lines_of(path), 3, "the file has it");
	unlink(path);

	test_no_file(pool);
	/* Nothing is printed meanwhile: that may go to a file, too. */
	option("oom", given);
	must_limit(100);
	status = gpumem_alloc(pool, 17 * MIB, NULL, &none);
	must_limit(RLIM_INFINITY);
	is_status(status, GPUMEM_LIMIT, "where files may not be so large");
	is_uint(lines_of(path), 0, "nothing is written");
	unlink(path);
	option("oom", "");
	is_status(gpumem_alloc(pool, 17 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "empty: none");
	option("oom", NULL);
	gpumem_oom_set(told_note, &told);
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	alarm(60);
	if (!mkdtemp(folder))
		bail("no folder");
	gpumem_oom_set(told_note, &told);
	device_start("64MiB", true);
	test_file();
	ok(device_end(), "nothing is left");
	rmdir(folder);
	return done_testing();
}
