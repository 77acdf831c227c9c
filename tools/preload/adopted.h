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
 * if a file is whose name begins so; "": nobody looks. If it took a setting
 * with `stream_ordered`, there are such allocations. CuPy's pool has no
 * variable. */
#define ADOPTED_LIST(X)                                                        \
	X("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async", "JAX",                  \
	  "xla_cuda_plugin", true)                                             \
	X("XLA_PYTHON_CLIENT_PREALLOCATE", "false", "JAX", "", false)          \
	X("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", "PyTorch", "", false)         \
	X("PYTORCH_NO_HIP_MEMORY_CACHING", "1", "PyTorch", "", false)          \
	X("TF_GPU_ALLOCATOR", "cuda_malloc_async", "TensorFlow",               \
	  "libtensorflow_framework.so", true)                                  \
	X("TF_FORCE_GPU_ALLOW_GROWTH", "true", "TensorFlow", "", false)

struct ledger;

/* When the process ends: whether a framework that is loaded took its setting.
 */
void adopted_look(struct ledger *ledger);

#endif
