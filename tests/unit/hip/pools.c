/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each call of AMD's runtime fails once, and then for good, below a program
 * with a pool on two streams, over the doubles of ROCm 5 to 7: whatever fails,
 * frees do not, the pool stays sound, everything can be given back afterwards,
 * and the driver beneath holds what it held before; but for what the runtime
 * itself has refused to take back.
 */
#include "library.h"

enum { BLOCKS = 10, STREAMS = 2 };

static const char *const names[] = {
	"hipDeviceGetStreamPriorityRange",
	"hipEventCreateWithFlags",
	"hipEventDestroy",
	"hipEventQuery",
	"hipEventRecord",
	"hipFree",
	"hipGetDevice",
	"hipMalloc",
	"hipMemAddressFree",
	"hipMemAddressReserve",
	"hipMemCreate",
	"hipMemMap",
	"hipMemRelease",
	"hipMemSetAccess",
	"hipMemUnmap",
	"hipMemcpyAsync",
	"hipMemsetAsync",
	"hipStreamGetCaptureInfo",
	"hipStreamGetDevice",
	"hipStreamSynchronize",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static gpumem_stream stream[STREAMS];
static struct {
	const char *name;
	unsigned nth;
	bool onwards, broken, failed;
	gpumem_pool *pool;
	void *block[BLOCKS];
} run;

#define want(condition, ...)                                                   \
	do {                                                                   \
		if (!(condition))                                              \
			broken(#condition, __VA_ARGS__);                       \
	} while (0)

TAP_PRINTF(2, 3)
void broken(const char *condition, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!run.broken)
		diag("%s@%u%s: %s\n  false: %s\n  last error: %s", run.name,
		     run.nth, run.onwards ? "+" : "", text, condition,
		     last_text());
	run.broken = true;
}

/* True: it worked. Else it was for the runtime's sake, and has a sentence. */
static bool tried(const char *call, gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (!status)
		return true;
	run.failed = true;
	gpumem_last_error(&error);
	want(error.status == status && *error.text, "%s gave %s without a word",
	     call, gpumem_status_name(status));
	want(status == GPUMEM_DRIVER || status == GPUMEM_NO_MEMORY,
	     "%s gave %s", call, gpumem_status_name(status));
	return false;
}

#define TRY(call) tried(#call, (call))

static void take(unsigned number, size_t bytes, gpumem_stream on)
{
	if (!TRY(gpumem_alloc(run.pool, bytes, on, &run.block[number])))
		run.block[number] = NULL;
}

static void give(unsigned number, gpumem_stream on)
{
	void *ptr = run.block[number];

	run.block[number] = NULL;
	want(!ptr || !gpumem_free(ptr, on), "block %u is not freed", number);
}

static void use(unsigned number, gpumem_stream on)
{
	unsigned char bytes[64];
	char *ptr = run.block[number];

	if (!ptr)
		return;
	TRY(gpumem_fill(device, ptr, 7, 64, on));
	TRY(gpumem_copy(device, bytes, ptr, 64, on));
	TRY(gpumem_stream_sync(device, on));
}

/* Small and large blocks on two streams, of which some go while the other
 * stream may still use them. */
static void work(void)
{
	static const size_t bytes[BLOCKS] = {100,     40000,  3 * MIB, 300,
					     5 * MIB, MIB,    8 * MIB, 4096,
					     3 * MIB, 6 * MIB};
	unsigned i;

	for (i = 0; i < BLOCKS / 2; i++)
		take(i, bytes[i], stream[i % STREAMS]);
	use(1, stream[1]);
	use(2, stream[0]);
	for (i = 0; i < BLOCKS / 2; i++)
		if (run.block[i])
			TRY(gpumem_use_on(run.block[i],
					  stream[(i + 1) % STREAMS]));
	for (i = 1; i < BLOCKS / 2; i++)
		give(i, stream[i % STREAMS]);
	TRY(gpumem_pool_trim(run.pool, 0, NULL));
	for (i = BLOCKS / 2; i < BLOCKS; i++)
		take(i, bytes[i], stream[i % STREAMS]);
	give(6, stream[1]);
	take(6, 20 * MIB, stream[0]);
	TRY(gpumem_pool_drop_stream(run.pool, stream[0]));
}

/* Nothing fails any more. */
static void settle(void)
{
	struct gpumem_stats stats = stats_of(run.pool);
	const char *law = unlawful(&stats);
	unsigned i;

	want(!gpumem_pool_check(run.pool), "the pool is not sound");
	want(!law, "%s", law);
	for (i = 0; i < BLOCKS; i++)
		give(i, stream[0]);
	for (i = 0; i < STREAMS; i++)
		want(!gpumem_stream_sync(device, stream[i]), "stream %u", i);
	take(0, 3 * MIB, stream[1]);
	want(run.block[0], "it works again");
	give(0, stream[1]);
	want(!gpumem_stream_sync(device, stream[1]), "the stream works again");
	want(!gpumem_pool_trim(run.pool, 0, NULL), "trim");
	want(!reserved_of(run.pool), "%llu bytes are kept",
	     (unsigned long long)reserved_of(run.pool));
	want(!gpumem_pool_destroy(run.pool, 0), "the pool ends");
	run.pool = NULL;
}

static void program(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	if (!TRY(gpumem_pool_create(device, &config, &run.pool)))
		return;
	work();
	heal();
	settle();
}

/* Whether there was such a call. */
static bool run_once(const char *name, unsigned nth, bool onwards)
{
	struct fakecuda_held before, after;
	uint64_t calls = hip_calls_of(name);

	run.name = name;
	run.nth = nth;
	run.onwards = onwards;
	audit(&before);
	if (!fault(name, nth, onwards, nth % 2 ? 999 : 2))
		bail("the double has no %s", name);
	program();
	heal();
	audit(&after);
	want(!memcmp(&before, &after, sizeof(after)), "something is left");
	return hip_calls_of(name) - calls >= nth;
}

static void sweep(const char *name, bool onwards)
{
	unsigned nth = 1;

	run.broken = run.failed = false;
	while (nth < 400 && !run.broken && run_once(name, nth, onwards))
		nth += nth < 8 ? 1 : (unsigned)scaled(2, 7);
	ok(!run.broken, "%s fails%s, up to call %u", name,
	   onwards ? " from then on" : "", nth - 1);
}

/* HIP has no contexts that a program could have made. */
static void adopts_none(void)
{
	gpumem_device *none = NULL;
	int context;

	is_status(gpumem_device_adopt("hip", &context, NULL, &none),
		  GPUMEM_UNSUPPORTED, "no context is adopted");
	ok(!none && strstr(last_text(), "open a device of it by name"), "%s",
	   last_text());
}

static void checks(void)
{
	uint64_t calls[NAME_COUNT];
	size_t i;

	for (i = 0; i < STREAMS; i++)
		stream[i] = new_stream();
	adopts_none();
	program();
	for (i = 0; i < NAME_COUNT; i++)
		calls[i] = hip_calls_of(names[i]);
	run.name = "nothing";
	program();
	ok(!run.failed && !run.broken, "nothing fails by itself");
	for (i = 0; i < NAME_COUNT; i++) {
		calls[i] = hip_calls_of(names[i]) - calls[i];
		if (!calls[i])
			continue; /* by another release, or at another level */
		sweep(names[i], false);
		sweep(names[i], true);
	}
}

int main(void)
{
	skip_without_doubles();
	on(5, "off", "", checks);
	on(6, "full", "", checks);
	on(6, "single", "", checks);
	on(6, "reserve", "", checks);
	on(7, "full", "", checks);
	return done_testing();
}
