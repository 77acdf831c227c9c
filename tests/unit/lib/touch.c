/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fills and copies that are given what is no memory: on `host` too that is an
 * error, BAD_POINTER when it can be known at once and a lost device when it
 * shows while the work is done, and never a fault in a thread of the library's.
 * What is memory is taken, to its last byte.
 */
#include "child.h"
#include <sys/mman.h>

enum { BYTES = 64 << 10 };

static gpumem_pool *pool;
static gpumem_stream stream;
static char *block, *own;

/* Between two that stay: where it was, no larger mapping finds room, such as
 * that of another thread's heap. */
static char *mapping(int protection)
{
	char *at = mmap(NULL, 3 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	need(at != MAP_FAILED, "no mapping");
	need(!mprotect(at + BYTES, BYTES, protection), "no memory");
	return at + BYTES;
}

/* Addresses at which nothing is. */
static char *nothing(void)
{
	char *at = mapping(PROT_READ | PROT_WRITE);

	munmap(at, BYTES);
	return at;
}

/* Pages 0 and 2 are there. */
static char *with_hole(void)
{
	char *at = mapping(PROT_READ | PROT_WRITE);

	munmap(at + 4096, 4096);
	return at;
}

/* Behind the end of its file. */
static char *behind_end(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	need(fd >= 0 && at != MAP_FAILED, "no file");
	return at;
}

#define bad(call)                                                              \
	do {                                                                   \
		gpumem_status bad_status = (call);                             \
		need(bad_status == GPUMEM_BAD_POINTER, "%s: %s: %s", #call,    \
		     gpumem_status_name(bad_status), last_text());             \
		need(strstr(last_text(), "there is no memory"), "says %s",     \
		     last_text());                                             \
	} while (0)

static void sync_works(void)
{
	works(gpumem_stream_sync(device, stream));
}

/* All of a block, and what a program has of its own. */
static void good_ones(void)
{
	static const char constant[] = "constant";
	char local[16] = "";

	works(gpumem_fill(device, block, 5, MIB, stream));
	works(gpumem_fill(device, block + MIB - 1, 6, 1, stream));
	works(gpumem_copy(device, own, block + MIB - BYTES, BYTES, stream));
	works(gpumem_copy(device, block, constant, sizeof(constant), stream));
	works(gpumem_copy(device, local, block, sizeof(constant), stream));
	works(gpumem_copy(device, block + 3, block, 100, stream));
	works(gpumem_fill(device, nothing(), 1, 0, stream));
	sync_works();
	need(own[0] == 5 && own[BYTES - 2] == 5 && own[BYTES - 1] == 6,
	     "the content");
	need(!strcmp(local, constant), "through the device and back");
}

static void bad_ones(void)
{
	char *hole = with_hole();

	bad(gpumem_fill(device, nothing(), 1, 1, stream));
	bad(gpumem_fill(device, mapping(PROT_NONE), 1, BYTES, stream));
	bad(gpumem_fill(device, mapping(PROT_READ), 1, BYTES, stream));
	bad(gpumem_fill(device, behind_end(), 1, 1, stream));
	bad(gpumem_fill(device, hole, 1, 3 * 4096, stream));
	bad(gpumem_fill(device, hole, 1, 4097, stream));
	bad(gpumem_fill(device, hole + 8191, 1, 2, stream));
	bad(gpumem_copy(device, block, nothing(), BYTES, stream));
	bad(gpumem_copy(device, nothing(), block, BYTES, stream));
	bad(gpumem_copy(device, mapping(PROT_READ), block, BYTES, stream));
	bad(gpumem_copy(device, block, mapping(PROT_NONE), BYTES, stream));
	bad(gpumem_copy(device, own, hole, 3 * 4096, stream));
	bad(gpumem_fill(device, block, 1, (size_t)1 << 40, stream));
	bad(gpumem_copy(device, own, block, SIZE_MAX - 4096, stream));
	sync_works();
}

static void start(const char *conf)
{
	works(gpumem_option_set("host.capacity", "1GiB"));
	if (strstr(conf, "novm"))
		works(gpumem_option_set("vm", "off"));
	if (strstr(conf, "nostreams")) {
		works(gpumem_option_set("host.streams", "off"));
		works(gpumem_option_set("host.capture", "off"));
	}
	works(gpumem_device_open("host:0", &device));
	works(gpumem_pool_create(device, NULL, &pool));
	works(gpumem_alloc(pool, MIB, NULL, (void **)&block));
	own = mapping(PROT_READ | PROT_WRITE);
	stream = NULL;
}

static void at_once(const void *conf)
{
	start(conf);
	if (strstr(conf, "nostreams")) {
		char *late = mapping(PROT_READ | PROT_WRITE);

		mprotect(late + 4096, 4096, PROT_NONE);
		bad(gpumem_fill(device, late, 1, BYTES, NULL));
		bad(gpumem_fill(device, nothing(), 1, 1, NULL));
		works(gpumem_fill(device, block, 5, MIB, NULL));
		return;
	}
	works(gpumem_stream_create(device, &stream));
	good_ones();
	bad_ones();
	/* With pages the pool's addresses go on, without memory. */
	if (!strstr(conf, "novm"))
		bad(gpumem_fill(device, block + 512 * MIB, 1, 1, stream));
	good_ones();
}

static void is_lost(void)
{
	need(gpumem_stream_sync(device, stream) == GPUMEM_LOST, "not LOST");
	need(strstr(last_text(), "taken away after"), "says %s", last_text());
}

/* What nobody can see when it is queued. */
static void later(const void *what)
{
	struct gate gate;

	start("");
	works(gpumem_stream_create(device, &stream));
	gate_launch(&gate, stream, NULL, 0);
	if (strstr(what, "write"))
		works(gpumem_fill(device, own, 1, BYTES, stream));
	else
		works(gpumem_copy(device, block, own, BYTES, stream));
	/* A page: into a larger hole another thread's mapping may go at once.
	 */
	if (strstr(what, "none"))
		mprotect(own + 8192, 4096, PROT_NONE);
	else
		munmap(own + 8192, 4096);
	gate_open(&gate);
	is_lost();
}

/* A block is the pool's until the work is done that was queued before its end.
 */
static void freed_block(const void *arg)
{
	struct gate gate;

	(void)arg;
	start("");
	works(gpumem_stream_create(device, &stream));
	gate_launch(&gate, stream, NULL, 0);
	works(gpumem_fill(device, block, 1, MIB, stream));
	works(gpumem_free(block, stream));
	works(gpumem_pool_trim(pool, 0, NULL));
	gate_open(&gate);
	sync_works();
}

int main(void)
{
	alarm(120);
	in_child(at_once, "", "with pages");
	in_child(at_once, "novm", "without");
	in_child(at_once, "nostreams", "without streams");
	in_child(later, "read", "read after it was unmapped");
	in_child(later, "write", "written after it was unmapped");
	in_child(later, "read none", "read after it was closed off");
	in_child(later, "write none", "written after it was closed off");
	in_child(freed_block, NULL, "a block that is freed meanwhile");
	return done_testing();
}
