/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Planted leaks are found with the line of this file that they were allocated
 * in, as addr2line(1) tells it: by a report on demand, by what has grown
 * between two marks, and by the BUSY of a pool.
 */
#include "leaks.h"

#if !defined(__GLIBC__)
int main(void)
{
	skip_all("the C library has no unwinder");
	return EXIT_SUCCESS;
}
#else

#define NOINLINE __attribute__((noinline))

static gpumem_pool *pool;
static int line; /* of the last planted leak */

static NOINLINE void *plant(size_t bytes)
{
	void *ptr = NULL;

	line = __LINE__ + 1;
	must(gpumem_alloc(pool, bytes, NULL, &ptr));
	return ptr;
}

static NOINLINE void *plant_aligned(size_t bytes)
{
	void *ptr = NULL;

	line = __LINE__ + 1;
	must(gpumem_alloc_aligned(pool, bytes, 4096, NULL, &ptr));
	return ptr;
}

static NOINLINE void *plant_with(size_t bytes)
{
	void *ptr = NULL;

	line = __LINE__ + 1;
	must(gpumem_alloc_with(pool, bytes, NULL, NULL, &ptr, NULL));
	return ptr;
}

/* "leaks_stack.c:26", or what else addr2line says. */
static void place_of(const char *module, const char *offset, char *to,
		     size_t room)
{
	char command[1200], said[1200] = "";
	const char *name;
	FILE *pipe;

	snprintf(command, sizeof(command), "addr2line -e '%s' %s", module,
		 offset);
	pipe = popen(command, "r");
	if (!pipe || !fgets(said, sizeof(said), pipe))
		diag("addr2line says nothing");
	if (pipe)
		pclose(pipe);
	/* A folder's name may have a blank; after the line may come
	 * " (discriminator 1)". */
	name = strrchr(said, '/');
	name = name ? name + 1 : said;
	snprintf(to, room, "%.*s", (int)strcspn(name, " \n"), name);
}

static void expected(char *to, size_t room)
{
	snprintf(to, room, "leaks_stack.c:%d", line);
}

/* The first group of the last report is the last leak. */
static void is_planted(const char *what)
{
	char want[64], got[64];

	expected(want, sizeof(want));
	place_of(leaks.group[0].module, leaks.group[0].offset, got,
		 sizeof(got));
	is_str(got, want, "%s", what);
}

static void test_report(void)
{
	void *(*const plants[])(size_t) = {plant, plant_aligned, plant_with};

	for (unsigned i = 0; i < 3; i++) {
		void *small = plants[i](100), *large = plants[i](MIB);

		leaks_read(pool, 0, 0);
		ok(leaks.live_blocks == 2 && leaks.group[0].frames >= 2,
		   "%llu blocks, %u frames", leaks.live_blocks,
		   leaks.group[0].frames);
		is_planted("a leak is found in its line");
		must(gpumem_free(large, NULL));
		leaks_read(pool, 0, 0);
		is_planted("a small one, too");
		must(gpumem_free(small, NULL));
	}
	leaks_read(pool, 0, 0);
	is_uint(leaks.count, 0, "what is freed is no leak");
}

/* A loop that leaks one in four, in a program with much else. */
static void test_grown(void)
{
	void *kept[40], *leak[10];
	uint64_t mark[3];

	for (unsigned i = 0; i < 40; i++)
		kept[i] = new_block(pool, 100000, NULL);
	/* volatile: all turns leak in the same line of machine code. */
	for (volatile unsigned i = 0; i < 2; i++) {
		mark[i] = gpumem_leak_mark();
		for (volatile unsigned j = 0; j < 20; j++)
			if (j % 4)
				must(gpumem_free(new_block(pool, 70000, NULL),
						 NULL));
			else
				leak[i * 5 + j / 4] = plant(50);
	}
	mark[2] = gpumem_leak_mark();
	for (unsigned i = 0; i < 2; i++) {
		leaks_read(pool, mark[i], mark[i + 1]);
		ok(leaks.count == 1 && leaks.group[0].blocks == 5 &&
			   leaks.group[0].bytes == 250,
		   "%u groups have grown, the first by %llu blocks",
		   leaks.count, leaks.group[0].blocks);
		is_planted("what has grown is found in its line");
	}
	leaks_read(pool, mark[0], 0);
	is_uint(leaks.group[0].blocks, 10, "it grows steadily");
	for (unsigned i = 0; i < 40; i++)
		must(gpumem_free(kept[i], NULL));
	for (unsigned i = 0; i < 10; i++)
		must(gpumem_free(leak[i], NULL));
}

/* " from NAME+0x..." of the sentence; NAME is this program's. */
static void test_busy(void)
{
	void *ptr = plant_with(5000);
	char want[64], got[64], path[1024], offset[32];
	const char *from, *plus;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY, "it has a block");
	from = strstr(last_text(), " from ");
	plus = from ? strchr(from, '+') : NULL;
	if (!plus)
		bail("%s", last_text());
	snprintf(offset, sizeof(offset), "%.*s",
		 (int)strspn(plus + 1, "0123456789abcdefx"), plus + 1);
	ok(!strncmp(from + 6, strrchr(path, '/') + 1,
		    (size_t)(plus - from - 6)),
	   "BUSY names the module: %s", last_text());
	expected(want, sizeof(want));
	place_of(path, offset, got, sizeof(got));
	is_str(got, want, "and the line");
	must(gpumem_free(ptr, NULL));
}

static bool can_tell_lines(void)
{
	char said[64], path[1024];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (system("addr2line --version >/dev/null 2>&1"))
		return false;
	path[length > 0 ? length : 0] = '\0';
	leaks_read(pool, 0, 0);
	place_of(leaks.group[0].module, leaks.group[0].offset, said,
		 sizeof(said));
	return *said && *said != '?';
}

int main(void)
{
	void *ptr;

	alarm(240);
	device_start("256MiB", true);
	pool = new_pool(0);
	must(gpumem_pool_track_begin(pool, 16));
	ptr = plant(10);
	if (!can_tell_lines()) {
		skip_all("no addr2line, or the program has no lines");
		return EXIT_SUCCESS;
	}
	must(gpumem_free(ptr, NULL));
	test_report();
	test_grown();
	test_busy();
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left behind");
	return done_testing();
}
#endif
