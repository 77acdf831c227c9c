# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# All that `make check` runs. unit/, plugins/, fake/ and random.mk have the
# programs.

# Without virtual memory the same promises hold: those that do not themselves
# try both run a second time.
novm_tests = \
	tests/novm/arguments.novm \
	tests/novm/behind.novm \
	tests/novm/counts.novm \
	tests/novm/drift.novm \
	tests/novm/ends.novm \
	tests/novm/exit.novm \
	tests/novm/follow.novm \
	tests/novm/fork.novm \
	tests/novm/limits.novm \
	tests/novm/lost.novm \
	tests/novm/misuse.novm \
	tests/novm/peaks.novm \
	tests/novm/peaks_threads.novm \
	tests/novm/pressure.novm \
	tests/novm/query.novm \
	tests/novm/resize.novm \
	tests/novm/shape.novm \
	tests/novm/stats.novm \
	tests/novm/structs.novm \
	tests/novm/threads.novm
$(novm_tests): $(lib_tests)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo 'vm:off' >$@

# Where memory is named by objects too: those of them that do not touch it.
objects_tests = \
	tests/objects/arguments.objects \
	tests/objects/counts.objects \
	tests/objects/drift.objects \
	tests/objects/ends.objects \
	tests/objects/exit.objects \
	tests/objects/limits.objects \
	tests/objects/lost.objects \
	tests/objects/peaks.objects \
	tests/objects/peaks_threads.objects \
	tests/objects/pressure.objects \
	tests/objects/query.objects \
	tests/objects/resize.objects \
	tests/objects/shape.objects \
	tests/objects/stats.objects
$(objects_tests): $(lib_tests)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo 'host.objects:on' >$@

# What tests/abi.sh compares the headers with, after a change that is meant.
abi:
	CC='$(CC)' $(SHELL) $(srcdir)/tests/abi/dump.sh declare \
		$(abs_top_srcdir)/include $(srcdir)/tests/abi/gpumem.abi

clean-local:
	rm -rf fuzz tests/home tests/tmp

if TSAN
check_PROGRAMS = $(long_tests) $(thread_tests) $(soak_tests) $(attack_tests) \
	$(model_tests)
else
check_PROGRAMS = $(long_tests) $(unit_tests) $(fuzz_tests) $(soak_tests) \
	$(attack_tests) $(model_tests)
endif

# Each test runs once for what its result depends on. These run nothing that was
# compiled with a sanitizer, or cannot: a build that has one leaves them out.
plain_tests = \
	tests/abi.sh \
	tests/cuda_headers.sh \
	tests/cxx_headers.sh \
	tests/debian.sh \
	tests/driver_answers.sh \
	tests/floors.sh \
	tests/headers.sh \
	tests/hip_headers.sh \
	tests/home.sh \
	tests/lists.sh \
	tests/locks.sh \
	tests/musl.sh \
	tests/opencl_headers.sh \
	tests/packages.sh \
	tests/pyopencl_own.sh \
	tests/python.sh \
	tests/python_headers.sh \
	tests/quickstart.sh \
	tests/style.sh \
	tests/tool_torch_memory.sh \
	tests/torch_headers.sh
# So are those of gpumem-run left out.
preload_tests = \
	tests/tool_run.sh \
	tests/tool_run_adopt.sh \
	tests/tool_run_alike.sh \
	tests/tool_run_device.sh \
	tests/tool_run_graphs.sh \
	tests/tool_run_hip.sh \
	tests/tool_run_hip_arrays.sh \
	tests/tool_run_hip_graphs.sh \
	tests/tool_run_limit.sh \
	tests/tool_run_opencl.sh \
	tests/tool_run_pool.sh \
	tests/tool_run_programs.sh \
	tests/tool_run_record.sh
other_tests = \
	tests/adopter.sh \
	tests/attack.sh \
	tests/caps.sh \
	tests/circles.sh \
	tests/cuda.sh \
	tests/cxx.sh \
	tests/examples.sh \
	tests/exports.sh \
	tests/hip.sh \
	tests/install.sh \
	tests/ladder.sh \
	tests/man.sh \
	tests/man_api.sh \
	tests/names.sh \
	tests/opencl.sh \
	tests/opencl_examples.sh \
	tests/opencl_traces.sh \
	tests/plugin_examples.sh \
	tests/readme.sh \
	tests/scripted.sh \
	tests/tool_bench.sh \
	tests/tool_completion.sh \
	tests/tool_conform.sh \
	tests/tool_conform_lies.sh \
	tests/tool_files.sh \
	tests/tool_kineto.sh \
	tests/tool_names.sh \
	tests/tool_oom.sh \
	tests/tool_oom_snapshot.sh \
	tests/tool_output.sh \
	tests/tool_probe.sh \
	tests/tool_replay.sh \
	tests/tool_report.sh \
	tests/tool_report_devices.sh \
	tests/tool_report_map.sh \
	tests/tool_rmm.sh \
	tests/tool_stacks.sh \
	tests/tool_stacks_torch.sh \
	tests/tool_suspend.sh \
	tests/tool_torch.sh \
	tests/tool_trace.sh \
	tests/tool_umpire.sh \
	tests/traces.sh \
	tests/umf.sh
shell_tests = $(plain_tests) $(other_tests) $(preload_tests)
# Those that find other packages, compilers and commands on another machine. The
# others run what was built, wherever it is.
machine_tests = $(plain_tests) \
	tests/adopter.sh \
	tests/attack.sh \
	tests/cuda.sh \
	tests/cxx.sh \
	tests/examples.sh \
	tests/exports.sh \
	tests/hip.sh \
	tests/install.sh \
	tests/man.sh \
	tests/man_api.sh \
	tests/opencl.sh \
	tests/opencl_examples.sh \
	tests/opencl_traces.sh \
	tests/plugin_examples.sh \
	tests/readme.sh \
	tests/tool_completion.sh \
	tests/tool_output.sh \
	tests/tool_probe.sh \
	tests/tool_report.sh \
	tests/tool_run.sh \
	tests/tool_run_opencl.sh \
	tests/tool_stacks.sh \
	tests/tool_torch.sh \
	tests/umf.sh
# What `./quickstart check` runs from the tarball: which files it has is known to
# tests/lists.sh, and that nothing is written beside them has to be tried. Of
# tool_report.sh, the longest, tests/fresh.sh sees that in a clone.
tarball_tests = \
	tests/abi.sh \
	tests/adopter.sh \
	tests/driver_answers.sh \
	tests/examples.sh \
	tests/exports.sh \
	tests/headers.sh \
	tests/install.sh \
	tests/ladder.sh \
	tests/lists.sh \
	tests/man.sh \
	tests/man_api.sh \
	tests/plugin_examples.sh \
	tests/readme.sh \
	tests/tool_names.sh \
	tests/tool_output.sh \
	tests/tool_probe.sh \
	tests/tool_replay.sh \
	tests/tool_trace.sh
# The scripts whose programs have threads.
thread_scripts = \
	tests/adopter.sh \
	tests/attack.sh \
	tests/cuda.sh \
	tests/examples.sh \
	tests/hip.sh \
	tests/opencl.sh \
	tests/tool_bench.sh \
	tests/tool_conform.sh
# The longest first, so that the last ones are short.
if TSAN
TESTS = $(long_tests) $(thread_scripts) $(soak_tests) $(attack_tests) \
	$(model_tests) $(thread_tests) tests/novm/peaks_threads.novm \
	tests/novm/threads.novm tests/objects/peaks_threads.objects
else
if SANITIZED
TESTS = $(long_tests) $(fuzz_tests) $(other_tests) $(soak_tests) \
	$(attack_tests) $(model_tests) $(unit_tests) $(novm_tests) $(objects_tests)
else
TESTS = $(long_tests) $(fuzz_tests) $(shell_tests) $(soak_tests) \
	$(attack_tests) $(model_tests) $(unit_tests) $(novm_tests) $(objects_tests)
endif
endif
TEST_EXTENSIONS = .sh .novm .objects
TAP = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP)
SH_LOG_DRIVER = $(TAP)
NOVM_LOG_DRIVER = $(TAP)
NOVM_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/novm.sh
OBJECTS_LOG_DRIVER = $(TAP)
OBJECTS_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/novm.sh
# What a test, or an OpenCL implementation under it, keeps in $HOME or in a
# temporary folder stays in the build folder.
AM_TESTS_ENVIRONMENT = \
	$(MKDIR_P) tests/home/cache tests/tmp; \
	unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR \
		POCL_CACHE_DIR MESA_SHADER_CACHE_DIR; \
	export HOME='$(abs_top_builddir)/tests/home' \
		XDG_CACHE_HOME='$(abs_top_builddir)/tests/home/cache' \
		TMPDIR='$(abs_top_builddir)/tests/tmp'; \
	export top_srcdir='$(abs_top_srcdir)' CC='$(CC)' CXX='$(CXX)' LC_ALL=C \
		top_builddir='$(abs_top_builddir)' SANITIZER='$(sanitizer)' \
		SANITIZE_CFLAGS='$(SANITIZE_CFLAGS)' \
		GPUMEM_BACKEND=host GPUMEM_PLUGIN_PATH=/nowhere GPUMEM_CONF= \
		LSAN_OPTIONS='suppressions="$(abs_top_srcdir)/tests/lsan.supp"':print_suppressions=0 \
		TSAN_OPTIONS='suppressions="$(abs_top_srcdir)/tests/tsan.supp"':halt_on_error=1:handle_segv=0 \
		UBSAN_OPTIONS=print_stacktrace=1;

# Every recorded program, or TRACES, under a limit from 1.00 to 1.30 times its peak.
caps: all
	$(AM_TESTS_ENVIRONMENT) CAPS=all CONF='$(CONF)' \
		$(SHELL) $(srcdir)/tests/caps.sh $(TRACES)

.PHONY: abi attack caps fuzz model plot-memory plots soak
AM_DISTCHECK_CONFIGURE_FLAGS = --enable-werror
CLEANFILES += $(cmake_DATA) $(novm_tests) $(objects_tests) memory.json plots.json
EXTRA_DIST += $(shell_tests) .ci/run .clang-format .editorconfig \
	cmake/gpumem-config.cmake.in cmake/gpumem-config-version.cmake.in \
	core/gpumem.map docs/man/link docs/plots/memory.py \
	docs/plots/native.json docs/plots/plot.py \
	quickstart \
	tests/abi/dump.sh tests/abi/gpumem.abi \
	tests/fake/cuda/answers.txt \
	tests/install/CMakeLists.txt tests/install/hello.c tests/novm.sh \
	tests/suspend_double.c \
	tests/cxx/arrayfire.c \
	tests/cxx/cccl.cpp \
	tests/cxx/order.cpp \
	tests/cxx/own.cpp \
	tests/cxx/pmr.cpp \
	tests/cxx/self.cpp \
	tests/cxx/torch_counts.cpp \
	tests/cxx/stand-in/NvInferRuntime.h \
	tests/cxx/stand-in/af/backend.h \
	tests/cxx/stand-in/af/memory.h \
	tests/cxx/stand-in/arrayfire.c \
	tests/cxx/stand-in/arrayfire.h \
	tests/cxx/tensorrt.cpp \
	tests/device/adopt.c \
	tests/device/answers/answers.h \
	tests/device/answers/devices.c \
	tests/device/answers/driver_answers.c \
	tests/device/answers/memory.c \
	tests/device/answers/merge.sh \
	tests/device/answers/old.c \
	tests/device/answers/pools.c \
	tests/device/answers/pools_shared.c \
	tests/device/answers/virtual.c \
	tests/device/answers/work.c \
	tests/device/bad.c \
	tests/device/busy.c \
	tests/device/calls.h \
	tests/device/clearing.py \
	tests/device/frameworks.py \
	tests/device/give_back.c \
	tests/device/give_way.c \
	tests/device/graph.c \
	tests/device/green.c \
	tests/device/held.c \
	tests/device/in_capture.c \
	tests/device/jax_steps.py \
	tests/device/lock.c \
	tests/device/meanwhile.h \
	tests/device/memory_viz.py \
	tests/device/must.h \
	tests/device/native.py \
	tests/device/own.sh \
	tests/device/own_tests.py \
	tests/device/own_tests_worker.py \
	tests/device/peers.cpp \
	tests/device/random.sh \
	tests/device/record.py \
	tests/device/record_cost.py \
	tests/device/report_table.c \
	tests/device/resources.cu \
	tests/device/run.sh \
	tests/device/run_exact.c \
	tests/device/run_exact.py \
	tests/device/run_exact_programs.py \
	tests/device/run_nccl.py \
	tests/device/run_nccl_work.py \
	tests/device/run_programs.py \
	tests/device/run_programs.sh \
	tests/device/run_record.py \
	tests/device/run_sanitizer.sh \
	tests/device/run_static.cu \
	tests/device/run_torch.sh \
	tests/device/run_wrong.cu \
	tests/device/share.c \
	tests/device/spin.h \
	tests/device/suspend.py \
	tests/device/torch_allocators.py \
	tests/device/torch_answers.py \
	tests/device/torch_busy.py \
	tests/device/torch_faults.py \
	tests/device/torch_counts.py \
	tests/device/torch_enable.py \
	tests/device/torch_foreign.py \
	tests/device/torch_green.py \
	tests/device/torch_lists.c \
	tests/device/torch_minutes.py \
	tests/device/torch_models.py \
	tests/device/torch_own_tests.py \
	tests/device/torch_pinned.py \
	tests/device/torch_pair.cpp \
	tests/device/torch_pair.py \
	tests/device/torch_peers.py \
	tests/device/torch_plug.c \
	tests/device/torch_questions.py \
	tests/device/torch_questions_private.py \
	tests/device/torch_ranks.py \
	tests/device/torch_sent.py \
	tests/device/torch_subclass.py \
	tests/device/torch_workloads.py \
	tests/run/README.md \
	tests/run/array.c \
	tests/run/cancel.c \
	tests/run/cases.h \
	tests/run/driver.c \
	tests/run/driver.h \
	tests/run/driver_memory.c \
	tests/run/driver_ways.c \
	tests/run/graph.c \
	tests/run/graph.h \
	tests/run/graph_limits.c \
	tests/run/graph_nodes.c \
	tests/run/hip.c \
	tests/run/hip.h \
	tests/run/hip_above.c \
	tests/run/hip_array.c \
	tests/run/hip_below.c \
	tests/run/hip_below.h \
	tests/run/hip_below.map \
	tests/run/hip_below_array.c \
	tests/run/hip_below_asked.c \
	tests/run/hip_below_device.c \
	tests/run/hip_below_graph.c \
	tests/run/hip_below_graph.h \
	tests/run/hip_below_memory.c \
	tests/run/hip_below_stream.c \
	tests/run/hip_below_ways.c \
	tests/run/hip_graph.c \
	tests/run/hip_graph.h \
	tests/run/hip_graph_limits.c \
	tests/run/hip_graph_nodes.c \
	tests/run/hip_limit.c \
	tests/run/hip_memory.c \
	tests/run/hip_nodes.h \
	tests/run/hip_plugin.c \
	tests/run/hip_pools.c \
	tests/run/hip_ways.c \
	tests/run/layer.c \
	tests/run/limit.c \
	tests/run/limit.h \
	tests/run/limit_calls.c \
	tests/run/limit_threads.c \
	tests/run/next.c \
	tests/run/opencl.c \
	tests/run/opencl.h \
	tests/run/opencl_below.c \
	tests/run/opencl_limit.c \
	tests/run/opencl_limit.h \
	tests/run/opencl_limit_device.c \
	tests/run/opencl_limit_kinds.c \
	tests/run/opencl_limit_threads.c \
	tests/run/opencl_objects.c \
	tests/run/opencl_usm.c \
	tests/run/pool.c \
	tests/run/pool.h \
	tests/run/pool_answers.c \
	tests/run/pool_cases.c \
	tests/run/pool_cases.h \
	tests/run/pool_early.c \
	tests/run/pool_limits.c \
	tests/run/pool_order.c \
	tests/run/pool_random.c \
	tests/run/pool_trim.c \
	tests/run/pool_wholes.c \
	tests/run/pool_wholes_otherwise.c \
	tests/run/record.c \
	tests/combinations.sh tests/fresh.sh tests/fresh_package.sh tests/left.sh \
	tests/fresh_root.sh \
	tests/lsan.supp tests/tsan.supp \
	tests/opencl_over.sh \
	tests/pyopencl_own.py tests/pyopencl_own.txt \
	tests/page_dom.js tests/shell.py tests/terminal.py \
	tests/torch_fetch.sh tests/torch_newest.sh tests/torch_stubs.py \
	tests/traces/table.sh \
	tests/lab/sweep.py \
	tests/traces/scripted.py tests/traces/scripted_models.py \
	tests/traces/scripted_others.py tests/traces/scripted_trace.py \
	tests/umf/pool.c \
	tests/umf/suite.cpp \
	tests/vendor/compare.sh tests/vendor/facts.awk \
	tools/completion/_gpumem tools/completion/gpumem.bash \
	tests/foreign.sh tests/law.h tests/recording.h tests/tap.h tests/tap.sh \
	tests/tool.sh \
	tests/plugins/bad.h
