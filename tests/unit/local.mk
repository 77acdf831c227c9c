# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The unit tests: tests/unit/MODULE/WHAT.c tests what is in MODULE.

# By what they link. Those of a module link it and what is below.
base_tests = \
	tests/unit/base/conf \
	tests/unit/base/error \
	tests/unit/base/fork \
	tests/unit/base/fork_old \
	tests/unit/base/line \
	tests/unit/base/log \
	tests/unit/base/option \
	tests/unit/base/own \
	tests/unit/base/parse \
	tests/unit/base/stack \
	tests/unit/base/status \
	tests/unit/base/struct \
	tests/unit/base/track
device_tests = \
	tests/unit/device/answer \
	tests/unit/device/ask \
	tests/unit/device/claim \
	tests/unit/device/driver \
	tests/unit/device/gate \
	tests/unit/device/live \
	tests/unit/device/live_threads \
	tests/unit/device/loader \
	tests/unit/device/object \
	tests/unit/device/open
loader_tests = \
	tests/unit/loader/check \
	tests/unit/loader/folders \
	tests/unit/loader/pick \
	tests/unit/loader/register \
	tests/unit/loader/sight
host_tests = \
	tests/unit/host/capture \
	tests/unit/host/events \
	tests/unit/host/faults \
	tests/unit/host/handles \
	tests/unit/host/hold \
	tests/unit/host/kinds \
	tests/unit/host/memory \
	tests/unit/host/options \
	tests/unit/host/page \
	tests/unit/host/peers \
	tests/unit/host/pins \
	tests/unit/host/raw \
	tests/unit/host/space \
	tests/unit/host/streams
extent_tests = \
	tests/unit/extent/extent \
	tests/unit/extent/index \
	tests/unit/extent/map \
	tests/unit/extent/nodes \
	tests/unit/extent/ring \
	tests/unit/extent/size_class \
	tests/unit/extent/tree
heap_tests = \
	tests/unit/heap/arena \
	tests/unit/heap/budget \
	tests/unit/heap/cached \
	tests/unit/heap/check \
	tests/unit/heap/claims \
	tests/unit/heap/decay \
	tests/unit/heap/decay_driver \
	tests/unit/heap/decide_pages \
	tests/unit/heap/decide_segments \
	tests/unit/heap/decide_streams \
	tests/unit/heap/depot \
	tests/unit/heap/fence \
	tests/unit/heap/exchange \
	tests/unit/heap/flags \
	tests/unit/heap/give_way \
	tests/unit/heap/handle \
	tests/unit/heap/handle_break \
	tests/unit/heap/handle_random \
	tests/unit/heap/lend \
	tests/unit/heap/levels \
	tests/unit/heap/local \
	tests/unit/heap/lock \
	tests/unit/heap/metadata \
	tests/unit/heap/others \
	tests/unit/heap/pending \
	tests/unit/heap/pending_behind \
	tests/unit/heap/pending_many \
	tests/unit/heap/pending_slots \
	tests/unit/heap/refill \
	tests/unit/heap/release \
	tests/unit/heap/retire \
	tests/unit/heap/segment \
	tests/unit/heap/slab \
	tests/unit/heap/space \
	tests/unit/heap/spare \
	tests/unit/heap/stray \
	tests/unit/heap/transfer \
	tests/unit/heap/transfer_drop \
	tests/unit/heap/transfer_idle \
	tests/unit/heap/transfer_wait \
	tests/unit/heap/uses
pool_tests = \
	tests/unit/pool/close \
	tests/unit/pool/leave \
	tests/unit/pool/let_go \
	tests/unit/pool/let_go_limits \
	tests/unit/pool/let_go_streams \
	tests/unit/pool/reset
# The library as programs have it.
lib_tests = \
	tests/unit/cuda/adopted \
	tests/unit/cuda/lost \
	tests/unit/cuda/sleep \
	tests/unit/cuda/waits \
	tests/unit/hip/pools \
	tests/unit/hip/sleep \
	tests/unit/opencl/commands \
	tests/unit/opencl/faults \
	tests/unit/opencl/lies \
	tests/unit/opencl/lost \
	tests/unit/opencl/refused \
	tests/unit/opencl/unknown \
	tests/unit/lib/addresses \
	tests/unit/lib/adopt \
	tests/unit/lib/advice \
	tests/unit/lib/advice_capture \
	tests/unit/lib/alloc_flags \
	tests/unit/lib/alloc_with \
	tests/unit/lib/arguments \
	tests/unit/lib/background \
	tests/unit/lib/behind \
	tests/unit/lib/bounds \
	tests/unit/lib/cancel \
	tests/unit/lib/cancel_load \
	tests/unit/lib/capacity \
	tests/unit/lib/config \
	tests/unit/lib/counts \
	tests/unit/lib/descriptors \
	tests/unit/lib/device_limit \
	tests/unit/lib/dlopen \
	tests/unit/lib/drift \
	tests/unit/lib/ends \
	tests/unit/lib/events \
	tests/unit/lib/events_faults \
	tests/unit/lib/events_refused \
	tests/unit/lib/events_threads \
	tests/unit/lib/exit \
	tests/unit/lib/faults \
	tests/unit/lib/follow \
	tests/unit/lib/fork \
	tests/unit/lib/free_after \
	tests/unit/lib/free_own \
	tests/unit/lib/freed_twice \
	tests/unit/lib/graph \
	tests/unit/lib/graph_own \
	tests/unit/lib/hook \
	tests/unit/lib/host_oom \
	tests/unit/lib/kinds \
	tests/unit/lib/larger \
	tests/unit/lib/leaks \
	tests/unit/lib/leaks_exit \
	tests/unit/lib/leaks_stack \
	tests/unit/lib/lies \
	tests/unit/lib/limits \
	tests/unit/lib/listing \
	tests/unit/lib/log \
	tests/unit/lib/longjmp \
	tests/unit/lib/lost \
	tests/unit/lib/many_streams \
	tests/unit/lib/memfd \
	tests/unit/lib/misuse \
	tests/unit/lib/no_room \
	tests/unit/lib/oom \
	tests/unit/lib/oom_file \
	tests/unit/lib/oom_random \
	tests/unit/lib/oom_snapshot \
	tests/unit/lib/oom_threads \
	tests/unit/lib/peaks \
	tests/unit/lib/peaks_threads \
	tests/unit/lib/peers \
	tests/unit/lib/peers_later \
	tests/unit/lib/pending_behind \
	tests/unit/lib/pending_slots \
	tests/unit/lib/pressure \
	tests/unit/lib/print \
	tests/unit/lib/quarantine \
	tests/unit/lib/query \
	tests/unit/lib/ranges \
	tests/unit/lib/ranges_threads \
	tests/unit/lib/realtime \
	tests/unit/lib/record \
	tests/unit/lib/record_file \
	tests/unit/lib/record_sleep \
	tests/unit/lib/record_sums \
	tests/unit/lib/record_oom \
	tests/unit/lib/record_pages \
	tests/unit/lib/record_short \
	tests/unit/lib/record_stacks \
	tests/unit/lib/record_tags \
	tests/unit/lib/record_threads \
	tests/unit/lib/record_wait \
	tests/unit/lib/regress \
	tests/unit/lib/resize \
	tests/unit/lib/resize_faults \
	tests/unit/lib/resize_order \
	tests/unit/lib/sentences \
	tests/unit/lib/served \
	tests/unit/lib/shape \
	tests/unit/lib/share \
	tests/unit/lib/share_bad \
	tests/unit/lib/share_deputy \
	tests/unit/lib/share_faults \
	tests/unit/lib/share_forged \
	tests/unit/lib/share_option \
	tests/unit/lib/siblings \
	tests/unit/lib/sleep \
	tests/unit/lib/sleep_faults \
	tests/unit/lib/sleep_fates \
	tests/unit/lib/sleep_limit \
	tests/unit/lib/sleep_oom \
	tests/unit/lib/sleep_order \
	tests/unit/lib/sleep_order_faults \
	tests/unit/lib/sleep_order_random \
	tests/unit/lib/sleep_others \
	tests/unit/lib/sleep_pinned \
	tests/unit/lib/sleep_random \
	tests/unit/lib/sleep_store \
	tests/unit/lib/sleep_threads \
	tests/unit/lib/stats \
	tests/unit/lib/staying \
	tests/unit/lib/stream_capture \
	tests/unit/lib/stream_drop \
	tests/unit/lib/stream_order \
	tests/unit/lib/stream_wait \
	tests/unit/lib/structs \
	tests/unit/lib/table \
	tests/unit/lib/table_said \
	tests/unit/lib/tags \
	tests/unit/lib/tags_limit \
	tests/unit/lib/tags_race \
	tests/unit/lib/tags_threads \
	tests/unit/lib/thread_ends \
	tests/unit/lib/threads \
	tests/unit/lib/touch \
	tests/unit/lib/trims \
	tests/unit/lib/view_block \
	tests/unit/lib/user \
	tests/unit/lib/user_threads \
	tests/unit/lib/views \
	tests/unit/lib/views_faults \
	tests/unit/lib/views_threads \
	tests/unit/lib/zero
# Nothing: they load a backend as the library does, or a double of a driver.
plugin_tests = \
	tests/unit/cuda/adopt \
	tests/unit/cuda/adopt_gone \
	tests/unit/cuda/capture \
	tests/unit/cuda/contexts \
	tests/unit/cuda/errors \
	tests/unit/cuda/faults \
	tests/unit/cuda/kinds \
	tests/unit/cuda/load \
	tests/unit/cuda/native \
	tests/unit/cuda/near \
	tests/unit/cuda/usage \
	tests/unit/cuda/peers \
	tests/unit/cuda/pins \
	tests/unit/cuda/processes \
	tests/unit/hip/capture \
	tests/unit/hip/contexts \
	tests/unit/hip/errors \
	tests/unit/hip/faults \
	tests/unit/hip/foreign \
	tests/unit/hip/levels \
	tests/unit/hip/native \
	tests/unit/hip/near \
	tests/unit/hip/pins \
	tests/unit/hip/refused \
	tests/unit/hip/segments \
	tests/unit/hip/versions \
	tests/unit/opencl/budget \
	tests/unit/opencl/memory \
	tests/unit/opencl/queues
# These are written to the vendors' headers; all others do without.
if CUDA
fake_cuda_tests = \
	tests/unit/fake/async \
	tests/unit/fake/capture \
	tests/unit/fake/contexts \
	tests/unit/fake/cuda \
	tests/unit/fake/memory \
	tests/unit/fake/pools \
	tests/unit/fake/share \
	tests/unit/fake/streams
if HIP
fake_hip_tests = \
	tests/unit/fake/hip \
	tests/unit/fake/hip_errors \
	tests/unit/fake/hip_quirks \
	tests/unit/fake/hip_vm \
	tests/unit/fake/hip_work
endif
endif
fake_tests = $(fake_cuda_tests) $(fake_hip_tests)
unit_tests = $(base_tests) $(device_tests) $(extent_tests) $(fake_tests) \
	$(heap_tests) $(host_tests) $(lib_tests) $(loader_tests) \
	$(plugin_tests) $(pool_tests)
# ThreadSanitizer has something to look at where there are threads, or locks: the
# modules that have locks, and of the others those that make threads.
thread_tests = $(device_tests) $(heap_tests) $(host_tests) $(lib_tests) \
	$(pool_tests) \
	tests/unit/base/conf \
	tests/unit/base/error \
	tests/unit/base/fork \
	tests/unit/base/log \
	tests/unit/base/option \
	tests/unit/base/stack \
	tests/unit/cuda/adopted \
	tests/unit/extent/map \
	tests/unit/hip/contexts \
	tests/unit/hip/segments \
	tests/unit/opencl/budget \
	tests/unit/opencl/memory \
	tests/unit/opencl/queues
if CUDA
thread_tests += \
	tests/unit/fake/async \
	tests/unit/fake/capture
if HIP
thread_tests += tests/unit/fake/hip
endif
endif

# libtool needs longer for one of these than the compiler.
$(unit_tests): LINK = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@
$(base_tests): LDADD = $(BASE:%.la=.libs/%.a)
$(loader_tests): LDADD = $(LOADER:%.la=.libs/%.a)
$(device_tests): LDADD = $(DEVICE:%.la=.libs/%.a)
$(host_tests): LDADD = $(DEVICE:%.la=.libs/%.a)
$(extent_tests): LDADD = $(EXTENT:%.la=.libs/%.a)
$(heap_tests): LDADD = $(HEAP:%.la=.libs/%.a)
$(pool_tests): LDADD = $(POOL:%.la=.libs/%.a)
$(lib_tests): LDADD = -L.libs -lgpumem -Wl,-rpath,'$(abs_builddir)/.libs'
$(plugin_tests) $(fake_tests): LDADD =
fake_cuda_objects = $(fake_cuda_tests:%=%.$(OBJEXT))
fake_hip_objects = $(fake_hip_tests:%=%.$(OBJEXT))
$(fake_cuda_objects): AM_CPPFLAGS += $(CUDA_CPPFLAGS)
$(fake_hip_objects): AM_CPPFLAGS += $(CUDA_CPPFLAGS) $(HIP_CPPFLAGS)

tests_unit_loader_folders_CPPFLAGS = $(AM_CPPFLAGS) $(PLUGIN_CPPFLAGS)
tests_unit_base_stack_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc
tests_unit_base_track_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
tests_unit_pool_close_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gm_pools_add
