/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real GPU: pools of one process beside each other, with the bars of an
 * H200. Growths of 64 MiB of one pool beside a trim of 10 GiB of another take
 * 0.5 ms in the mean and 2 ms at most, and the trim 1.3 times what it takes
 * alone. What the driver alone makes of it is in lock.c. Another number of MiB
 * to be trimmed may be given, and another device. Built and run by
 * tests/device/run.sh.
 */
#include "must.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* The growing pool has so many MiB that stay, as a program's would: beside the
 * fewer of them a block of 64 MiB comes in handles of 4, beside the more in
 * handles of 16, and alone in handles of 2. Between two growths the thread
 * pauses. */
enum { FEW = 2048, MANY = 8192, GROWTH = 64, ROUNDS = 5, MOST = 512 };
static const struct timespec pace = {.tv_nsec = 5000000};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static atomic_bool over;
static gpumem_device *device;

static struct {
	gpumem_pool *pool;
	void *base[MANY / GROWTH], *block[MOST];
	size_t bases, count; /* of blocks */
	double longest, sum;
	size_t times;
} growing;

static struct {
	gpumem_pool *pool;
	void **block;
	size_t bytes, each, count;
} trimmed;

static void grow_once(void)
{
	double us = now_us();

	must(gpumem_alloc(growing.pool, GROWTH * MIB, NULL,
			  &growing.block[growing.count++]));
	us = now_us() - us;
	growing.sum += us;
	growing.times++;
	if (us <= growing.longest)
		return;
	growing.longest = us;
	if (us > 2000)
		diag("growth %zu takes %.3f ms", growing.times, us / 1e3);
}

static void *grow(void *unused)
{
	(void)unused;
	while (!atomic_load(&over) && growing.count < MOST) {
		grow_once();
		nanosleep(&pace, NULL);
	}
	return NULL;
}

static void give_growth_back(void)
{
	while (growing.count)
		must(gpumem_free(growing.block[--growing.count], NULL));
	must(gpumem_pool_trim(growing.pool, 0, NULL));
}

/* Its calls of one kind since forget_growth(), and their milliseconds for each
 * growth. */
static uint64_t calls(unsigned call, double *ms_out)
{
	struct gpumem_call_stats stats = GPUMEM_INIT(struct gpumem_call_stats);

	must(gpumem_pool_calls(growing.pool, call, &stats));
	*ms_out = (double)stats.ns / (double)growing.times / 1e6;
	return stats.count;
}

static void tell_growth(const char *when)
{
	double create, map, reserve;
	uint64_t count = calls(GPUMEM_CALL_PAGE_CREATE, &create);

	(void)calls(GPUMEM_CALL_MAP, &map);
	(void)calls(GPUMEM_CALL_VA_RESERVE, &reserve);
	ok(growing.times && count >= growing.times,
	   "%s: each growth took memory from the driver", when);
	diag("%s: %zu growths of %d MiB in %llu handles, mean %.3f ms (to "
	     "create %.3f, to map %.3f, addresses %.3f), the longest %.3f ms",
	     when, growing.times, GROWTH, (unsigned long long)count,
	     growing.sum / (double)growing.times / 1e3, create, map, reserve,
	     growing.longest / 1e3);
}

static void forget_growth(void)
{
	growing.sum = growing.longest = 0;
	growing.times = 0;
	must(gpumem_pool_reset_stats(growing.pool, GPUMEM_RESET_TOTALS));
}

static void fill_and_free(void)
{
	for (size_t i = 0; i < trimmed.count; i++)
		must(gpumem_alloc(trimmed.pool, trimmed.each, NULL,
				  &trimmed.block[i]));
	for (size_t i = 0; i < trimmed.count; i++)
		must(gpumem_free(trimmed.block[i], NULL));
}

/* In milliseconds, of all that the pool has. */
static double trim(void)
{
	double us = now_us();
	uint64_t released;

	must(gpumem_pool_trim(trimmed.pool, 0, &released));
	us = now_us() - us;
	if (released < trimmed.bytes)
		bail("only %llu bytes were given back",
		     (unsigned long long)released);
	return us / 1e3;
}

static double trim_alone(void)
{
	fill_and_free();
	return trim();
}

static double trim_beside(void)
{
	pthread_t thread;
	double ms;

	fill_and_free();
	atomic_store(&over, false);
	if (pthread_create(&thread, NULL, grow, NULL))
		bail("no thread");
	ms = trim();
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	give_growth_back();
	return ms;
}

static void grow_alone(void)
{
	forget_growth();
	for (int i = 0; i < 40; i++)
		grow_once();
	tell_growth("alone");
	give_growth_back();
}

static void create_pools(size_t each, size_t base_mib)
{
	must(gpumem_pool_create(device, NULL, &growing.pool));
	must(gpumem_pool_create(device, NULL, &trimmed.pool));
	growing.bases = base_mib / GROWTH;
	for (size_t i = 0; i < growing.bases; i++)
		must(gpumem_alloc(growing.pool, GROWTH * MIB, NULL,
				  &growing.base[i]));
	trimmed.each = each;
	trimmed.count = trimmed.bytes / each;
	trimmed.block = calloc(trimmed.count, sizeof(*trimmed.block));
	if (!trimmed.block)
		bail("no memory");
}

static void end_pools(void)
{
	for (size_t i = 0; i < growing.bases; i++)
		must(gpumem_free(growing.base[i], NULL));
	must(gpumem_pool_destroy(growing.pool, 0));
	must(gpumem_pool_destroy(trimmed.pool, 0));
	free(trimmed.block);
}

/* Blocks of so many bytes: of 2 MiB each is a handle, which is the longest row
 * of calls. */
static void test_pools(size_t each, size_t base_mib)
{
	double alone = 0, beside = 0, ratio;

	create_pools(each, base_mib);
	diag("a pool of %zu MiB that grows, and a trim of %zu MiB in blocks of "
	     "%zu MiB",
	     base_mib, trimmed.bytes / MIB, each / MIB);
	(void)trim_alone();
	grow_alone();
	forget_growth();
	for (int i = 0; i < ROUNDS; i++) {
		alone += trim_alone() / ROUNDS;
		beside += trim_beside() / ROUNDS;
	}
	tell_growth("beside");
	ratio = beside / alone;
	ok(growing.sum / (double)growing.times < 500,
	   "beside a trim a growth takes less than 0.5 ms in the mean");
	ok(growing.longest < 2000, "and never 2 ms");
	ok(ratio <= 1.3,
	   "the trim takes %.3f ms alone and %.3f beside, %.3f times", alone,
	   beside, ratio);
	end_pools();
}
int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 10240;
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must(gpumem_device_open(argc > 2 ? argv[2] : NULL, &device));
	must(gpumem_device_get_info(device, &info));
	if (!(info.caps & GPUMEM_CAP_VM))
		skip_all("no virtual memory, so no pages");
	trimmed.bytes = mib * MIB;
	test_pools(2 * MIB, FEW);
	test_pools(GROWTH * MIB, FEW);
	test_pools(2 * MIB, MANY);
	test_pools(GROWTH * MIB, MANY);
	must(gpumem_device_close(device));
	return done_testing();
}
