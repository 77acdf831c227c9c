# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The library, module above module: each is a convenience library, and so linked
# only with what is below it (tests/floors.sh draws it).

lib_LTLIBRARIES = libgpumem.la
noinst_LTLIBRARIES = libbase.la libcache.la libdevice.la libextent.la \
	libheap.la libhost.la libloader.la liborder.la libpool.la \
	libpages.la librecord.la libreports.la libsegments.la libshare.la \
	libsleep.la libspace.la
gpumemincludedir = $(includedir)/gpumem
gpumeminclude_HEADERS = \
	include/gpumem/backend.h \
	include/gpumem/cccl.hpp \
	include/gpumem/gpumem.h \
	include/gpumem/gpumem.hpp \
	include/gpumem/host.h \
	include/gpumem/pmr.hpp \
	include/gpumem/record.h
gpumemcxxdir = $(gpumemincludedir)/cxx
gpumemcxx_HEADERS = \
	include/gpumem/cxx/buffer.hpp \
	include/gpumem/cxx/device.hpp \
	include/gpumem/cxx/device_buffer.hpp \
	include/gpumem/cxx/error.hpp \
	include/gpumem/cxx/pool.hpp \
	include/gpumem/cxx/stream.hpp

# What is compiled into tools, too.
torch_sources = \
	core/base/pickle.c \
	core/base/pickle.h \
	core/base/torch.c \
	core/base/torch.h
own_sources = \
	core/base/own.c \
	core/base/own.h \
	core/base/path.c \
	core/base/path.h

libbase_la_CFLAGS = $(FLOOR_CFLAGS)
libbase_la_SOURCES = \
	$(own_sources) \
	$(torch_sources) \
	core/base/clock.h \
	core/base/error.c \
	core/base/error.h \
	core/base/fork.c \
	core/base/fork.h \
	core/base/line.c \
	core/base/line.h \
	core/base/log.c \
	core/base/log.h \
	core/base/name.c \
	core/base/name.h \
	core/base/option.c \
	core/base/option.h \
	core/base/option_check.c \
	core/base/option_conf.c \
	core/base/option_parse.c \
	core/base/option_set.c \
	core/base/option_table.h \
	core/base/print.c \
	core/base/print.h \
	core/base/scope.c \
	core/base/scope.h \
	core/base/stack.c \
	core/base/stack.h \
	core/base/status.c \
	core/base/status.h \
	core/base/struct.c \
	core/base/struct.h \
	core/base/tag.c \
	core/base/tag.h \
	core/base/track.c \
	core/base/track.h

librecord_la_CFLAGS = $(FLOOR_CFLAGS)
librecord_la_SOURCES = \
	core/record/chunk.c \
	core/record/clock.c \
	core/record/define.c \
	core/record/file.c \
	core/record/file.h \
	core/record/read.c \
	core/record/record.h \
	core/record/stacks.c

PLUGIN_CPPFLAGS = -DGPUMEM_PLUGIN_DIR='"$(plugindir)"' \
	-DGPUMEM_PLUGIN_SUBDIR='"$(plugin_subdir)"'
libloader_la_CPPFLAGS = $(AM_CPPFLAGS) $(PLUGIN_CPPFLAGS)
libloader_la_CFLAGS = $(FLOOR_CFLAGS)
libloader_la_SOURCES = \
	core/loader/answer.c \
	core/loader/answer.h \
	core/loader/check_table.c \
	core/loader/conf.c \
	core/loader/describe.c \
	core/loader/describe.h \
	core/loader/folder.c \
	core/loader/loader.c \
	core/loader/loader.h \
	core/loader/loader_parts.h \
	core/loader/names.c \
	core/loader/pick.c \
	core/loader/plugin.c \
	core/loader/sight.c \
	core/loader/sight.h \
	core/loader/slots.c \
	core/loader/slots.h \
	core/loader/start.c \
	core/loader/which.c \
	core/loader/which.h

libdevice_la_CFLAGS = $(FLOOR_CFLAGS)
libdevice_la_SOURCES = \
	core/device/ask.c \
	core/device/claim.c \
	core/device/claim.h \
	core/device/device.c \
	core/device/device.h \
	core/device/device_info.c \
	core/device/device_info.h \
	core/device/driver.c \
	core/device/driver.h \
	core/device/driver_call.c \
	core/device/driver_call.h \
	core/device/event.c \
	core/device/event.h \
	core/device/event_wait.c \
	core/device/gate.c \
	core/device/gate.h \
	core/device/live.c \
	core/device/live.h \
	core/device/loss.c \
	core/device/loss.h \
	core/device/object.c \
	core/device/object.h \
	core/device/recording.c \
	core/device/share.c \
	core/device/share.h \
	core/device/stream.c

libextent_la_CFLAGS = $(FLOOR_CFLAGS)
libextent_la_SOURCES = \
	core/extent/addresses.c \
	core/extent/addresses.h \
	core/extent/bins.h \
	core/extent/check.h \
	core/extent/check_index.c \
	core/extent/check_tags.c \
	core/extent/counters.h \
	core/extent/counts.h \
	core/extent/extent.c \
	core/extent/extent.h \
	core/extent/heap_core.h \
	core/extent/index.c \
	core/extent/index.h \
	core/extent/map.c \
	core/extent/map.h \
	core/extent/ring.h \
	core/extent/size_class.c \
	core/extent/size_class.h \
	core/extent/span.c \
	core/extent/span.h \
	core/extent/tag_limit.c \
	core/extent/tags.c \
	core/extent/tags.h \
	core/extent/tree.c \
	core/extent/tree.h

liborder_la_CFLAGS = $(FLOOR_CFLAGS)
liborder_la_SOURCES = \
	core/order/arena.c \
	core/order/arena.h \
	core/order/arenas.c \
	core/order/attempt.h \
	core/order/capture.c \
	core/order/check_fates.c \
	core/order/check_uses.c \
	core/order/events.c \
	core/order/fence.c \
	core/order/fit.c \
	core/order/follow.c \
	core/order/order.c \
	core/order/order.h \
	core/order/pending.c \
	core/order/pending.h \
	core/order/pending_poll.c \
	core/order/private.c \
	core/order/transfer.c \
	core/order/transfer.h \
	core/order/transfer_free.c \
	core/order/transfer_pending.c \
	core/order/uses.c \
	core/order/uses.h \
	core/order/wait.c

libspace_la_CFLAGS = $(FLOOR_CFLAGS)
libspace_la_SOURCES = \
	core/space/budget.c \
	core/space/budget.h \
	core/space/check_parts.c \
	core/space/growth.c \
	core/space/growth.h \
	core/space/parts.c \
	core/space/price.c \
	core/space/price.h \
	core/space/ranges.c \
	core/space/ranges.h \
	core/space/space.c \
	core/space/space.h

libpages_la_CFLAGS = $(FLOOR_CFLAGS)
libpages_la_SOURCES = \
	core/pages/away.c \
	core/pages/away.h \
	core/pages/away_settle.c \
	core/pages/away_take.c \
	core/pages/check_pages.c \
	core/pages/check_stale.c \
	core/pages/extend.c \
	core/pages/fill.c \
	core/pages/handle.c \
	core/pages/handle.h \
	core/pages/hole.c \
	core/pages/mapped.c \
	core/pages/open.c \
	core/pages/pages.c \
	core/pages/pages.h \
	core/pages/place.c \
	core/pages/range.c \
	core/pages/release.c \
	core/pages/retire.c \
	core/pages/room.c \
	core/pages/spare.c \
	core/pages/stale.c \
	core/pages/stale.h \
	core/pages/steal.c \
	core/pages/supply.c

libsegments_la_CFLAGS = $(FLOOR_CFLAGS)
libsegments_la_SOURCES = \
	core/segments/drain.c \
	core/segments/exchange.c \
	core/segments/run.c \
	core/segments/segment.c \
	core/segments/segments.c \
	core/segments/segments.h

libcache_la_CFLAGS = $(FLOOR_CFLAGS)
libcache_la_SOURCES = \
	core/cache/after.c \
	core/cache/cache.h \
	core/cache/cached.h \
	core/cache/check_slab.c \
	core/cache/depot.c \
	core/cache/depot.h \
	core/cache/group.c \
	core/cache/hot.h \
	core/cache/local.c \
	core/cache/local.h \
	core/cache/locals.c \
	core/cache/metadata.c \
	core/cache/metadata.h \
	core/cache/number.c \
	core/cache/refill.c \
	core/cache/resize_local.c \
	core/cache/slab.c \
	core/cache/slab.h \
	core/cache/tag_counts.c

libheap_la_CFLAGS = $(FLOOR_CFLAGS)
libheap_la_SOURCES = \
	core/heap/alloc.c \
	core/heap/asleep.c \
	core/heap/background.c \
	core/heap/behind.c \
	core/heap/block.c \
	core/heap/block.h \
	core/heap/capacity.c \
	core/heap/check.c \
	core/heap/decay.c \
	core/heap/decay.h \
	core/heap/free.c \
	core/heap/growing.c \
	core/heap/heap.c \
	core/heap/heap.h \
	core/heap/helps.c \
	core/heap/hook.c \
	core/heap/ladder.c \
	core/heap/ladder.h \
	core/heap/lookup.h \
	core/heap/reap.c \
	core/heap/resize.c \
	core/heap/rungs.c \
	core/heap/rungs.h \
	core/heap/short.c \
	core/heap/sources.c \
	core/heap/tagged.c \
	core/heap/take.c \
	core/heap/tracked.c \
	core/heap/trim.c \
	core/heap/user.c \
	core/heap/want.c

libshare_la_CFLAGS = $(FLOOR_CFLAGS)
libshare_la_SOURCES = \
	core/share/export.c \
	core/share/import.c \
	core/share/import_check.c \
	core/share/shared.h

libsleep_la_CFLAGS = $(FLOOR_CFLAGS)
libsleep_la_SOURCES = \
	core/sleep/areas.c \
	core/sleep/chunks.c \
	core/sleep/host_limit.c \
	core/sleep/mark.c \
	core/sleep/memory.c \
	core/sleep/move.c \
	core/sleep/move.h \
	core/sleep/parts.h \
	core/sleep/pieces.c \
	core/sleep/plan.c \
	core/sleep/queue.c \
	core/sleep/sleep.c \
	core/sleep/sleep.h \
	core/sleep/store.c \
	core/sleep/regain.c \
	core/sleep/streams.c \
	core/sleep/wake.c

libpool_la_CFLAGS = $(FLOOR_CFLAGS)
libpool_la_SOURCES = \
	core/pool/by_tag.c \
	core/pool/graph.c \
	core/pool/helpers.c \
	core/pool/holders.c \
	core/pool/holds.c \
	core/pool/limit.c \
	core/pool/peers.c \
	core/pool/pool.c \
	core/pool/pool.h \
	core/pool/pool_capacity.c \
	core/pool/pool_range.c \
	core/pool/pressure.c \
	core/pool/query.c \
	core/pool/reclaim.c \
	core/pool/record.c \
	core/pool/registry.c \
	core/pool/sleeping.c \
	core/pool/snapshot.c \
	core/pool/stats.c \
	core/pool/view.c

libreports_la_CFLAGS = $(FLOOR_CFLAGS)
libreports_la_SOURCES = \
	core/report/advice.c \
	core/report/failure.c \
	core/report/leaks.c \
	core/report/leaks.h \
	core/report/leaks_exit.c \
	core/report/leaks_print.c \
	core/report/oom.c \
	core/report/oom.h \
	core/report/oom_print.c \
	core/report/oom_snapshot.c \
	core/report/oom_snapshot.h \
	core/report/oom_snapshot_find.c \
	core/report/oom_snapshot_text.c \
	core/report/oom_snapshot_write.c \
	core/report/others.c \
	core/report/pins.c \
	core/report/pool_print.c \
	core/report/report.h \
	core/report/reports.c \
	core/report/table.c \
	core/report/table.h \
	core/report/table_pool.c \
	core/report/table_print.c \
	core/report/text.c \
	core/report/text.h \
	core/report/top_tags.c

libgpumem_la_LIBADD = $(REPORT)
libgpumem_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/core/gpumem.map \
	-Wl,-z,nodelete
EXTRA_libgpumem_la_DEPENDENCIES = core/gpumem.map
if !SANITIZED
libgpumem_la_LDFLAGS += -Wl,-z,defs
endif
libgpumem_la_CFLAGS = $(FLOOR_CFLAGS)
libgpumem_la_SOURCES = \
	core/api.c \
	core/api_block.c \
	core/api_block.h \
	core/api_check.c \
	core/api_check.h \
	core/api_describe.c \
	core/api_device.c \
	core/api_event.c \
	core/api_graph.c \
	core/api_leak.c \
	core/api_library.c \
	core/api_name.c \
	core/api_object.c \
	core/api_range.c \
	core/api_record.c \
	core/api_resize.c \
	core/api_share.c \
	core/api_sleep.c \
	core/api_stats.c \
	core/api_tag.c \
	core/api_user.c
