# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The OpenCL layer that gpumem-run has OpenCL's loader load. It goes into any
# program, as the library of tools/preload, and is built as that is.

if TOOLS
if OPENCL_LAYER
preloadexec_LTLIBRARIES += tools/libgpumem-opencl-layer.la
endif
endif
tools_libgpumem_opencl_layer_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tools_libgpumem_opencl_layer_la_CFLAGS = \
	$(tools_libgpumem_preload_la_CFLAGS)
tools_libgpumem_opencl_layer_la_LDFLAGS = \
	$(tools_libgpumem_preload_la_LDFLAGS)
tools_libgpumem_opencl_layer_la_SOURCES = \
	tools/layer/count.c \
	tools/layer/layer.c \
	tools/layer/layer.h \
	tools/layer/limit.c \
	tools/layer/object.c \
	tools/layer/state.h \
	tools/layer/usm.c \
	tools/preload/blocks.c \
	tools/preload/blocks.h \
	tools/preload/ledger.c \
	tools/preload/ledger.h \
	tools/preload/limit_value.h \
	tools/preload/recorder.c \
	tools/preload/recorder.h \
	tools/preload/recorder_base.c \
	tools/preload/recorder_file.c \
	$(own_sources) \
	$(librecord_la_SOURCES)
