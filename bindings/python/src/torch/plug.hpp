/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The plug: functions of the signatures that torch.cuda.memory's pluggable
 * allocator calls by their addresses, over each device's default pool. Knows
 * PyTorch's binary interface and none of its headers, so that one build serves
 * its versions. Its calls come from any thread, with Python's GIL or without.
 */
#ifndef GPUMEM_PYTHON_TORCH_PLUG_HPP
#define GPUMEM_PYTHON_TORCH_PLUG_HPP

#include <gpumem/gpumem.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace plug
{

using stream = void *; /* cudaStream_t or hipStream_t, by its handle */
using pool_id = std::pair<unsigned long long, unsigned long long>;
using filter = std::function<bool(stream)>;

constexpr int MOST_DEVICES = 64;

struct device {
	gpumem_device *handle;
	gpumem_pool *pool;
	/* A limit below what is in use, or than any block takes: PyTorch takes
	 * it, gpumem does not yet. 0: none. Written under `limiting`. */
	std::atomic<uint64_t> wanted_limit{0};
	std::mutex limiting;
};

/* ---- plug.cpp -------------------------------------------------------------
 */

/* "cuda", "hip" or, for tests, "host": of PyTorch's device n it is device n. */
void use_backend(const char *name);

/* NULL: nothing was allocated on it yet. */
device *opened(int number);

/* Opens it if need be; throws what raise() throws. */
device *get(int number);

void *hook_alloc(size_t bytes, int number, stream on);
void hook_free(void *ptr, size_t bytes, int number, stream on);
void hook_reset();
void hook_fraction(double part, int number);
void *hook_base(void *ptr, size_t *bytes_out);
void hook_record(void *ptr, stream on);
void hook_init(int count);

/* ---- graphs.cpp -----------------------------------------------------------
 */

/* Whether a capture is under way: then route() has to see each allocation. */
extern std::atomic<int> capturing;

/* Blocks of the stream go to its graph's memory, if a capture's filter says
 * that it is the capture's. */
void route(int number, stream on);

/* Ends the memory of graphs that are gone, if no capture is under way; waits
 * for their devices by the function that was set. */
void settle();

/* What PyTorch knows of a device: how to wait for it, and its current stream in
 * this thread, NULL if it is the default one. Set before a capture begins. */
struct asked {
	void (*wait)(int number);
	stream (*current)(int number);
};
void use_asked(asked functions);

void hook_begin(int number, pool_id id, filter is_of_capture);
void hook_end(int number, pool_id id);
void hook_release(int number, pool_id id);

/* ---- fork.cpp -------------------------------------------------------------
 */

/* False: there is no host memory for it. */
bool watch_forks();
void note_use(); /* of a device: what is forked from now on can use none */
bool is_child();
void check_process(); /* throws in such a child */

/* ---- raise.cpp ------------------------------------------------------------
 */

/* Looks for PyTorch's classes of errors in the libraries at these paths. True:
 * an out of memory will be a c10::OutOfMemoryError. */
bool find_errors(const char *const *paths, size_t count);

/* Throws what failed last in this thread: an out of memory as PyTorch's own,
 * all else, and where that was not found, as std::runtime_error. The text of an
 * out of memory ends in " out of memory.", by which some programs know it. */
[[noreturn]] void raise(gpumem_status status);

} /* namespace plug */

#endif
