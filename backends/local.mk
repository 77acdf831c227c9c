# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The backends: `host`, which is in the library, and the plugins, each for a
# vendor, with its headers or our own declarations, backends/vendor/.

libhost_la_CFLAGS = $(FLOOR_CFLAGS)
libhost_la_SOURCES = \
	backends/common/descriptor.h \
	backends/host/host_adopt.c \
	backends/host/host_backend.c \
	backends/host/host_config.c \
	backends/host/host_control.c \
	backends/host/host_device.h \
	backends/host/host_error.c \
	backends/host/host_event.c \
	backends/host/host_fault.c \
	backends/host/host_file.c \
	backends/host/host_gate.c \
	backends/host/host_granule.c \
	backends/host/host_granule.h \
	backends/host/host_ipc.c \
	backends/host/host_ipc.h \
	backends/host/host_kind.c \
	backends/host/host_map.c \
	backends/host/host_memory.h \
	backends/host/host_name.c \
	backends/host/host_object.c \
	backends/host/host_open.c \
	backends/host/host_parse.c \
	backends/host/host_peer.c \
	backends/host/host_phys.c \
	backends/host/host_pin.c \
	backends/host/host_queue.c \
	backends/host/host_range.c \
	backends/host/host_raw.c \
	backends/host/host_share.c \
	backends/host/host_space.c \
	backends/host/host_stream.c \
	backends/host/host_stream.h \
	backends/host/host_table.c \
	backends/host/host_tag.c \
	backends/host/host_touch.c \
	backends/host/host_work.c

# In a folder of their own, so that tests can look for plugins there.
PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^gpumem_plugin$$'
if !SANITIZED
PLUGIN_LDFLAGS += -Wl,-z,defs
endif

# What has "exec" in its name is installed with the programs.
pluginexecdir = $(plugindir)
pluginexec_LTLIBRARIES =
if CUDA
pluginexec_LTLIBRARIES += backends/cuda.la
endif
if HIP
pluginexec_LTLIBRARIES += backends/hip.la
endif
if OPENCL
pluginexec_LTLIBRARIES += backends/opencl.la
endif

# What is one source for cuda and hip, compiled for each with its own plugin.h.
gpu_sources = \
	backends/common/gpu/call.c \
	backends/common/gpu/device.c \
	backends/common/gpu/error.c \
	backends/common/gpu/event.c \
	backends/common/gpu/gpu.h \
	backends/common/gpu/init.c \
	backends/common/gpu/kind.c \
	backends/common/gpu/memory.c \
	backends/common/gpu/native.c \
	backends/common/gpu/near.c \
	backends/common/gpu/peer.c \
	backends/common/gpu/pin.c \
	backends/common/gpu/share.c \
	backends/common/gpu/stream.c \
	backends/common/gpu/virtual.c \
	backends/common/gpu/whole.c

backends_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) \
	-I$(top_srcdir)/backends/cuda
backends_cuda_la_CFLAGS = $(FLOOR_CFLAGS)
backends_cuda_la_LDFLAGS = $(PLUGIN_LDFLAGS)
backends_cuda_la_SOURCES = \
	backends/common/descriptor.h \
	backends/common/symbols.h \
	backends/cuda/cuda_adopt.c \
	backends/cuda/cuda_context.c \
	backends/cuda/cuda_device.c \
	backends/cuda/cuda_driver.c \
	backends/cuda/cuda_error.c \
	backends/cuda/cuda_nvml.c \
	backends/cuda/cuda_symbols.h \
	backends/cuda/names.h \
	backends/cuda/plugin.h \
	backends/vendor/cuda/cuda.h \
	backends/vendor/cuda/cudaTypedefs.h \
	backends/vendor/cuda/cuda_constants.h \
	backends/vendor/cuda/cuda_functions.h \
	$(gpu_sources)

backends_hip_la_CPPFLAGS = $(AM_CPPFLAGS) $(HIP_CPPFLAGS) \
	-I$(top_srcdir)/backends/hip
backends_hip_la_CFLAGS = $(FLOOR_CFLAGS)
backends_hip_la_LDFLAGS = $(PLUGIN_LDFLAGS)
backends_hip_la_SOURCES = \
	backends/common/descriptor.h \
	backends/common/symbols.h \
	backends/hip/hip_device.c \
	backends/hip/hip_error.c \
	backends/hip/hip_level.c \
	backends/hip/hip_piece.c \
	backends/hip/hip_process.c \
	backends/hip/hip_runtime.c \
	backends/hip/hip_segment.c \
	backends/hip/hip_symbols.h \
	backends/hip/hip_sysfs.c \
	backends/hip/hip_thread.c \
	backends/hip/hip_trial.c \
	backends/hip/hip_trial.h \
	backends/hip/hip_trial_alias.c \
	backends/hip/hip_trial_level.c \
	backends/hip/names.h \
	backends/hip/plugin.h \
	backends/vendor/hip/hip/driver_types.h \
	backends/vendor/hip/hip/hip_runtime_api.h \
	backends/vendor/hip/hip/hip_version.h \
	$(gpu_sources)

backends_opencl_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
backends_opencl_la_CFLAGS = $(FLOOR_CFLAGS)
backends_opencl_la_LDFLAGS = $(PLUGIN_LDFLAGS)
backends_opencl_la_SOURCES = \
	backends/common/symbols.h \
	backends/opencl/opencl_budget.c \
	backends/opencl/opencl_buffer.c \
	backends/opencl/opencl_copy.c \
	backends/opencl/opencl_device.c \
	backends/opencl/opencl_driver.c \
	backends/opencl/opencl_error.c \
	backends/opencl/opencl_event.c \
	backends/opencl/opencl_fill.c \
	backends/opencl/opencl_info.c \
	backends/opencl/opencl_list.c \
	backends/opencl/opencl_memory.c \
	backends/opencl/opencl_object.c \
	backends/opencl/opencl_option.c \
	backends/opencl/opencl_plugin.c \
	backends/opencl/opencl_plugin.h \
	backends/opencl/opencl_pointer.c \
	backends/opencl/opencl_stream.c \
	backends/opencl/opencl_symbols.h \
	backends/opencl/opencl_table.c \
	backends/opencl/opencl_traits.c \
	backends/vendor/opencl/CL/cl.h \
	backends/vendor/opencl/CL/cl_constants.h \
	backends/vendor/opencl/CL/cl_ext.h \
	backends/vendor/opencl/CL/cl_icd.h \
	backends/vendor/opencl/CL/cl_layer.h \
	backends/vendor/opencl/CL/cl_platform.h

# Beside the library lie its plugins, here as where they are installed: what
# runs from this folder sees those of this folder and no others.
all-local: .libs/$(plugin_subdir)
.libs/$(plugin_subdir):
	$(AM_V_GEN)$(MKDIR_P) backends/.libs $(@D) && \
		$(LN_S) ../../backends/.libs $@

# A plugin is opened by its path: libtool's file about it is of no use there.
# Without that file libtool does not know what to uninstall.
install-exec-hook:
	for plugin in $(pluginexec_LTLIBRARIES); do \
		rm -f '$(DESTDIR)$(plugindir)'/$${plugin##*/}; \
	done
	rm -f '$(DESTDIR)$(preloadexecdir)/libgpumem-preload.la'
