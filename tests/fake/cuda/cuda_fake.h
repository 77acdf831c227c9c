/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the double of NVIDIA's driver: what its files share. It holds
 * beliefs about the real driver and nothing of gpumem. Where a comment says
 * "seen", driver 580 on an H200 did so; the rest is cuda.h's documentation.
 *
 * One mutex guards everything. A call is
 *
 *	CUresult cuDoThat(int x)
 *	{
 *		FAKE_CALL(cuDoThat, do_that(x));
 *	}
 *
 * which counts it, applies faults, and runs do_that() under the
 * mutex. Only two places release it: a host function, and a wait.
 */
#ifndef GPUMEM_TESTS_CUDA_FAKE_H
#define GPUMEM_TESTS_CUDA_FAKE_H

#include "../common/environment.h"
#include "../common/fault.h"
#include "../common/lock.h"
#include "../common/object.h"
#include "../common/span.h"
#include "cuda_symbols.h"
#include "fakecuda.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define FAKE_VISIBLE_OLD __attribute__((visibility("default")))
#ifdef FAKECUDA_OLD
#define FAKE_VISIBLE_NEW __attribute__((visibility("hidden")))
#else
#define FAKE_VISIBLE_NEW __attribute__((visibility("default")))
#endif
#define FAKE_DECLARE(name, type, age)                                          \
	extern FAKE_VISIBLE_##age __typeof__(*(type)NULL) name;
FAKE_SYMBOLS(FAKE_DECLARE)
#undef FAKE_DECLARE

enum fake_call {
#define FAKE_NAME(name, type, age) FAKE_##name,
	FAKE_SYMBOLS(FAKE_NAME)
#undef FAKE_NAME
		FAKE_CALLS
};

#define FAKE_CALL(name, body)                                                  \
	do {                                                                   \
		CUresult result = fake_enter(FAKE_##name);                     \
		if (result == CUDA_SUCCESS)                                    \
			result = (body);                                       \
		return fake_leave(result);                                     \
	} while (0)

#define FAKE_DEVICES_MAX 8
#define FAKE_GRANULE ((uint64_t)2 << 20)

/* ---- The whole ------------------------------------------------------------
 */

struct fake_device {
	uint64_t used_bytes;  /* whole granules */
	uint64_t small_bytes; /* in blocks that small allocations share */
	uint64_t graph_bytes; /* for graphs; charged */
	uint64_t graph_high_bytes, graph_live_high_bytes;
	int fd;		      /* all its memory that is not for export */
	uint64_t next_offset; /* in fd; never used twice */
	struct fake_context *primary;
	unsigned retained;
	struct fake_pool *pool, *default_pool; /* NULL: not used yet */
};

struct fake_state {
	pthread_cond_t changed; /* a queue moved, or a context was lost */
	bool initialised, shut_down, forked;
	bool vmm, peers, async, stepping, strict;
	int host_node;	   /* -1: none */
	int decompresses;  /* by which algorithms */
	int pinned_node;   /* see fakecuda_pinned_node() */
	bool recycle;	   /* the next context gets `recycled` */
	uint64_t recycled; /* the handle of the last that was destroyed */
	uint64_t vacant;   /* address of a node that is gone; 0: none */
	int device_count, version, init_result;
	uint64_t capacity_bytes; /* of each device */
	uint64_t waits;
	struct fake_device devices[FAKE_DEVICES_MAX];
};

extern struct fake_state fake;

/* Both leave the mutex locked, whatever they return; fake_leave() unlocks. */
CUresult fake_enter(enum fake_call call);
CUresult fake_leave(CUresult result);
/* A host function is running in this thread. */
extern _Thread_local bool fake_in_host_function;

void fake_latency_configure(void);
/* How long the call is to take. */
uint64_t fake_latency_ns(enum fake_call call);

/* What handles are of. */
enum fake_kind {
	FAKE_CONTEXT = 1,
	FAKE_STREAM,
	FAKE_EVENT,
	FAKE_GRAPH,
	FAKE_EXEC,   /* a graph that can be launched */
	FAKE_HANDLE, /* of memory */
	FAKE_POOL
};

/* ---- Contexts -------------------------------------------------------------
 */

struct fake_context {
	struct fake_object object;
	int device;
	CUresult lost;	/* 0: healthy; else what every call says */
	unsigned peers; /* bit for each device it may reach */
	bool primary;
	uint64_t id;			/* no two have the same */
	struct fake_stream *legacy;	/* NULL: not used yet */
	struct fake_stream *per_thread; /* one for all threads */
};

/* NULL: no memory. */
struct fake_context *fake_context_new(CUdevice device, bool primary);
/* With it goes what belongs to it; its work is dropped. Memory that was made
 * by cuMemCreate stays. */
void fake_context_destroy(struct fake_context *context);
/* The current context of the thread: 201 when there is none, 709 when it was
 * destroyed, and its own error when it is lost. */
CUresult fake_context_current(struct fake_context **context_out);
/* With FAKECUDA_STRICT whether it is the current one, else true: of what
 * belongs to a context. */
bool fake_context_may(const struct fake_context *context);
/* As above; 0 also when there is none: for calls that need no context. */
CUresult fake_context_healthy(void);
void fake_context_lose(struct fake_context *context, CUresult code);
/* False: 101. */
bool fake_device_good(CUdevice device);

/* ---- Memory ---------------------------------------------------------------
 */

/* Physical memory: a piece of a memory file. Goes when nobody refers to it. */
#define FAKE_FOR_DECOMPRESSION 2 /* of what handles and pools are used for */

struct fake_chunk {
	int fd;
	bool own_fd;  /* for export, or imported: the whole file is this */
	bool charged; /* gives its bytes back to the device when it goes */
	bool decompresses; /* it may be used for that */
	int device;
	uint64_t offset, bytes;
	unsigned refs;		    /* handles + mappings */
	struct fake_handle *handle; /* NULL: it was released, or imported */
};

struct fake_handle {
	struct fake_object object;
	struct fake_chunk *chunk;
	CUmemAllocationHandleType types;
	unsigned retained; /* releases that it takes before the last */
};

/* NULL: *result_out says why. */
struct fake_chunk *fake_chunk_new(int device, uint64_t bytes, bool own_fd,
				  CUresult *result_out);
void fake_chunk_put(struct fake_chunk *chunk);
/* Takes from a device's capacity. False: not so much is free. */
bool fake_charge(int device, uint64_t bytes);
void fake_discharge(int device, uint64_t bytes);
uint64_t fake_free_bytes(int device);

/* NULL: no such handle. */
struct fake_handle *fake_handle_find(CUmemGenericAllocationHandle name);
/* 801 without virtual memory. */
CUresult fake_vm_usable(void);

enum fake_region_kind {
	FAKE_ALLOC,
	FAKE_MANAGED,
	FAKE_PINNED,
	FAKE_REGISTERED,
	FAKE_OPENED, /* by legacy IPC */
	FAKE_RESERVED,
	FAKE_ARRAY, /* addresses that only its handle says */
	FAKE_MIPMAPPED,
	FAKE_REGION_KINDS
};

/* A stretch of addresses that the driver knows. */
struct fake_region {
	uint64_t start, bytes;
	enum fake_region_kind kind;
	int device;
	struct fake_context *context;	     /* NULL: of none */
	struct fake_chunk *chunk;	     /* NULL: none, or many */
	uint64_t mapped_start, mapped_bytes; /* for munmap(); 0: nothing */
	uint64_t charged_bytes; /* a small one's part of shared blocks */
	unsigned refs;		/* FAKE_OPENED */
	CUipcMemHandle ipc;	/* FAKE_OPENED */
	struct fake_pool *pool; /* NULL: of none; else context is NULL */
	uint64_t freed_on;	/* handle of the stream; 0: it is live */
	uint64_t freed_turn;	/* which free of it that was */
};

/* A handle behind addresses of a reservation. */
struct fake_mapping {
	uint64_t start, bytes;
	struct fake_chunk *chunk;
	unsigned readers, writers; /* bit for each device */
};

/* Both structs above begin with a span. */
extern struct fake_spans fake_regions, fake_mappings;

/* Of an address that a region of that kind begins with; else NULL. */
struct fake_region *fake_region_at(uint64_t start, enum fake_region_kind kind);
/* Adds one, or frees it: 2. */
CUresult fake_region_add(struct fake_region *region);
/* Unmaps it and gives back its memory. */
void fake_region_drop(struct fake_region *region);
/* Addresses that were given back and are wanted again. */
void fake_unretire(uint64_t start, uint64_t bytes);
/* Everything that belongs to a context. */
void fake_region_drop_all(const struct fake_context *context);
/* Memory as cuMemAlloc() gives it; and its end when a queue gets there. */
CUresult fake_block_new(struct fake_context *context,
			enum fake_region_kind kind, uint64_t bytes,
			CUdeviceptr *address_out);
/* The same of a pool, which has the memory for it already. */
CUresult fake_block_of_pool(struct fake_pool *pool, uint64_t bytes,
			    CUdeviceptr *address_out);
uint64_t fake_region_count(enum fake_region_kind kind);
/* Whether work of `context` may write all of it. `copy`: it may also be memory
 * that the driver does not know, or another device's, as what copies read. */
bool fake_may_write(const struct fake_context *context, uint64_t address,
		    uint64_t bytes, bool copy);
bool fake_may_read(const struct fake_context *context, uint64_t address,
		   uint64_t bytes);

/* ---- Pools ----------------------------------------------------------------
 */

/*
 * Memory for cuMemAllocAsync(), whole granules of its device:
 *
 *	live_bytes <= held_bytes <= reserved_bytes
 *
 * held_bytes are of blocks that are live, or whose free is still queued.
 */
struct fake_pool {
	struct fake_object object;
	int device;
	bool lasts;	/* a device's own, which cannot be destroyed */
	bool shared;	/* made for other processes */
	bool opened;	/* another's: it gives no memory */
	bool on_host;	/* charged to no device */
	bool decompresses; /* it was made for that */
	unsigned refs;	/* its handle, and its blocks */
	unsigned peers; /* bit for each device that may reach it */
	int reuse[3];	/* as they were set; all make no difference here */
	uint64_t threshold_bytes;
	uint64_t most_bytes; /* 0: as many as there are */
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t live_bytes, live_high_bytes;
	uint64_t held_bytes;
};

/* NULL: no memory. */
struct fake_pool *fake_pool_new(int device);
/* NULL: no such pool. */
struct fake_pool *fake_pool_find(CUmemoryPool handle);
/* What cuMemAllocAsync() takes from. NULL: no memory. */
struct fake_pool *fake_pool_current(int device);
/* Takes so much for a block. False: not so much is free. */
bool fake_pool_hold(struct fake_pool *pool, uint64_t bytes);
/* The program has it, or has it no more. */
void fake_pool_live(struct fake_pool *pool, uint64_t bytes, bool live);
/* The block is gone. */
void fake_pool_drop(struct fake_pool *pool, uint64_t bytes);
/* The program has waited: pools keep no more than their thresholds. */
void fake_pool_settle(void);

/* ---- Queues ---------------------------------------------------------------
 */

enum fake_work_kind {
	FAKE_FILL,
	FAKE_COPY,
	FAKE_HOST_FUNCTION,
	FAKE_MARK, /* an event's record */
	FAKE_WAIT,
	FAKE_FREE /* of `to`, by cuMemFreeAsync() */
};

struct fake_work {
	struct fake_work *next;
	enum fake_work_kind kind;
	uint64_t to, from, bytes;
	uint8_t value;
	CUhostFn function;
	void *argument;
	struct fake_stream *stream; /* FAKE_WAIT: until its `ticket` is over */
	uint64_t ticket;	    /* FAKE_FREE: the region's freed_turn */
};

/*
 *     item number n is over <=> done >= n
 *     queued - done == items in the list + (1 while one runs)
 */
struct fake_stream {
	struct fake_object object;
	struct fake_context *context; /* NULL: it was destroyed */
	bool blocking;		      /* for the legacy stream */
	bool legacy;
	bool running, thread_started;
	unsigned refs; /* handle, items, events, waits, a worker */
	struct fake_work *first, **last;
	uint64_t queued, done;
	struct fake_capture *capture;
	bool unjoined; /* has captured work that the origin does not wait for */
	struct fake_stream *next; /* in fake_streams */
};

extern struct fake_stream *fake_streams; /* all, destroyed ones too */

struct fake_stream *fake_stream_new(struct fake_context *context, bool blocking,
				    bool legacy);
void fake_stream_put(struct fake_stream *stream);
/* Of any handle, 0, 1 and 2 too. */
CUresult fake_stream_find(CUstream handle, struct fake_stream **stream_out);
/* Drops what is queued; of a context that goes. */
void fake_stream_orphan(struct fake_stream *stream);
/* Ends a block, if it was not handed out again. */
void fake_free_run(const struct fake_work *work);
/* Copies *work into the queue. */
CUresult fake_queue_push(struct fake_stream *stream,
			 const struct fake_work *work);
/* Runs at most `count` items, those that can; returns how many. */
unsigned fake_queue_run(struct fake_stream *stream, uint64_t count);
/* Waits until item `ticket` is over. */
CUresult fake_queue_await(struct fake_stream *stream, uint64_t ticket);
/* Lets all queues run as far as they can. */
void fake_queue_run_all(void);
/* Waits for all work of a device. */
CUresult fake_queue_await_device(int device);

/* ---- Events and capture ---------------------------------------------------
 */

struct fake_event {
	struct fake_object object;
	struct fake_context *context;
	struct fake_stream *stream; /* of the last record; NULL: never */
	uint64_t ticket;
	uint64_t capture_id; /* 0: not recorded in a capture */
};

struct fake_capture {
	struct fake_capture *next;
	uint64_t id;
	CUstreamCaptureMode mode;
	pthread_t owner;
	bool invalid;
	struct fake_stream *origin;
	CUgraph again; /* the graph that it is of; NULL: a new one */
};

extern struct fake_capture *fake_captures;

struct fake_capture *fake_capture_find(uint64_t id); /* NULL: over */
/* 900, having invalidated what stands against it, when the thread may not do
 * potentially unsafe calls now. */
CUresult fake_capture_unsafe(void);
/* 906 when the stream is the legacy one and a blocking stream of its context
 * is being captured; `use` invalidates that capture. */
CUresult fake_capture_implicit(const struct fake_stream *stream, bool use);
/* Of work for a stream: 901 when its capture is invalid. */
CUresult fake_capture_admit(const struct fake_stream *stream);
CUresult fake_capture_wait(struct fake_stream *stream,
			   const struct fake_event *event);
void fake_capture_forget(struct fake_stream *stream);

#endif
