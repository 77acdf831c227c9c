# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Manual pages, other documents, and the figures of docs/performance.md.

# Those of programs are installed where these are built.
tool_pages = \
	docs/man/gpumem-bench.1 \
	docs/man/gpumem-conform.1 \
	docs/man/gpumem-keep.1 \
	docs/man/gpumem-probe.1 \
	docs/man/gpumem-replay.1 \
	docs/man/gpumem-report.1 \
	docs/man/gpumem-resume.1 \
	docs/man/gpumem-suspend.1 \
	docs/man/gpumem-trace.1
run_page = docs/man/gpumem-run.1
EXTRA_DIST += $(tool_pages) $(run_page)

dist_man_MANS = \
	docs/man/gpumem.3 \
	docs/man/gpumem_alloc.3 \
	docs/man/gpumem_alloc_with.3 \
	docs/man/gpumem_backend.3 \
	docs/man/gpumem_block_set_user.3 \
	docs/man/gpumem_device.3 \
	docs/man/gpumem_device_report.3 \
	docs/man/gpumem_error.3 \
	docs/man/gpumem_event.3 \
	docs/man/gpumem_free_own.3 \
	docs/man/gpumem_graph.3 \
	docs/man/gpumem_hook.3 \
	docs/man/gpumem_host.3 \
	docs/man/gpumem_leak.3 \
	docs/man/gpumem_name.3 \
	docs/man/gpumem_object.3 \
	docs/man/gpumem_oom.3 \
	docs/man/gpumem_option.3 \
	docs/man/gpumem_options.5 \
	docs/man/gpumem_out_of_memory.3 \
	docs/man/gpumem_pool.3 \
	docs/man/gpumem_pool_print.3 \
	docs/man/gpumem_range.3 \
	docs/man/gpumem_record.3 \
	docs/man/gpumem_record.5 \
	docs/man/gpumem_resize.3 \
	docs/man/gpumem_share.3 \
	docs/man/gpumem_sleep.3 \
	docs/man/gpumem_stats.3 \
	docs/man/gpumem_tag.3 \
	docs/man/gpumem_trace.5
if TOOLS
dist_man_MANS += $(tool_pages)
if RUN
dist_man_MANS += $(run_page)
endif
endif
# The pages name the folders of the default prefix; when they are installed, those
# that configure was told, and the version. A function that shares its page with others has a link
# to it.
install-data-hook:
	for page in $(dist_man_MANS); do \
		sed -e 's,/usr/local/share/doc/gpumem,$(docdir),g' \
			-e 's,/usr/local/share/gpumem,$(pkgdatadir),g' \
			-e 's,/usr/local/lib/$(plugin_subdir),$(plugindir),g' \
			-e 's,^\.Os gpumem$$,& $(VERSION),' \
			$(srcdir)/$$page \
			>'$(DESTDIR)$(mandir)'/man$${page##*.}/$${page##*/} || \
			exit 1; \
	done
	for page in $(srcdir)/docs/man/link/*.3; do \
		$(INSTALL_DATA) $$page '$(DESTDIR)$(man3dir)' || exit 1; \
	done
uninstall-hook:
	for plugin in $(pluginexec_LTLIBRARIES); do \
		plugin=$${plugin##*/}; \
		rm -f '$(DESTDIR)$(plugindir)'/$${plugin%.la}.so; \
	done
	rm -f '$(DESTDIR)$(preloadexecdir)/libgpumem-preload.so'
	for page in $(srcdir)/docs/man/link/*.3; do \
		rm -f '$(DESTDIR)$(man3dir)'/$${page##*/}; \
	done
# The folders that are ours alone, if nobody else put anything there.
	for folder in '$(DESTDIR)$(docdir)' '$(DESTDIR)$(includedir)/gpumem' \
		'$(DESTDIR)$(plugindir)' '$(DESTDIR)$(libdir)/gpumem' \
		'$(DESTDIR)$(libdir)/cmake/gpumem' \
		'$(DESTDIR)$(pkglibexecdir)' '$(DESTDIR)$(datadir)/gpumem'; do \
		[ ! -d "$$folder" ] || \
			find "$$folder" -depth -type d -exec rmdir {} + \
				2>/dev/null || :; \
	done

# As in the source folder, so that what these say of each other holds.
nobase_dist_doc_DATA = CONTRIBUTING.md LICENSE NEWS.md README.md \
	SECURITY.md \
	docs/backends.md \
	docs/calls.md \
	docs/clearing-memory.md \
	docs/compatibility.md \
	docs/cxx.md \
	docs/design.md \
	docs/decisions/01-how-a-pointer-finds-its-block.md \
	docs/decisions/02-what-the-hot-path-may-do.md \
	docs/decisions/03-exact-statistics-at-no-cost.md \
	docs/decisions/04-virtual-memory-moving-pages.md \
	docs/decisions/05-streams-share-one-address-space.md \
	docs/decisions/06-without-virtual-memory.md \
	docs/decisions/07-fork.md \
	docs/decisions/08-small-and-large.md \
	docs/decisions/09-sharing-between-processes.md \
	docs/decisions/10-the-soft-limit.md \
	docs/decisions/11-tools-and-their-libraries.md \
	docs/decisions/12-the-cuda-backend.md \
	docs/decisions/13-kinds-of-memory-peers-other-processes.md \
	docs/decisions/14-how-blocks-are-shared.md \
	docs/decisions/15-how-large-a-handle-is.md \
	docs/decisions/16-giving-back-beside-running-threads.md \
	docs/decisions/17-decay.md \
	docs/decisions/18-memory-of-captured-graphs.md \
	docs/decisions/19-views-of-blocks.md \
	docs/decisions/20-the-hip-backend.md \
	docs/decisions/21-the-opencl-backend.md \
	docs/decisions/22-configuration-from-outside.md \
	docs/decisions/23-when-auto-may-end-at-the-simulated-gpu.md \
	docs/decisions/24-what-host-does-about-mistakes.md \
	docs/decisions/25-trying-a-backend-that-crashes-or-hangs.md \
	docs/decisions/26-peaks-of-several-streams-and-threads.md \
	docs/decisions/27-where-plugins-are-and-packages.md \
	docs/decisions/28-trying-the-readme-on-a-bare-system.md \
	docs/decisions/29-how-many-addresses-a-pool-reserves.md \
	docs/decisions/30-what-is-printed-for-people.md \
	docs/decisions/31-a-backend-that-gives-memory-twice.md \
	docs/decisions/32-modules-of-a-heap.md \
	docs/decisions/33-one-source-for-cuda-and-hip.md \
	docs/decisions/34-the-list-of-slots.md \
	docs/decisions/35-names-and-flags-of-the-interface.md \
	docs/decisions/36-allocation-with-options.md \
	docs/decisions/37-events-and-frees-after-one.md \
	docs/decisions/38-a-block-that-grows-in-place.md \
	docs/decisions/39-what-a-pool-says-and-calls.md \
	docs/decisions/40-a-lagging-simulated-device.md \
	docs/decisions/41-contexts-of-cuda-that-a-program-made.md \
	docs/decisions/42-memory-of-many-streams.md \
	docs/decisions/43-memory-of-a-busy-stream.md \
	docs/decisions/44-busy-pages-move-by-a-second-mapping.md \
	docs/decisions/45-how-much-memory-buys-fewer-moves.md \
	docs/decisions/46-near-the-limit.md \
	docs/decisions/47-who-takes-memory-goes-first.md \
	docs/decisions/48-unused-segments-are-spared.md \
	docs/decisions/49-recordings-are-a-mapped-file.md \
	docs/decisions/50-tags-stand-with-the-block.md \
	docs/decisions/51-the-python-package.md \
	docs/decisions/52-what-a-cxx-object-keeps-alive.md \
	docs/decisions/53-how-gpumem-run-gets-in-between.md \
	docs/decisions/54-the-report-page-draws-without-a-library.md \
	docs/decisions/55-a-device-table-adds-up.md \
	docs/decisions/56-one-function-is-told-of-an-out-of-memory.md \
	docs/decisions/57-leaks-are-found-by-a-table.md \
	docs/decisions/58-opencl-is-counted-in-a-layer.md \
	docs/decisions/59-pytorchs-allocator-compiled-at-the-users.md \
	docs/decisions/60-amds-runtime-in-the-same-library.md \
	docs/decisions/61-memory-goes-back-beside-a-capture.md \
	docs/decisions/62-what-graphs-have-is-asked-of-the-driver.md \
	docs/decisions/63-pytorch-programs-get-parts-under-adopt.md \
	docs/decisions/64-a-stream-waits-for-pending-blocks.md \
	docs/decisions/65-a-graphs-memory-goes-home.md \
	docs/decisions/66-each-test-runs-where-its-result-could-differ.md \
	docs/decisions/67-what-ends-a-block-that-nobody-ended.md \
	docs/decisions/68-files-are-made-beside-their-name.md \
	docs/decisions/69-a-limit-below-what-is-live.md \
	docs/decisions/70-one-budget-for-all-addresses.md \
	docs/decisions/71-opencl-claims-are-measured.md \
	docs/decisions/72-what-gpumem-run-cannot-follow-runs.md \
	docs/decisions/73-order-is-checked-without-looking-inside.md \
	docs/decisions/74-vendors-headers-are-not-needed.md \
	docs/decisions/75-how-pip-users-get-the-tools.md \
	docs/decisions/76-limits-are-set-one-by-one.md \
	docs/decisions/77-one-order-of-locks.md \
	docs/decisions/78-one-limit-for-a-device.md \
	docs/decisions/79-one-source-for-pytorch.md \
	docs/decisions/80-a-rule-lands-with-its-sweep.md \
	docs/decisions/81-a-limit-in-percent.md \
	docs/decisions/82-reuse-in-a-capture.md \
	docs/decisions/83-others-files-that-lack-facts.md \
	docs/decisions/84-pytorchs-pinned-memory.md \
	docs/decisions/85-compiled-for-pytorch-in-the-wheel.md \
	docs/decisions/86-what-an-allocation-may-do.md \
	docs/decisions/87-one-word-of-the-callers-per-block.md \
	docs/decisions/88-pytorch-programs-get-the-pool-under-adopt.md \
	docs/decisions/89-refused-at-once.md \
	docs/decisions/90-errors-that-foreign-allocators-leave.md \
	docs/decisions/91-stream-ordered-allocations-are-served.md \
	docs/decisions/92-frameworks-own-doors.md \
	docs/decisions/93-one-price-of-memory.md \
	docs/decisions/94-what-tensorflow-keeps-of-a-trained-model.md \
	docs/decisions/95-sleep.md \
	docs/decisions/96-who-keeps-memory-whose-process-is-gone.md \
	docs/decisions/97-ranges-are-told-under-the-lock.md \
	docs/decisions/98-large-handles-while-a-pool-grows.md \
	docs/decisions/99-a-recording-says-what-repeats-in-4-bytes.md \
	docs/decisions/100-peers-names-over-sleep.md \
	docs/decisions/101-plan-what-repeats.md \
	docs/decisions/102-no-place-for-each-block.md \
	docs/decisions/103-a-tags-own-handles.md \
	docs/decisions/106-a-sleep-pins-its-own-pages.md \
	docs/decisions/README.md \
	docs/lab/04-virtual-memory-moving-pages.md \
	docs/lab/06-without-virtual-memory.md \
	docs/lab/08-a-huge-block-for-each-of-many-threads.md \
	docs/lab/15-how-large-a-handle-is.md \
	docs/lab/26-peaks-of-several-streams-and-threads.md \
	docs/lab/42-memory-of-many-streams.md \
	docs/lab/43-memory-of-a-busy-stream.md \
	docs/lab/44-busy-pages-move-by-a-second-mapping.md \
	docs/lab/45-how-much-memory-buys-fewer-moves.md \
	docs/lab/46-near-the-limit.md \
	docs/lab/47-who-takes-memory-goes-first.md \
	docs/lab/48-unused-segments-are-spared.md \
	docs/lab/49-recordings-are-a-mapped-file.md \
	docs/lab/53-how-gpumem-run-gets-in-between.md \
	docs/lab/54-the-report-page-draws-without-a-library.md \
	docs/lab/63-pytorch-programs-get-parts-under-adopt.md \
	docs/lab/64-a-stream-waits-for-pending-blocks.md \
	docs/lab/README.md \
	docs/lab/95-sleep.md \
	docs/lab/98-large-handles-while-a-pool-grows.md \
	docs/lab/101-plan-what-repeats.md \
	docs/lab/102-no-place-for-each-block.md \
	docs/lab/103-free-memory-between-tags.md \
	docs/devices/README.md \
	docs/install.md \
	docs/sleeping.md \
	docs/tools.md \
	docs/devices/h100-offload.txt \
	docs/devices/h100-peers.txt \
	docs/devices/h200-adopt.txt \
	docs/devices/h200-keras.txt \
	docs/devices/h200-sleep.txt \
	docs/devices/h200-suspend.txt \
	docs/devices/h200-vllm.txt \
	docs/devices/h200-busy.txt \
	docs/devices/h200-frameworks.txt \
	docs/devices/h200-limits.txt \
	docs/devices/h200-long.txt \
	docs/devices/h200-models.txt \
	docs/devices/h200-hip.txt \
	docs/devices/h200-opencl.txt \
	docs/devices/h200-own-tests.txt \
	docs/devices/h200-own.txt \
	docs/devices/h200-peers.txt \
	docs/devices/h200-pools.txt \
	docs/devices/h200-programs.txt \
	docs/devices/h200-recordings.txt \
	docs/devices/h200-scripted.txt \
	docs/devices/h200-segments.txt \
	docs/devices/h200-streams.txt \
	docs/devices/h200-torch-2.14.txt \
	docs/devices/h200-torch.txt \
	docs/devices/h200.txt \
	docs/devices/pocl-programs.txt \
	docs/devices/pocl-pyopencl.txt \
	docs/examples/adopter.c \
	docs/examples/arrayfire_manager.c \
	docs/examples/arrayfire_manager.h \
	docs/examples/arrayfire_state.c \
	docs/examples/arrayfire_state.h \
	docs/examples/hello_pool.c \
	docs/examples/opencl_scale.c \
	docs/examples/out_of_memory.c \
	docs/examples/plugin_memfd.c \
	docs/examples/plugin_minimal.c \
	docs/examples/pyopencl_pool.py \
	docs/examples/share.c \
	docs/examples/stream_order.c \
	docs/examples/tensorrt_allocator.hpp \
	docs/examples/umf_pool.c \
	docs/examples/umf_pool.h \
	docs/performance.md \
	docs/plots/live.svg \
	docs/plots/memory.svg \
	docs/plots/size.svg \
	docs/plots/threads.svg \
	docs/keeping.md \
	docs/python.md \
	docs/report.png \
	docs/report_map.png
tracesdir = $(pkgdatadir)/traces
dist_traces_DATA = \
	tests/traces/README.md \
	tests/traces/bert_inference.trace.gz \
	tests/traces/gpt2_varlen.trace.gz \
	tests/traces/llama_generate.trace.gz \
	tests/traces/llm_serving.trace.gz \
	tests/traces/lora_recompute.trace.gz \
	tests/traces/model_swap.trace.gz \
	tests/traces/offload_streams.trace.gz \
	tests/traces/prefetch_streams.trace.gz \
	tests/traces/resnet_multires.trace.gz \
	tests/traces/threads_inference.trace.gz

# The figure of README.md and those of docs/performance.md: make plots
# MACHINE='16 cores of a ...'. Needs python3 with matplotlib, and a machine that
# does nothing else; `make plot-memory` draws README's alone and needs any.
PYTHON3 = python3
MACHINE = an unnamed machine
PLOT_BENCH = --seconds=1 pair threads growth
PLOT_REPLAY = --json --device=host --sample=1
PLOT_TRACE = tests/traces/gpt2_varlen.trace.gz
plot-memory: tools/gpumem-replay$(EXEEXT)
	GPUMEM_CONF= tools/gpumem-replay $(PLOT_REPLAY) $(srcdir)/$(PLOT_TRACE) \
		>memory.json
	$(PYTHON3) -B $(srcdir)/docs/plots/memory.py \
		--out=$(srcdir)/docs/plots \
		--command='gpumem-replay $(PLOT_REPLAY) $(PLOT_TRACE)' \
		--machine='$(MACHINE)' --date=`date +%F` \
		$(srcdir)/docs/plots/native.json memory.json
plots: plot-memory tools/gpumem-bench$(EXEEXT)
	tools/gpumem-bench --json $(PLOT_BENCH) >plots.json
	$(PYTHON3) $(srcdir)/docs/plots/plot.py --out=$(srcdir)/docs/plots \
		--command='gpumem-bench $(PLOT_BENCH)' \
		--machine='$(MACHINE)' --date=`date +%F` plots.json
