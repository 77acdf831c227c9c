/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A model of the public interface: random programs that are right, on simulated
 * GPUs whose streams do what is queued when the program steps them, and what is
 * right after each step, known without a look at the library's inside. Of each
 * queued work the model knows which memory it uses, and what that must hold; of
 * each stream what it comes after; so of memory that the library hands out or
 * gives back it knows which work must be over by then, or come before.
 *
 *     order.c    streams, events, and which work comes before which
 *     work.c     what work does: reads and writes of blocks; its look at what
 *                must be over
 *     block.c    live blocks: their birth, uses and end
 *     cover.c    what the end of a block waits for
 *     capture.c  what captures see
 *     graph.c    graphs: made, launched, destroyed
 *     exam.c     statistics, walks and tags, compared with the model's own
 *     blocks.c, frees.c, streams.c, pools.c   the steps, a call or a few each
 *     options.c  what a seed draws before
 *     world.c    devices, pools; the beginning and the end
 *     history.c  what happened to an address
 *     shrink.c   fewer steps that still fail
 *     model.c    the program: a process for each seed
 *
 * It is not the attack, which calls with wrong arguments, nor the soak of
 * threads. One thread: streams are held, and their work runs in it. All follows
 * from the seed; what a step draws follows from the seed and its number alone,
 * so that steps can be left out.
 */
#ifndef MODEL_H
#define MODEL_H

#include "../tap.h"
#include <gpumem/host.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	DEVICES = 2,
	STREAMS = 5, /* of a device; the first is the default one */
	POOLS = 6,
	BLOCKS = 192,
	GRAPHS = 3, /* at one time */
	EVENTS = 4, /* of a device */
	TAGS = 4,   /* the first: none */
	NODES = 48, /* of a captured graph */
	CLAIMS = 64,
	STEPS_MAX = 4096
};

typedef unsigned long long ull;

/* For each stream of a device up to which of its work: the work of a stream is
 * numbered from 1 on. */
struct clock {
	uint64_t at[STREAMS];
};

struct stream {
	gpumem_stream handle;
	uint64_t queued, done;	 /* the last number */
	struct clock before;	 /* what comes before what is queued next */
	struct capture *capture; /* the blocks go to its graph; NULL: none */
	bool captured;		 /* and the driver captures the stream */
};

struct event {
	gpumem_event *handle; /* NULL: there is none */
	struct clock stands_for;
	int stream; /* that it was recorded on */
};

struct device {
	int number;
	gpumem_device *handle;
	struct stream stream[STREAMS];
	struct event event[EVENTS];
	gpumem_event *scratch; /* of stream_after() */
};

struct gauge {
	uint64_t current, peak, total;
};

struct pool {
	gpumem_pool *handle; /* NULL: none */
	struct device *device;
	gpumem_kind kind;
	uint64_t limit, soft; /* 0: none */
	struct gauge requested, allocated, blocks;
	struct gauge tag_bytes[TAGS], tag_blocks[TAGS];
	uint64_t tag_limit[TAGS];
	uint64_t ooms;
	uint64_t crossed; /* bytes that may be pending */
};

/* Memory that work uses. A read expects the stamp, a write leaves it. */
struct access {
	uintptr_t address;
	uint64_t bytes, stamp, block;
	uint64_t shape;	    /* bytes when its words were placed; 0: the same */
	bool writes, looks; /* looks: it must be what it was */
};

/* Work that must be over when some other begins. */
struct claim {
	const struct work *work;
	uint64_t id;
	uintptr_t address;
	int stream;
	uint64_t number;
};

struct work {
	uint64_t id, step;
	struct device *device;
	int stream;
	uint64_t number, ticket; /* the model's and the driver's */
	struct work *next;	 /* queued and not over, oldest first */
	unsigned accesses, claims;
	struct access *access;
	struct claim *claim;
};

/* What one capture saw. */
struct capture {
	struct graph *graph;
	bool open, real;    /* real: the driver captures, too */
	struct clock after; /* what a launch must come after */
	unsigned nodes, claims;
	struct access node[NODES];
	struct claim claim[CLAIMS];
	struct capture *next; /* of the graph */
};

struct graph {
	gpumem_graph *handle; /* NULL: none */
	struct pool *pool;
	struct capture *captures;
	struct clock launches; /* the last on each stream */
	uint64_t number;
};

struct block {
	uint64_t id;
	uintptr_t address;
	uint64_t requested, bytes;
	struct pool *pool;
	int stream;		 /* that it was allocated on */
	bool gone;		 /* which was dropped since */
	unsigned used_on;	 /* a mask of streams */
	bool shared;		 /* some of which are gone */
	struct clock covered;	 /* what else its free waits for */
	struct capture *capture; /* it was born in; NULL: none */
	unsigned tag;
	uint64_t stamp, node_stamp; /* the second: in its capture; 0: none */
	bool known;    /* it holds the stamp, once its work is over */
	uint64_t born; /* the work that was the last then */
};

struct configuration {
	bool vm, wait, faults, captures, capture_frees;
	bool tell;  /* the library tells of each out of memory */
	bool large; /* blocks of some MiB */
	unsigned pools;
};

struct world {
	uint64_t seed, step, steps;
	struct configuration configuration;
	struct device device[DEVICES];
	struct pool pool[POOLS];
	struct graph graph[GRAPHS];
	struct block block[BLOCKS];
	unsigned blocks;
	struct work *first, **last; /* queued and not over */
	uint64_t works, ids, graphs;
	uint32_t tag[TAGS];
	uint64_t fits;	/* of the last out of memory */
	bool armed;	/* a call of the driver is to fail */
	bool failed;	/* one may have */
	uint64_t draws; /* in this step */
	const struct work *running;
};

extern struct world world;

/* ---- model.c, history.c: ends the process that found something ---- */

__attribute__((noreturn, format(printf, 3, 4))) void
found(const char *at, uintptr_t address, const char *format, ...);
#define expect_at(condition, address, ...)                                     \
	do {                                                                   \
		if (!(condition))                                              \
			found(TAP_HERE, address, __VA_ARGS__);                 \
	} while (0)
#define expect(condition, ...) expect_at(condition, 0, __VA_ARGS__)
/* What the model itself needs. */
#define must(call)                                                             \
	do {                                                                   \
		gpumem_status must_status = (call);                            \
		expect(!must_status, "%s: %s", #call,                          \
		       gpumem_status_name(must_status));                       \
	} while (0)

/* A line of the history; bytes 0: of no address. */
__attribute__((format(printf, 3, 4))) void
say(uintptr_t address, uint64_t bytes, const char *format, ...);
/* The lines that concern an address, and the last ones. */
void history(uintptr_t address, char *text, size_t room);
extern bool say_aloud;

/* ---- world.c ---- */

void random_step(uint64_t number);
uint64_t random_below(uint64_t end);
bool one_in(uint64_t n);
/* For picks that stay when other steps are left out. */
uint64_t weight_of(uint64_t id);

void options_draw(void); /* options.c */
void world_begin(void);
void world_end(void);
void pool_create(struct pool *pool);
struct pool *pick_pool(void);
const char *name_of(const struct pool *pool);
unsigned number_of(const struct pool *pool);
/* Around one call of the library, some of whose driver calls may fail. */
void fault_arm(void);
void fault_disarm(void);
#define perhaps_failing(status, call)                                          \
	do {                                                                   \
		fault_arm();                                                   \
		(status) = (call);                                             \
		fault_disarm();                                                \
	} while (0)
/* The status of a call that is right can be no other than this, unless the
 * driver failed. */
void judge(const char *what, gpumem_status status);

/* ---- order.c ---- */

void clock_merge(struct clock *clock, const struct clock *with);
/* What comes before whatever is queued on the stream next. */
struct clock clock_of(const struct device *device, int stream);
bool is_over(const struct work *work);
bool comes_before(const struct work *work, const struct clock *clock);
/* What is queued on `second` from now on comes after the work. False: a capture
 * forbids it. */
bool stream_after(struct device *device, int second, const struct work *work);
bool stream_after_all(struct device *device, int second,
		      const struct clock *clock);
void stream_new(struct device *device, int stream);
void stream_step(struct device *device, int stream, uint64_t number);
void stream_sync_all(struct device *device);
int pick_stream(void);
void event_record(struct device *device, struct event *event, int stream);
/* False: a capture forbids it. */
bool event_wait(struct device *device, int stream, struct event *event);

/* ---- work.c ---- */

/* Queues work; its accesses and claims are copied. */
struct work *work_queue(struct device *device, int stream,
			const struct access *access, unsigned accesses,
			const struct claim *claim, unsigned claims);
bool work_touches(const struct work *work, uintptr_t address, uint64_t bytes);
/* What is queued, uses that memory, and does not come before what the stream
 * does next as far as the model knows. */
unsigned claims_on(const struct device *device, int stream, uintptr_t address,
		   uint64_t bytes, struct claim *claim);
/* Whether the memory that queued work uses is there. */
void work_mapped(void);
void work_begin(void);
/* Of a block that has nothing queued. */
void stamp_verify(const struct block *block);

/* ---- block.c ---- */

struct block *block_born(struct pool *pool, void *ptr, uint64_t requested,
			 uint64_t alignment, int stream, unsigned tag);
struct block *pick_block(const struct pool *pool); /* NULL: of any */
/* Is the work a use of the block? */
bool block_has(const struct block *block, const struct work *work);
/* Reads or writes it on a stream, in order. False: that cannot be now. */
bool block_use(struct block *block, int stream, bool writes);
/* What a free on the stream waits for (-1: of its own). */
struct clock block_cover(const struct block *block, int stream);
/* Makes it so that it waits for all. False: that cannot be now. */
bool block_covered(struct block *block, int stream, const struct clock *more);
/* After a resize. */
void block_kept(struct block *block, const struct block *old);
void block_dead(struct block *block, bool crossed);
void block_claim(struct block *block, int stream, uintptr_t address,
		 uint64_t bytes);
bool block_busy(const struct block *block);
/* It was born in a capture that goes on. */
bool in_capture(const struct block *block);
void pool_count(struct pool *pool, unsigned tag, int64_t requested,
		int64_t allocated, int blocks);
/* The stream is gone from the pool (NULL: from all of the device). */
void blocks_dropped(const struct device *device, const struct pool *pool,
		    int stream);

/* ---- graph.c ---- */

bool graph_node(struct block *block, int stream, bool writes);
void graph_claim(struct capture *capture, int stream, uintptr_t address,
		 uint64_t bytes);
void step_graph(void);
void graphs_end(struct device *device); /* all captures */
void graphs_forget(const struct pool *pool);
bool graph_destroy(struct graph *graph);
bool pool_has_graphs(const struct pool *pool);
void capture_begin(struct graph *graph); /* or one more */
void capture_end(struct capture *capture);

/* ---- exam.c ---- */

void exam_counters(const struct pool *pool);
void exam_walk(const struct pool *pool);
void exam_pending(const struct pool *pool, uintptr_t address);
void exam_all(void);
void exam_quiet(const struct pool *pool);
void peaks_reset(struct pool *pool, bool totals);

/* ---- steps ---- */

void step_alloc(void);
void step_free(void);
void step_use(void);
void step_use_on(void);
void step_resize(void);
void step_verify(void);
void step_run(void);
void step_event(void);
void step_stream(void);
void step_trim(void);
void step_limit(void);
void step_capacity(void);
void step_pool(void);
void step_quiet(void);
void step_tag_limit(void);
void step_reset(void);
void step_largest(void);

/* ---- shrink.c ---- */

/* Leaves out steps while run() still fails in the same way. */
void shrink(bool *keep, size_t steps, bool (*run)(void));

#endif
