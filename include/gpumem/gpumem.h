/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem: one pool of device memory for any vendor.
 *
 * This is the whole public interface. Conventions, stated once:
 *
 * - A call that can fail returns gpumem_status, which must be checked. The
 *   sentence that explains the last failure of the calling thread, with the
 *   driver's own error, is in gpumem_last_error().
 * - Inputs come first, outputs last. An output is written only on success,
 *   unless its comment says otherwise.
 * - Names end in their unit: _bytes, _count, _ns.
 * - A struct that crosses this interface begins with its own size. Set it with
 *   GPUMEM_INIT(struct ...), or by hand: the library reads and writes no more
 *   than the caller's size, so old programs run with newer libraries. A size of
 *   0, below that of the struct's first version, or above 4096 is INVALID. A
 *   program that is newer than the library has larger structs: fields that the
 *   library does not know are zeroed in outputs, and must be 0 in inputs, else
 *   the call is UNSUPPORTED. Zero in any other input field always means "the
 *   default".
 * - Every call may be made from any thread at any time, unless its comment
 *   says otherwise. Nothing here waits for the device except
 *   gpumem_stream_sync(), gpumem_event_sync(), the end of a pool or a device
 *   (and on `host` of a stream), and gpumem_alloc() as the last thing before
 *   "out of memory", or in a pool without virtual memory before it reserves
 *   more than ever (options `wait` and `segment_wait_ms`). Where the device has
 *   CAP_FREE_WAITS and a pool no virtual memory, the driver itself waits when
 *   memory is given back to it.
 * - A device after its last close, and a pool, graph or event after it was
 *   destroyed, must not be passed to any call: nothing checks that, and the
 *   program may crash. Blocks are checked: gpumem_free() of one that is free
 *   is BAD_POINTER.
 * - A thread that is cancelled (pthread_cancel(), deferred, which is the
 *   default) finishes its call into the library first: no call is a
 *   cancellation point while it holds a lock or memory. A thread that calls the
 *   library must not be cancelled asynchronously (PTHREAD_CANCEL_ASYNCHRONOUS).
 * - A function that the library calls must return. If it leaves by longjmp() or
 *   a C++ exception, its thread can no longer be cancelled and logs nothing any
 *   more. Out of gpumem_block_visit(), gpumem_pool_visit(), hooks and a
 *   backend's functions it also leaves locks held: other threads then block for
 *   ever. Only the log function may: it is called when the call is over, whose
 *   result is then lost.
 * - The library never prints (unless option `log` asks, or GPUMEM_CONF is not
 *   understood and `log:none` is not set), exits, aborts or installs
 *   handlers.
 * - Every call may return GPUMEM_INVALID for an argument that breaks its
 *   comment's conditions, and GPUMEM_FORKED in a process that was forked after
 *   the library was first used: such a child can get names, texts and
 *   gpumem_device_get_info(), and nothing else. Its parent is unaffected. These
 *   two are not repeated below.
 * - A call that may return GPUMEM_DRIVER may return any status that the driver
 *   reports: also NO_MEMORY, NO_HOST_MEMORY, UNSUPPORTED, INVALID or CAPTURING.
 *   GPUMEM_LOST is permanent: every later call returns it too, with the
 *   driver's first error.
 *
 * Terms. A *pool* allocates *blocks* of a *device*'s memory. Memory that it has
 * taken from the driver is *reserved*. Where the device has virtual memory,
 * that is physical *handles* of one or more *pages*, mapped into address
 * ranges; elsewhere it is raw allocations, *segments*. A freed block that
 * another stream may still use, or that an event keeps, is *pending*. Over all
 * blocks:
 *
 *     requested   bytes the callers asked for, in live blocks
 *     allocated   bytes those blocks really hold, after rounding
 *     active      allocated + pending
 *     reserved    bytes taken from the driver
 *
 *     requested <= allocated <= active <= reserved + sleeping
 *                                                       at every instant
 *     reserved  <= limit                                when a limit is set
 */
#ifndef GPUMEM_GPUMEM_H
#define GPUMEM_GPUMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUMEM_VERSION_MAJOR 0
#define GPUMEM_VERSION_MINOR 1
#define GPUMEM_VERSION_PATCH 0
#define GPUMEM_VERSION_STRING "0.1.0"
/* For #if: 1.2.3 is 1002003. */
#define GPUMEM_VERSION_NUMBER                                                 \
	(GPUMEM_VERSION_MAJOR * 1000000 + GPUMEM_VERSION_MINOR * 1000 +       \
	 GPUMEM_VERSION_PATCH)

/* A program that does not look at a status is warned. In C++ from 17 on a cast
 * to void says that this is meant; everywhere GPUMEM_IGNORE() does. */
#if defined(__cplusplus) && __cplusplus >= 201703L && defined(__GNUC__)
#define GPUMEM_API [[gnu::visibility("default")]]
#define GPUMEM_MUST_CHECK [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define GPUMEM_API __attribute__((visibility("default")))
#define GPUMEM_MUST_CHECK __attribute__((warn_unused_result))
#else
#define GPUMEM_API
#define GPUMEM_MUST_CHECK
#endif

#define GPUMEM_IGNORE(call) ((void)((call) == GPUMEM_OK))

/* GPUMEM_INIT(struct gpumem_stats): all zero, with its size set. */
#ifdef __cplusplus
template <typename T> inline T gpumem_init_struct()
{
	T value = T();
	value.size = sizeof(T);
	return value;
}
#define GPUMEM_INIT(type) gpumem_init_struct<type>()
extern "C" {
#else
#define GPUMEM_INIT(type) ((type){.size = sizeof(type)})
#endif

/* ---- Status ------------------------------------------------------------ */

/* name, number (fixed for ever), text */
#define GPUMEM_STATUS_LIST(X)                                                 \
	X(OK, 0, "success")                                                   \
	X(INVALID, -1, "invalid argument")                                    \
	X(NO_MEMORY, -2, "device out of memory")                              \
	X(LIMIT, -3, "a limit is reached: out of memory")            \
	X(NO_HOST_MEMORY, -4, "host out of memory")                           \
	X(NOT_FOUND, -5, "no such backend, device or option")                 \
	X(UNSUPPORTED, -6, "not supported by this device or backend")         \
	X(ABI, -7, "plugin and library do not match")                         \
	X(BUSY, -8, "still in use")                                           \
	X(DRIVER, -9, "the driver reported an error")                         \
	X(CORRUPT, -10, "an internal invariant does not hold")                \
	X(BAD_POINTER, -11, "not the start of a live block")                  \
	X(NO_DRIVER, -12, "the vendor's driver is not there")                 \
	X(NO_DEVICE, -13, "no such device is present")                        \
	X(LOST, -14, "the device was lost")                                   \
	X(FORKED, -15, "device memory cannot be used in a forked child")      \
	X(NOT_READY, -16, "work on the device has not finished")              \
	X(CAPTURING, -17, "the stream is being captured into a graph")

typedef enum gpumem_status {
#define GPUMEM_STATUS_ENUM(name, number, text) GPUMEM_##name = number,
	GPUMEM_STATUS_LIST(GPUMEM_STATUS_ENUM)
#undef GPUMEM_STATUS_ENUM
} gpumem_status;

/* "GPUMEM_NO_MEMORY", or "GPUMEM_UNKNOWN" for a number that is none. */
GPUMEM_API const char *gpumem_status_name(gpumem_status status);

/* The sentence of the list above. Both are constants; never NULL. */
GPUMEM_API const char *gpumem_status_text(gpumem_status status);

/* What went wrong last in this thread. */
struct gpumem_error {
	size_t size;
	gpumem_status status;
	int64_t native_code;   /* the driver's number; 0: no driver failed */
	char native_name[64];  /* the driver's name for it; "" if none */
	char backend[16];      /* "" when no backend was involved */
	char text[1024];       /* a sentence a person can act on */
};

/* Fills *error_out; status is GPUMEM_OK when nothing failed yet. A later
 * success does not erase it, nor does gpumem_event_query() with NOT_READY. Its
 * strings are one line of printable UTF-8; other bytes in names and drivers'
 * texts are escaped as \x1b and the like. NULL, or a size that no version has:
 * nothing is written, and the last error stays. */
GPUMEM_API void gpumem_last_error(struct gpumem_error *error_out);

/* The text of it, "" when nothing failed yet; never NULL. It is the calling
 * thread's, and valid until that thread calls another function of the library,
 * or ends. */
GPUMEM_API const char *gpumem_error_text(void);

/* The version of the library that is running, as GPUMEM_VERSION_STRING and as
 * GPUMEM_VERSION_NUMBER. */
GPUMEM_API const char *gpumem_version(void);
GPUMEM_API unsigned gpumem_version_number(void);

/* ---- Log --------------------------------------------------------------- */

/* name, number, word */
#define GPUMEM_LOG_LIST(X)                                                    \
	X(NONE, 0, "none")                                                    \
	X(ERROR, 1, "error") /* something the user asked for failed */        \
	X(WARN, 2, "warn")   /* it works, but not as configured */            \
	X(INFO, 3, "info")   /* once per event: a backend chosen, a fallback  \
			      */                                              \
	X(DEBUG, 4, "debug") /* every driver call that failed, and what     \
				served each allocation that no cache did */

typedef enum gpumem_log_level {
#define GPUMEM_LOG_ENUM(name, number, word) GPUMEM_LOG_##name = (number),
	GPUMEM_LOG_LIST(GPUMEM_LOG_ENUM)
#undef GPUMEM_LOG_ENUM
} gpumem_log_level;

/* "debug". As all names of enumerators it is a constant, and "unknown" for a
 * number that is none: never NULL. gpumem_name(3) lists them. */
GPUMEM_API const char *gpumem_log_level_name(gpumem_log_level level);

/* text: one line of printable UTF-8 without its newline, other bytes escaped as
 * \x1b and the like; valid during the call only. The function may be called
 * from any thread, and must not call gpumem. It is called without any lock,
 * just before the call that logs returns. It may wait for threads that call
 * gpumem. If it does not return (longjmp, a C++ exception, the end of the
 * thread), gpumem holds no lock, but the result of that call is lost. */
typedef void (*gpumem_log_fn)(gpumem_log_level level, const char *text,
			      void *user);

/* Sends messages up to `level` to `fn`. NULL: to standard error, at the level
 * of option `log`, which is none by default; errors in GPUMEM_CONF are printed
 * even then, at level ERROR. After this returns, a call of an earlier function
 * that had begun may still be running. */
GPUMEM_API void gpumem_log_set(gpumem_log_level level, gpumem_log_fn fn,
			       void *user);

/* ---- Options ----------------------------------------------------------- */

/*
 * One table for everything that can be configured. Sources, the later wins:
 * default, the environment's GPUMEM_CONF ("key:value,key:value"), and
 * gpumem_option_set(). No device can be opened while GPUMEM_CONF has a key that
 * does not exist, or a value that is not of its option's kind, unless the
 * program has overridden it by gpumem_option_set(). A device reads its options
 * when it is opened, a pool when it is created. `gpumem-probe --options` prints
 * the table.
 */
struct gpumem_option {
	size_t size;
	const char *key;
	const char *value;         /* as text */
	const char *default_value;
	const char *source;        /* "default", "environment" or "program" */
	const char *text;          /* what it does, one sentence */
};

/* value NULL restores the default. Returns OK; NOT_FOUND: no such key; INVALID:
 * the value is not of the option's kind; NO_HOST_MEMORY. Overrides whatever
 * GPUMEM_CONF has for the key, errors included. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_option_set(const char *key, const char *value);

/* The strings of *option_out are valid until the option is set again. OK or
 * NOT_FOUND. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_option_get(const char *key, struct gpumem_option *option_out);

/* Calls fn for every option in table order until it returns false; those of a
 * backend but `host` once it is loaded (gpumem_backend_visit() loads all). fn
 * must return. */
GPUMEM_API void
gpumem_option_visit(bool (*fn)(const struct gpumem_option *option, void *user),
		    void *user);

/* The check of GPUMEM_CONF that gpumem_device_open() makes, also of keys of
 * backends, which are loaded for it if they are installed, but not initialized.
 * OK; INVALID: a value or a key is not understood; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_option_check(void);

/* ---- Backends ---------------------------------------------------------- */

struct gpumem_backend_info {
	size_t size;
	char name[16];           /* "cuda", "hip", "opencl", "host", ... */
	gpumem_status status;    /* OK: usable. Otherwise why not: */
	char reason[256];        /* one sentence; "" when usable */
	char driver_version[64]; /* as the vendor writes it; "" if unknown */
	char path[256];          /* the plugin's file; "" when built in */
	int device_count;
	bool chosen;             /* GPUMEM_BACKEND, or auto, picks this one, */
	int chosen_index;        /* and this device of it */
};

/* Calls fn for every backend that is known, loading what GPUMEM_BACKEND names
 * and all plugins that are found, until fn returns false; it must return.
 * Creates no driver context. OK or NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_backend_visit(bool (*fn)(const struct gpumem_backend_info *info,
				void *user),
		     void *user);

/* Loads the plugin in the file `path` and copies its name into name_out
 * (16 bytes; may be NULL). Loading it twice is OK. Returns OK; NOT_FOUND: no
 * such file; ABI: not a plugin for this library; UNSUPPORTED: this program is
 * linked statically; NO_DRIVER, NO_DEVICE or any status that its init returned;
 * NO_HOST_MEMORY; BUSY: another plugin has the name. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_backend_load(const char *path, char *name_out);

struct gpumem_backend; /* backend.h */

/* The same for a backend that is linked into the program; `backend` must live
 * for ever. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_backend_register(const struct gpumem_backend *backend);

/* ---- Devices ----------------------------------------------------------- */

typedef struct gpumem_device gpumem_device;

/* The vendor's own handle: CUstream, hipStream_t, cl_command_queue, or what
 * gpumem_stream_create() gave. NULL is the device's default stream. */
typedef void *gpumem_stream;

/* name, bit, word, text. A device's capabilities; each is a group of slots of
 * backend.h or a property that callers must know. */
#define GPUMEM_CAP_LIST(X)                                                    \
	X(STREAMS, 0, "streams", "streams and events")                        \
	X(VM, 1, "vm", "virtual memory: pages can be mapped and remapped")    \
	X(COPY, 2, "copy", "fill and copy")                                   \
	X(CAPTURE, 3, "capture", "streams can be captured into graphs")       \
	X(HOST_ACCESS, 4, "host_access",                                      \
	  "the host can read and write blocks directly")                      \
	X(FREE_WAITS, 5, "free_waits",                                        \
	  "the driver's own free waits for the device")                       \
	X(LATE_COMMIT, 6, "late_commit",                                      \
	  "memory is committed at first use, not at alloc")                   \
	X(MEMORY_INFO, 7, "memory_info",                                      \
	  "free memory is the device's, not our own account")                 \
	X(SHARE_IPC, 8, "share_ipc",                                          \
	  "raw allocations can be opened by other processes")                 \
	X(SHARE_FD, 9, "share_fd",                                            \
	  "pages can go to other processes as descriptors")                   \
	X(PINNED, 10, "pinned", "pools of pinned host memory")                \
	X(MANAGED, 11, "managed", "pools of managed memory")                  \
	X(PEER, 12, "peer", "pools can be opened to other devices")           \
	X(OBJECTS, 13, "objects", "the vendor names memory by objects")       \
	X(CPU, 14, "cpu", "it is the host's own processor")                   \
	X(SIMULATED, 15, "simulated", "it is simulated in the host's memory") \
	X(ALIAS, 16, "alias",                                                 \
	  "pages can be mapped at several addresses at once")                 \
	X(FREES_IN_CAPTURE, 17, "frees_in_capture",                           \
	  "memory can go back during a capture")

enum gpumem_cap {
#define GPUMEM_CAP_ENUM(name, bit, word, text) GPUMEM_CAP_##name = 1u << (bit),
	GPUMEM_CAP_LIST(GPUMEM_CAP_ENUM)
#undef GPUMEM_CAP_ENUM
};

/* "host_access", of one bit; "unknown" of none or several. */
GPUMEM_API const char *gpumem_cap_name(uint32_t cap);

struct gpumem_device_info {
	size_t size;
	char name[32];            /* "cuda:0" */
	char product[96];         /* "NVIDIA H200" */
	char uuid[40];            /* 8-4-4-4-12 hex digits; "" if unknown */
	char pci[16];             /* "0000:3b:00.0"; "" if it has none */
	uint64_t total_bytes;
	uint64_t granularity_bytes; /* of pages, or of raw allocations */
	uint64_t alignment_bytes;   /* every block has at least this */
	uint64_t max_alloc_bytes;   /* largest single raw allocation */
	uint32_t caps;              /* GPUMEM_CAP_ bits */
	char note[160];             /* known limitations; "" if none */
};

struct gpumem_memory {
	size_t size;
	uint64_t total_bytes;
	uint64_t free_bytes;     /* as the device reports, see CAP_MEMORY_INFO,
				    whatever option `device_limit` says */
	uint64_t reserved_bytes; /* by the pools of this process, of the kind
				    GPUMEM_KIND_DEVICE */
	uint64_t outside_bytes;  /* total - free - reserved: other processes,
				    contexts, other allocators */
};

/* Calls fn for every device of `backend` (NULL: of every usable backend) until
 * it returns false; it must return. Opens nothing, creates no driver context.
 * OK; NOT_FOUND: no such backend; or the status why that backend is not usable.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_visit(const char *backend,
		    bool (*fn)(const struct gpumem_device_info *info,
			       void *user),
		    void *user);

/* Opens "cuda:0", "cuda" (its first device) or NULL: the device that
 * GPUMEM_BACKEND picks (such a name, a comma-separated order of preference, or
 * "auto", the default: real devices first, then host, but not where a GPU can
 * be seen: the call then fails with the reason why that GPU cannot be used. A
 * device that is not a real one has CAP_SIMULATED). Opening the same device
 * again returns the same handle, reference-counted. Returns OK; INVALID also
 * when GPUMEM_CONF is not understood, which is then printed once on standard
 * error too, see gpumem_log_set(); NOT_FOUND: no such backend; NO_DRIVER;
 * NO_DEVICE; UNSUPPORTED; ABI; DRIVER; LOST; NO_MEMORY; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_open(const char *name, gpumem_device **device_out);

/*
 * A device of `backend` that works in the program's own context, so that its
 * blocks, streams and objects are of that context: for `cuda` a CUcontext, also
 * one of cuCtxFromGreenCtx(), and its CUdevice as a pointer; for OpenCL a
 * cl_context and one of its cl_device_id; for `host` any context but NULL. The
 * context stays the program's and must exist as long as the device is open: of
 * `cuda`, calls are LOST when the driver says that it was destroyed. The same
 * pair again returns the same handle, counted as an open. Such a device has a
 * number after all others ("opencl:4"), is not listed by gpumem_device_visit()
 * and cannot be opened by that name; but the primary context of a CUDA device
 * is what the device of its name works in, and gives that one. `hip` adopts
 * nothing: HIP has no contexts. OK; NOT_FOUND: no such backend; UNSUPPORTED: it
 * cannot adopt; INVALID: the backend does not accept the pair; NO_DEVICE: no
 * more can be adopted; or as gpumem_device_open().
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_adopt(const char *backend, void *context, void *native_device,
		    gpumem_device **device_out);

/*
 * The vendor's own context and device behind an open one, also if it was opened
 * by name: for `cuda` its CUcontext and CUdevice, for `hip` NULL, since HIP has
 * no contexts, and the hipDevice_t, for `opencl` the cl_context and
 * cl_device_id; a device that is a number is that number as a pointer. They
 * belong to the device and are valid until its last close; no reference is
 * taken. OK; UNSUPPORTED: there is nothing behind it, as with `host` but for
 * what was adopted there; DRIVER; LOST.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_native(gpumem_device *device, void **context_out,
		     void **native_device_out);

/* Undoes one open. During the last close no other thread may use the device,
 * and after it nobody may. Destroy what gpumem_stream_create() made before:
 * streams that are left may end with the device, or never. The last close
 * destroys the device's default pool. It returns BUSY, and leaves the device
 * open, if that pool has live blocks, one of its streams is being captured, or
 * other pools, imports or events are left, of it or with it as a peer; the text
 * says which. OK; BUSY; DRIVER: some memory of the default pool could not be
 * given back; that pool no longer exists, but the device is still open: close
 * it again. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_close(gpumem_device *device);

/* The description that gpumem_device_visit() gives, as of when the device was
 * opened. No driver call. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_get_info(const gpumem_device *device,
		       struct gpumem_device_info *info_out);

/* Queries the driver. OK, DRIVER or LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_memory(gpumem_device *device, struct gpumem_memory *memory_out);

/* Whether pools of `device` can be opened to `other`: config.peers of
 * gpumem_pool_create(). True of a device and itself, false of devices of two
 * backends, or without CAP_PEER. OK, DRIVER or LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_peer(gpumem_device *device, gpumem_device *other, bool *can_out);

/* A process that holds memory of a device. */
struct gpumem_process {
	size_t size;
	uint64_t pid;   /* as the driver numbers it, which in a container may
			   not be as the program would */
	uint64_t bytes; /* of the device, by whatever means; UINT64_MAX: the
			   driver does not say */
	char name[64];  /* of its program; "" if unknown */
};

/* Calls fn for every process that uses the device, until it returns false; it
 * must return. OK; UNSUPPORTED: the driver does not report them, and the text
 * says what is missing; DRIVER; LOST; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_process_visit(gpumem_device *device,
		     bool (*fn)(const struct gpumem_process *process,
				void *user),
		     void *user);

/* ---- Streams, and moving bytes (for tests, tools and small programs) ---- */

/* OK; UNSUPPORTED: no CAP_STREAMS; DRIVER; LOST; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_stream_create(gpumem_device *device, gpumem_stream *stream_out);

/* Removes the stream from every pool of the device, as
 * gpumem_pool_drop_stream() does, and destroys it. No other thread may be using
 * it. To be called before the device's last close. OK; UNSUPPORTED; CAPTURING;
 * BUSY between gpumem_graph_begin() and _end(); DRIVER; LOST; NO_HOST_MEMORY:
 * after these the stream still exists, and some pools may have removed it. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_stream_destroy(gpumem_device *device, gpumem_stream stream);

/* Waits until all work on the stream is done. OK, UNSUPPORTED, CAPTURING,
 * DRIVER, LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_stream_sync(gpumem_device *device, gpumem_stream stream);

/* Queues on `stream`: set `bytes` bytes at `ptr` to `value`; nothing for 0
 * bytes. OK; UNSUPPORTED: no CAP_COPY; BAD_POINTER: on host, and where a driver
 * reports it, there is no memory at ptr; DRIVER; LOST; NO_HOST_MEMORY. The
 * memory must not be given back to the driver while the work runs: that gives
 * LOST from the next gpumem_stream_sync() on. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_fill(gpumem_device *device, void *ptr, uint8_t value, size_t bytes,
	    gpumem_stream stream);

/* Queues on `stream` a copy between any two of host and device memory. Host
 * memory must stay valid until the stream has been synchronised. As
 * gpumem_fill(). */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_copy(gpumem_device *device, void *to, const void *from, size_t bytes,
	    gpumem_stream stream);

/* ---- Events ------------------------------------------------------------ */

/*
 * An event stands for all work that was queued on a stream when it was
 * recorded. Recorded again, it stands for the newer work alone; what already
 * waits for it, a stream or a freed block, goes on waiting for the work of
 * before, also when the event is destroyed. An event belongs to one device. One
 * that was destroyed is INVALID in every call, until its memory is used for
 * another event.
 */
typedef struct gpumem_event gpumem_event;

/* Stands for no work yet, which is over. OK; UNSUPPORTED: no CAP_STREAMS;
 * DRIVER; LOST; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_create(gpumem_device *device, gpumem_event **event_out);

/*
 * An event that stands for the work that the vendor's own event stands for now:
 * a CUevent, hipEvent_t or cl_event (of the device's context), on `host` what
 * gpumem_event_native() gives. The program may record that one again or release
 * it right after. CAPTURING: it was recorded in a capture, which CUDA spoils
 * when it is asked for such an event. OK; UNSUPPORTED: no CAP_STREAMS, or the
 * backend cannot; INVALID also: as far as the driver can tell, it is no event;
 * DRIVER; LOST; NO_MEMORY; NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_import(gpumem_device *device, void *native_event,
		    gpumem_event **event_out);

/* No other thread may be using the event. OK; DRIVER, LOST: the event no longer
 * exists either. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_destroy(gpumem_event *event);

/* The stream is one of the event's device. OK; CAPTURING: it is being captured;
 * DRIVER; LOST; NO_HOST_MEMORY: after these the event stands for what it stood
 * for before. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_record(gpumem_event *event, gpumem_stream stream);

/* OK: the work is over. NOT_READY: not yet. DRIVER, LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_query(gpumem_event *event);

/* Waits until the work that the event stands for at the call is over. OK,
 * DRIVER, LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_sync(gpumem_event *event);

/* The vendor's event that stands for the same work, for the vendor's own calls.
 * The library owns it: it is valid until the event is recorded again or
 * destroyed, and no other thread may be recording it. OK; UNSUPPORTED: the
 * backend has none; INVALID also: the event was neither recorded nor imported;
 * DRIVER; LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_event_native(gpumem_event *event, void **native_out);

/* Work that is queued on `stream` from now on begins when the work that the
 * event stands for now is over; the host does not wait. The event is of the
 * same device. OK; UNSUPPORTED: no CAP_STREAMS; CAPTURING; DRIVER; LOST;
 * NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_stream_wait(gpumem_device *device, gpumem_stream stream,
		   gpumem_event *event);

/*
 * Ends a block when the work that the event stands for now is over. Until then
 * the block is pending: no stream reuses it, its own not either, but for one
 * that is made to wait for the event (option `wait`, see gpumem_alloc()). Work
 * on other streams than its own must be ordered before the event, or have been
 * named by gpumem_use_on(), which is waited for too. Afterwards it is as after
 * gpumem_free() on its own stream. The event may be recorded again or destroyed
 * right after the call, which waits for nothing; the end of the pool, and
 * gpumem_alloc() with option `wait`, may wait for the event. Allowed while
 * streams are captured.
 *
 * OK, also of NULL; BAD_POINTER: as gpumem_free(); UNSUPPORTED: the block's
 * device has no CAP_STREAMS; INVALID also: the event is of another device than
 * the block; NO_HOST_MEMORY: the block stays live. A later free of it may then
 * wait for the event as well.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_free_after(void *ptr, gpumem_event *event);

/* ---- Pools ------------------------------------------------------------- */

typedef struct gpumem_pool gpumem_pool;

/* name, number, word, text. What a pool's memory is. */
#define GPUMEM_KIND_LIST(X)                                                   \
	X(DEVICE, 0, "device", "device memory")                               \
	X(PINNED, 1, "pinned", "pinned host memory")                          \
	X(MANAGED, 2, "managed", "managed memory")

/*
 * DEVICE: the device's own. PINNED: host memory that never moves, which the
 * host and all devices of the backend read and write, and from which copies
 * run at full speed. MANAGED: moves between the host and the devices by itself,
 * to where it is used, and can be more than a device has. The last two count
 * in their pool's statistics, but not in gpumem_memory.reserved_bytes.
 */
typedef enum gpumem_kind {
#define GPUMEM_KIND_ENUM(name, number, word, text)                            \
	GPUMEM_KIND_##name = (number),
	GPUMEM_KIND_LIST(GPUMEM_KIND_ENUM)
#undef GPUMEM_KIND_ENUM
} gpumem_kind;

/* "pinned" */
GPUMEM_API const char *gpumem_kind_name(gpumem_kind kind);

/* name, number, word. How a pool's blocks can reach other processes of the
 * machine. */
#define GPUMEM_SHARE_LIST(X)                                                  \
	X(NONE, 0, "none")                                                    \
	X(ANY, 1, "any") /* FD if the pool has pages, else IPC */             \
	X(FD, 2, "fd")   /* descriptors of pages: CAP_SHARE_FD */             \
	X(IPC, 3, "ipc") /* names of segments, and the pool does without      \
			    virtual memory: CAP_SHARE_IPC */

typedef enum gpumem_share {
#define GPUMEM_SHARE_ENUM(name, number, word) GPUMEM_SHARE_##name = (number),
	GPUMEM_SHARE_LIST(GPUMEM_SHARE_ENUM)
#undef GPUMEM_SHARE_ENUM
} gpumem_share;

/* "fd" */
GPUMEM_API const char *gpumem_share_name(gpumem_share share);

struct gpumem_pool_config {
	size_t size;
	const char *name;          /* for reports; copied; NULL: "pool" */
	uint64_t limit_bytes;      /* hard: reserved never exceeds it; at least
				      one page, or segment; 0: option `limit` */
	uint64_t soft_limit_bytes; /* above it caches are given back and
				      pressure callbacks run before growing;
				      not above the hard one; 0: option
				      `soft_limit` */
	uint64_t page_bytes;       /* physical unit: a power of two, at least
				      256 KiB and the device's granularity, at
				      most 4 GiB and the device's memory; 0:
				      option `page` */
	gpumem_kind kind;          /* other than DEVICE: segments, no pages */
	gpumem_device *const *peers; /* devices that read and write the blocks
				      too; copied. Streams stay those of the
				      pool's own device. See
				      gpumem_pool_add_peer(). */
	size_t peer_count;
	uint32_t shareable;        /* a gpumem_share; blocks can be given to
				      gpumem_export(); DEVICE only; 0: option
				      `share` */
	uint32_t limit_percent;    /* 1 to 100: of the device's memory */
	uint32_t soft_limit_percent; /* of limit_bytes, soft_limit_bytes */
};

/* config NULL: all defaults. Returns OK; UNSUPPORTED: the device has no memory
 * of that kind, or cannot be opened to one of the peers, or cannot share memory
 * of that kind as asked, or its alignment is beyond what a pool can do, or the
 * config sets a field that this version of the library does not have;
 * NO_MEMORY; DRIVER; LOST; NO_HOST_MEMORY. The device and the peers stay open
 * at least as long as the pool. Without virtual memory the first pool with a
 * peer opens everything that this process gets from the driver's own allocation
 * of that device to it, for good. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_create(gpumem_device *device,
		   const struct gpumem_pool_config *config,
		   gpumem_pool **pool_out);

/* Also gives back blocks that are live and graphs: their addresses are invalid
 * afterwards. */
#define GPUMEM_DESTROY_FORCE 1u

/* Waits for pending blocks, gives everything back and frees the pool. No other
 * thread may be using the pool. flags: 0 or GPUMEM_DESTROY_FORCE. BUSY, and
 * nothing happens, while blocks are live, there are graphs, or memory is pinned
 * (gpumem_range_pin()), without GPUMEM_DESTROY_FORCE. BUSY also, with it or
 * not, while one of its streams is being captured, the program holds a
 * gpumem_view() of one of its blocks (views that it does not hold may be
 * released then), or another thread, which should not, is taking memory from
 * the driver for it. After LOST only host memory is freed. OK; BUSY; INVALID:
 * another flag; DRIVER or another status of the driver (some memory could not
 * be given back; the pool no longer exists).
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_destroy(gpumem_pool *pool, unsigned flags);

/* The device's default pool, made on first use and destroyed with the device.
 * As gpumem_pool_create(). */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_pool(gpumem_device *device, gpumem_pool **pool_out);

/* Its name and its device, for which no open is counted; NULL of NULL. Both are
 * valid until the pool is destroyed. No lock; also in a forked child. */
GPUMEM_API const char *gpumem_pool_name(const gpumem_pool *pool);
GPUMEM_API gpumem_device *gpumem_pool_device(const gpumem_pool *pool);

/*
 * One more device that reads and writes the pool's blocks, those that are live
 * included, as if it had been in config.peers. The pool's own device, or one
 * that is a peer already, changes nothing. The peer stays open as long as the
 * pool, so two devices whose default pools are opened to each other can no
 * longer be closed: use pools of your own there. Any stream of the peer's may
 * use a block as soon as this has returned. Waits for no stream, but for an
 * allocation that takes memory from the driver, and others wait for it: on an
 * H200 2.5 to 14 ms for each GiB that the pool has, the longer the smaller its
 * blocks.
 *
 * OK; INVALID: NULL; UNSUPPORTED: the pool cannot be opened to that device, or
 * has memory that this backend can open only when it is mapped; DRIVER, LOST,
 * NO_HOST_MEMORY: it is no peer, but may use some of the blocks.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_add_peer(gpumem_pool *pool, gpumem_device *peer);

/* How large a block of a pool can be. */
struct gpumem_capacity {
	size_t size;
	uint64_t max_alloc_bytes; /* whatever else is freed: the device, the
				     limit, and what the driver gives at once */
	uint64_t now_bytes;       /* at least: now, without waiting */
};

/*
 * A gpumem_alloc() of now_bytes on `stream` that is the next call on any pool
 * of the device succeeds, without waiting for a stream and without option
 * `wait`, if the calling thread's tag stays what it is and no tag has a limit:
 * what is free goes by what the tag says of a sleep. One with flags, NO_WAIT
 * included, may get less. It is a lower bound, as far as the driver's own word
 * is true of how much it has free, and as the process has addresses: neither
 * what pressure callbacks free nor what other pools of the device have cached
 * is counted, nor for pools that are not of the kind DEVICE what the driver
 * has. 0: a block of up to 16 KiB may still be had.
 * Between this call and the allocation other threads and programs may take what
 * was free.
 *
 * Empties the caches of threads, as a trim does, and gives nothing back. OK;
 * DRIVER; LOST.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_capacity(gpumem_pool *pool, gpumem_stream stream,
		     struct gpumem_capacity *capacity_out);

/* The pool's hard limit, a bound on its reserved bytes, live and cached
 * together; 0: none. The soft limit stays. Lowering the limit below what is
 * reserved trims at once. OK; INVALID: it is less than one page (without
 * virtual memory: the smallest segment), which the text names; BUSY if what is
 * in use keeps more than that; DRIVER, LOST, NO_HOST_MEMORY: the trim failed.
 * After these the old limit stays. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_set_limit(gpumem_pool *pool, uint64_t limit_bytes);

/* The pool's soft limit: above so many reserved bytes caches are given back and
 * pressure callbacks run before the pool grows; 0: none. The hard limit stays,
 * and a soft one that is not below it makes no difference. Gives nothing back
 * by itself. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_set_soft_limit(gpumem_pool *pool, uint64_t soft_limit_bytes);

/* As gpumem_pool_set_limit(), in percent of the device's memory, 0 to 100; 0:
 * none. Fractions of a byte are left out. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_set_limit_percent(gpumem_pool *pool, unsigned limit_percent);

/* As gpumem_pool_set_soft_limit(), likewise. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_set_soft_limit_percent(gpumem_pool *pool,
				   unsigned soft_limit_percent);

/* name, number, word. What an allocation met that finds no memory. While the
 * soft limit is below the hard one that is the soft one, also of a request that
 * the hard one will refuse. */
#define GPUMEM_PRESSURE_LIST(X)                                               \
	X(SOFT, 1, "soft")     /* the soft limit: the pool is about to grow   \
				  beyond it */                                \
	X(HARD, 2, "hard")     /* the hard limit: it is about to fail */      \
	X(DEVICE, 3, "device") /* the driver has no more, or option           \
				  `device_limit` leaves none: likewise */

typedef enum gpumem_pressure_limit {
#define GPUMEM_PRESSURE_ENUM(name, number, word)                              \
	GPUMEM_PRESSURE_##name = (number),
	GPUMEM_PRESSURE_LIST(GPUMEM_PRESSURE_ENUM)
#undef GPUMEM_PRESSURE_ENUM
} gpumem_pressure_limit;

/* "hard" */
GPUMEM_API const char *gpumem_pressure_limit_name(gpumem_pressure_limit limit);

struct gpumem_pressure {
	size_t size;
	uint64_t needed_bytes;       /* of the request */
	gpumem_pressure_limit limit; /* which was met */
	uint64_t limit_bytes;        /* its value; of the DEVICE: all memory, or
					option `device_limit` if that is less */
	uint64_t reserved_bytes;     /* by the pool, now */
};

/* Called in the allocating thread, no lock held, when the pool is about to
 * exceed its soft limit or to fail, but not for a request that exceeds total
 * memory: free or move what you can (calls on this pool are fine, but an
 * allocation in here that fails runs no callbacks) and return true to have the
 * allocation tried again. `pressure` is valid during the call. It must return:
 * after a longjmp or a C++ exception out of it the thread runs no callbacks of
 * this pool, logs nothing and cannot be cancelled. */
typedef bool (*gpumem_pressure_fn)(gpumem_pool *pool,
				   const struct gpumem_pressure *pressure,
				   void *user);

/* Adds a callback; several are called in order of addition, and one that was
 * added twice is called twice. OK, NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_pressure_add(gpumem_pool *pool, gpumem_pressure_fn fn, void *user);

/* Removes the callback that was added first with this fn and user. When it
 * returns, a call that had begun in another thread may still be running. OK;
 * NOT_FOUND: there is none. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_pressure_remove(gpumem_pool *pool, gpumem_pressure_fn fn,
			    void *user);

/* Gives unused memory back to the driver until at most keep_bytes are reserved
 * or nothing unused is left; waits for no stream. released_bytes_out may be
 * NULL; it is written on every return. OK; DRIVER, NO_HOST_MEMORY: not
 * everything could be given back; LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_trim(gpumem_pool *pool, uint64_t keep_bytes,
		 uint64_t *released_bytes_out);

/* The same for all pools of the device, of every kind, one after the other,
 * until they have at most keep_bytes together. Statuses as gpumem_pool_trim();
 * after one pool's failure the others are trimmed too. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_trim(gpumem_device *device, uint64_t keep_bytes,
		   uint64_t *released_bytes_out);

/* The same for all pools of the process, whoever made them, down to nothing
 * unused: for who has no handle, as a host of plugins or a signal that memory
 * is short. Statuses as gpumem_pool_trim(); after one pool's failure the others
 * are trimmed too. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_trim(uint64_t *released_bytes_out);

/* ---- Sleep and wake ------------------------------------------------------ */

/* name, number, word, text. What becomes of a block in a sleep:
 * gpumem_tag_set_sleep(). */
#define GPUMEM_SLEEP_LIST(X)                                                  \
	X(INHERIT, 0, "inherit", "as the tag around says")                    \
	X(STAY, 1, "stay", "it keeps its memory")                             \
	X(KEEP, 2, "keep", "it comes back with its content")                  \
	X(DROP, 3, "drop", "it comes back with any content")                  \
	X(ZERO, 4, "zero", "it comes back as zeros")

typedef enum gpumem_sleep {
#define GPUMEM_SLEEP_ENUM(name, number, word, text)                           \
	GPUMEM_SLEEP_##name = (number),
	GPUMEM_SLEEP_LIST(GPUMEM_SLEEP_ENUM)
#undef GPUMEM_SLEEP_ENUM
} gpumem_sleep;

/* "keep" */
GPUMEM_API const char *gpumem_sleep_name(gpumem_sleep sleep);

/* What is copied goes to pinned host memory, in which copies run at the full
 * speed of the link; or */
enum {
	/* to ordinary memory, through a bounded ring of pinned buffers. */
	GPUMEM_SLEEP_PAGEABLE = 1u << 0,
	/* The host's memory, of whichever kind, is kept after the wake for the
	 * next sleep: to get it takes longer than to fill it. */
	GPUMEM_SLEEP_RETAIN = 1u << 1
};

struct gpumem_sleep_options {
	size_t size;
	uint32_t tag;        /* only blocks of this tag and of those inside it;
				0: all */
	uint32_t flags;      /* GPUMEM_SLEEP_ bits */
	uint64_t timeout_ns; /* for work that uses the blocks; 0: as long as it
				takes */
	const char *folder;  /* the content goes to a file without a name in
				it; NULL: to memory */
	uint64_t host_limit_bytes; /* it takes no host memory beyond so much
				      that all sleeps of the pool hold or
				      retain; 0: no limit */
};

/* What gpumem_pool_sleep() or gpumem_pool_wake() did. Bytes: */
struct gpumem_slept {
	size_t size;
	uint64_t kept_bytes;    /* copied to the host, or back */
	uint64_t dropped_bytes; /* live, and not copied */
	uint64_t device_bytes;  /* given back to the driver, or taken from it */
	uint64_t host_bytes;    /* that the content takes from now on, of all
				   sleeps of the pool, with what is retained */
	uint64_t wait_ns;       /* for work on the device */
	uint64_t copy_ns;       /* in which the content was copied */
	uint64_t map_ns;        /* in which memory was unmapped and given back,
				   or taken and mapped */
};

/*
 * Gives the memory of live blocks away while they stay live at their addresses:
 * their content is copied to the host, as far as their tags say so, then their
 * pages are unmapped and go back to the driver. What is free goes back too. No
 * work may use the blocks, nor the host, from the call on until
 * gpumem_pool_wake() has returned: an access faults. options NULL: all blocks,
 * all default. slept_out may be NULL.
 *
 * It waits, for timeout_ns at most, for the work so far of the streams that the
 * blocks were allocated on and that gpumem_use_on() named, and for what keeps
 * freed memory on the same pages; never for the device. Launches of graphs have
 * to be over. The pool serves other threads meanwhile, whose new blocks of the
 * tag may fall asleep, too: they may not be used either, nor be allocated with
 * GPUMEM_ALLOC_ZERO. While it sleeps new blocks get new memory. Blocks that
 * sleep may be freed, at once and for good; not resized or exported. While any
 * sleep, no allocation or free comes from the caches of threads, which makes
 * these slower.
 *
 * Memory goes by whole physical handles. One on which a block stays keeps all
 * that is on it; so does a slab of small blocks of which one stays. Memory of
 * graphs sleeps with tag 0, and comes back whole.
 *
 * The limit does not count what sleeps; statistics have `sleeping`. OK, also
 * when nothing had to be done. BUSY: a stream is still at work, which is named,
 * or is being captured; a graph is being captured into; pages have been
 * exported; what is to sleep is pinned (gpumem_range_pin()), and by whom; or
 * another thread puts the pool to sleep or wakes it. UNSUPPORTED: the pool has
 * no virtual memory, or the device cannot copy. INVALID: options, or the
 * folder. LIMIT: host_limit_bytes; the text says what is asked and what is
 * left. NO_HOST_MEMORY; NO_MEMORY: the driver has no more pinned memory.
 * LOST. Then all is as before. DRIVER: likewise if it failed before anything
 * was unmapped; else what could be unmapped sleeps, and a wake brings it back.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_sleep(gpumem_pool *pool, const struct gpumem_sleep_options *options,
		  struct gpumem_slept *slept_out);

/*
 * Brings blocks back: those of this tag and of the tags inside it, and what
 * lies on the same pages; 0: all, and the memory of graphs. First takes all the
 * memory that they need, as an allocation would, by trims, pressure callbacks
 * and waiting, within the limit, beyond the soft one; then maps it and copies
 * the content back, which is over when it returns. slept_out may be NULL. OK,
 * also when nothing sleeps. LIMIT, NO_MEMORY: the text says who has the memory.
 * BUSY: as of gpumem_pool_sleep(). NO_HOST_MEMORY, DRIVER. Whatever fails, all
 * of it still sleeps, nothing is lost, and the call can be repeated. LOST: the
 * content is, too.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_wake(gpumem_pool *pool, uint32_t tag,
		 struct gpumem_slept *slept_out);

/* The application is about to destroy `stream`: its free blocks become
 * available to other streams once its work is over. Needed only for streams
 * that were not destroyed by gpumem_stream_destroy(). OK; CAPTURING, and
 * nothing happens, while it is being captured; BUSY between
 * gpumem_graph_begin() and _end(); DRIVER; LOST; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_drop_stream(gpumem_pool *pool, gpumem_stream stream);

/* ---- Captured graphs ----------------------------------------------------- */

/*
 * A graph uses the addresses that its capture saw each time that it is
 * launched, also those of blocks that were freed before the capture ended. A
 * gpumem_graph is private memory of such graphs: whatever is allocated on a
 * stream between gpumem_graph_begin() and gpumem_graph_end() comes out of it,
 * and when freed goes back to it. Until gpumem_graph_destroy() it serves only
 * later captures for the same gpumem_graph, and none of it goes back to the
 * driver. Captures that share one must not overlap in time.
 */
typedef struct gpumem_graph gpumem_graph;

/* OK, NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_graph_create(gpumem_pool *pool, gpumem_graph **graph_out);

/* Before the capture of `stream` begins; for each stream of the capture.
 * Between this call and the driver's own begin, no other thread may be inside a
 * call on a pool that has used the stream: a pool queries whether a stream is
 * being captured and then uses it, and a capture that begins between the two
 * may be invalidated. Once it has begun, other threads may call again. OK;
 * BUSY: the stream's blocks go to a graph already; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_graph_begin(gpumem_graph *graph, gpumem_stream stream);

/* The stream is an ordinary one again. OK; INVALID: its blocks do not go to
 * this graph. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_graph_end(gpumem_graph *graph, gpumem_stream stream);

/* No graph that uses the memory will be launched any more; the last launch is
 * on `stream` already. The memory goes back to the streams that it was
 * allocated on, which wait for that launch: what they queue from now on begins
 * behind it. Live blocks stay live, as ordinary ones of these streams. No other
 * thread may be using the graph. OK; BUSY: gpumem_graph_end() is missing;
 * CAPTURING: `stream` is, or one of these; DRIVER, LOST, NO_HOST_MEMORY: the
 * graph still exists. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_graph_destroy(gpumem_graph *graph, gpumem_stream stream);

/* ---- Blocks ------------------------------------------------------------ */

/*
 * A block for work queued on `stream` from now on, and for work on other
 * streams that is ordered behind `stream`: it may be memory of which an earlier
 * use is not over yet, but for which `stream` waits. bytes 0 gives NULL and OK.
 * Blocks are aligned to the device's alignment_bytes, at least 256.
 *
 * The thread's own cache is tried first, then these sources, in this order:
 *
 *   - short of pages, where the fewest unused ones are taken (close to a limit
 *     that the pool has met)
 *   - near the limit, the smallest free block of all streams (that fits)
 *   - free memory of the stream
 *   - pending blocks that are done (of many some: the oldest are asked about)
 *   - the thread's cache (emptied, if other threads have caches too)
 *   - a spared segment, for little (without virtual memory; the same below)
 *   - one free block of another stream (if other threads have caches too, or
 *     the stream has no work)
 *   - the driver, for a little (if other threads have caches too)
 *   - the caches of all threads
 *   - to waste less, pending blocks, behind the work that uses them (the stream
 *     waits for that, the host does not; beyond option `stream_waste` or a
 *     limit; small ones before any other source; option `wait`)
 *   - to waste less, a free block of another stream, behind its work (likewise)
 *   - free blocks of all streams
 *   - to waste less, adjacent free blocks of several streams, behind their work
 *     (without virtual memory; likewise)
 *   - a spared segment of theirs, for little
 *   - to waste less, unused segments, once the work on them is over (the host
 *     waits, seldom; option `segment_wait_ms`)
 *   - pages moved from free blocks, or the driver
 *   - a spared segment, since there is no more
 *
 * When all fail, these follow, and the sources are tried again after each:
 *
 *   - a trim of this and the device's other pools
 *   - free memory beside blocks of another fate in a sleep (of tags: see
 *     gpumem_tag_set_sleep())
 *   - the pressure callbacks
 *   - memory beyond the soft limit
 *   - pending blocks, behind the work that uses them (the stream waits for
 *     that, the host does not; option `wait`)
 *   - free memory of another stream, behind its work (likewise)
 *   - a larger size class or a large block, for a small request (of up to
 *     16 KiB; a large block holds at least a little more)
 *   - waiting for pending blocks (option `wait`)
 *   - waiting for free memory of the device's other pools (of the same kind;
 *     option `wait`), which they then give back
 *   - waiting for what other threads give back
 *
 * A request that exceeds total memory or option `device_limit`, or that takes
 * more in whole pages (or segments) than the pool's limit, fails at once.
 *
 * Returns OK; NO_MEMORY; LIMIT; NO_HOST_MEMORY; DRIVER; LOST. The text of a
 * NO_MEMORY or LIMIT contains " out of memory" and the figures, and names the
 * tags with the most bytes.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_alloc(gpumem_pool *pool, size_t bytes, gpumem_stream stream,
	     void **ptr_out);

/* The same with a larger alignment: a power of two, at most 1 GiB (0: the
 * default). UNSUPPORTED: the device cannot place memory so. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_alloc_aligned(gpumem_pool *pool, size_t bytes, size_t alignment,
		     gpumem_stream stream, void **ptr_out);

/* Flags of an allocation. */
#define GPUMEM_ALLOC_NO_WAIT 1u /* waits neither for the device nor for what
				   other threads give back */
#define GPUMEM_ALLOC_NO_GROW 2u /* only from what the pool has reserved: calls
				   no driver for memory, moves no pages */
#define GPUMEM_ALLOC_ZERO 4u	/* all that the block holds is 0 */
#define GPUMEM_ALLOC_WHOLE 8u	/* at least `bytes`: all that the block holds
				   counts as requested, and may be used */

struct gpumem_alloc_options {
	size_t size;
	size_t alignment; /* as of gpumem_alloc_aligned(); 0: the default */
	uint32_t flags;	  /* GPUMEM_ALLOC_*; 0: none */
	uint32_t tag;	  /* of gpumem_tag_intern(); 0: the thread's */
};

/*
 * gpumem_alloc() with options; NULL: none. usable_bytes_out may be NULL: how
 * much the block holds, of which without WHOLE only `bytes` are yours to rely
 * on. bytes 0 gives NULL, 0 and OK.
 *
 * NO_WAIT leaves out of the lists of gpumem_alloc():
 *
 *   - to waste less, pending blocks, behind the work that uses them
 *   - to waste less, a free block of another stream, behind its work
 *   - to waste less, adjacent free blocks of several streams, behind their work
 *   - to waste less, unused segments, once the work on them is over
 *   - a trim of this and the device's other pools
 *   - pending blocks, behind the work that uses them
 *   - free memory of another stream, behind its work
 *   - waiting for pending blocks
 *   - waiting for free memory of the device's other pools
 *   - waiting for what other threads give back
 *
 * and where the device has CAP_FREE_WAITS and the pool no virtual memory, it
 * gives no segment back to the driver before it takes another. The pressure
 * callbacks are called; what they wait for is theirs.
 *
 * NO_GROW leaves out:
 *
 *   - the driver, for a little
 *   - to waste less, pending blocks, behind the work that uses them
 *   - to waste less, a free block of another stream, behind its work
 *   - to waste less, adjacent free blocks of several streams, behind their work
 *   - to waste less, unused segments, once the work on them is over
 *   - pages moved from free blocks, or the driver
 *   - a trim of this and the device's other pools
 *   - the pressure callbacks
 *   - memory beyond the soft limit
 *   - waiting for free memory of the device's other pools
 *   - waiting for what other threads give back
 *
 * What fails for want of that is NO_MEMORY, and the text names the flag. It may
 * still wait for pending blocks (option `wait`), but for NO_WAIT beside it.
 *
 * ZERO queues a fill on `stream`: work queued there afterwards finds zeros; on
 * other streams only work that is ordered behind it. While the stream is being
 * captured the fill becomes part of the graph. If it fails the block is freed
 * again.
 *
 * As gpumem_alloc_aligned(); UNSUPPORTED also: ZERO without CAP_COPY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_alloc_with(gpumem_pool *pool, size_t bytes, gpumem_stream stream,
		  const struct gpumem_alloc_options *options, void **ptr_out,
		  uint64_t *usable_bytes_out);

/* How much the live block that begins at ptr holds: at least what was
 * requested. 0 for NULL. Takes no lock. OK; BAD_POINTER. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_usable_bytes(const void *ptr, uint64_t *bytes_out);

/*
 * Ends a block. Work queued on `stream` before the call may still use it. The
 * block goes back to the stream that it was allocated on, where it is reused at
 * once if that is `stream`; otherwise, and for every stream that was named by
 * gpumem_use_on(), it stays pending until an event for the work queued there
 * has completed. It is reused only when all of this has completed, on other
 * streams the work of its own, too; or behind that work, which the stream that
 * gets it waits for then (see gpumem_alloc()). Waits for nothing. OK, also of
 * NULL; BAD_POINTER: a double free, or ptr lies inside a block or in none of
 * any pool; nothing is changed. NO_HOST_MEMORY: the block stays live; so it
 * does after INVALID: the driver knows of no such stream (gpumem_free_own()
 * needs none).
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_free(void *ptr,
						       gpumem_stream stream);

/*
 * Makes the live block that begins at ptr hold at least `bytes` bytes, where it
 * lies: it keeps its address, alignment, stream and the content that it had
 * room for before and after. Or says that it cannot: BUSY, and the block is as
 * it was. That answer is quick; then allocate, copy and free.
 *
 * A block of up to 16 KiB keeps what it holds, so that it shrinks, and grows up
 * to that, but no further. A larger one gives its end back, as by
 * gpumem_free(), unless it is used on other streams: then it keeps its end
 * until it is freed. It grows into free memory right behind it: what its own
 * stream has freed, if `stream` is that, and what the device has finished with.
 * With virtual memory it also grows into a hole behind it, by pages that are
 * moved from free blocks or taken from the driver, up to the soft limit. No
 * caches but the calling thread's are emptied, nothing is trimmed, no callback
 * is called, and nothing waits.
 *
 * `stream`: work queued there before may still use what is given up, and work
 * queued there from now on may use what is new. If it is not the block's own
 * stream, the call is also a gpumem_use_on().
 *
 * usable_bytes_out may be NULL, and is what the block holds, at least `bytes`:
 * the program may use all of it. What is requested is `bytes` from then on, to
 * gpumem_free_sized() too and also of a block that was allocated WHOLE.
 *
 * OK; INVALID also of 0 bytes; BAD_POINTER; BUSY: what is behind the block is
 * in use, or the pool gets no memory for it, or the block has a gpumem_view(),
 * which has the size that was requested; DRIVER; LOST, only when it would grow;
 * NO_HOST_MEMORY. After each but OK the block is as it was.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_resize(void *ptr, size_t bytes, gpumem_stream stream,
	      uint64_t *usable_bytes_out);

/* gpumem_free() on the stream that the block was allocated on, for callers that
 * have only the pointer. Where that stream has been dropped since, its work
 * before that, and the streams named by gpumem_use_on(), are waited for. As
 * gpumem_free(). */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_free_own(void *ptr);

/* gpumem_free() of a block whose size the caller knows: INVALID, and nothing is
 * changed, unless requested <= bytes <= usable (gpumem_usable_bytes()). Of NULL
 * any size is right. For the rest as gpumem_free(). */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_free_sized(void *ptr, size_t bytes, gpumem_stream stream);

/* Work on `stream` uses the block too: after a later free the block stays
 * pending until the work that the stream has queued by then has completed, or
 * whoever gets its memory waits for that. OK, BAD_POINTER, NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_use_on(void *ptr,
							 gpumem_stream stream);

/*
 * One word of the caller's for each live block, by the pointer to its start,
 * for allocators that are built upon this one and get no more than the pointer
 * back. gpumem does not look at it. It is NULL in each new block, and stays
 * what was set until the block is freed, also by gpumem_resize(). Of an import
 * (gpumem_import()) it is NULL at first, and stays until the last close; what
 * the exporter has set is not shared.
 *
 * Takes no lock and makes no search, but for imports. The first word of a small
 * block (up to 16 KiB) among some hundred takes host memory, 8 bytes for each
 * that may have one; of large blocks none does. A block with a word other than
 * NULL costs a few instructions more when it is freed. Any thread may call at
 * any time, but of one block not while another thread sets the word, resizes or
 * frees the block.
 *
 * OK; INVALID: ptr, or user_out, is NULL; BAD_POINTER: ptr is not the start of
 * a live block or an import; set also NO_HOST_MEMORY, and the word is as it
 * was.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_block_set_user(void *ptr,
								 void *user);
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_block_get_user(const void *ptr, void **user_out);

/* ---- Hooks: for tracers and profilers ----------------------------------- */

/* name, number, word */
#define GPUMEM_HOOK_LIST(X)                                                   \
	X(ALLOC, 1, "alloc")   /* a block was allocated */                    \
	X(FREE, 2, "free")     /* a live block was freed */                   \
	X(USE_ON, 3, "use_on") /* gpumem_use_on() */                          \
	X(RESIZE, 4, "resize") /* gpumem_resize(), with the new sizes; on     \
				  another stream a use of it as well */

typedef enum gpumem_hook_kind {
#define GPUMEM_HOOK_ENUM(name, number, word) GPUMEM_HOOK_##name = (number),
	GPUMEM_HOOK_LIST(GPUMEM_HOOK_ENUM)
#undef GPUMEM_HOOK_ENUM
} gpumem_hook_kind;

/* "use_on" */
GPUMEM_API const char *gpumem_hook_kind_name(gpumem_hook_kind kind);

struct gpumem_hook_event {
	size_t size;
	gpumem_hook_kind kind; /* a later version may have more */
	void *ptr;
	uint64_t requested_bytes;
	uint64_t bytes;       /* its size, after rounding */
	gpumem_stream stream; /* that the call named; of a free after an event
				 the block's own */
};

/* Called for each allocation, free, use and resize that succeeds, in the thread
 * that makes it, in the order in which they happen; also for the allocation and
 * the free of a zeroed block whose fill cannot be queued. The pool is locked
 * meanwhile: fn must not call gpumem, nor wait for a thread that may, and must
 * return: a longjmp out of it leaves the pool locked. `event` is valid during
 * the call. */
typedef void (*gpumem_hook_fn)(gpumem_pool *pool,
			       const struct gpumem_hook_event *event,
			       void *user);

/* Sets the pool's one hook, or with fn NULL removes it. When it returns no
 * thread is inside the old one, nor will be. Blocks that gpumem_pool_destroy()
 * gives back by force are not reported. While a hook is set all calls take the
 * pool's lock; without one nothing is slower. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_hook_set(gpumem_pool *pool, gpumem_hook_fn fn, void *user);

/* ---- Ranges: for whoever registers addresses elsewhere ------------------- */

/*
 * Network cards, storage and other processes know memory by addresses that were
 * registered with them (NCCL, UCX, NIXL, cuFile). A pool maps and unmaps memory
 * behind addresses: what is registered must be what is there.
 *
 * A hook of ranges is told after addresses have memory and before they lose it.
 * Or a range is pinned: it keeps its memory until it is unpinned.
 */

/* name, number, word */
#define GPUMEM_RANGE_LIST(X)                                                  \
	X(MAPPED, 1, "mapped")       /* has memory from now on */             \
	X(UNMAPPING, 2, "unmapping") /* is about to lose it */

typedef enum gpumem_range_kind {
#define GPUMEM_RANGE_ENUM(name, number, word) GPUMEM_RANGE_##name = (number),
	GPUMEM_RANGE_LIST(GPUMEM_RANGE_ENUM)
#undef GPUMEM_RANGE_ENUM
} gpumem_range_kind;

/* "unmapping" */
GPUMEM_API const char *gpumem_range_kind_name(gpumem_range_kind kind);

struct gpumem_range {
	size_t size;
	gpumem_range_kind kind; /* a later version may have more */
	void *ptr;
	uint64_t bytes; /* whole pages, or a segment */
};

/* The pool is locked meanwhile: fn must not call gpumem, nor anything that
 * takes memory from or gives it to this pool, nor wait for a thread that may,
 * and must return. `range` is valid during the call. */
typedef void (*gpumem_range_fn)(gpumem_pool *pool,
				const struct gpumem_range *range, void *user);

/* Calls fn for each range of the pool that is mapped now, before this returns,
 * and from then on after each range is mapped and before it is unmapped, moved
 * or given back, in the thread that does it; also at the end of the pool. An
 * UNMAPPING that the driver then refuses is followed by MAPPED. Each address is
 * told by turns, MAPPED first; what was told in one piece may go in several.
 * Blocks are not told: memory stays mapped when a block is freed. A pool can
 * have several. OK; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_range_hook_add(gpumem_pool *pool, gpumem_range_fn fn, void *user);

/* When it returns no thread is inside fn, nor will be. It is told of nothing:
 * what it registered is its own to end. OK; NOT_FOUND. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_range_hook_remove(gpumem_pool *pool, gpumem_range_fn fn, void *user);

#define GPUMEM_RANGE_NAME_BYTES 64

/* So many bytes at ptr, in one block or one range as a hook is told of it, stay
 * where they are: they are not unmapped, moved or given back, whether a block
 * lies there or not, until as many calls of gpumem_range_unpin() as of this
 * one. Whole physical handles stay with them, or the segment. `name` says who
 * wants that, in less than GPUMEM_RANGE_NAME_BYTES: gpumem_pool_destroy() is
 * BUSY, and says it, unless it is forced. OK; BAD_POINTER: some of it has no
 * memory of the pool; NO_HOST_MEMORY. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_range_pin(gpumem_pool *pool, const void *ptr, size_t bytes,
		 const char *name);
/* With the arguments of the pin. OK; NOT_FOUND. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_range_unpin(gpumem_pool *pool, const void *ptr, size_t bytes,
		   const char *name);

/* name, number, word */
#define GPUMEM_BLOCK_LIST(X)                                                  \
	X(LIVE, 1, "live")                                                    \
	X(PENDING, 2, "pending")                                              \
	X(FREE, 3, "free")                                                    \
	X(HOLE, 4, "hole") /* addresses without memory behind them */

typedef enum gpumem_block_state {
#define GPUMEM_BLOCK_ENUM(name, number, word) GPUMEM_BLOCK_##name = (number),
	GPUMEM_BLOCK_LIST(GPUMEM_BLOCK_ENUM)
#undef GPUMEM_BLOCK_ENUM
} gpumem_block_state;

/* "pending" */
GPUMEM_API const char *gpumem_block_state_name(gpumem_block_state state);

struct gpumem_block {
	size_t size;
	void *ptr;
	uint64_t requested_bytes; /* 0 unless live */
	uint64_t bytes;           /* its size, after rounding */
	gpumem_stream stream;     /* that it was allocated on */
	gpumem_pool *pool;
	gpumem_block_state state;
	gpumem_kind kind;         /* the pool's */
	uint32_t tag;             /* 0: none, or not live */

	/* Where the pool is tracked (gpumem_pool_track_begin()), of a live
	 * block that was allocated since; else 0 and NULL. */
	uint64_t serial;          /* see gpumem_leak_mark() */
	uint64_t age_ns;          /* since it was allocated */
	void *const *frames;      /* the stack of its allocation, innermost
				     first: return addresses; valid for ever */
	uint32_t frame_count;
	uint32_t thread;          /* that allocated it, the kernel's number */
};

/* The live block that holds ptr, which may point anywhere inside it. OK, or
 * BAD_POINTER when no live block of any pool holds it. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_query(const void *ptr, struct gpumem_block *block_out);

/* ---- Memory that the vendor names by objects ---------------------------- */

/*
 * Where the device has CAP_OBJECTS (OpenCL without pointers) the address of a
 * block is a number that only this library, its fill and copy understand; the
 * vendor's own calls take an object, there a cl_mem. Pools of device memory
 * have them; any other gives UNSUPPORTED.
 */

/* The vendor's object that holds ptr, which may point anywhere into a live
 * block, and the offset of ptr in it. Other blocks lie in the same object. No
 * reference is taken: do not use it after the block is freed. OK; BAD_POINTER:
 * no live block of any pool holds ptr; UNSUPPORTED; DRIVER; LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_object(const void *ptr, void **object_out, uint64_t *offset_out);

/*
 * An object for just the live block that begins at ptr, with the size that was
 * requested: a sub-buffer in OpenCL. Made by the first call; later ones return
 * the same. The library owns it and releases it when the block ends.
 *
 * Work that was queued before the block was freed may still use it. A program
 * that has retained the object by the vendor's own means, and still does when
 * that work is over, keeps the memory alive: the block stays pending, counts as
 * quarantined_bytes, is logged, and becomes free once the program has released
 * the object and the pool polls it (at a trim, before it takes more memory).
 *
 * OK; BAD_POINTER; UNSUPPORTED; NO_MEMORY; DRIVER; LOST; NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_view(const void *ptr,
						       void **view_out);

/* The live block of the device whose gpumem_view() this is, for callers that
 * have only the vendor's object. Found by a table, under the lock of each of
 * the device's pools in turn. OK; BAD_POINTER: a view of no live block, a freed
 * one included; UNSUPPORTED: the device has no CAP_OBJECTS. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_view_block(gpumem_device *device, const void *view,
		  struct gpumem_block *block_out);

/* ---- Sharing blocks between processes ---------------------------------- */

#define GPUMEM_SHARE_HANDLE_BYTES 64

/*
 * A live block as another process of the machine, with this or a later version
 * of the library, can import it. Plain bytes: send them as they are. The
 * descriptors that go with method FD travel beside them (SCM_RIGHTS,
 * pidfd_getfd), in their order.
 */
struct gpumem_shared {
	size_t size;
	uint64_t check;        /* of the bytes that follow */
	uint32_t method;       /* GPUMEM_SHARE_FD or GPUMEM_SHARE_IPC */
	uint32_t fd_count;     /* FD: how many; IPC: 0 */
	uint64_t fd_bytes;     /* FD: what each stands for */
	uint64_t total_bytes;  /* what is shared: whole pages, or a segment */
	uint64_t offset_bytes; /* of the block in it */
	uint64_t bytes;        /* that the block holds */
	char backend[16];      /* "cuda" */
	char uuid[40];         /* of the device; "" if unknown */
	unsigned char process[16]; /* a random name of the exporter */
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES]; /* opaque */
};

/*
 * Describes the live block that begins at ptr, of a shareable pool, and puts
 * new descriptors, closed on exec, into fds_out, which has room for fd_room.
 * The caller closes them, as soon as they were sent; after a failure none is
 * left open, and what fds_out holds means nothing. fds_out NULL: only
 * describes; fd_count then says how much room it takes. With IPC fds_out is not
 * touched.
 *
 * Nothing is kept alive: free the block only when all importers have closed it.
 * After a free it is memory of the pool like any other. A process that still
 * has it imported sees what later blocks write there, or memory that was given
 * back to the driver: with FD that stays readable, with IPC it is undefined.
 *
 * What is shared is whole pages, or a whole segment, with all other blocks in
 * it: share only with processes that are trusted.
 *
 * shared_out->size becomes that of the description.
 *
 * OK; BAD_POINTER; UNSUPPORTED: the pool was not created shareable; INVALID:
 * too little room; DRIVER; LOST; NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_export(const void *ptr, struct gpumem_shared *shared_out, int *fds_out,
	      size_t fd_room);

/*
 * Where the block is in this process: readable and writable memory of `device`,
 * which must be the device that it was exported from, and which stays open
 * meanwhile. It is no block of a pool, and counts in no statistics. The
 * processes must order their work themselves. The same export imported again,
 * which is the same description with the same descriptors, returns the same
 * address, reference-counted. The descriptors stay the caller's, who may close
 * them right after.
 *
 * OK; INVALID: the bytes are no description, belong to another device or to
 * this process, descriptors are missing, too many, not open, not those that
 * were exported or no such memory, or the memory no longer exists; on host
 * also: the process that exported it by name is another user's; UNSUPPORTED:
 * the device cannot share so, or the description is of a later version,
 * whatever it says; NO_MEMORY; DRIVER; LOST; NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_import(gpumem_device *device, const struct gpumem_shared *shared,
	      const int *fds, size_t fd_count, void **ptr_out);

/* Undoes one import; the last unmaps the memory at once, without waiting for
 * work on the device. OK; BAD_POINTER: ptr was not imported; DRIVER, LOST: some
 * of it could not be given back; the import has ended, unless the driver did
 * not unmap it. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_import_close(void *ptr);

/* ---- Recordings -------------------------------------------------------- */

/*
 * Records what happens to the blocks of all pools into a file of at most
 * max_bytes (0: option `record_max`), from now until gpumem_record_end(): each
 * allocation, free, use and resize with its time, thread, pool and stream, and
 * why a pool grew, shrank or failed. What is live now comes first. A "%p" in
 * the path becomes the number of the process. gpumem_record(5) describes the
 * file; `gpumem-trace` reads it.
 *
 * The file is mapped, and each thread writes into a part of its own: no call
 * waits for another, and what was written survives a crash of the program. When
 * the file is full the oldest part is overwritten, and when the disk is, the
 * recording makes do with what it has; both are counted in the file. It must
 * not be cut while it is recorded to. A forked child records nothing.
 *
 * Without a recording nothing is slower. An allocation or free that is recorded
 * takes some nanoseconds more.
 *
 * OK; INVALID: such a file cannot be written, as the text says; BUSY: a
 * recording is under way, or another process records to this file;
 * NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_record_begin(const char *path, uint64_t max_bytes);

/* Ends the recording, also one that option `record` began; the file is whole
 * then. OK; INVALID: there is none. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_record_end(void);

/* "pool_end", of an enum gpumem_record_kind of gpumem/record.h. */
GPUMEM_API const char *gpumem_record_kind_name(unsigned kind);

/* ---- Statistics -------------------------------------------------------- */

/*
 * current: now. peak: highest since creation or reset. total: sum of all
 * increases since creation or reset. Everything is exact, with one exception:
 * while several threads use a pool, the peaks of requested, allocated, active
 * and blocks may be above the true ones, never below. Those in bytes are above
 * by at most cache_bound_bytes of the same report. The peaks of a pool that one
 * thread uses, on however many streams, are exact. A thread that has used the
 * pool counts until it ends.
 */
struct gpumem_gauge {
	uint64_t current;
	uint64_t peak;
	uint64_t total;
};

/* Driver calls, one entry per slot of backend.h that a pool calls. kind_alloc,
 * kind_free and map_peers count as the alloc, free and map that they are. */
#define GPUMEM_CALL_LIST(X)                                                   \
	X(ALLOC, alloc)                                                       \
	X(FREE, free)                                                         \
	X(VA_RESERVE, va_reserve)                                             \
	X(VA_RELEASE, va_release)                                             \
	X(PAGE_CREATE, page_create)                                           \
	X(PAGE_DESTROY, page_destroy)                                         \
	X(MAP, map)                                                           \
	X(UNMAP, unmap)                                                       \
	X(STREAM_QUERY, stream_query)                                         \
	X(EVENT_CREATE, event_create)                                         \
	X(EVENT_DESTROY, event_destroy)                                       \
	X(EVENT_RECORD, event_record)                                         \
	X(EVENT_QUERY, event_query)                                           \
	X(EVENT_SYNC, event_sync)                                             \
	X(CAPTURE_ID, capture_id)                                             \
	X(MEMORY_INFO, memory_info)

enum gpumem_call {
#define GPUMEM_CALL_ENUM(name, slot) GPUMEM_CALL_##name,
	GPUMEM_CALL_LIST(GPUMEM_CALL_ENUM)
#undef GPUMEM_CALL_ENUM
	GPUMEM_CALL_COUNT
};

/* "va_reserve"; NULL for a number that is none. */
GPUMEM_API const char *gpumem_call_name(unsigned call);

/* What an allocation got its block from, in the order in which it is tried:
 * name, number, statistic, text. From TRIMMED on it is what had to be done
 * before there was anything. A later version may have more. */
#define GPUMEM_SERVED_LIST(X)                                                 \
	X(CACHE, 0, cache, "the thread's cache")                              \
	X(OWN, 1, own, "free memory of its stream")                           \
	X(PENDING, 2, pending, "blocks whose uses on other streams were over") \
	X(CACHES, 3, caches, "what the caches of threads had ready")          \
	X(STREAMS, 4, streams, "free memory of other streams")                \
	X(BEHIND, 5, behind, "memory still in use, behind that work")         \
	X(MOVED, 6, moved, "pages moved from free blocks")                    \
	X(DRIVER, 7, driver, "new memory from the driver")                    \
	X(EXCHANGED, 8, exchanged, "a new segment, in place of unused ones")  \
	X(TRIMMED, 9, trimmed, "a trim")                                      \
	X(ASKED, 10, asked, "the pressure callbacks")                         \
	X(SOFT, 11, soft, "memory beyond the soft limit")                     \
	X(LARGER, 12, larger, "a larger class, or a large block")             \
	X(WAITED, 13, waited, "a wait of the host")

enum gpumem_served {
#define GPUMEM_SERVED_ENUM(name, number, statistic, text)                     \
	GPUMEM_SERVED_##name = (number),
	GPUMEM_SERVED_LIST(GPUMEM_SERVED_ENUM)
#undef GPUMEM_SERVED_ENUM
	GPUMEM_SERVED_COUNT
};

/* "own": its statistic is served_own. */
GPUMEM_API const char *gpumem_served_name(unsigned served);

/* Every number of struct gpumem_stats: name, type, unit.
 *
 *     GAUGE    struct gpumem_gauge
 *     COUNTER  uint64_t, since the pool was created or the last reset
 *     VALUE    uint64_t, worked out when it is asked for
 *     RATIO    double, likewise */
#define GPUMEM_STATS_LIST(X)                                                  \
	X(requested, GAUGE, BYTES)                                            \
	X(allocated, GAUGE, BYTES)                                            \
	X(active, GAUGE, BYTES)                                               \
	X(reserved, GAUGE, BYTES)                                             \
	X(blocks, GAUGE, COUNT)                                               \
	X(segments, GAUGE, COUNT)                                             \
	X(hits, COUNTER, COUNT)                                               \
	X(misses, COUNTER, COUNT)                                             \
	X(retries, COUNTER, COUNT)                                            \
	X(ooms, COUNTER, COUNT)                                               \
	X(trims, COUNTER, COUNT)                                              \
	X(moved_bytes, COUNTER, BYTES)                                        \
	X(decayed_bytes, COUNTER, BYTES)                                      \
	X(pending_bytes, VALUE, BYTES)                                        \
	X(quarantined_bytes, VALUE, BYTES)                                    \
	X(free_bytes, VALUE, BYTES)                                           \
	X(largest_free_bytes, VALUE, BYTES)                                   \
	X(cached_bytes, VALUE, BYTES)                                         \
	X(unreleasable_bytes, VALUE, BYTES)                                   \
	X(fragmentation, RATIO, PART)                                         \
	X(cache_bound_bytes, VALUE, BYTES)                                    \
	X(host_bytes, VALUE, BYTES)                                           \
	X(soft_limit_bytes, VALUE, BYTES)                                     \
	X(limit_bytes, VALUE, BYTES)                                          \
	X(driver_calls, VALUE, COUNT)                                         \
	X(driver_ns, VALUE, NS)                                               \
	X(page_part_bytes, VALUE, BYTES)                                      \
	X(handle_part_bytes, VALUE, BYTES)                                    \
	X(slab_part_bytes, VALUE, BYTES)                                      \
	X(graph_bytes, VALUE, BYTES)                                          \
	X(stale_bytes, VALUE, BYTES)                                        \
	X(served_cache, COUNTER, COUNT)                                       \
	X(served_own, COUNTER, COUNT)                                         \
	X(served_pending, COUNTER, COUNT)                                     \
	X(served_caches, COUNTER, COUNT)                                      \
	X(served_streams, COUNTER, COUNT)                                     \
	X(served_behind, COUNTER, COUNT)                                      \
	X(served_moved, COUNTER, COUNT)                                       \
	X(served_driver, COUNTER, COUNT)                                      \
	X(served_exchanged, COUNTER, COUNT)                                   \
	X(served_trimmed, COUNTER, COUNT)                                     \
	X(served_asked, COUNTER, COUNT)                                       \
	X(served_soft, COUNTER, COUNT)                                        \
	X(served_larger, COUNTER, COUNT)                                      \
	X(served_waited, COUNTER, COUNT)                                      \
	X(sleeping, GAUGE, BYTES)                                             \
	X(sleep_host_bytes, VALUE, BYTES)

struct gpumem_stats {
	size_t size;
	struct gpumem_gauge requested, allocated, active, reserved; /* bytes */
	struct gpumem_gauge blocks;   /* live blocks */
	struct gpumem_gauge segments; /* raw allocations, or handles */
	uint64_t hits;             /* allocations without a driver call for
				      memory */
	uint64_t misses;           /* the others that succeeded */
	uint64_t retries;          /* allocations that reclaimed first */
	uint64_t ooms;             /* allocations that failed: out of memory */
	uint64_t trims;            /* also those before an out of memory */
	uint64_t moved_bytes;      /* pages remapped from free blocks, in all */
	uint64_t pending_bytes;    /* active - allocated */
	uint64_t free_bytes;       /* reserved + sleeping - active */
	uint64_t largest_free_bytes;
	uint64_t cached_bytes;     /* of free: held by the caches of threads */
	uint64_t unreleasable_bytes; /* of free: neither cached nor whole
				      handles (or segments) */
	double fragmentation;      /* 1 - largest free / free; 0 when none */
	uint64_t cache_bound_bytes; /* see struct gpumem_gauge; 0 if one thread
				       alone used the pool since it was created
				       or since a reset, and no other that had
				       used it was left by then */
	uint64_t host_bytes;       /* the pool's own bookkeeping */
	uint64_t soft_limit_bytes, limit_bytes;
	uint64_t driver_calls, driver_ns; /* of all: gpumem_pool_calls() */
	uint64_t decayed_bytes;    /* returned after being idle: option
				      decay_ms */
	uint64_t quarantined_bytes; /* of pending: freed, but the program holds
				       a gpumem_view() of it */
	/* Why free memory is unreleasable: these add up to
	 * unreleasable_bytes. */
	uint64_t page_part_bytes;   /* in pages of which blocks have a part */
	uint64_t handle_part_bytes; /* other pages of handles of which blocks
				       have a part; or in segments, likewise */
	uint64_t slab_part_bytes;   /* free slots of slabs, and what is left
				       over in them */
	uint64_t graph_bytes;       /* kept for graphs */
	uint64_t stale_bytes;       /* addresses of reserved memory that serves
				       elsewhere by now, and are unmapped once
				       the work on them is over; they hold no
				       memory of their own */
	/* What served the allocations, by enum gpumem_served: these add up to
	 * hits + misses. */
	uint64_t served_cache; /* the thread's own cache */
	uint64_t served_own;   /* free memory of the stream */
	uint64_t served_pending; /* freed blocks whose uses on other streams
				    were over by now */
	uint64_t served_caches; /* what the caches of threads had ready, of
				   other sizes */
	uint64_t served_streams; /* free memory of other streams */
	uint64_t served_behind; /* memory that others may still use: the stream
				   waits for their work */
	uint64_t served_moved; /* pages moved from free blocks, and perhaps
				  some from the driver */
	uint64_t served_driver; /* new memory from the driver */
	uint64_t served_exchanged; /* without virtual memory: a new segment,
				      for which unused ones went back */
	uint64_t served_trimmed; /* after a trim of this and other pools */
	uint64_t served_asked; /* after the pressure callbacks */
	uint64_t served_soft; /* beyond the soft limit */
	uint64_t served_larger; /* small: a larger class, or a large block */
	uint64_t served_waited; /* after the host waited for work, other pools
				   or other threads */
	struct gpumem_gauge sleeping; /* bytes of allocated that have no memory:
					 gpumem_pool_sleep(). So active <=
					 reserved + sleeping */
	uint64_t sleep_host_bytes; /* of the host, that sleeps hold or retain;
				      of what was freed until the next one */
};

/* No driver call. Takes time for each stream, each cache of a thread and each
 * range of free memory, and without virtual memory each segment, but not for
 * live blocks. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_stats(gpumem_pool *pool, struct gpumem_stats *stats_out);

struct gpumem_call_stats {
	size_t size;
	uint64_t count, failed; /* failed: of count */
	uint64_t ns;		/* spent in them */
};

/* What a pool has made of one kind of driver call, since it was created or its
 * totals were reset. call: enum gpumem_call; a later version may have more. No
 * lock; three numbers of a moment only while no other thread uses the pool. OK;
 * INVALID: no such call. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_calls(gpumem_pool *pool, unsigned call,
		  struct gpumem_call_stats *stats_out);

#define GPUMEM_PRINT_JSON 1u

/* The pool's name, device, statistics and driver calls, as text in UTF-8 that
 * `write` gets in pieces; each is valid during its call. flags 0: lines for
 * people, which no program should read. GPUMEM_PRINT_JSON: one object, whose
 * keys are those of GPUMEM_STATS_LIST (a gauge is an object with current, peak
 * and total), "pool", "device", "kind" and "calls"; a later version may have
 * more. `write` is called in this thread, with no lock held: it may call
 * gpumem, and must return. OK; INVALID: another flag. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_print(gpumem_pool *pool, unsigned flags,
		  void (*write)(const char *text, void *user), void *user);

/*
 * Where the memory of a device is: a table whose rows add up to the total that
 * the driver reports, for `write` as of gpumem_pool_print(), in the flags of
 * that. Of each pool its live blocks by tag, the largest first, what their
 * rounding takes, what is pending and for which stream, and what is free and
 * why it is not in use; then what is outside gpumem, and free on the device.
 * Rows of 0 bytes are left out.
 *
 * JSON is one object with "device", "total_bytes", "rows", whose "bytes" add up
 * to that, "beside", which are rows that are no memory of the device
 * (bookkeeping, stale addresses, pools of another kind), and where the driver
 * lists them "processes". gpumem_device_report(3) names the rows; a later
 * version may have more.
 *
 * The rows of one pool are of one moment. While other threads take memory from
 * the driver or give it back, or other programs do, those outside the pools may
 * be of another, and are made to add up. Asks the driver for its free memory,
 * and for the processes. OK; INVALID: another flag; DRIVER; LOST;
 * NO_HOST_MEMORY: nothing was written.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_device_report(gpumem_device *device, unsigned flags,
		     void (*write)(const char *text, void *user), void *user);

/* Also sets totals and counters to 0. */
#define GPUMEM_RESET_TOTALS 1u

/* Peaks become current. flags: 0 or GPUMEM_RESET_TOTALS. OK; INVALID: another
 * flag. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_reset_stats(gpumem_pool *pool, unsigned flags);

/* Walks the pool's memory in address order, calling fn for every block, free
 * ones and holes too, until it returns false. Free memory that is mapped at no
 * address at the moment, which a trim gives back, is in none of them: by so
 * much free_bytes may be more than the free ones. The pool is locked meanwhile:
 * fn must not call gpumem, and must return: a longjmp out of it leaves the pool
 * locked. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_block_visit(gpumem_pool *pool,
		   bool (*fn)(const struct gpumem_block *block, void *user),
		   void *user);

/* Walks everything and compares it with every counter and invariant. OK, or
 * CORRUPT with a sentence that says what does not hold. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_pool_check(gpumem_pool *pool);

/* Calls fn for every pool of the device until it returns false; name is valid
 * during the call. The list is locked meanwhile: fn must not create or destroy
 * pools or streams, nor open or close devices, and must return: a longjmp out
 * of it leaves the list locked. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_visit(gpumem_device *device,
		  bool (*fn)(gpumem_pool *pool, const char *name, void *user),
		  void *user);

/* ---- Leaks --------------------------------------------------------------- */

#define GPUMEM_FRAMES_MAX 64

/*
 * From now on the pool knows of each block that is allocated when that was, by
 * which thread, and with max_frames above 0 from where: so many frames of the
 * stack, at most GPUMEM_FRAMES_MAX, from the call into the library on. struct
 * gpumem_block has it, gpumem_pool_print_leaks() prints it, and the BUSY of
 * gpumem_pool_destroy() names the largest of what is left. Blocks that are live
 * now are known without. If the pool is tracked already, only the number of
 * frames changes. Options `track` and `track_frames` do the same for every new
 * pool; option `leaks` also reports what is left when the process ends.
 *
 * While a pool is tracked all its calls take its lock, as with a hook, and each
 * live block takes 54 to 107 bytes of host memory; each different stack is kept
 * once, until the process ends. Where there is no memory for that, a block is
 * known without. Without tracking nothing is slower.
 *
 * Where the C library has no unwinder (others than glibc) blocks have no
 * frames. OK; INVALID: too many frames.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_track_begin(gpumem_pool *pool, unsigned max_frames);

/* Forgets all that; if the pool is not tracked nothing happens. OK. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_track_end(gpumem_pool *pool);

/* The serial that the next tracked block of any pool gets, at least 1: what is
 * allocated after this call has that or a higher one. No lock; also in a forked
 * child. */
GPUMEM_API uint64_t gpumem_leak_mark(void);

/*
 * The live blocks of a pool that have a serial of at least `since` and, unless
 * until is 0, below `until`, in groups of one tag and stack, the largest first,
 * for `write` as of gpumem_pool_print(), in the flags of that. With both 0 all
 * live blocks, also those without a serial. Between two marks, some time later:
 * what was allocated in that time and is still there. A steady leak is in each
 * such report; a cache that was filled once is not.
 *
 * JSON is one object, whose keys gpumem_leak(3) names; a later version may have
 * more. A frame is a module and the offset of the call in it, for addr2line(1).
 *
 * The report is of one moment. OK; INVALID: another flag, or a mark for a pool
 * that is not tracked; NO_HOST_MEMORY: nothing was written.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_pool_print_leaks(gpumem_pool *pool, uint64_t since, uint64_t until,
			unsigned flags,
			void (*write)(const char *text, void *user),
			void *user);

/* ---- Tags ---------------------------------------------------------------- */

/*
 * A tag says what blocks are for: "model/layer3". Every block that a thread
 * allocates while it has a tag gets it, and keeps it until it is freed, by
 * whatever thread. Tags nest: a name that is pushed goes to the end of the
 * path.
 *
 * The process has one table of them, which only grows, to 4095 at most; each
 * has a number, from 1 on, the same in all pools and threads. So names should
 * be those of parts of the program, without numbers that go on and on. A path
 * has at most 255 bytes.
 *
 * A thread without a tag is not slower. One that has a tag takes some
 * nanoseconds more for an allocation and free.
 */

/* The calling thread's tag is `name` inside the one that it had. A name has no
 * '/'. OK; INVALID also: it is empty or too long; NO_HOST_MEMORY: also, there
 * are 4095 tags already. After a failure the thread's tag is as it was. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_tag_push(const char *name);

/* The calling thread's tag is the one around it, or none. OK; INVALID: it has
 * none. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_tag_pop(void);

/* The number of the tag with this path, from the outermost name on, for
 * gpumem_tag_set() and struct gpumem_alloc_options. OK; INVALID,
 * NO_HOST_MEMORY: as gpumem_tag_push(). */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_tag_intern(const char *path, uint32_t *tag_out);

/* The calling thread's tag is this one, or with 0 none, whatever it was before:
 * for a thread that goes on with what another has begun. Finds no name, and so
 * is quicker than gpumem_tag_push(). OK; INVALID: there is no such tag. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status gpumem_tag_set(uint32_t tag);

/* The calling thread's; 0: none. */
GPUMEM_API uint32_t gpumem_tag_get(void);

/* Its path, which is valid for ever; NULL of a number that is no tag. No lock;
 * also in a forked child. */
GPUMEM_API const char *gpumem_tag_path(uint32_t tag);

/* What the blocks of a pool have that got one tag, without those of the tags
 * inside it. */
struct gpumem_tag {
	size_t size;
	uint32_t tag;                 /* 0: the blocks without one */
	const char *path;             /* "" of these; valid for ever */
	struct gpumem_gauge bytes;    /* requested; see struct gpumem_gauge */
	struct gpumem_gauge blocks;   /* live */
	uint64_t limit_bytes;         /* gpumem_tag_set_limit(); 0: none */
	uint64_t held_bytes;          /* what that counts, tags inside too; 0
					 without a limit */
};

/*
 * Calls fn first for the blocks without a tag, then for each tag that the pool
 * has had blocks of or a limit for, by number, until it returns false. All rows
 * are of one moment: current and total of all add up to those of `requested`
 * and `blocks` of struct gpumem_stats. The peak of what has no tag is not
 * followed: it is current. gpumem_pool_reset_stats() resets these too.
 *
 * The pool is locked meanwhile: fn must not call gpumem, and must return: a
 * longjmp out of it leaves the pool locked. OK.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_tag_visit(gpumem_pool *pool,
		 bool (*fn)(const struct gpumem_tag *tag, void *user),
		 void *user);

/*
 * What becomes of the blocks of a tag, and of the tags inside it that have no
 * word of their own, when they sleep: gpumem_pool_sleep(). 0: what the tag
 * around it says, and KEEP without one. It counts when the sleep begins, in
 * every pool; what sleeps already is not changed. Blocks that STAY keep the
 * memory of whole pages, of whatever else is on them. The tag's blocks of more
 * than 16 KiB share no handle with others from its first word on: say it early.
 * Any thread may call it at any time. OK; INVALID: there is no such tag, it is
 * 0, or no such word.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_tag_set_sleep(uint32_t tag, gpumem_sleep sleep);

/*
 * A limit on the requested bytes that live blocks of one pool have under a tag
 * and all tags inside it; 0: none. Those inside may have limits of their own,
 * and an allocation has to keep them all. One that would pass a limit, however
 * it is made, fails with LIMIT at once: nothing is trimmed or waited for, and
 * no pressure callback is called, because only a free of blocks of these tags
 * would help. gpumem_resize() beyond a limit fails with BUSY. An allocation
 * that another thread has begun counts until it has failed. What is imported
 * has no tag.
 *
 * A limit below what is held already is no error: the blocks stay, and nothing
 * is added until there is room. Blocks of such tags do not come from the caches
 * of threads without the pool's lock; those of other tags are not slower. Any
 * thread may call it at any time. OK; INVALID: there is no such tag, or it is
 * 0 (gpumem_pool_set_limit() limits all blocks); NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_tag_set_limit(gpumem_pool *pool, uint32_t tag, uint64_t limit_bytes);

/* ---- Out of memory --------------------------------------------------------
 */

/* name, number (fixed for ever), word. What would help an allocation that
 * failed for want of memory, as far as gpumem can see; a later version may have
 * more. */
#define GPUMEM_ADVICE_LIST(X)                                                 \
	X(LESS, 1, "less")           /* free blocks, or ask for less */        \
	X(TOO_LARGE, 2, "too_large") /* the device as a whole is too small */  \
	X(LIMIT, 3, "limit")         /* raise the limit of the pool, or option \
					`device_limit` */                      \
	X(FLAGS, 4, "flags")         /* leave out the request's flags */       \
	X(DRIVER, 5, "driver")       /* the driver refused for its own reason; \
					the text has that */                   \
	X(VIEWS, 6, "views")         /* release views of blocks that are freed \
					already */                             \
	X(STREAMS, 7, "streams")     /* synchronise streams: enough is freed,  \
					but in use */                          \
	X(GRAPHS, 8, "graphs")       /* fragmented: kept for graphs */         \
	X(HANDLES, 9, "handles")     /* fragmented: in handles, */             \
	X(PAGES, 10, "pages")        /* in pages, */                           \
	X(SEGMENTS, 11, "segments")  /* in segments of which blocks have a     \
					part */                                \
	X(POOLS, 12, "pools")        /* the device's other pools of this       \
					process have enough that is free */    \
	X(OUTSIDE, 13, "outside")    /* other programs, or other allocators of \
					this one, have it */                   \
	X(TAG_LIMIT, 14, "tag_limit") /* raise the limit of the tag or of one  \
					 around it, gpumem_tag_set_limit() */  \
	X(CAPTURE, 15, "capture")    /* enough is free, but a stream is being  \
					captured, and without                  \
					CAP_FREES_IN_CAPTURE nothing is given  \
					back or moved until that ends */

typedef enum gpumem_advice {
#define GPUMEM_ADVICE_ENUM(name, number, word) GPUMEM_ADVICE_##name = (number),
	GPUMEM_ADVICE_LIST(GPUMEM_ADVICE_ENUM)
#undef GPUMEM_ADVICE_ENUM
} gpumem_advice;

/* "tag_limit" */
GPUMEM_API const char *gpumem_advice_name(gpumem_advice advice);

/* An allocation that failed. Bytes are of the moment just after. */
struct gpumem_oom {
	size_t size;
	gpumem_pool *pool;
	gpumem_status status;      /* NO_MEMORY or LIMIT */
	gpumem_advice advice;      /* what would help best */
	uint64_t bytes;            /* of the request */
	uint64_t alignment;        /* 1: none was asked for */
	gpumem_stream stream;
	uint32_t flags;            /* GPUMEM_ALLOC_ bits of it */
	uint32_t tag;              /* that the block would have got; 0: none */
	uint64_t fits_bytes;       /* a request of so many would succeed now, at
				      least: gpumem_pool_capacity(), within the
				      limit of the tag; 0: unknown, or at most a
				      small one */
	uint64_t requested_bytes;  /* of the pool: see struct gpumem_stats */
	uint64_t reserved_bytes;
	uint64_t free_bytes;
	uint64_t limit_bytes;      /* 0: none */
	const char *text;          /* gpumem_error_text() of the failure */
	const char *json;          /* one object on one line, with everything */
};

/*
 * Called in the thread whose allocation failed with NO_MEMORY or LIMIT, once
 * for each such call of the program, after everything has been tried and just
 * before the call returns. No lock is held: it may call gpumem, and that does
 * not change what gpumem_last_error() says once the call has returned. An
 * allocation that fails in here, also of another pool, calls nothing. `oom` and
 * its texts are valid during the call. It must return: after a longjmp or a C++
 * exception out of it the thread calls it no more, logs nothing and cannot be
 * cancelled.
 *
 * `json` has the request, the advice as a word and as a sentence, the pool's
 * figures, its largest tags, the blocks that keep most free memory from use,
 * and the table of gpumem_device_report(); gpumem_oom(3) names the members.
 * Where there is no host memory for that it is shorter.
 */
typedef void (*gpumem_oom_fn)(const struct gpumem_oom *oom, void *user);

/*
 * Sets the process's one function; NULL: none. Option `oom` writes the same
 * JSON to a file, without a change to the program. Without both nothing is
 * collected. Otherwise a failure takes time for each tag, stream and range of
 * memory of the device's pools, and waits for other threads that use them, also
 * with GPUMEM_ALLOC_NO_WAIT. After this returns, a call of an earlier function
 * that had begun may still be running.
 */
GPUMEM_API void gpumem_oom_set(gpumem_oom_fn fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
