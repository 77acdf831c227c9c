# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The Python package, which pip builds (bindings/python/gpumem_build.py). `make`
# only carries it in its tarball.

EXTRA_DIST += \
	bindings/python/gpumem/__init__.py \
	bindings/python/gpumem/_core.pyi \
	bindings/python/gpumem/_memory.py \
	bindings/python/gpumem/_release.py \
	bindings/python/gpumem/_tags.py \
	bindings/python/gpumem/_torch.pyi \
	bindings/python/gpumem/_torch_stats.py \
	bindings/python/gpumem/_torch_subclass.py \
	bindings/python/gpumem/cupy.py \
	bindings/python/gpumem/numba.py \
	bindings/python/gpumem/onnxruntime.py \
	bindings/python/gpumem/py.typed \
	bindings/python/gpumem/pyopencl.py \
	bindings/python/gpumem/rmm.py \
	bindings/python/gpumem/run.py \
	bindings/python/gpumem/torch.py \
	bindings/python/gpumem_build.py \
	bindings/python/pyproject.toml \
	bindings/python/src/alloc.c \
	bindings/python/src/buffer.c \
	bindings/python/src/copy.c \
	bindings/python/src/core.h \
	bindings/python/src/device.c \
	bindings/python/src/error.c \
	bindings/python/src/functions.c \
	bindings/python/src/interface.c \
	bindings/python/src/leaks.c \
	bindings/python/src/module.c \
	bindings/python/src/pool.c \
	bindings/python/src/pool_peer.c \
	bindings/python/src/pool_report.c \
	bindings/python/src/pressure.c \
	bindings/python/src/subclass/allocator.cpp \
	bindings/python/src/subclass/allocator.hpp \
	bindings/python/src/subclass/checkpoint.cpp \
	bindings/python/src/subclass/device.cpp \
	bindings/python/src/subclass/fork.cpp \
	bindings/python/src/subclass/history.cpp \
	bindings/python/src/subclass/offer.cpp \
	bindings/python/src/subclass/offer.hpp \
	bindings/python/src/subclass/oom.cpp \
	bindings/python/src/subclass/pools.cpp \
	bindings/python/src/subclass/segments.cpp \
	bindings/python/src/subclass/settle.cpp \
	bindings/python/src/subclass/space.cpp \
	bindings/python/src/subclass/space.hpp \
	bindings/python/src/subclass/statistics.cpp \
	bindings/python/src/subclass/take.cpp \
	bindings/python/src/tags.c \
	bindings/python/tests/cudart_double.cpp \
	bindings/python/tests/test_core.py \
	bindings/python/tests/test_cupy.py \
	bindings/python/tests/test_cycles.py \
	bindings/python/src/torch/fork.cpp \
	bindings/python/src/torch/graphs.cpp \
	bindings/python/src/torch/module.cpp \
	bindings/python/src/torch/plug.cpp \
	bindings/python/src/torch/plug.hpp \
	bindings/python/src/torch/raise.cpp \
	bindings/python/tests/test_interface.py \
	bindings/python/tests/test_numba.py \
	bindings/python/tests/test_onnxruntime.py \
	bindings/python/tests/test_pyopencl.py \
	bindings/python/tests/test_release.py \
	bindings/python/tests/test_rmm.py \
	bindings/python/tests/test_run.py \
	bindings/python/tests/test_tags.py \
	bindings/python/tests/test_torch.py \
	bindings/python/tests/test_torch_cache.py \
	bindings/python/tests/test_torch_failing.py \
	bindings/python/tests/test_torch_forked.py \
	bindings/python/tests/test_torch_shared.py \
	bindings/python/tests/test_torch_subclass.py \
	bindings/python/tests/torch_double.cpp \
	bindings/python/tests/torch_double.py
