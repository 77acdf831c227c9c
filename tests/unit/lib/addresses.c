/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Addresses: many pools leave most of them to the program, a pool that began
 * with few gets more, and where the process may have few (RLIMIT_AS) a pool
 * works in what there is, or says what would help. Nothing here touches the
 * memory, so a device of 64 GiB costs nothing.
 */
#include "fixture.h"
#include <sys/mman.h>
#include <sys/resource.h>

#define GIB ((uint64_t)1 << 30)

enum { POOLS = 1000, SLOTS = 24 };

static gpumem_pool *pools[POOLS];

/* Addresses for the program itself, by what its malloc would call. */
static bool program_gets(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory != MAP_FAILED && !munmap(memory, bytes);
}

static void set_limit(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit))
		bail("no limits");
	limit.rlim_cur = bytes;
	if (setrlimit(RLIMIT_AS, &limit))
		bail("the limit cannot be set");
}

/* Bytes of addresses that the process has. */
static uint64_t used_addresses(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;

	if (!file || fscanf(file, "%llu", &pages) != 1)
		bail("no /proc/self/statm");
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Takes and frees blocks of many sizes, at random; each is found by an address
 * inside it, and the pool is sound. */
static void work(gpumem_pool *pool, uint64_t most, long steps)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	void *ptr[SLOTS] = {NULL};
	long lost = 0, refused = 0;

	random_seed(7);
	for (long i = 0; i < steps; i++) {
		size_t at = random_below(SLOTS);
		size_t bytes = 1 + random_below(one_in(3) ? most / 64 : most);

		must(gpumem_free(ptr[at], NULL));
		ptr[at] = NULL;
		if (gpumem_alloc(pool, bytes, NULL, &ptr[at])) {
			refused++;
			continue;
		}
		lost += gpumem_query((char *)ptr[at] + bytes - 1, &info) ||
			info.ptr != ptr[at];
	}
	is_int(lost, 0, "each block is found by its last byte");
	diag("%ld of %ld refused", refused, steps);
	sound(pool, "after %ld steps", steps);
	for (size_t i = 0; i < SLOTS; i++)
		must(gpumem_free(ptr[i], NULL));
	(void)trim(pool);
	sound(pool, "and when all is free");
}

/* A pool that has begun with few addresses, and gets more. */
static void test_late(gpumem_pool *pool)
{
	void *ptr = NULL;

	must(gpumem_host_faults("va_reserve@1+"));
	is_status(gpumem_alloc(pool, 40 * GIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "a driver without addresses");
	ok(strstr(last_text(), "va_reserve") &&
		   strstr(last_text(), "range of 42949672960 bytes"),
	   "says: %s", last_text());
	sound(pool, "nothing has changed");
	must(gpumem_host_faults("va_reserve@1"));
	ptr = new_block(pool, 40 * GIB, NULL);
	must(gpumem_host_faults(""));
	must(gpumem_free(ptr, NULL));
	work(pool, 6 * GIB, scaled(2000, 200));
}

static void test_many(void)
{

	device_start("64GiB", true);
	for (int i = 0; i < POOLS; i++) {
		pools[i] = new_pool(0);
		(void)new_block(pools[i], MIB, NULL);
	}
	ok(true, "%d pools on one device", POOLS);
	ok(ADDRESS_SANITIZER || used_addresses() < 34 * 1024 * GIB,
	   "a quarter of all addresses: %llu", (ull)used_addresses());
	if (THREAD_SANITIZER)
		skip("ThreadSanitizer leaves a program few addresses", 2);
	else {
		ok(program_gets(8 * GIB), "the program gets 8 GiB");
		ok(program_gets(4096 * GIB), "and 4 TiB");
	}
	test_late(pools[POOLS - 1]);
	for (int i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pools[i], GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");
}

/* What is given back can be had again: no pool begins with few for ever. */
static void test_returned(void)
{
	uint64_t calls = 0;

	device_start("64GiB", true);
	for (int i = 0; i < 200; i++) {
		gpumem_pool *pool = new_pool(0);

		(void)new_block(pool, 40 * GIB, NULL);
		calls += calls_of(pool, GPUMEM_CALL_VA_RESERVE).count;
		must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	}
	if (THREAD_SANITIZER)
		skip("ThreadSanitizer leaves a program few addresses", 1);
	else
		is_uint(calls, 200, "each has enough at once");
	ok(device_end(), "nothing is left");
}

/* `space` is the most that a pool takes, to the byte. */
static void test_space(void)
{
	gpumem_pool *pool;
	void *ptr = NULL;

	device_start("16GiB", true);
	option("space", "1GiB");
	pool = new_pool(0);
	option("space", NULL);
	is_status(gpumem_alloc(pool, 2 * GIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "more than option `space`");
	ok(strstr(last_text(), "the device has enough, but: ") &&
		   strstr(last_text(), "1073741824 bytes of addresses") &&
		   strstr(last_text(), "option `space`"),
	   "says: %s", last_text());
	must(gpumem_free(new_block(pool, GIB, NULL), NULL));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

static void test_limited(uint64_t limit)
{
	gpumem_pool *pool, *second;

	diag("RLIMIT_AS of %llu bytes", (ull)limit);
	device_start("256MiB", true);
	set_limit(limit);
	pool = new_pool(0);
	second = new_pool(0);
	must(gpumem_free(new_block(pool, 250 * MIB, NULL), NULL));
	work(pool, 60 * MIB, scaled(2000, 200));
	must(gpumem_free(new_block(second, 200 * MIB, NULL), NULL));
	ok(program_gets(limit / 4), "a quarter is left to the program");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_pool_destroy(second, 0));
	set_limit(RLIM_INFINITY);
	ok(device_end(), "nothing is left");
}

/* Too little for any: the sentence has both ways out. */
static void test_none(void)
{
	gpumem_pool *pool = NULL;
	gpumem_status status;

	device_start("256MiB", true);
	set_limit(used_addresses() + MIB);
	status = gpumem_pool_create(device, NULL, &pool);
	set_limit(RLIM_INFINITY);
	is_status(status, GPUMEM_NO_HOST_MEMORY, "no addresses, no pool");
	ok(strstr(last_text(), "ulimit -v") && strstr(last_text(), "vm:off"),
	   "says: %s", last_text());
	is_ptr(pool, NULL, "no output is touched");
	ok(device_end(), "nothing is left");
	device_start("256MiB", false);
	set_limit(used_addresses() + 64 * MIB);
	status = gpumem_pool_create(device, NULL, &pool);
	set_limit(RLIM_INFINITY);
	is_status(status, GPUMEM_OK, "vm:off does");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

/* Many pools in few addresses: all begin, all work, and the program has the
 * rest. What no request needs is a quarter of the limit, but for some MiB of
 * each pool's own. */
static void test_many_limited(uint64_t limit, int count)
{
	uint64_t before, own = 10 * MIB * (uint64_t)count;

	diag("%d pools, RLIMIT_AS of %llu bytes", count, (ull)limit);
	device_start("64GiB", true);
	before = used_addresses();
	set_limit(limit);
	for (int i = 0; i < count; i++) {
		pools[i] = new_pool(0);
		(void)new_block(pools[i], 3 * MIB, NULL);
	}
	ok(used_addresses() - before <= limit / 4 + own,
	   "they take a quarter: %llu", (ull)(used_addresses() - before));
	ok(program_gets(limit / 4), "as much is left to the program");
	work(pools[count - 1], 60 * MIB, scaled(1000, 100));
	for (int i = 0; i < count; i++)
		must(gpumem_pool_destroy(pools[i], GPUMEM_DESTROY_FORCE));
	is_uint(used_addresses() <= before + 64 * MIB, 1, "and give them back");
	set_limit(RLIM_INFINITY);
	ok(device_end(), "nothing is left");
}

/* A pool that cannot get more addresses says so, and works on. */
static void test_no_more(void)
{
	gpumem_pool *pool;
	void *ptr = NULL;

	device_start("256MiB", true);
	set_limit(used_addresses() + 200 * MIB);
	pool = new_pool(0);
	is_status(gpumem_alloc(pool, 250 * MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "no addresses for it");
	set_limit(RLIM_INFINITY);
	ok(strstr(last_text(), "the device has enough, but: ") &&
		   strstr(last_text(), "ulimit -v"),
	   "says: %s", last_text());
	sound(pool, "nothing has changed");
	must(gpumem_free(new_block(pool, 250 * MIB, NULL), NULL));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

/* Before others: what the map of addresses has taken it keeps. */
static void test_limits(void)
{
	if (THREAD_SANITIZER || ADDRESS_SANITIZER) {
		skip("sanitizers take more addresses than the limits", 1);
		return;
	}
	test_limited(3000000000);
	test_limited(8 * GIB);
	test_many_limited(64 * GIB, 40);
	test_many_limited(16 * GIB, 100);
	test_many_limited(4 * GIB, 40);
	test_none();
	test_no_more();
}

int main(void)
{
	if (THREAD_SANITIZER)
		skip_all("ThreadSanitizer leaves a program too few addresses");
	alarm(300);
	test_limits();
	test_space();
	test_many();
	test_returned();
	return done_testing();
}
