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
	tests/novm/staying.novm \
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
	tests/objects/stats.objects \
	tests/objects/staying.objects
$(objects_tests): $(lib_tests)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo 'host.objects:on' >$@

# What tests/abi.sh compares the headers with, after a change that is meant.
abi:
	CC='$(CC)' $(SHELL) $(srcdir)/tests/abi/dump.sh declare \
		$(abs_top_srcdir)/include $(srcdir)/tests/abi/gpumem.abi

clean-local:
	rm -rf fuzz tests/home tests/tmp

if TSAN
check_PROGRAMS = $(thread_tests) $(soak_tests) $(attack_tests) \
	$(model_tests)
else
check_PROGRAMS = $(unit_tests) $(fuzz_tests) $(soak_tests) \
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
	tests/framework_memory.sh \
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
	tests/torch_headers.sh \
	tests/vllm_sleep.sh
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
	tests/tool_run_record.sh \
	tests/tool_run_served.sh
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
	tests/tool_keep.sh \
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
machine_names = adopter attack cuda cxx examples exports hip install man \
	man_api opencl opencl_examples opencl_traces plugin_examples readme \
	tool_completion tool_output tool_probe tool_report tool_run \
	tool_run_opencl tool_stacks tool_torch umf
machine_tests = $(plain_tests) $(machine_names:%=tests/%.sh)
# What `./quickstart check` runs from the tarball: which files it has is known to
# tests/lists.sh, and that nothing is written beside them has to be tried. Of
# tool_report.sh, the longest, tests/fresh.sh sees that in a clone.
tarball_names = abi adopter driver_answers examples exports headers install \
	ladder lists man man_api plugin_examples readme tool_names \
	tool_output tool_probe tool_replay tool_trace
tarball_tests = $(tarball_names:%=tests/%.sh)
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
TESTS = $(thread_scripts) $(soak_tests) $(attack_tests) \
	$(model_tests) $(thread_tests) tests/novm/peaks_threads.novm \
	tests/novm/threads.novm tests/objects/peaks_threads.objects
else
if SANITIZED
TESTS = $(fuzz_tests) $(other_tests) $(soak_tests) \
	$(attack_tests) $(model_tests) $(unit_tests) $(novm_tests) $(objects_tests)
else
TESTS = $(fuzz_tests) $(shell_tests) $(soak_tests) \
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
# What no program is made of here is taken by pattern; tests/lists.sh looks whether
# somebody uses it.
tests_dist = $(wildcard \
	$(srcdir)/tests/*.c $(srcdir)/tests/*.h $(srcdir)/tests/*.js $(srcdir)/tests/*.py \
	$(srcdir)/tests/*.sh $(srcdir)/tests/*.supp $(srcdir)/tests/*.txt \
	$(srcdir)/tests/abi/*.abi $(srcdir)/tests/abi/*.sh \
	$(srcdir)/tests/cxx/*.c $(srcdir)/tests/cxx/*.cpp \
	$(srcdir)/tests/cxx/stand-in/*.c $(srcdir)/tests/cxx/stand-in/*.h \
	$(srcdir)/tests/cxx/stand-in/af/*.h \
	$(srcdir)/tests/device/*.c $(srcdir)/tests/device/*.cpp \
	$(srcdir)/tests/device/*.cu $(srcdir)/tests/device/*.h \
	$(srcdir)/tests/device/*.py $(srcdir)/tests/device/*.sh \
	$(srcdir)/tests/device/answers/*.c $(srcdir)/tests/device/answers/*.h \
	$(srcdir)/tests/device/answers/*.sh $(srcdir)/tests/fake/cuda/*.txt \
	$(srcdir)/tests/install/*.c $(srcdir)/tests/install/*.txt \
	$(srcdir)/tests/lab/*.py $(srcdir)/tests/plugins/*.h \
	$(srcdir)/tests/run/*.c $(srcdir)/tests/run/*.h \
	$(srcdir)/tests/run/*.map $(srcdir)/tests/run/*.md $(srcdir)/tests/run/*.txt \
	$(srcdir)/tests/traces/*.py $(srcdir)/tests/traces/*.sh \
	$(srcdir)/tests/umf/*.c $(srcdir)/tests/umf/*.cpp \
	$(srcdir)/tests/unit/*/*.h \
	$(srcdir)/tests/vendor/*.awk $(srcdir)/tests/vendor/*.sh)
EXTRA_DIST += $(tests_dist) .ci/run .clang-format .editorconfig \
	cmake/gpumem-config.cmake.in cmake/gpumem-config-version.cmake.in \
	core/gpumem.map docs/man/link docs/plots/memory.py \
	docs/plots/native.json docs/plots/plot.py quickstart \
	tools/completion/_gpumem tools/completion/gpumem.bash
