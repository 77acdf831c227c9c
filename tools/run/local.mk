# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run, which starts a program with the libraries of tools/preload and
# tools/layer, as far as they are built.

tools_gpumem_run_CPPFLAGS = $(TOOL_CPPFLAGS) -DPRELOAD_DIR='"$(preloadexecdir)"'
if TOOLS
if CUDA
tools_gpumem_run_CPPFLAGS += -DRUN_CUDA
endif
if HIP
tools_gpumem_run_CPPFLAGS += -DRUN_HIP
endif
if OPENCL_LAYER
tools_gpumem_run_CPPFLAGS += -DRUN_OPENCL
endif
if RUN
bin_PROGRAMS += tools/gpumem-run
# Beside what is preloaded, in the build folder too.
adoptdir = $(preloadexecdir)/adopt
adopt_DATA = tools/adopt/sitecustomize.py
noinst_DATA = tools/.libs/adopt/sitecustomize.py
endif
endif
tools_gpumem_run_LDADD = $(TOOL)
tools_gpumem_run_SOURCES = \
	tools/gpumem-run.c \
	core/loader/sight.c \
	core/loader/sight.h \
	tools/run/adopt.c \
	tools/run/child.c \
	tools/run/environment.c \
	tools/run/gap.c \
	tools/run/ledgers.c \
	tools/run/library.c \
	tools/run/program.c \
	tools/run/report.c \
	tools/run/report_json.c \
	tools/run/run.h \
	tools/run/trim.c

# A folder that is configured again may have other flags.
$(tools_gpumem_run_OBJECTS): $(top_builddir)/config.status

tools/.libs/adopt/sitecustomize.py: tools/adopt/sitecustomize.py
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/tools/adopt/sitecustomize.py $@
EXTRA_DIST += tools/adopt/sitecustomize.py
CLEANFILES += tools/.libs/adopt/sitecustomize.py
