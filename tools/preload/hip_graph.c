/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of graphs of AMD's runtime: what it says that it has reserved for
 * them, as of NVIDIA's driver (cuda_graph.c). When it takes that is its own
 * matter: with the node or with the launch, by release, and it gives some back
 * when the program frees a node's address or waits. Of which device is not what
 * the node says, so each device is asked. Nothing is asked until a node was
 * seen.
 *
 * Behind a call that succeeded a question that succeeds leaves the last error
 * as it was. Behind others it could not, and is put off. The mutex is not held
 * meanwhile, as threads of the runtime's own may call wrapped functions while
 * they keep it waiting: answers have numbers, and the last question's stays.
 */
#include "hip_graph.h"
#include "nodes.h"

#include <hip/hip_version.h>
#include <stdatomic.h>

enum { NODE_ALLOCATES = 10, RESERVED_NOW = 2, VERSION_MIN = 50600000 };

/* hipMemAllocNodeParams, which older headers do not have, */
struct alloc_params {
	int type, handles, location, device;
	void *windows;
	unsigned char reserved[64];
	const void *accesses;
	size_t access_count, bytes;
	void *address;
};

/* and hipGraphNodeParams. */
struct node_params {
	int type, reserved[3];
	struct alloc_params alloc;
};

#if HIP_VERSION >= 60200000
_Static_assert(offsetof(struct alloc_params, address) ==
		       offsetof(hipMemAllocNodeParams, dptr),
	       "");
_Static_assert(offsetof(struct node_params, alloc) ==
		       offsetof(hipGraphNodeParams, alloc),
	       "");
#endif

static _Atomic bool seen;      /* a node */
static _Atomic bool late;      /* a call may have changed the answer */
static _Atomic bool unable;    /* the runtime does not answer */
static _Atomic uint64_t asked; /* questions so far */
static uint64_t told;	       /* the one whose answer counts; with the mutex */

/* ---- what the runtime has reserved -----------------------------------------
 */

static int ask(uint64_t bytes_out[LEDGER_DEVICES])
{
	int count = 0;
	bool ok = REAL(hipGetDeviceCount)(&count) == hipSuccess;

	if (count > LEDGER_DEVICES)
		count = LEDGER_DEVICES;
	for (int i = 0; ok && i < count; i++)
		ok = REAL(hipDeviceGetGraphMemAttribute)(
			     i, RESERVED_NOW, &bytes_out[i]) == hipSuccess;
	return ok ? count : -1;
}

static void look(void)
{
	uint64_t bytes[LEDGER_DEVICES] = {0}, turn;
	struct preload_state *state;
	int count;

	if (atomic_load(&unable))
		return;
	atomic_store(&late, false);
	turn = atomic_fetch_add(&asked, 1) + 1;
	count = ask(bytes);
	if (count < 0) {
		atomic_store(&unable, true);
		(void)REAL(hipGetLastError)(); /* which is the question's */
	}
	state = preload_lock();
	for (int i = 0; turn > told && i < count; i++)
		(void)nodes_reserved(state, LEDGER_HIP, i, bytes[i]);
	if (turn > told)
		told = turn;
	preload_unlock(state);
}

void hip_graph_refresh(void)
{
	if (atomic_load(&seen) && (atomic_load(&late) || preload_limited()))
		look();
}

void hip_graph_changed(hipError_t result)
{
	if (result != hipSuccess)
		atomic_store(&late, true);
	else if (atomic_load(&seen))
		look();
}

void hip_graph_changed_quietly(void)
{
	atomic_store(&late, true);
}

/* ---- nodes -----------------------------------------------------------------
 */

/* The legacy stream is never captured. Releases before VERSION_MIN take what is
 * allocated in a captured stream at once, or do not say how much graphs have.
 */
bool hip_graph_captures(hipStream_t stream)
{
	hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
	int version = 0;

	return stream && stream != HIP_LEGACY &&
	       REAL(hipStreamIsCapturing)(stream, &status) == hipSuccess &&
	       status != hipStreamCaptureStatusNone &&
	       REAL(hipRuntimeGetVersion)(&version) == hipSuccess &&
	       version >= VERSION_MIN;
}

static void added(hipError_t result, const void *address)
{
	if (result == hipSuccess && address) {
		nodes_add(LEDGER_HIP, (uintptr_t)address);
		atomic_store(&seen, true);
	}
	hip_graph_changed(result);
}

void hip_graph_captured(hipError_t result, void *const *address)
{
	added(result, result == hipSuccess ? *address : NULL);
}

bool hip_graph_has(const void *address)
{
	return atomic_load(&seen) && nodes_has(LEDGER_HIP, (uintptr_t)address);
}

/* In a wrapper: `address` is that of the node that was added. */
#define ADD(name, address)                                                     \
	do {                                                                   \
		hipError_t result;                                             \
                                                                               \
		if (!hip_enter())                                              \
			return REAL(name)(node_out, graph, needs, count,       \
					  params);                             \
		result = REAL(name)(node_out, graph, needs, count, params);    \
		added(result, result == hipSuccess ? (address) : NULL);        \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

hipError_t wrap_hipGraphAddMemAllocNode(hipGraphNode_t *node_out,
					hipGraph_t graph,
					const hipGraphNode_t *needs,
					size_t count, void *params)
{
	ADD(hipGraphAddMemAllocNode, ((struct alloc_params *)params)->address);
}

hipError_t wrap_hipGraphAddNode(hipGraphNode_t *node_out, hipGraph_t graph,
				const hipGraphNode_t *needs, size_t count,
				void *params)
{
	const struct node_params *any = params;

	if (!any || any->type != NODE_ALLOCATES)
		return REAL(hipGraphAddNode)(node_out, graph, needs, count,
					     params);
	ADD(hipGraphAddNode, any->alloc.address);
}

/* ---- calls that take or give back ------------------------------------------
 */

/* The current device is asked for before the call, for one that fails. */
#define LOOK_BEHIND(name, parameters, ...)                                     \
	hipError_t wrap_##name parameters                                      \
	{                                                                      \
		hipError_t result;                                             \
		int device;                                                    \
                                                                               \
		if (!atomic_load(&seen) || !hip_enter())                       \
			return REAL(name)(__VA_ARGS__);                        \
		if (atomic_load(&late))                                        \
			look();                                                \
		device = hip_device();                                         \
		result = REAL(name)(__VA_ARGS__);                              \
		if (result == hipErrorOutOfMemory && device >= 0)              \
			nodes_failed(LEDGER_HIP, device);                      \
		hip_graph_changed(result);                                     \
		preload_leave();                                               \
		return result;                                                 \
	}

#define INSTANTIATE (hipGraphExec_t * exec_out, hipGraph_t graph, void *params)
#define LAUNCH (hipGraphExec_t exec, hipStream_t stream)

LOOK_BEHIND(hipGraphInstantiateWithParams, INSTANTIATE, exec_out, graph, params)
LOOK_BEHIND(hipGraphUpload, LAUNCH, exec, stream)
LOOK_BEHIND(hipGraphLaunch, LAUNCH, exec, stream)
LOOK_BEHIND(hipGraphLaunch_spt, LAUNCH, exec, stream)
LOOK_BEHIND(hipDeviceGraphMemTrim, (int device_number), device_number)
