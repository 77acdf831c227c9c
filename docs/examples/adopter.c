/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory of a small tensor runtime. Each function is what a part of a
 * framework looks for that comes from another allocator, and checks that it
 * finds it:
 *
 *	cc adopter.c $(pkg-config --cflags --libs gpumem)
 *	GPUMEM_BACKEND=host ./a.out
 *
 * All but the calls of host.h works on any device. Those hold a stream up, so
 * that the device is behind when a check needs that, and stand for the vendor's
 * own calls on objects. docs/calls.md has other allocators' names of the calls.
 */
#include <gpumem/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1u << 20)

static gpumem_device *device;
static gpumem_pool *pool;
static gpumem_stream compute, io;
static size_t total;  /* bytes of the device */
static int number;    /* N of host:N */
static size_t blocks; /* live ones, as the tracer counts them */
static void *cached;  /* a block that can be dropped when memory is short */
static gpumem_pressure_limit met;

static void must(bool holds, const char *sentence)
{
	if (holds)
		return;
	fprintf(stderr, "this does not hold: %s; the last error: %s\n",
		sentence, gpumem_error_text());
	exit(1);
}

#define OK(call) must((call) == GPUMEM_OK, #call)

static struct gpumem_stats stats(void)
{
	struct gpumem_stats now = GPUMEM_INIT(struct gpumem_stats);

	OK(gpumem_pool_stats(pool, &now));
	return now;
}

static gpumem_status take(size_t bytes, uint32_t flags, void **block_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.flags = flags;
	return gpumem_alloc_with(pool, bytes, compute, &options, block_out,
				 NULL);
}

/* The pool is locked: no call of gpumem in here, and no lock needed. */
static void trace(gpumem_pool *of, const struct gpumem_hook_event *event,
		  void *user)
{
	size_t *live = user;

	(void)of;
	*live += event->kind == GPUMEM_HOOK_ALLOC;
	*live -= event->kind == GPUMEM_HOOK_FREE;
}

/* The device that the environment names, and a pool of at most half of it. */
static void open_runtime(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	must(gpumem_version_number() >= 1000, "0.1.0 has all this");
	OK(gpumem_device_open(NULL, &device));
	OK(gpumem_device_get_info(device, &info));
	must(info.caps & GPUMEM_CAP_SIMULATED, "GPUMEM_BACKEND is host");
	total = info.total_bytes;
	number = atoi(strchr(info.name, ':') + 1);
	config.name = "tensors";
	config.soft_limit_percent = 25;
	config.limit_percent = 50;
	OK(gpumem_pool_create(device, &config, &pool));
	OK(gpumem_pool_hook_set(pool, trace, &blocks));
	OK(gpumem_stream_create(device, &compute));
	OK(gpumem_stream_create(device, &io));
	must(stats().limit_bytes == total / 2, "the limit is half the device");
}

static void close_runtime(void)
{
	must(stats().blocks.current == 0 && blocks == 0,
	     "a tracer sees every block come and go");
	OK(gpumem_stream_destroy(device, io));
	OK(gpumem_stream_destroy(device, compute));
	must(gpumem_device_close(device) == GPUMEM_BUSY &&
		     strstr(gpumem_error_text(), gpumem_pool_name(pool)),
	     "the text says what keeps a device open");
	OK(gpumem_pool_destroy(pool, 0));
	OK(gpumem_device_close(device));
}

/* A tensor of zeros that uses all that its block holds, and whose destructor
 * has the pointer alone; and a buffer that is freed with its size. */
static void tensors(void)
{
	unsigned char back[4096] = {1};
	uint64_t held;
	void *zeros, *buffer;

	OK(take(1000, GPUMEM_ALLOC_ZERO | GPUMEM_ALLOC_WHOLE, &zeros));
	OK(gpumem_usable_bytes(zeros, &held));
	must(held >= 1000 && held <= sizeof(back) &&
		     stats().requested.current == held,
	     "all that a block holds is requested");
	OK(gpumem_copy(device, back, zeros, held, compute));
	OK(gpumem_stream_sync(device, compute));
	while (held)
		must(back[--held] == 0, "all that it holds is 0");
	OK(gpumem_alloc(pool, 3 * MIB, compute, &buffer));
	must(gpumem_free_sized(buffer, 2 * MIB, compute) == GPUMEM_INVALID,
	     "a wrong size is refused");
	OK(gpumem_free_sized(buffer, 3 * MIB, compute));
	OK(gpumem_free_own(zeros));
	must(gpumem_free_own(zeros) == GPUMEM_BAD_POINTER,
	     "a second free is refused");
}

/* One stream makes a tensor, another reads it, and it is freed after an event
 * of the vendor's that stands for the read, when neither has begun. */
static void two_streams(void)
{
	static unsigned char back[MIB];
	gpumem_event *event, *imported;
	void *tensor, *next, *native;

	OK(gpumem_event_create(device, &event));
	OK(gpumem_alloc(pool, MIB, compute, &tensor));
	OK(gpumem_host_hold(number, compute, true));
	OK(gpumem_host_hold(number, io, true));
	OK(gpumem_fill(device, tensor, 7, MIB, compute));
	OK(gpumem_event_record(event, compute));
	OK(gpumem_stream_wait(device, io, event));
	OK(gpumem_copy(device, back, tensor, MIB, io));
	OK(gpumem_event_record(event, io));
	OK(gpumem_event_native(event, &native));
	OK(gpumem_event_import(device, native, &imported));
	OK(gpumem_free_after(tensor, imported));
	OK(gpumem_event_destroy(imported));
	must(gpumem_event_query(event) == GPUMEM_NOT_READY,
	     "one stream waits for the other");
	OK(gpumem_alloc(pool, MIB, compute, &next));
	must(next != tensor && stats().pending_bytes >= MIB,
	     "what an event keeps is not given out");
	OK(gpumem_host_hold(number, compute, false));
	OK(gpumem_host_hold(number, io, false));
	OK(gpumem_event_sync(event));
	must(back[0] == 7 && back[MIB - 1] == 7, "the fill came first");
	OK(gpumem_pool_trim(pool, 0, NULL));
	must(stats().pending_bytes == 0, "the event is over");
	OK(gpumem_free_own(next));
	OK(gpumem_event_destroy(event));
}

/* A buffer that grows with each token, where it lies if that is possible. */
static void growing(void)
{
	unsigned char first = 0;
	uint64_t held = MIB;
	void *buffer, *moved;

	OK(gpumem_alloc(pool, held, compute, &buffer));
	OK(gpumem_fill(device, buffer, 9, 1, compute));
	while (held < 16 * MIB) {
		gpumem_status status =
			gpumem_resize(buffer, held + MIB, compute, &held);

		if (status == GPUMEM_OK)
			continue;
		must(status == GPUMEM_BUSY, "resize succeeds or is BUSY");
		OK(gpumem_alloc(pool, held + MIB, compute, &moved));
		OK(gpumem_copy(device, moved, buffer, held, compute));
		OK(gpumem_free_own(buffer));
		buffer = moved;
		held += MIB;
	}
	OK(gpumem_resize(buffer, 5 * MIB, compute, &held));
	must(held >= 5 * MIB && held < 16 * MIB, "a large block shrinks");
	OK(gpumem_copy(device, &first, buffer, 1, compute));
	OK(gpumem_stream_sync(device, compute));
	must(first == 9, "what grows keeps its content");
	OK(gpumem_free_own(buffer));
}

/* Drops the cached block. */
static bool drop(gpumem_pool *of, const struct gpumem_pressure *pressure,
		 void *user)
{
	void **block = user, *dropped = *block;

	(void)of;
	met = pressure->limit;
	*block = NULL;
	return dropped && gpumem_free_own(dropped) == GPUMEM_OK;
}

/* At the soft limit there is something to drop, later nothing. */
static void limits(void)
{
	void *block, *more;

	OK(gpumem_pool_pressure_add(pool, drop, &cached));
	OK(gpumem_alloc(pool, total / 5, compute, &cached));
	OK(gpumem_alloc(pool, total / 5, compute, &block));
	must(met == GPUMEM_PRESSURE_SOFT && !cached, "the cache makes room");
	OK(gpumem_pool_set_soft_limit(pool, 0));
	OK(gpumem_pool_set_limit_percent(pool, 50));
	must(gpumem_alloc(pool, total / 2, compute, &more) == GPUMEM_LIMIT &&
		     met == GPUMEM_PRESSURE_HARD,
	     "the callback learns of the hard limit");
	OK(gpumem_pool_set_limit_percent(pool, 0));
	must(gpumem_alloc(pool, total, compute, &more) == GPUMEM_NO_MEMORY &&
		     met == GPUMEM_PRESSURE_DEVICE,
	     "the callback learns of a full device");
	OK(gpumem_pool_pressure_remove(pool, drop, &cached));
	OK(gpumem_free_own(block));
}

/* Where latency counts: no driver call for memory, and no waiting. */
static void hurry(void)
{
	uint64_t released;
	void *block;

	OK(gpumem_device_trim(device, 0, NULL));
	must(take(total / 2, GPUMEM_ALLOC_NO_GROW, &block) == GPUMEM_NO_MEMORY,
	     "an empty pool has nothing to give without growth");
	OK(gpumem_pool_set_limit_percent(pool, 60));
	OK(gpumem_alloc(pool, total / 2, compute, &block));
	OK(gpumem_free_own(block));
	OK(take(total / 2, GPUMEM_ALLOC_NO_GROW, &block));
	OK(gpumem_host_hold(number, io, true));
	OK(gpumem_fill(device, block, 0, 1, io));
	OK(gpumem_use_on(block, io));
	OK(gpumem_free_own(block));
	must(take(total / 2, GPUMEM_ALLOC_NO_WAIT, &block) == GPUMEM_LIMIT,
	     "a block that io uses is not waited for");
	OK(gpumem_alloc(pool, total / 2, compute, &block));
	OK(gpumem_host_hold(number, io, false));
	OK(gpumem_free_own(block));
	/* It comes after the work of io. */
	OK(gpumem_stream_sync(device, compute));
	OK(gpumem_device_trim(device, 0, &released));
	must(released >= total / 2 && stats().reserved.current == 0,
	     "a trim of the device leaves nothing unused");
}

static void append(const char *text, void *report)
{
	strncat(report, text, 16383 - strlen(report));
}

/* What a scheduler asks before a job, and what a log keeps: for people, and as
 * JSON. */
static void reports(void)
{
	static char report[16384];
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	void *block;

	OK(gpumem_pool_capacity(pool, compute, &capacity));
	must(capacity.now_bytes <= capacity.max_alloc_bytes, "now is not ever");
	OK(gpumem_alloc(pool, capacity.now_bytes, compute, &block));
	OK(gpumem_free_own(block));
	OK(gpumem_pool_print(pool, 0, append, report));
	OK(gpumem_pool_print(pool, GPUMEM_PRINT_JSON, append, report));
	must(strstr(report, ": tensors") && strstr(report, ": \"tensors\""),
	     "both reports have the pool's name");
	fputs(report, stdout);
}

/* A device in the program's own context, and the context behind it. */
static void contexts(void)
{
	int context, native; /* stand for a cl_context and a cl_device_id */
	void *its_context, *its_native;
	gpumem_device *adopted;

	OK(gpumem_device_adopt("host", &context, &native, &adopted));
	OK(gpumem_device_native(adopted, &its_context, &its_native));
	must(its_context == &context && its_native == &native,
	     "what was adopted is behind the device");
	OK(gpumem_device_close(adopted));
}

/* The free function of a program whose blocks are the vendor's objects. */
static gpumem_status release(void *object)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	gpumem_status status = gpumem_view_block(device, object, &block);

	return status == GPUMEM_OK ? gpumem_free_own(block.ptr) : status;
}

static void objects(void)
{
	unsigned char *seen; /* by a kernel that takes the object */
	void *block, *object;

	OK(gpumem_alloc(pool, 1000, compute, &block));
	OK(gpumem_view(block, &object));
	OK(gpumem_fill(device, block, 5, 1000, compute));
	OK(gpumem_stream_sync(device, compute));
	seen = gpumem_host_object_memory(object);
	must(seen[0] == 5 && seen[999] == 5, "an object is its block's memory");
	OK(release(object));
	must(release(object) == GPUMEM_BAD_POINTER, "a block is freed once");
}

int main(void)
{
	/* A small GPU has its limits near. */
	OK(gpumem_option_set("host.capacity", "256MiB"));
	open_runtime();
	tensors();
	two_streams();
	growing();
	limits();
	hurry();
	reports();
	contexts();
	close_runtime();
	OK(gpumem_option_set("host.objects", "on"));
	open_runtime();
	objects();
	close_runtime();
	return 0;
}
