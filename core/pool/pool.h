/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool: a heap (heap/heap.h) with callbacks, statistics, reports, graphs and
 * shared blocks. It sets the limits (gm_pool_set_limit()); space/budget.h
 * enforces them. It takes no memory from the driver (an import is memory of
 * another process), and waits for events only when it ends.
 *
 * Locks, in this order: pool/registry.c:mutex, device/device.h:mutex (a
 * device's list of pools), pool/pool.h:pressure_mutex, heap/heap.h:trim_mutex,
 * extent/heap_core.h:mutex. docs/design.md has all of the library. The user's
 * functions are called with none of them held, but for gpumem_block_visit()'s
 * (the heap's) and gpumem_pool_visit()'s (the device's).
 */
#ifndef GM_POOL_POOL_H
#define GM_POOL_POOL_H

#include "heap/heap.h"

struct gm_first;
struct gpumem_pool;

/* What is said of a pool, and of what fails in it: core/report, which knows
 * pools, and which pools do not know. All are called without a lock. */
struct gm_pool_reports {
	/* Before a pool is made, and once there is one, which nobody else has
	 * seen yet: what options ask for. */
	void (*begin)(void);
	void (*made)(struct gpumem_pool *pool);
	/* Why it cannot be destroyed: its largest groups of live blocks, if
	 * that is known; else the text stays. */
	void (*tell_live)(struct gpumem_pool *pool, char *text, size_t bytes);
	/* An allocation failed for memory: makes the sentence, and returns the
	 * status. */
	gpumem_status (*failed)(struct gpumem_pool *pool, gpumem_status status,
				const struct gm_request *request);
};

struct gm_callback {
	gpumem_pressure_fn fn;
	void *user;
};

struct gpumem_pool {
	struct gm_heap heap;
	struct gpumem_device *device;
	const struct gm_pool_reports *reports; /* constant; NULL: nobody's */
	struct gm_device_link link;	       /* under the device's mutex */
	unsigned visitors;		 /* likewise: others that use heap */
	struct gpumem_pool *next_of_all; /* under the registry's mutex */
	uint64_t number; /* of no other pool, before or after; constant */
	char name[64];
	/* Under the heap's mutex, and changed within a growth: */
	struct gpumem_device **peers; /* held open; NULL: none */
	void **peer_handles;	      /* the backend's, in order */
	size_t peer_count;
	pthread_mutex_t pressure_mutex;
	struct gpumem_graph *graphs;  /* under the heap's mutex */
	struct gm_callback *pressure; /* in order of addition */
	size_t pressure_count;
};

static inline struct gpumem_pool *gm_pool_of_link(struct gm_device_link *link)
{
	return (struct gpumem_pool *)((char *)link -
				      offsetof(struct gpumem_pool, link));
}

static inline struct gpumem_pool *gm_pool_of_heap(struct gm_heap *heap)
{
	return (struct gpumem_pool *)((char *)heap -
				      offsetof(struct gpumem_pool, heap));
}

/* pool.c: life. */
gpumem_status gm_pool_create(struct gpumem_device *device,
			     const struct gpumem_pool_config *config,
			     const struct gm_pool_reports *reports,
			     struct gpumem_pool **pool_out);
gpumem_status gm_pool_destroy(struct gpumem_pool *pool, bool force);
gpumem_status gm_pool_default(struct gpumem_device *device,
			      const struct gm_pool_reports *reports,
			      struct gpumem_pool **pool_out);
/* Undoes one open, with the default pool going as the last thing. */
gpumem_status gm_pool_device_close(struct gpumem_device *device);

/* holders.c: BUSY, with what it is, while pools but the default one, or
 * imports, hold the device open; or OK. */
gpumem_status gm_pool_refuse_held(struct gpumem_device *device);

/* peers.c: checks what the configuration says of kind and peers, and holds the
 * peers open; after a failure too they have to be dropped. OK, INVALID,
 * UNSUPPORTED, NO_HOST_MEMORY, or the driver's word. */
gpumem_status gm_pool_set_peers(struct gpumem_pool *pool,
				const struct gpumem_pool_config *config);
/* Once there is a heap, which has mapped nothing yet: opens what it allocates
 * to them. Pages are opened when they are mapped. */
gpumem_status gm_pool_enable_peers(struct gpumem_pool *pool);
/* One more, for whatever the pool has and will have. As gpumem_pool_add_peer().
 */
gpumem_status gm_pool_add_peer(struct gpumem_pool *pool,
			       struct gpumem_device *peer);
/* Closes them. */
void gm_pool_drop_peers(struct gpumem_pool *pool);

/* registry.c: all pools of the process, for pointers of unknown origin. The
 * visitor is called with the registry locked. */
void gm_pools_add(struct gpumem_pool *pool);
void gm_pools_remove(struct gpumem_pool *pool);
void gm_pools_visit(bool (*fn)(struct gpumem_pool *pool, void *user),
		    void *user);
/* The same after setting *flag, with the registry locked all the time. */
void gm_pools_set(bool *flag, bool value,
		  bool (*fn)(struct gpumem_pool *pool, void *user));

/* helpers.c */
extern const struct gm_helpers gm_pool_helpers;
/* gm_heap_alloc(), with the sentence of an out of memory. */
gpumem_status gm_pool_alloc(struct gpumem_pool *pool,
			    const struct gm_request *request, void **ptr_out);
/* Returns the status; a BAD_POINTER says more of a pointer that was imported.
 */
gpumem_status gm_pool_explain(const void *ptr, gpumem_status status);
/* See gpumem_export(). */
gpumem_status gm_pool_export(const void *ptr, struct gpumem_shared *shared_out,
			     int *fds_out, size_t fd_room);

/* reclaim.c */
/* gm_heap_trim() for the device's other pools of the kind. */
void gm_pool_trim_siblings(struct gpumem_pool *pool);
/* The same, once the oldest work that their free memory waits for is over.
 * *waited_out: there was some; false: there was none, and none of them had
 * anything to give back. */
bool gm_pool_wait_for_siblings(struct gpumem_pool *pool, bool *waited_out);
/* gm_heap_trim() for all of the device's pools, until they have at most
 * keep_bytes together. */
gpumem_status gm_device_trim(struct gpumem_device *device, uint64_t keep_bytes,
			     uint64_t *released_out);
/* The same for all of the process's, down to nothing unused. */
gpumem_status gm_pools_trim(uint64_t *released_out);
gpumem_status gm_pool_drop_stream(struct gpumem_pool *pool,
				  gpumem_stream stream);
/* The same for every pool of the device; the first error ends it. */
gpumem_status gm_pool_drop_everywhere(struct gpumem_device *device,
				      gpumem_stream stream);
gpumem_status gm_pool_set_limit(struct gpumem_pool *pool, uint64_t limit_bytes);
void gm_pool_set_soft_limit(struct gpumem_pool *pool, uint64_t soft_bytes);

/* sleeping.c: as gpumem_pool_sleep() and gpumem_pool_wake(); options and *slept
 * are complete. And the end of what they left. */
gpumem_status gm_pool_sleep(struct gpumem_pool *pool,
			    const struct gpumem_sleep_options *options,
			    struct gpumem_slept *slept);
gpumem_status gm_pool_wake(struct gpumem_pool *pool, uint32_t tag,
			   struct gpumem_slept *slept);
void gm_pool_sleep_end(struct gpumem_pool *pool);

/* limit.c: so much of the device's memory; 0 of 0. OK, or INVALID: over 100. */
gpumem_status gm_limit_of_percent(const struct gpumem_device *device,
				  unsigned percent, const char *what,
				  uint64_t *bytes_out);
/* What a config says in percent becomes bytes. OK; INVALID: over 100, or both.
 */
gpumem_status gm_limits_of_config(const struct gpumem_device *device,
				  struct gpumem_pool_config *config);

/* record.c: a recording of all pools, one at a time. As gpumem_record_begin()
 * and gpumem_record_end(). */
gpumem_status gm_pools_record(const char *path, uint64_t max_bytes);
gpumem_status gm_pools_record_end(void);
/* Before the first pool: what option `record` says. */
void gm_pools_record_by_option(void);
/* Begins a recording that has no name and a bounded size, unless there is one;
 * gm_pools_record() ends it, and the second when there is no pool any more. */
void gm_pools_record_unnamed(void);
void gm_pools_record_idle(void);
/* Reads what was recorded last; one without a name ends. False: fn stopped, or
 * there was no host memory. Called without a lock. */
bool gm_pools_record_read(bool (*fn)(const struct gm_record_seen *seen,
				     void *user),
			  void *user);
/* With the registry locked: the pool is recorded if there is a recording, or is
 * no more. */
void gm_pool_record(struct gpumem_pool *pool);
void gm_pool_record_end(struct gpumem_pool *pool);

/* graph.c */
gpumem_status gm_graph_create(struct gpumem_pool *pool,
			      struct gpumem_graph **graph_out);
gpumem_status gm_graph_begin(struct gpumem_graph *graph, gpumem_stream stream);
gpumem_status gm_graph_end(struct gpumem_graph *graph, gpumem_stream stream);
gpumem_status gm_graph_destroy(struct gpumem_graph *graph,
			       gpumem_stream stream);
/* The pool goes with all its graphs. */
void gm_graphs_forget(struct gpumem_pool *pool);

/* pressure.c: an allocation got `why`; true when a callback returned true: try
 * again. */
bool gm_pool_ask_pressure(struct gpumem_pool *pool, uint64_t needed_bytes,
			  gpumem_status why);
gpumem_status gm_pool_pressure_add(struct gpumem_pool *pool,
				   gpumem_pressure_fn fn, void *user);
gpumem_status gm_pool_pressure_remove(struct gpumem_pool *pool,
				      gpumem_pressure_fn fn, void *user);

/* pool_range.c: adds or removes, pins or unpins. */
gpumem_status gm_pool_range_hook(struct gpumem_pool *pool, gpumem_range_fn fn,
				 void *user, bool adds);
gpumem_status gm_pool_range_pin(struct gpumem_pool *pool, const void *ptr,
				size_t bytes, const char *name, bool pins);

/* pool_capacity.c: as gpumem_pool_capacity(). */
gpumem_status gm_pool_capacity(struct gpumem_pool *pool, gpumem_stream stream,
			       uint32_t tag,
			       struct gpumem_capacity *capacity_out);

/* stats.c */
void gm_pool_visit(struct gpumem_device *device,
		   bool (*fn)(struct gpumem_pool *pool, const char *name,
			      void *user),
		   void *user);
/* Adds the library's counts to the driver's. */
void gm_pool_complete_memory(const struct gpumem_device *device,
			     struct gpumem_memory *memory);
void gm_pool_stats(struct gpumem_pool *pool, struct gpumem_stats *stats_out);
/* The same while the heap is stopped. */
void gm_pool_stats_stopped(struct gpumem_pool *pool,
			   struct gpumem_stats *stats_out);
/* call < GPUMEM_CALL_COUNT; no lock. */
void gm_pool_calls(struct gpumem_pool *pool, unsigned call,
		   struct gpumem_call_stats *stats_out);
void gm_pool_reset_stats(struct gpumem_pool *pool, bool totals);

/* snapshot.c */
gpumem_status gm_block_visit(struct gpumem_pool *pool,
			     bool (*fn)(const struct gpumem_block *block,
					void *user),
			     void *user);
/* The same while the heap is stopped. */
void gm_block_visit_stopped(struct gpumem_pool *pool,
			    bool (*fn)(const struct gpumem_block *block,
				       void *user),
			    void *user);
gpumem_status gm_pool_check(struct gpumem_pool *pool);
void gm_pool_describe(struct gpumem_pool *pool, const struct gm_extent *extent,
		      struct gpumem_block *block);
void gm_pool_describe_slot(struct gpumem_pool *pool, const struct gm_slab *slab,
			   uint32_t slot, struct gpumem_block *block);

/* view.c: the vendor's objects. */
gpumem_status gm_pool_object(const void *ptr, void **object_out,
			     uint64_t *offset_out);
gpumem_status gm_pool_view(const void *ptr, void **view_out);
/* The live block of a view; see gpumem_view_block(). */
gpumem_status gm_pool_view_block(struct gpumem_device *device, const void *view,
				 struct gpumem_block *block_out);
/* Releases all views, those of live blocks too, unless the program holds one:
 * BUSY. The driver's first error goes to *first. */
gpumem_status gm_pool_end_views(struct gpumem_pool *pool,
				struct gm_first *first);

/* query.c */
gpumem_status gm_pool_query(const void *ptr, struct gpumem_block *block_out);

/* holds.c. With the heap stopped: the first live blocks, with their sizes and
 * tags; "" if there are none. */
void gm_pool_tell_live(struct gpumem_pool *pool, char *text, size_t bytes);

/* by_tag.c. As gpumem_tag_visit(). */
void gm_pool_visit_tags(struct gpumem_pool *pool,
			bool (*fn)(const struct gpumem_tag *tag, void *user),
			void *user);

#endif
