/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The attack: random calls of every public function, with right and wrong
 * arguments, against the simulated GPU. rows.h lists the functions and what
 * each may return; blocks.c, pools.c, describe.c, devices.c, streams.c,
 * events.c, share.c, library.c and host.c make the calls; pick.c draws
 * arguments; judge.c looks at what came of a call; world.c has the devices,
 * pools and streams; attack.c is the program. It is not the model of valid
 * programs (tests/model), and not the soak of threads and faults. One
 * thread; all follows from the seed.
 *
 * What is undefined is not tried: handles of pools, graphs and devices that are
 * gone, pointers to no memory for what the library reads or writes, memory that
 * is filled after it was freed.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include "../tap.h"
#include <gpumem/backend.h>
#include <gpumem/host.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define B(name) (1u << -(GPUMEM_##name))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	DEVICES = 3, /* host:0, host:1, and one that is adopted */
	STREAMS = 5, /* of a device; the first is the default one */
	POOLS = 6,
	GRAPHS = 4,
	BLOCKS = 256,
	IMPORTS = 8,
	HELD = 16, /* objects that the program retains */
	OFFERS = 2,
	OFFER_FDS = 16,
	ROWS_MAX = 160,
	PROBE = 128 /* bytes written and read at each end of a block */
};

typedef unsigned long long ull;

struct configuration {
	const char *name;
	bool vm, streams, objects;
	int devices;
};

struct device {
	gpumem_device *handle; /* NULL: not open */
	unsigned opens;
	uint32_t caps;
	gpumem_stream stream[STREAMS];
	bool there[STREAMS], captured[STREAMS];
};

/* requested, allocated and count are of its live blocks. */
struct pool {
	gpumem_pool *handle; /* NULL: none */
	struct device *device;
	bool usual; /* the device's default pool */
	uint32_t shareable;
	gpumem_kind kind;
	uint64_t requested, allocated, count;
};

struct graph {
	gpumem_graph *handle; /* NULL: none */
	struct pool *pool;
	bool begun[STREAMS];
};

struct block {
	void *ptr;
	uint64_t requested, bytes;
	struct pool *pool;
	int stream;  /* of the pool's device; -1: none of those there are */
	void *user;  /* its word */
	bool marked; /* both ends hold `value` */
	uint8_t value;
};

/* What another process has exported. */
struct offer {
	struct gpumem_shared shared;
	int fds[OFFER_FDS];
};

struct world {
	const struct configuration *configuration;
	struct device device[DEVICES];
	struct pool pool[POOLS];
	struct graph graph[GRAPHS];
	struct block block[BLOCKS];
	unsigned blocks;
	struct offer offer[OFFERS];
	unsigned offers;
	void *import[IMPORTS]; /* one entry for each that is open */
	unsigned imports;
	void *held[HELD];
	unsigned helds;
	unsigned descriptors; /* open at the start */
	bool faulty;	      /* calls of the driver fail */
	bool outside;	      /* other programs have memory of the device */
};

/* A function: what its comment says that it may return, OK and INVALID and
 * FORKED apart. */
struct row {
	const char *name;
	void (*call)(void);
	unsigned weight, said;
};

/* What is drawn for one call. wrong: the statuses that fit what is wrong with
 * its arguments, if anything is; perhaps: those that may come besides. */
struct step {
	const struct row *row;
	unsigned wrong, perhaps;
	bool writes_always; /* its outputs are written on failure, too */
};

/* How often each row worked and was refused, in all processes. */
struct tally {
	uint64_t worked[ROWS_MAX], refused[ROWS_MAX];
};

extern struct tally *tally;
extern struct world world;
extern struct step step;
extern const struct row rows[];
extern const size_t row_count;

/* ---- attack.c: ends the process that found something ---- */

__attribute__((noreturn, format(printf, 2, 3))) void
found(const char *at, const char *format, ...);
#define expect(condition, ...)                                                 \
	do {                                                                   \
		if (!(condition))                                              \
			found(TAP_HERE ": false: " #condition, __VA_ARGS__);   \
	} while (0)
/* What the world itself needs, while no call is made to fail. */
#define must(call) expect(!(call), "it must work")

/* ---- judge.c ---- */

/* Memory for an output that is looked at after the call. `bytes` 0 to 4096;
 * a struct's size is sometimes wrong, and the pointer sometimes NULL. */
void *out_plain(size_t bytes);
void *out_struct(size_t bytes);
/* As the first, or NULL, which is fine. */
void *out_or_null(size_t bytes);
void judge_begin(const struct row *row);
/* After the call. True: it worked. */
bool judge(gpumem_status status);
void judge_string(const char *text);
void judge_pools(void);	  /* checks and statistics of all */
void judge_content(void); /* of some blocks */

/* ---- pick.c ---- */

void random_seed(uint64_t seed);
uint64_t random_below(uint64_t end);
bool one_in(uint64_t n);
void wrong(unsigned statuses);
bool rarely(void); /* whether an argument is to be a wrong one */

struct device *pick_device(void); /* NULL: the argument is */
struct pool *pick_pool(void);	  /* likewise */
struct pool *pick_any_pool(void); /* one that is there */
struct block *pick_block(void);	  /* NULL: there is none */
gpumem_stream pick_stream(const struct device *device, int *index_out);
void *pick_pointer(struct block **block_out); /* of a block, or of nothing */
void *pick_nowhere(void);		      /* no memory is there */
uint64_t pick_bytes(void);
uint64_t pick_pool_bytes(void); /* of a pool's limit, page or rest */
const char *pick_text(void);
const char *pick_bad_text(void);
int pick_number(struct device **device_out); /* of a device */
bool any_stop(void);			     /* what a callback returns */

/* ---- describe.c ---- */

void recording_end(void); /* if there is one */

/* ---- events.c ---- */

bool events_keep(const struct device *device); /* it has some */
void events_end(struct device *device);	       /* destroys them */

/* ---- tags.c ---- */

/* By how much a block may grow before it passes the limit of its tag or of one
 * around it, if it had `given` bytes fewer. */
uint64_t tag_room(const struct block *block, uint64_t given);

/* ---- world.c, exporter.c ---- */

void world_begin(const struct configuration *configuration);
void world_end(void);
/* Some call of the slot of backend.h fails from now on; NULL: of any slot. */
void world_fail(const char *slot);
void world_quiet(void); /* none fails any more */
/* For what a call has queued on a stream that may be none of the device's. */
void world_wait(const struct device *device, gpumem_stream stream);
void device_opened(struct device *device, gpumem_device *handle);
void device_gone(struct device *device);
void device_need(struct device *device);
struct pool *pool_new(struct device *device, gpumem_pool *handle);
struct pool *pool_room(void);
void pool_gone(struct pool *pool);
void block_add(struct pool *pool, void *ptr, uint64_t bytes, uint64_t alignment,
	       int stream);
/* It has another size now; what it held is checked before. */
void block_resize(struct block *block, uint64_t bytes);
void block_remove(struct block *block);
void block_mark(struct block *block);
void block_verify(struct block *block);
/* A new one holds zeros. */
void block_zeroed(struct pool *pool, void *ptr, uint64_t bytes, int stream);
bool stream_idle(const struct device *device, int stream); /* waits for it */

void exporter_start(const struct configuration *configuration);
void exporter_end(void);

static inline gpumem_device *device_of(const struct device *device)
{
	return device ? device->handle : NULL;
}

static inline gpumem_pool *pool_of(const struct pool *pool)
{
	return pool ? pool->handle : NULL;
}

static inline bool has(const struct device *device, uint32_t caps)
{
	return device && (device->caps & caps) == caps;
}

#endif
