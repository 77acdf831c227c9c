# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The library that gpumem-run preloads, with a part for NVIDIA's driver and one for
# AMD's runtime. It goes into any program, so it needs libc only and is not built
# with a sanitizer, whose runtime would have to be first.

preloadexecdir = $(libdir)/gpumem
preloadexec_LTLIBRARIES =
if TOOLS
if PRELOAD
preloadexec_LTLIBRARIES += tools/libgpumem-preload.la
endif
endif
tools_libgpumem_preload_la_CPPFLAGS = $(AM_CPPFLAGS)
tools_libgpumem_preload_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) \
	-fvisibility=hidden -fno-semantic-interposition
tools_libgpumem_preload_la_LDFLAGS = -module -avoid-version -shared \
	-no-undefined -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs
tools_libgpumem_preload_la_SOURCES = \
	tools/preload/adopted.c \
	tools/preload/adopted.h \
	tools/preload/array.c \
	tools/preload/array.h \
	tools/preload/blocks.c \
	tools/preload/blocks.h \
	tools/preload/count.c \
	tools/preload/count.h \
	tools/preload/count_virtual.c \
	tools/preload/dlsym.c \
	tools/preload/hooks.c \
	tools/preload/hooks.h \
	tools/preload/ledger.c \
	tools/preload/ledger.h \
	tools/preload/limit_value.h \
	tools/preload/limit.c \
	tools/preload/limit.h \
	tools/preload/nodes.c \
	tools/preload/nodes.h \
	tools/preload/preload.h \
	tools/preload/recorder.c \
	tools/preload/recorder.h \
	tools/preload/recorder_base.c \
	tools/preload/recorder_file.c \
	tools/preload/state.c \
	$(own_sources) \
	$(librecord_la_SOURCES)
if CUDA
tools_libgpumem_preload_la_CPPFLAGS += $(CUDA_CPPFLAGS) -DPRELOAD_CUDA
tools_libgpumem_preload_la_SOURCES += \
	tools/preload/cache.c \
	tools/preload/cache.h \
	tools/preload/cuda_array.c \
	tools/preload/cuda_async.c \
	tools/preload/cuda_context.c \
	tools/preload/cuda_current.c \
	tools/preload/cuda_current.h \
	tools/preload/cuda_graph.c \
	tools/preload/cuda_graph.h \
	tools/preload/cuda_hooks.c \
	tools/preload/cuda_hooks.h \
	tools/preload/cuda_host.c \
	tools/preload/cuda_known.c \
	tools/preload/cuda_memory.c \
	tools/preload/cuda_pools.c \
	tools/preload/cuda_resolve.c \
	tools/preload/cuda_stream.c \
	tools/preload/cuda_trim.c \
	tools/preload/cuda_virtual.c \
	tools/preload/epoch.c \
	tools/preload/epoch.h \
	tools/preload/named.c \
	tools/preload/named.h \
	tools/preload/pool.c \
	tools/preload/pool.h \
	tools/preload/pool_context.c \
	tools/preload/request.c \
	tools/preload/request.h \
	tools/preload/served.c \
	tools/preload/served.h \
	tools/preload/served_alloc.c \
	tools/preload/served_free.c \
	tools/preload/served_library.c \
	tools/preload/served_open.c \
	tools/preload/served_pages.c \
	tools/preload/serveds.h \
	tools/preload/store.c \
	tools/preload/store.h
endif
if HIP
tools_libgpumem_preload_la_CPPFLAGS += $(HIP_CPPFLAGS) -DPRELOAD_HIP
tools_libgpumem_preload_la_SOURCES += \
	tools/preload/hip_array.c \
	tools/preload/hip_async.c \
	tools/preload/hip_current.c \
	tools/preload/hip_current.h \
	tools/preload/hip_graph.c \
	tools/preload/hip_graph.h \
	tools/preload/hip_hooks.c \
	tools/preload/hip_hooks.h \
	tools/preload/hip_host.c \
	tools/preload/hip_memory.c \
	tools/preload/hip_resolve.c \
	tools/preload/hip_virtual.c
endif

# In a folder that is configured again, with other backends, make sees no other
# change: neither the flags nor the list of objects is a file.
$(tools_libgpumem_preload_la_OBJECTS): $(top_builddir)/config.status
