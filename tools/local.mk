# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The tools, and their completion in shells.

if TOOLS
bin_PROGRAMS = \
	tools/gpumem-bench \
	tools/gpumem-conform \
	tools/gpumem-keep \
	tools/gpumem-probe \
	tools/gpumem-replay \
	tools/gpumem-report \
	tools/gpumem-resume \
	tools/gpumem-suspend \
	tools/gpumem-trace
noinst_LTLIBRARIES += libcommon.la libreport.la
endif
TOOL = libcommon.la libgpumem.la $(ZLIB_LIBS) $(JANSSON_LIBS) $(ARGP_LIBS)
TOOL_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools $(ZLIB_CFLAGS) \
	$(JANSSON_CFLAGS)

libcommon_la_CPPFLAGS = $(TOOL_CPPFLAGS)
libcommon_la_SOURCES = \
	$(own_sources) \
	tools/common/clean.c \
	tools/common/clean.h \
	tools/common/clock.h \
	tools/common/file.c \
	tools/common/file.h \
	tools/common/foreign.c \
	tools/common/foreign.h \
	tools/common/frames.c \
	tools/common/frames.h \
	tools/common/frames_elf.c \
	tools/common/frames_names.c \
	tools/common/history.c \
	tools/common/history.h \
	tools/common/history_early.c \
	tools/common/history_early.h \
	tools/common/human.c \
	tools/common/human.h \
	tools/common/json.c \
	tools/common/json.h \
	tools/common/keep.c \
	tools/common/keep.h \
	tools/common/kineto.c \
	tools/common/kineto.h \
	tools/common/lines.c \
	tools/common/lines.h \
	tools/common/output.c \
	tools/common/output.h \
	tools/common/process.c \
	tools/common/process.h \
	tools/common/progress.c \
	tools/common/progress.h \
	tools/common/ranges.c \
	tools/common/ranges.h \
	tools/common/raw.c \
	tools/common/raw.h \
	tools/common/recording.c \
	tools/common/recording.h \
	tools/common/recording_chunk.c \
	tools/common/recording_names.c \
	tools/common/recording_order.c \
	tools/common/recording_stack.c \
	tools/common/recording_stack.h \
	tools/common/recording_text.c \
	tools/common/rmm.c \
	tools/common/rmm.h \
	tools/common/table.c \
	tools/common/table.h \
	tools/common/table_print.c \
	tools/common/tag_names.c \
	tools/common/tag_names.h \
	tools/common/term.c \
	tools/common/term.h \
	tools/common/tool.c \
	tools/common/tool.h \
	tools/common/torch.c \
	tools/common/torch.h \
	tools/common/torch_blocks.c \
	tools/common/torch_device.c \
	tools/common/torch_device.h \
	tools/common/torch_end.c \
	tools/common/torch_events.c \
	tools/common/torch_file.c \
	tools/common/torch_events.h \
	tools/common/torch_names.c \
	tools/common/torch_segments.c \
	tools/common/torch_stacks.c \
	tools/common/torch_stacks.h \
	tools/common/torch_unknown.c \
	tools/common/trace.c \
	tools/common/trace.h \
	tools/common/trace_file.c \
	tools/common/trace_file.h \
	tools/common/trace_foreign.c \
	tools/common/trace_foreign.h \
	tools/common/trace_ids.c \
	tools/common/trace_ids.h \
	tools/common/trace_line.c \
	tools/common/umpire.c \
	tools/common/umpire.h \
	tools/common/umpire_names.c \
	tools/common/umpire_names.h \
	tools/common/unpickle.c \
	tools/common/unpickle.h \
	tools/common/unpickle_memo.c \
	tools/common/unpickle_stack.c \
	tools/common/unpickle_stack.h \
	tools/common/unpickle_stream.c \
	tools/common/unpickle_window.c \
	tools/common/unpickled.c \
	tools/common/usage.c \
	tools/common/usage.h

tools_gpumem_bench_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_bench_LDADD = $(TOOL) -lm
tools_gpumem_bench_SOURCES = \
	tools/gpumem-bench.c \
	tools/bench/bench.h \
	tools/bench/churn.c \
	tools/bench/growth.c \
	tools/bench/live.c \
	tools/bench/live.h \
	tools/bench/measure.c \
	tools/bench/pair.c \
	tools/bench/peers.c \
	tools/bench/random.c \
	tools/bench/record.c \
	tools/bench/report.c \
	tools/bench/threads.c \
	tools/bench/trim.c

tools_gpumem_conform_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_conform_LDADD = $(TOOL)
tools_gpumem_conform_SOURCES = \
	tools/gpumem-conform.c \
	tools/conform/apart.c \
	tools/conform/conform.h \
	tools/conform/copy.c \
	tools/conform/given.c \
	tools/conform/kinds.c \
	tools/conform/live.c \
	tools/conform/live.h \
	tools/conform/mapping.c \
	tools/conform/memory.c \
	tools/conform/objects.c \
	tools/conform/peers.c \
	tools/conform/pin.c \
	tools/conform/report.c \
	tools/conform/share.c \
	tools/conform/slots.c \
	tools/conform/stream.c \
	tools/conform/table.c \
	tools/conform/threads.c \
	tools/conform/virtual.c \
	tools/conform/watch.c \
	tools/conform/watch.h \
	tools/conform/watch_slots.c

tools_gpumem_probe_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_probe_LDADD = $(TOOL)
tools_gpumem_probe_SOURCES = \
	core/loader/sight.c \
	core/loader/sight.h \
	tools/gpumem-probe.c \
	tools/probe/collect.c \
	tools/probe/gpus.c \
	tools/probe/list.c \
	tools/probe/options.c \
	tools/probe/print_json.c \
	tools/probe/probe.h \
	tools/probe/processes.c \
	tools/probe/test.c \
	tools/probe/test.h \
	tools/probe/test_data.c \
	tools/probe/test_latency.c \
	tools/probe/text.c

tools_gpumem_replay_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_replay_LDADD = $(TOOL)
tools_gpumem_replay_SOURCES = \
	tools/gpumem-replay.c \
	tools/replay/cached.c \
	tools/replay/count.c \
	tools/replay/count.h \
	tools/replay/direct.c \
	tools/replay/engine.c \
	tools/replay/file.c \
	tools/replay/lag.c \
	tools/replay/model.c \
	tools/replay/model.h \
	tools/replay/replay.h \
	tools/replay/report.c \
	tools/replay/report_model.c \
	tools/replay/report_pool.c \
	tools/replay/sample.c \
	tools/replay/tags.c

tools_gpumem_report_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_report_LDADD = libreport.la $(TOOL)
tools_gpumem_report_SOURCES = tools/gpumem-report.c

# All of it but main(), which is fuzzed, too.
libreport_la_CPPFLAGS = $(TOOL_CPPFLAGS) -I$(top_builddir)/tools/report
libreport_la_SOURCES = \
	tools/report/compare.c \
	tools/report/compare.h \
	tools/report/compare_draw.c \
	tools/report/compare_print.c \
	tools/report/curves.c \
	tools/report/curves.h \
	tools/report/devices.c \
	tools/report/devices.h \
	tools/report/draw.c \
	tools/report/draw.h \
	tools/report/draw_all.c \
	tools/report/groups.c \
	tools/report/groups.h \
	tools/report/groups_print.c \
	tools/report/json.c \
	tools/report/map.c \
	tools/report/map.h \
	tools/report/map_events.c \
	tools/report/mapped.c \
	tools/report/mapped.h \
	tools/report/model.c \
	tools/report/model.h \
	tools/report/moment.c \
	tools/report/numbers.c \
	tools/report/numbers.h \
	tools/report/oom.c \
	tools/report/oom.h \
	tools/report/oom_print.c \
	tools/report/page.c \
	tools/report/page.h \
	tools/report/page_map.c \
	tools/report/page_tables.c \
	tools/report/page_zoom.c \
	tools/report/pages.c \
	tools/report/pages.h \
	tools/report/png.c \
	tools/report/report.h \
	tools/report/served.c \
	tools/report/stacks.c \
	tools/report/stacks.h \
	tools/report/stacks_print.c \
	tools/report/text.c \
	tools/report/write.c \
	tools/trace/asked.c \
	tools/trace/asked.h \
	tools/trace/each.c \
	tools/trace/input.c \
	tools/trace/print.c \
	tools/trace/print.h \
	tools/trace/print_json.c \
	tools/trace/regions.c \
	tools/trace/regions.h \
	tools/trace/summary.c \
	tools/trace/summary.h \
	tools/trace/trace.h

nodist_libreport_la_SOURCES = tools/report/page_text.h

# What stands in every page, as lists of lines: the scripts follow each other in
# one.
report_scripts = \
	tools/report/page.js \
	tools/report/map.js \
	tools/report/map_places.js \
	tools/report/map_view.js \
	tools/report/map_words.js \
	tools/report/map_lead.js \
	tools/report/zoom.js \
	tools/report/zoom_choose.js \
	tools/report/start.js
report_page = tools/report/page.css $(report_scripts)
EXTRA_DIST += $(report_page)
CLEANFILES += tools/report/page_text.h
tools/report/page_text.h: $(report_page)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for name in css js; do \
		echo "static const char *const page_$$name[] = {" && \
		for file in $(report_page); do case $$file in *.$$name) \
			sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n",/' \
				$(srcdir)/$$file || exit 1 ;; \
		esac; done && \
		echo 'NULL};' || exit 1; \
	done >$@.tmp && mv $@.tmp $@
$(libreport_la_OBJECTS): tools/report/page_text.h

tools_gpumem_keep_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_keep_LDADD = $(TOOL)
tools_gpumem_keep_SOURCES = \
	tools/gpumem-keep.c \
	tools/keep/client.c \
	tools/keep/client.h \
	tools/keep/commands.c \
	tools/keep/entries.c \
	tools/keep/entries.h \
	tools/keep/keep.h \
	tools/keep/owner.c \
	tools/keep/owner.h \
	tools/keep/place.c \
	tools/keep/print.c \
	tools/keep/serve.c \
	tools/keep/talk.c \
	tools/keep/talk.h \
	tools/keep/wire.c \
	tools/keep/wire.h \
	tools/keep/words.c \
	tools/keep/words.h

# Two programs of one source but for main().
suspend_sources = \
	tools/suspend/driver.c \
	tools/suspend/driver.h \
	tools/suspend/group.c \
	tools/suspend/group.h \
	tools/suspend/group_of.c \
	tools/suspend/members.c \
	tools/suspend/members.h \
	tools/suspend/suspend.c \
	tools/suspend/suspend.h
tools_gpumem_resume_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_resume_LDADD = $(TOOL)
tools_gpumem_resume_SOURCES = tools/gpumem-resume.c $(suspend_sources)
tools_gpumem_suspend_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_suspend_LDADD = $(TOOL)
tools_gpumem_suspend_SOURCES = tools/gpumem-suspend.c $(suspend_sources)

tools_gpumem_trace_CPPFLAGS = $(TOOL_CPPFLAGS)
tools_gpumem_trace_LDADD = $(TOOL)
tools_gpumem_trace_SOURCES = \
	tools/gpumem-trace.c \
	tools/trace/asked.c \
	tools/trace/asked.h \
	tools/trace/chrome.c \
	tools/trace/chrome.h \
	tools/trace/chrome_stacks.c \
	tools/trace/each.c \
	tools/trace/input.c \
	$(torch_sources) \
	tools/trace/print.c \
	tools/trace/print.h \
	tools/trace/print_json.c \
	tools/trace/pytorch.c \
	tools/trace/pytorch.h \
	tools/trace/pytorch_frames.c \
	tools/trace/pytorch_segments.c \
	tools/trace/pytorch_traces.c \
	tools/trace/regions.c \
	tools/trace/regions.h \
	tools/trace/summary.c \
	tools/trace/summary.h \
	tools/trace/text.c \
	tools/trace/trace.h \
	tools/trace/write.c

# Completion in a shell. bash finds it by the name of the tool.
if TOOLS
zshcompletion_DATA = tools/completion/_gpumem
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	for tool in $(bin_PROGRAMS); do \
		$(INSTALL_DATA) $(srcdir)/tools/completion/gpumem.bash \
			'$(DESTDIR)$(bashcompletiondir)'/$${tool##*/} || exit 1; \
	done
uninstall-local:
	for tool in $(bin_PROGRAMS); do \
		rm -f '$(DESTDIR)$(bashcompletiondir)'/$${tool##*/}; \
	done
endif
