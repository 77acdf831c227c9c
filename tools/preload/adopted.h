/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-run --adopt sets for which framework: the one place that says so.
 * gpumem-run sets it; in the program, which may have taken it or not, is seen
 * whether it did, where that can be seen.
 */
#ifndef GPUMEM_PRELOAD_ADOPTED_H
#define GPUMEM_PRELOAD_ADOPTED_H

/* X(variable, value, framework, library, stream_ordered): a framework is loaded
 * if a file is whose name begins so; "": nobody looks. A setting that is
 * `stream_ordered` is for NVIDIA's devices; if it was taken there are such
 * allocations. CuPy's pool has no variable. */
#define ADOPTED_LIST(X)                                                        \
	X("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async", "JAX",                  \
	  "xla_cuda_plugin", true)                                             \
	X("XLA_PYTHON_CLIENT_PREALLOCATE", "false", "JAX", "", false)          \
	X("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", "PyTorch", "", false)         \
	X("PYTORCH_NO_HIP_MEMORY_CACHING", "1", "PyTorch", "", false)          \
	X("TF_GPU_ALLOCATOR", "cuda_malloc_async", "TensorFlow",               \
	  "libtensorflow_framework.so", true)                                  \
	X("TF_FORCE_GPU_ALLOW_GROWTH", "true", "TensorFlow", "", false)

/* X(library, what): what is so where Python did not read what --adopt puts
 * first into PYTHONPATH, of a framework that is loaded if such a file is. */
#define ADOPTED_PYTHON_LIST(X)                                                 \
	X("libc10_cuda.so", "PyTorch allocates from the driver, without a "    \
			    "cache")                                           \
	X("libc10_hip.so", "PyTorch allocates from the runtime, without a "    \
			   "cache")                                            \
	X("libtensorflow_framework.so",                                        \
	  "TensorFlow keeps what it trained until it ends")

struct ledger;

/* When the process ends: whether a framework that is loaded took its setting.
 */
void adopted_look(struct ledger *ledger);
/* The same of a process that was told nothing by gpumem_run_tell(). */
void adopted_miss(struct ledger *ledger);

#endif
