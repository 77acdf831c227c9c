/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the `opencl` backend: any device of any OpenCL platform, 1.1 or
 * later, by way of the ICD loader, which is found when the plugin is started,
 * not when it is linked. Its files, from the ground up:
 *
 *     opencl_symbols.h  the functions, with the version that brought them
 *     opencl_error.c    the implementation's results as statuses and sentences
 *     opencl_driver.c   the loader found and started
 *     opencl_option.c   the values of options
 *     opencl_list.c     devices found, put in order, counted; group ADOPT
 *     opencl_traits.c   what a device can do, and which memory it will give
 *     opencl_info.c     a device described
 *     opencl_device.c   devices opened and closed
 *     opencl_budget.c   what may be taken of a device; memory_info
 *     opencl_table.c    all blocks by address
 *     opencl_memory.c   alloc and free
 *     opencl_pointer.c  memory with addresses of the implementation's: SVM, USM
 *     opencl_buffer.c   memory without: cl_mem, to which we give addresses
 *     opencl_object.c   group OBJECTS
 *     opencl_stream.c   command queues
 *     opencl_event.c    events; group NATIVE_EVENTS
 *     opencl_copy.c     group COPY
 *     opencl_fill.c     the same, for values
 *     opencl_plugin.c   the table
 *
 * Three things are locked, each by its own file and for the time of a look: the
 * list of devices, the table of blocks, and an event; and a device's buffers,
 * while one is made or freed. It does not cache or retry, and counts only what
 * keeps it from taking more than there is.
 */
#ifndef GM_OPENCL_PLUGIN_H
#define GM_OPENCL_PLUGIN_H

#include <gpumem/backend.h>
#include "opencl_symbols.h"
#include <pthread.h>
#include <stdatomic.h>

/* ---- The slots --------------------------------------------------------- */

#define OPENCL_SLOTS(X)                                                        \
	GPUMEM_SLOTS_REQUIRED(X)                                               \
	GPUMEM_SLOTS_STREAMS(X)                                                \
	GPUMEM_SLOTS_COPY(X)                                                   \
	GPUMEM_SLOTS_OBJECTS(X)                                                \
	GPUMEM_SLOTS_ADOPT(X)                                                  \
	GPUMEM_SLOTS_NATIVE_EVENTS(X)                                          \
	GPUMEM_SLOTS_NATIVE_DEVICE(X)

#define OPENCL_DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(gm_opencl_, slot)
OPENCL_SLOTS(OPENCL_DECLARE)

/* ---- The loader -------------------------------------------------------- */

struct opencl_driver {
	const struct gpumem_services *services;
#define OPENCL_POINTER(symbol, since) __typeof__(symbol) *symbol;
	OPENCL_SYMBOL_LIST(OPENCL_POINTER)
#undef OPENCL_POINTER
};

/* Written by init, then only read. */
extern struct opencl_driver gm_opencl;

extern const struct gpumem_option_row gm_opencl_options[];

/* What option opencl.memory says. */
enum opencl_wish {
	OPENCL_WISH_AUTO,
	OPENCL_WISH_BUFFER,
	OPENCL_WISH_SVM,
	OPENCL_WISH_USM
};

gpumem_status gm_opencl_option_memory(enum opencl_wish *wish_out);
/* Of a device of so much memory; 0: none is set. */
uint64_t gm_opencl_option_capacity(uint64_t total_bytes);

/* ---- Errors ------------------------------------------------------------ */

/* OK for success; else the status that the result means, having left the
 * sentence "WHAT: ...". */
gpumem_status gm_opencl_check(cl_int result, const char *what, ...)
	GPUMEM_PRINTF(2, 3);
/* The same for a call that takes memory: more results mean NO_MEMORY there. */
gpumem_status gm_opencl_check_memory(cl_int result, const char *what, ...)
	GPUMEM_PRINTF(2, 3);
/* Of the state of a command that has failed. */
gpumem_status gm_opencl_check_work(cl_int state);
/* Leaves a sentence of our own; result 0: no call failed. */
gpumem_status gm_opencl_fail(gpumem_status status, cl_int result,
			     const char *sentence, ...) GPUMEM_PRINTF(3, 4);

/* ---- Devices, open or not ---------------------------------------------- */

/* A device that a platform has. Lives for ever. */
struct opencl_unit {
	cl_platform_id platform;
	cl_device_id id;
	char platform_name[64], platform_version[128];
	int version;		     /* of the device, see OPENCL_MIN */
	bool cpu;		     /* the host's own processor */
	_Atomic uint64_t used_bytes; /* all that we took of it */
};

/* What an index stands for. */
struct opencl_place {
	struct opencl_unit *unit;
	cl_context context; /* the program's; NULL: one of our own */
};

/* Called by init: finds every device. OK also when there is none. */
gpumem_status gm_opencl_list_make(void);
gpumem_status gm_opencl_place(int index, struct opencl_place *place_out);

/* Whether the device's words of capability have this one. */
bool gm_opencl_extends(const struct opencl_unit *unit, const char *extension);
/* False: the device does not know. */
bool gm_opencl_ask(const struct opencl_unit *unit, cl_device_info what,
		   void *value_out, size_t bytes);

enum opencl_memory { OPENCL_BUFFER, OPENCL_SVM, OPENCL_USM };

struct opencl_traits {
	enum opencl_memory memory;
	uint64_t capacity_bytes; /* the budget */
	uint64_t alignment_bytes, max_alloc_bytes;
	bool tells_free;
	bool shadowed_svm; /* passed over, since it is not for nothing */
};

/* With the options of the moment. */
gpumem_status gm_opencl_read_traits(const struct opencl_unit *unit,
				    struct opencl_traits *traits_out);

struct opencl_device {
	struct opencl_unit *unit;
	cl_context context;
	cl_command_queue queue;	 /* the default stream */
	cl_command_queue commit; /* what alloc queues, and waits for */
	pthread_mutex_t enqueue; /* see opencl_stream.c */
	pthread_mutex_t buffers; /* see opencl_buffer.c */
	struct opencl_traits traits;
	atomic_bool misaligned; /* pointers come with less than we promise */
	clDeviceMemAllocINTEL_fn usm_alloc; /* NULL without USM */
	clMemFreeINTEL_fn usm_free;
	clEnqueueMemFillINTEL_fn usm_fill;
	clEnqueueMemcpyINTEL_fn usm_copy;
};

/* In what memory is asked for: a multiple of what implementations use. */
#define OPENCL_GRANULARITY_BYTES (UINT64_C(64) << 10)

/* The most that one command fills or copies. Some implementations go wrong
 * with more, and say nothing (NVIDIA's, a fill of 8 GiB); none gains by it. */
#define OPENCL_PIECE_BYTES (UINT64_C(256) << 20)

/* ---- The budget -------------------------------------------------------- */

/* NO_MEMORY, and nothing is taken, when that would be more than there is. */
gpumem_status gm_opencl_budget_take(struct opencl_device *device,
				    uint64_t bytes);
void gm_opencl_budget_give(struct opencl_device *device, uint64_t bytes);

/* ---- Blocks ------------------------------------------------------------ */

/* What one alloc gave. */
struct opencl_block {
	uint64_t address, bytes;
	const struct opencl_device *device;
	void *base;    /* what the implementation, or mmap, gave for it */
	cl_mem memory; /* NULL: it has an address of the implementation's */
};

gpumem_status gm_opencl_table_add(const struct opencl_block *block);
/* The block that has the address; false: there is none. */
bool gm_opencl_table_find(uint64_t address, struct opencl_block *block_out);
/* A block that is there goes, and keeps its room until it is known whether it
 * comes back; NULL: it does not. One of these for each of those. */
void gm_opencl_table_leave(uint64_t address);
void gm_opencl_table_left(const struct opencl_block *back);
/* Any block of the device; false: there is none. */
bool gm_opencl_table_any(const struct opencl_device *device,
			 struct opencl_block *block_out);

/* The block that has all of it. INVALID: none of this device. */
gpumem_status gm_opencl_block(const struct opencl_device *device,
			      uint64_t address, uint64_t bytes,
			      struct opencl_block *block_out);

/* Fill in base, address and memory; or free them. */
gpumem_status gm_opencl_pointer_make(struct opencl_device *device,
				     struct opencl_block *block);
gpumem_status gm_opencl_pointer_end(const struct opencl_block *block);
gpumem_status gm_opencl_buffer_make(struct opencl_device *device,
				    struct opencl_block *block);
gpumem_status gm_opencl_buffer_end(struct opencl_device *device,
				   const struct opencl_block *block);

/* For device_close: what is still there, since nothing is freed on a device
 * that was lost. */
void gm_opencl_free_all(struct opencl_device *device);

/* ---- Queues ------------------------------------------------------------ */

/* A command queue to put commands into. */
struct opencl_lane {
	cl_command_queue queue;
	int version; /* of its device */
	bool loose;  /* out of order: barriers have to make the order */
	pthread_mutex_t *lock; /* held, or NULL */
};

/* INVALID: the stream is of another device or context. Whatever it returns,
 * gm_opencl_leave() has to follow. */
gpumem_status gm_opencl_enter(struct opencl_device *device,
			      gpumem_stream stream,
			      struct opencl_lane *lane_out);
/* Returns the status that it is given. */
gpumem_status gm_opencl_leave(const struct opencl_lane *lane,
			      gpumem_status status);
/* What is queued later begins when all that was queued before is over. */
gpumem_status gm_opencl_fence(const struct opencl_lane *lane);
/* The same, and it begins without anybody waiting for it. */
gpumem_status gm_opencl_go(const struct opencl_lane *lane);
/* An event for all that is queued; it will come without further ado. */
gpumem_status gm_opencl_mark(struct opencl_device *device, gpumem_stream stream,
			     cl_event *event_out);
/* OK, NOT_READY, or that the work failed. */
gpumem_status gm_opencl_look(cl_event event);
gpumem_status gm_opencl_wait(cl_event event);

/* Called by init. */
void gm_opencl_fill_init(void);

#endif
