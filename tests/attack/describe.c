/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls that say what a pool is, and those about limits and all pools of a
 * device. */
#include "attack.h"
#include "rows.h"

#include <unistd.h>

void attack_gpumem_pool_name(void)
{
	struct pool *pool = pick_pool();

	expect(!gpumem_pool_name(pool_of(pool)) == !pool, "a pool's name");
}

void attack_gpumem_pool_device(void)
{
	struct pool *pool = pick_pool();

	expect(gpumem_pool_device(pool_of(pool)) ==
		       (pool ? pool->device->handle : NULL),
	       "a pool of another device");
}

/* What it promises a thread without a tag is tried, where nothing fails: what
 * is free goes by the tag's fate, and of a tag's limit it knows nothing. */
static void try_now(struct pool *pool, gpumem_stream stream)
{
	struct gpumem_capacity room = GPUMEM_INIT(struct gpumem_capacity);
	uint32_t tag = gpumem_tag_get();
	void *ptr = NULL;

	must(gpumem_tag_set(0));
	must(gpumem_pool_capacity(pool->handle, stream, &room));
	expect(!gpumem_alloc(pool->handle, room.now_bytes, stream, &ptr),
	       "%llu bytes cannot be had: %s", (ull)room.now_bytes,
	       gpumem_error_text());
	must(gpumem_free(ptr, stream));
	must(gpumem_tag_set(tag));
}

void attack_gpumem_pool_capacity(void)
{
	struct pool *pool = pick_pool();
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);
	struct gpumem_capacity *out = out_struct(sizeof(*out));

	if (!judge(gpumem_pool_capacity(pool_of(pool), stream, out)))
		return;
	expect(out->now_bytes <= out->max_alloc_bytes, "%llu now of %llu",
	       (ull)out->now_bytes, (ull)out->max_alloc_bytes);
	if (!world.faulty && index >= 0)
		try_now(pool, stream);
}

/* The braces of JSON that are open, outside strings: all are closed. */
struct braces {
	int depth;
	bool quoted, escaped;
};

static void count_brace(struct braces *braces, char c)
{
	if (braces->quoted) {
		braces->quoted = c != '"' || braces->escaped;
		braces->escaped = c == '\\' && !braces->escaped;
		return;
	}
	braces->quoted = c == '"';
	braces->depth += (c == '{') - (c == '}');
}

static void look(const char *text, void *user)
{
	for (; *text; text++) {
		expect((unsigned char)*text >= ' ' || *text == '\n',
		       "byte %#x in a report", (unsigned char)*text);
		count_brace(user, *text);
	}
}

/* A call that prints: how, and what it printed. */
struct printing {
	unsigned flags;
	void (*write)(const char *text, void *user);
	struct braces braces;
};

static struct printing pick_printing(void)
{
	struct printing printing = {.flags = one_in(2) ? GPUMEM_PRINT_JSON : 0,
				    .write = look};

	if (rarely()) {
		wrong(B(INVALID));
		printing.write = NULL;
	}
	if (rarely()) {
		wrong(B(INVALID));
		printing.flags |= 2u << random_below(31);
	}
	return printing;
}

static void judge_printing(const struct printing *printing,
			   gpumem_status status)
{
	(void)judge(status);
	expect(!(printing->flags & GPUMEM_PRINT_JSON) ||
		       printing->braces.depth == 0,
	       "%d braces are open", printing->braces.depth);
}

void attack_gpumem_pool_print(void)
{
	struct pool *pool = pick_pool();
	struct printing as = pick_printing();

	judge_printing(&as, gpumem_pool_print(pool_of(pool), as.flags, as.write,
					      &as.braces));
}

void attack_gpumem_device_report(void)
{
	struct device *device = pick_device();
	struct printing as = pick_printing();

	judge_printing(&as, gpumem_device_report(device_of(device), as.flags,
						 as.write, &as.braces));
}

void attack_gpumem_pool_track_begin(void)
{
	struct pool *pool = pick_pool();
	unsigned frames = one_in(2) ? 0 : (unsigned)random_below(65);

	if (rarely()) {
		wrong(B(INVALID));
		frames = 65 + (unsigned)random_below(1 << 20);
	}
	(void)judge(gpumem_pool_track_begin(pool_of(pool), frames));
}

void attack_gpumem_pool_track_end(void)
{
	(void)judge(gpumem_pool_track_end(pool_of(pick_pool())));
}

static uint64_t last_mark;

void attack_gpumem_leak_mark(void)
{
	uint64_t mark = gpumem_leak_mark();

	expect(mark && mark >= last_mark, "mark %llu after %llu", (ull)mark,
	       (ull)last_mark);
	last_mark = mark;
}

void attack_gpumem_pool_print_leaks(void)
{
	struct pool *pool = pick_pool();
	uint64_t since = one_in(2) ? 0 : last_mark;
	uint64_t until = one_in(2) ? 0 : gpumem_leak_mark();
	struct printing as = pick_printing();

	step.perhaps |= since || until ? B(INVALID) : 0; /* not tracked */
	judge_printing(&as,
		       gpumem_pool_print_leaks(pool_of(pool), since, until,
					       as.flags, as.write, &as.braces));
}

void attack_gpumem_pool_set_limit_percent(void)
{
	struct pool *pool = pick_pool();
	unsigned hard = one_in(2) ? 0 : (unsigned)random_below(101);

	step.perhaps |= hard ? B(INVALID) : 0; /* less than a page */
	if (rarely()) {
		wrong(B(INVALID));
		hard = 101 + (unsigned)random_below(1 << 20);
	}
	(void)judge(gpumem_pool_set_limit_percent(pool_of(pool), hard));
}

void attack_gpumem_pool_set_soft_limit_percent(void)
{
	struct pool *pool = pick_pool();
	unsigned soft = one_in(2) ? 0 : (unsigned)random_below(101);

	if (rarely()) {
		wrong(B(INVALID));
		soft = 101 + (unsigned)random_below(1 << 20);
	}
	(void)judge(gpumem_pool_set_soft_limit_percent(pool_of(pool), soft));
}

void attack_gpumem_device_trim(void)
{
	struct device *device = pick_device();
	uint64_t *out = out_plain(sizeof(uint64_t));

	if (!out)
		step.wrong = device ? 0 : B(INVALID);
	step.writes_always = true;
	step.perhaps |= B(INVALID); /* a stream's, of which there is none */
	(void)judge(gpumem_device_trim(device_of(device),
				       random_below(256 * MIB), out));
}

void attack_gpumem_trim(void)
{
	uint64_t *out = out_plain(sizeof(uint64_t));

	if (!out)
		step.wrong = 0;
	step.writes_always = true;
	step.perhaps |= B(INVALID); /* a stream's, of which there is none */
	(void)judge(gpumem_trim(out));
}

static void hear(gpumem_pool *handle, const struct gpumem_hook_event *event,
		 void *user)
{
	const struct pool *pool = user;

	expect(event->size == sizeof(*event) && event->ptr &&
		       event->requested_bytes <= event->bytes,
	       "a hook is told of %llu bytes of %llu",
	       (ull)event->requested_bytes, (ull)event->bytes);
	expect(pool->handle == handle, "a hook of another pool");
}

void attack_gpumem_pool_hook_set(void)
{
	struct pool *pool = pick_pool();

	(void)judge(gpumem_pool_hook_set(pool_of(pool), one_in(2) ? hear : NULL,
					 pool));
}

/* A file of memory that nobody else sees; with no descriptor left there is
 * none. */
/* attack.c removes it. */
static const char *recording_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/gpumem-attack.%ld.recording",
		 (long)getpid());
	return path;
}

void recording_end(void)
{
	gpumem_status status = gpumem_record_end();

	expect(!status || status == GPUMEM_INVALID, "no end of a recording");
}

void attack_gpumem_record_begin(void)
{
	const char *path = recording_path();
	uint64_t bytes = one_in(4) ? 2 * MIB : MIB + random_below(64 * MIB);

	step.perhaps |= B(BUSY);
	if (rarely()) {
		path = one_in(4) ? NULL : "/nowhere/at/all";
		wrong(B(INVALID) | B(BUSY));
	} else if (rarely()) {
		bytes = 1 + random_below(MIB - 1);
		wrong(B(INVALID) | B(BUSY));
	} else {
		step.perhaps |= B(INVALID); /* no descriptor, or limit */
	}
	(void)judge(gpumem_record_begin(path, bytes));
}

void attack_gpumem_record_end(void)
{
	step.perhaps |= B(INVALID);
	(void)judge(gpumem_record_end());
}
