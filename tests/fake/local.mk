# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Doubles of drivers.

# What they have in common. Each gives it a table of its functions.
FAKE_COMMON = tests/fake/common/libcommon.la
tests_fake_common_libcommon_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_common_libcommon_la_SOURCES = \
	tests/fake/common/environment.c \
	tests/fake/common/environment.h \
	tests/fake/common/errors.h \
	tests/fake/common/fault.c \
	tests/fake/common/fault.h \
	tests/fake/common/lock.c \
	tests/fake/common/lock.h \
	tests/fake/common/object.c \
	tests/fake/common/object.h \
	tests/fake/common/span.c \
	tests/fake/common/span.h

# Doubles of drivers, which yield the name that the real one has: one like a
# driver of today, and one that has only what each driver has had for long.
if CUDA
fakes = \
	tests/fake/cuda/libcuda.la \
	tests/fake/cuda/libnvidia-ml.la \
	tests/fake/cuda/old/libcuda.la
else
fakes =
endif
FAKE_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -no-undefined -Wl,-z,nodelete
FAKE_CUDA_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
fake_cuda_sources = \
	tests/fake/cuda/cuda_array.c \
	tests/fake/cuda/cuda_async.c \
	tests/fake/cuda/cuda_capture.c \
	tests/fake/cuda/cuda_chunk.c \
	tests/fake/cuda/cuda_context.c \
	tests/fake/cuda/cuda_control.c \
	tests/fake/cuda/cuda_device.c \
	tests/fake/cuda/cuda_error.c \
	tests/fake/cuda/cuda_event.c \
	tests/fake/cuda/cuda_fake.h \
	tests/fake/cuda/cuda_fault.c \
	tests/fake/cuda/cuda_graph.c \
	tests/fake/cuda/cuda_graph.h \
	tests/fake/cuda/cuda_graph_run.c \
	tests/fake/cuda/cuda_handle.c \
	tests/fake/cuda/cuda_host.c \
	tests/fake/cuda/cuda_memory.c \
	tests/fake/cuda/cuda_peer.c \
	tests/fake/cuda/cuda_pointer.c \
	tests/fake/cuda/cuda_pool.c \
	tests/fake/cuda/cuda_pool_about.c \
	tests/fake/cuda/cuda_pool_share.c \
	tests/fake/cuda/cuda_primary.c \
	tests/fake/cuda/cuda_queue.c \
	tests/fake/cuda/cuda_resolve.c \
	tests/fake/cuda/cuda_share.c \
	tests/fake/cuda/cuda_space.c \
	tests/fake/cuda/cuda_state.c \
	tests/fake/cuda/cuda_stream.c \
	tests/fake/cuda/cuda_symbols.h \
	tests/fake/cuda/cuda_vm.c \
	tests/fake/cuda/cuda_work.c \
	tests/fake/cuda/fakecuda.h
tests_fake_cuda_libcuda_la_CPPFLAGS = $(FAKE_CUDA_CPPFLAGS)
tests_fake_cuda_libcuda_la_CFLAGS = $(FLOOR_CFLAGS)
# A driver's own pointers to its functions are its own, whoever is preloaded.
tests_fake_cuda_libcuda_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 1:0:0 \
	-Wl,-Bsymbolic-functions
tests_fake_cuda_libcuda_la_LIBADD = $(FAKE_COMMON)
tests_fake_cuda_libcuda_la_SOURCES = $(fake_cuda_sources)
tests_fake_cuda_old_libcuda_la_CPPFLAGS = $(FAKE_CUDA_CPPFLAGS) -DFAKECUDA_OLD
tests_fake_cuda_old_libcuda_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_cuda_old_libcuda_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 1:0:0
tests_fake_cuda_old_libcuda_la_LIBADD = $(FAKE_COMMON)
tests_fake_cuda_old_libcuda_la_SOURCES = $(fake_cuda_sources)

tests_fake_cuda_libnvidia_ml_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_cuda_libnvidia_ml_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 1:0:0
tests_fake_cuda_libnvidia_ml_la_SOURCES = tests/fake/cuda/nvml.c

# AMD's runtime over NVIDIA's driver, as each of its releases has it.
if CUDA
if HIP
fakes += \
	tests/fake/hip/5/libamdhip64.la \
	tests/fake/hip/6/libamdhip64.la \
	tests/fake/hip/7/libamdhip64.la
endif
endif
FAKE_HIP_CPPFLAGS = $(FAKE_CUDA_CPPFLAGS) $(HIP_CPPFLAGS)
fake_hip_sources = \
	tests/fake/hip/fakehip.h \
	tests/fake/hip/hip_array.c \
	tests/fake/hip/hip_async.c \
	tests/fake/hip/hip_capture.c \
	tests/fake/hip/hip_copy.c \
	tests/fake/hip/hip_device.c \
	tests/fake/hip/hip_driver.c \
	tests/fake/hip/hip_driver.h \
	tests/fake/hip/hip_error.c \
	tests/fake/hip/hip_event.c \
	tests/fake/hip/hip_fake.h \
	tests/fake/hip/hip_fault.c \
	tests/fake/hip/hip_graph.c \
	tests/fake/hip/hip_handle.c \
	tests/fake/hip/hip_memory.c \
	tests/fake/hip/hip_peer.c \
	tests/fake/hip/hip_pointer.c \
	tests/fake/hip/hip_pool.c \
	tests/fake/hip/hip_quirk.c \
	tests/fake/hip/hip_share.c \
	tests/fake/hip/hip_state.c \
	tests/fake/hip/hip_stream.c \
	tests/fake/hip/hip_symbols.h \
	tests/fake/hip/hip_vm.c
tests_fake_hip_5_libamdhip64_la_CPPFLAGS = $(FAKE_HIP_CPPFLAGS) -DFAKEHIP_MAJOR=5
tests_fake_hip_5_libamdhip64_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_hip_5_libamdhip64_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 5:0:0
tests_fake_hip_5_libamdhip64_la_LIBADD = $(FAKE_COMMON)
tests_fake_hip_5_libamdhip64_la_SOURCES = $(fake_hip_sources)
tests_fake_hip_6_libamdhip64_la_CPPFLAGS = $(FAKE_HIP_CPPFLAGS) -DFAKEHIP_MAJOR=6
tests_fake_hip_6_libamdhip64_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_hip_6_libamdhip64_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 6:0:0
tests_fake_hip_6_libamdhip64_la_LIBADD = $(FAKE_COMMON)
tests_fake_hip_6_libamdhip64_la_SOURCES = $(fake_hip_sources)
tests_fake_hip_7_libamdhip64_la_CPPFLAGS = $(FAKE_HIP_CPPFLAGS) -DFAKEHIP_MAJOR=7
tests_fake_hip_7_libamdhip64_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_hip_7_libamdhip64_la_LDFLAGS = $(FAKE_LDFLAGS) -version-info 7:0:0
tests_fake_hip_7_libamdhip64_la_LIBADD = $(FAKE_COMMON)
tests_fake_hip_7_libamdhip64_la_SOURCES = $(fake_hip_sources)

# What stands between a program and its OpenCL implementations.
if OPENCL
layers = tests/fake/opencl/opencl-layer.la
endif
tests_fake_opencl_opencl_layer_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_fake_opencl_opencl_layer_la_CFLAGS = $(FLOOR_CFLAGS)
tests_fake_opencl_opencl_layer_la_LDFLAGS = $(MODULE)
tests_fake_opencl_opencl_layer_la_LIBADD = $(FAKE_COMMON)
tests_fake_opencl_opencl_layer_la_SOURCES = \
	tests/fake/opencl/fakecl.h \
	tests/fake/opencl/opencl_calls.h \
	tests/fake/opencl/opencl_fault.c \
	tests/fake/opencl/opencl_layer.c \
	tests/fake/opencl/opencl_layer.h \
	tests/fake/opencl/opencl_lie.c \
	tests/fake/opencl/opencl_queue.c
