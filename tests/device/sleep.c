/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: how fast a pool falls asleep and wakes up, by turns
 * with one pinned copy of as many bytes in the same process, and whether all
 * comes back; and of what it is made (sleep_parts.h). 8 and 32 GiB in blocks of
 * 1 KiB to 1 GiB to pinned memory that is retained; 8 GiB to ordinary memory,
 * and to such that is retained; 64 GiB that are dropped; 10 GiB among 90 GiB
 * that are free; 2 GiB of which each 64 KiB lie between as much that is free.
 * With an argument also 8 GiB to a file in that folder; with a second one only
 * so many GiB, retained. It decides nothing but the content and what the device
 * has. Takes a minute and a half, 101 GiB of device memory and 40 GiB of the
 * host's. Built and run by tests/device/run.sh.
 */
#include "sleep_parts.h"

#include <stdlib.h>

/* Words of 64 bits that say where they are, and a sum that depends on it. */
static const char ptx[] =
	".version 7.0\n"
	".target sm_52\n"
	".address_size 64\n"
	".visible .entry fill(.param .u64 at, .param .u64 words,\n"
	"	.param .u64 seed)\n"
	"{\n"
	".reg .u64 %a, %n, %i, %s, %p, %v, %step;\n"
	".reg .u32 %t, %b, %d, %g;\n"
	".reg .pred %over;\n"
	"ld.param.u64 %a, [at];\n"
	"ld.param.u64 %n, [words];\n"
	"ld.param.u64 %s, [seed];\n"
	"mov.u32 %t, %tid.x;\n"
	"mov.u32 %b, %ctaid.x;\n"
	"mov.u32 %d, %ntid.x;\n"
	"mov.u32 %g, %nctaid.x;\n"
	"mul.wide.u32 %i, %b, %d;\n"
	"cvt.u64.u32 %v, %t;\n"
	"add.u64 %i, %i, %v;\n"
	"mul.wide.u32 %step, %d, %g;\n"
	"again:\n"
	"setp.ge.u64 %over, %i, %n;\n"
	"@%over bra done;\n"
	"add.u64 %v, %i, %s;\n"
	"mul.lo.u64 %v, %v, 0x9e3779b97f4a7c15U;\n"
	"shl.b64 %p, %i, 3;\n"
	"add.u64 %p, %p, %a;\n"
	"st.global.u64 [%p], %v;\n"
	"add.u64 %i, %i, %step;\n"
	"bra again;\n"
	"done:\n"
	"ret;\n"
	"}\n"
	".visible .entry sum(.param .u64 at, .param .u64 words,\n"
	"	.param .u64 seed, .param .u64 out)\n"
	"{\n"
	".reg .u64 %a, %n, %i, %s, %p, %v, %w, %step, %all, %o;\n"
	".reg .u32 %t, %b, %d, %g;\n"
	".reg .pred %over;\n"
	"ld.param.u64 %a, [at];\n"
	"ld.param.u64 %n, [words];\n"
	"ld.param.u64 %s, [seed];\n"
	"ld.param.u64 %o, [out];\n"
	"mov.u32 %t, %tid.x;\n"
	"mov.u32 %b, %ctaid.x;\n"
	"mov.u32 %d, %ntid.x;\n"
	"mov.u32 %g, %nctaid.x;\n"
	"mul.wide.u32 %i, %b, %d;\n"
	"cvt.u64.u32 %v, %t;\n"
	"add.u64 %i, %i, %v;\n"
	"mul.wide.u32 %step, %d, %g;\n"
	"mov.u64 %all, 0;\n"
	"again:\n"
	"setp.ge.u64 %over, %i, %n;\n"
	"@%over bra done;\n"
	"shl.b64 %p, %i, 3;\n"
	"add.u64 %p, %p, %a;\n"
	"ld.global.u64 %v, [%p];\n"
	"add.u64 %w, %i, %s;\n"
	"shl.b64 %w, %w, 1;\n"
	"add.u64 %w, %w, 1;\n"
	"mul.lo.u64 %v, %v, %w;\n"
	"add.u64 %all, %all, %v;\n"
	"add.u64 %i, %i, %step;\n"
	"bra again;\n"
	"done:\n"
	"atom.global.add.u64 %v, [%o], %all;\n"
	"ret;\n"
	"}\n";

enum { MOST = 65536, SMALL = 2048 };

static const size_t sizes[] = {1 * GIB,	 256 * MIB, 64 * MIB,  16 * MIB,
			       4 * MIB,	 1 * MIB,   256 << 10, 64 << 10,
			       16 << 10, 4 << 10,   1 << 10};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static CUfunction fill_kernel, sum_kernel;
static gpumem_device *device;
static gpumem_pool *pool;
static struct {
	CUdeviceptr at;
	size_t bytes;
} block[MOST];
static int count;
static CUdeviceptr out;
static struct gpumem_slept slept;

static void launch(CUfunction kernel, int i)
{
	uint64_t words = block[i].bytes / 8, seed = (uint64_t)i << 32;
	void *arguments[] = {&block[i].at, &words, &seed, &out};
	unsigned blocks = words > 256 * 1024 ? 1024 : (unsigned)(words / 256);

	CALL(cuLaunchKernel(kernel, blocks ? blocks : 1, 1, 1, 256, 1, 1, 0,
			    NULL, arguments, NULL));
}

static void fill_all(void)
{
	for (int i = 0; i < count; i++)
		launch(fill_kernel, i);
	CALL(cuCtxSynchronize());
}

static uint64_t sum_all(void)
{
	uint64_t sum;

	CALL(cuMemsetD32(out, 0, 2));
	for (int i = 0; i < count; i++)
		launch(sum_kernel, i);
	CALL(cuCtxSynchronize());
	CALL(cuMemcpyDtoH(&sum, out, sizeof(sum)));
	return sum;
}

static void add(size_t bytes)
{
	void *ptr;

	if (count == MOST)
		bail("too many blocks");
	must(gpumem_alloc(pool, bytes, NULL, &ptr));
	block[count].at = (CUdeviceptr)(uintptr_t)ptr;
	block[count++].bytes = bytes;
}

/* Of all sizes, and the rest of the largest. */
static uint64_t add_all(uint64_t bytes)
{
	uint64_t left = bytes;

	count = 0;
	for (int i = SIZES - 1; i > 0; i--)
		for (uint64_t n = 0; n < SMALL && n < bytes / 16 / sizes[i];
		     n++, left -= sizes[i])
			add(sizes[i]);
	for (; left >= sizes[0]; left -= sizes[0])
		add(sizes[0]);
	return bytes - left;
}

static void free_all(void)
{
	for (int i = 0; i < count; i++)
		must(gpumem_free((void *)(uintptr_t)block[i].at, NULL));
	count = 0;
	must(gpumem_pool_trim(pool, 0, NULL));
}

static size_t device_free(void)
{
	size_t now, total;

	CALL(cuMemGetInfo(&now, &total));
	return now;
}

static double rate(uint64_t bytes, double ms)
{
	return (double)bytes / 1e6 / ms;
}

/* ---- one pinned copy ---- */

static void *pinned;
static CUdeviceptr mirror;
static const size_t piece = 4 * GIB;

static double copy_ms(uint64_t bytes, bool down)
{
	double begin = now_ms();

	for (uint64_t done = 0; done < bytes; done += piece) {
		size_t now = bytes - done < piece ? bytes - done : piece;

		if (down)
			CALL(cuMemcpyDtoHAsync(pinned, mirror, now, NULL));
		else
			CALL(cuMemcpyHtoDAsync(mirror, pinned, now, NULL));
	}
	CALL(cuStreamSynchronize(NULL));
	return now_ms() - begin;
}

/* ---- sleep and wake ---- */

static struct gpumem_call_stats before[GPUMEM_CALL_COUNT];

static struct gpumem_call_stats calls_of(unsigned call)
{
	struct gpumem_call_stats calls = GPUMEM_INIT(struct gpumem_call_stats);

	must(gpumem_pool_calls(pool, call, &calls));
	return calls;
}

static void note_calls(void)
{
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++)
		before[i] = calls_of(i);
}

/* Since they were noted. */
static void tell_calls(void)
{
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		struct gpumem_call_stats calls = calls_of(i);

		if (calls.count > before[i].count)
			diag("  %s: %llu, %.2f ms", gpumem_call_name(i),
			     (unsigned long long)(calls.count -
						  before[i].count),
			     (double)(calls.ns - before[i].ns) / 1e6);
	}
}

static double sleep_ms(uint32_t flags, const char *folder)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	double begin;

	options.flags = flags;
	options.folder = folder;
	note_calls();
	begin = now_ms();
	slept = GPUMEM_INIT(struct gpumem_slept);
	must(gpumem_pool_sleep(pool, &options, &slept));
	return now_ms() - begin;
}

static double wake_ms(void)
{
	double begin;

	note_calls();
	begin = now_ms();
	slept = GPUMEM_INIT(struct gpumem_slept);
	must(gpumem_pool_wake(pool, 0, &slept));
	return now_ms() - begin;
}

static void tell(const char *what, double ms)
{
	diag("%s: %.0f ms; waited %.1f, copied %.1f (%.1f GB/s), mapped %.1f; "
	     "%.2f GiB kept, %.2f GiB of the device",
	     what, ms, (double)slept.wait_ns / 1e6, (double)slept.copy_ns / 1e6,
	     slept.copy_ns ? rate(slept.kept_bytes, (double)slept.copy_ns / 1e6)
			   : 0,
	     (double)slept.map_ns / 1e6, (double)slept.kept_bytes / (double)GIB,
	     (double)slept.device_bytes / (double)GIB);
	tell_calls();
}

static void test_turns(const char *name, uint64_t bytes, uint32_t flags,
		       const char *folder, int rounds)
{
	uint64_t live = add_all(bytes), sum;
	size_t before;

	fill_all();
	sum = sum_all();
	before = device_free();
	diag("%s: %.2f GiB in %d blocks", name, (double)live / (double)GIB,
	     count);
	for (int i = 0; i < rounds; i++) {
		double down = copy_ms(live, true), up = copy_ms(live, false);
		double ms = sleep_ms(flags, folder), woke;

		tell(i ? "sleep" : "first sleep", ms);
		is_uint(slept.kept_bytes, live, "all was copied");
		/* But for what the driver needs to pin as much of the host. */
		ok(device_free() - before >= live - live / 64,
		   "the device has it");
		woke = wake_ms();
		tell("wake", woke);
		diag("%s: pinned copy %.1f and %.1f GB/s, sleep %.1f and wake "
		     "%.1f GB/s: %.2f and %.2f of it",
		     name, rate(live, down), rate(live, up), rate(live, ms),
		     rate(live, woke), down / ms, up / woke);
		ok(sum_all() == sum, "the content is as it was");
	}
	free_all();
}

static void test_drop(void)
{
	uint32_t tag;
	uint64_t sum;

	must(gpumem_tag_intern("dropped", &tag));
	must(gpumem_tag_set_sleep(tag, GPUMEM_SLEEP_DROP));
	must(gpumem_tag_set(tag));
	for (int i = 0; i < 64; i++)
		add(GIB);
	must(gpumem_tag_set(0));
	for (int i = 0; i < 3; i++) {
		fill_all();
		tell("dropping 64 GiB", sleep_ms(0, NULL));
		is_uint(slept.kept_bytes, 0, "nothing was copied");
		tell("waking them", wake_ms());
		fill_all();
		sum = sum_all();
		ok(sum == sum_all(), "they can be used");
	}
	free_all();
}

/* Of so many blocks every nth lives. */
static void test_sparse(const char *what, int blocks, size_t bytes, int nth)
{
	uint64_t sum;
	int kept = 0;

	for (int i = 0; i < blocks; i++)
		add(bytes);
	for (int i = 0; i < blocks; i++)
		if (i % nth)
			must(gpumem_free((void *)(uintptr_t)block[i].at, NULL));
		else
			block[kept++] = block[i];
	count = kept;
	fill_all();
	sum = sum_all();
	diag("%s", what);
	for (int i = 0; i < 2; i++) {
		tell("they sleep", sleep_ms(GPUMEM_SLEEP_RETAIN, NULL));
		is_uint(slept.kept_bytes, (uint64_t)kept * bytes,
			"what lives was copied");
		tell("they wake", wake_ms());
		ok(sum_all() == sum, "they are as they were");
	}
	free_all();
}

static void test_all(const char *folder)
{
	tell_parts();
	test_turns("8 GiB, retained", 8 * GIB, GPUMEM_SLEEP_RETAIN, NULL, 3);
	test_turns("32 GiB, retained", 32 * GIB, GPUMEM_SLEEP_RETAIN, NULL, 2);
	test_drop();
	test_sparse("10 GiB of 100", 100, GIB, 10);
	test_sparse("2 GiB of 4, in runs of 64 KiB", 65536, 64 << 10, 2);
	test_turns("8 GiB, pageable", 8 * GIB, GPUMEM_SLEEP_PAGEABLE, NULL, 2);
	test_turns("8 GiB, pageable, retained", 8 * GIB,
		   GPUMEM_SLEEP_PAGEABLE | GPUMEM_SLEEP_RETAIN, NULL, 3);
	if (folder)
		test_turns("8 GiB, a file", 8 * GIB, GPUMEM_SLEEP_RETAIN,
			   folder, 2);
}

int main(int argc, char **argv)
{
	(void)start_cuda();
	fill_kernel = load_kernel(ptx, "fill");
	sum_kernel = load_kernel(ptx, "sum");
	CALL(cuMemAlloc(&out, 16));
	CALL(cuMemAlloc(&mirror, piece));
	CALL(cuMemHostAlloc(&pinned, piece, 0));
	must(gpumem_device_open("cuda:0", &device));
	must(gpumem_pool_create(device, NULL, &pool));
	if (argc > 2)
		test_turns("retained", strtoull(argv[2], NULL, 10) * GIB,
			   GPUMEM_SLEEP_RETAIN, NULL, 2);
	else
		test_all(argc > 1 ? argv[1] : NULL);
	must(gpumem_pool_check(pool));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	return done_testing();
}
