# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Programs of random steps: fuzzing, attack, model and soak.

# Every public function with right and wrong arguments: some seeds in `make
# check`, as many as one likes by `make attack`.
attack_tests = tests/attack/attack
tests_attack_attack_SOURCES = \
	tests/attack/attack.c \
	tests/attack/attack.h \
	tests/attack/blocks.c \
	tests/attack/content.c \
	tests/attack/counts.c \
	tests/attack/describe.c \
	tests/attack/devices.c \
	tests/attack/events.c \
	tests/attack/exporter.c \
	tests/attack/host.c \
	tests/attack/judge.c \
	tests/attack/library.c \
	tests/attack/limits.c \
	tests/attack/pick.c \
	tests/attack/pools.c \
	tests/attack/rows.h \
	tests/attack/ranges.c \
	tests/attack/reclaim.c \
	tests/attack/share.c \
	tests/attack/streams.c \
	tests/attack/tags.c \
	tests/attack/world.c

# Right programs against a model: some seeds in `make check`, as many as one
# likes by `make model`.
model_tests = tests/model/model
tests_model_model_SOURCES = \
	tests/model/block.c \
	tests/model/blocks.c \
	tests/model/capture.c \
	tests/model/cover.c \
	tests/model/exam.c \
	tests/model/frees.c \
	tests/model/graph.c \
	tests/model/history.c \
	tests/model/model.c \
	tests/model/model.h \
	tests/model/options.c \
	tests/model/order.c \
	tests/model/pools.c \
	tests/model/shrink.c \
	tests/model/streams.c \
	tests/model/work.c \
	tests/model/world.c

if TOOLS
# Some rounds in `make check`, an hour in `make soak`.
soak_tests = tests/soak/soak
tests_soak_soak_SOURCES = \
	tests/soak/block.c \
	tests/soak/block.h \
	tests/soak/chaos.c \
	tests/soak/exam.c \
	tests/soak/laws.c \
	tests/soak/soak.c \
	tests/soak/soak.h \
	tests/soak/status.c \
	tests/soak/worker.c \
	tests/soak/world.c

# Some thousand mutations in `make check`; as many as one likes by `make fuzz`
# and then fuzz/NAME.
fuzz_tests = \
	tests/fuzz/fuzz_options \
	tests/fuzz/fuzz_pickle \
	tests/fuzz/fuzz_ranges \
	tests/fuzz/fuzz_recording \
	tests/fuzz/fuzz_report \
	tests/fuzz/fuzz_table \
	tests/fuzz/fuzz_trace
endif
fuzz_driver = tests/fuzz/driver.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_options_LDADD = $(BASE)
tests_fuzz_fuzz_options_SOURCES = tests/fuzz/fuzz_options.c $(fuzz_driver)
tests_fuzz_fuzz_pickle_CPPFLAGS = $(TOOL_CPPFLAGS)
tests_fuzz_fuzz_pickle_LDADD = $(TOOL)
tests_fuzz_fuzz_pickle_SOURCES = tests/fuzz/fuzz_pickle.c tests/fuzz/events.h \
	tests/fuzz/pickles.h $(fuzz_driver)
tests_fuzz_fuzz_ranges_CPPFLAGS = $(TOOL_CPPFLAGS) -DCOST=100
tests_fuzz_fuzz_ranges_LDADD = $(TOOL)
tests_fuzz_fuzz_ranges_SOURCES = tests/fuzz/fuzz_ranges.c $(fuzz_driver)
tests_fuzz_fuzz_recording_CPPFLAGS = $(TOOL_CPPFLAGS)
tests_fuzz_fuzz_recording_LDADD = $(TOOL)
tests_fuzz_fuzz_recording_SOURCES = tests/fuzz/fuzz_recording.c \
	tests/fuzz/events.h tests/fuzz/image.h $(fuzz_driver)
# One of its runs costs as much as a hundred of the others.
tests_fuzz_fuzz_report_CPPFLAGS = $(TOOL_CPPFLAGS) -DCOST=100
tests_fuzz_fuzz_report_LDADD = libreport.la $(TOOL)
tests_fuzz_fuzz_report_SOURCES = tests/fuzz/fuzz_report.c tests/fuzz/events.h \
	tests/fuzz/image.h tests/fuzz/pickles.h tests/fuzz/written.h \
	$(fuzz_driver)
tests_fuzz_fuzz_table_LDADD = $(LOADER)
tests_fuzz_fuzz_table_SOURCES = tests/fuzz/fuzz_table.c $(fuzz_driver)
tests_fuzz_fuzz_trace_CPPFLAGS = $(TOOL_CPPFLAGS)
tests_fuzz_fuzz_trace_LDADD = $(TOOL)
tests_fuzz_fuzz_trace_SOURCES = tests/fuzz/fuzz_trace.c $(fuzz_driver)

# A folder of their own: libFuzzer wants all code instrumented.
FUZZ_COMPILE = $(FUZZ_CC) -g -O1 -std=gnu11 $(TOOL_CPPFLAGS) \
	-I$(top_builddir)/tools/report $(PLUGIN_CPPFLAGS) -fsanitize=address,undefined
fuzzed = $(libgpumem_la_SOURCES) $(libreports_la_SOURCES) \
	$(libpool_la_SOURCES) $(libshare_la_SOURCES) $(libheap_la_SOURCES) \
	$(libcache_la_SOURCES) $(libpages_la_SOURCES) \
	$(libsegments_la_SOURCES) $(libspace_la_SOURCES) $(liborder_la_SOURCES) \
	$(libextent_la_SOURCES) $(libdevice_la_SOURCES) \
	$(libloader_la_SOURCES) $(libhost_la_SOURCES) $(libbase_la_SOURCES) \
	$(librecord_la_SOURCES) \
	$(libcommon_la_SOURCES) $(libreport_la_SOURCES)
fuzz: tools/report/page_text.h
	rm -rf fuzz && $(MKDIR_P) fuzz
	for file in $(fuzzed); do case $$file in *.c) \
		$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -c $(srcdir)/$$file \
			-o fuzz/`echo $$file | tr / -`.o || exit 1 ;; \
	esac; done
	$(AR) cr fuzz/all.a fuzz/*.o
	for target in $(fuzz_tests); do \
		$(FUZZ_COMPILE) -fsanitize=fuzzer -o fuzz/`basename $$target` \
			$(srcdir)/$$target.c fuzz/all.a $(ZLIB_LIBS) \
			$(JANSSON_LIBS) $(LIBS) || exit 1; \
	done

SOAK = --seconds=3600 --seed=`date +%s`
soak: $(soak_tests)
	tests/soak/soak $(SOAK)

ATTACK = --seconds=3600 --seed=`date +%s`
attack: $(attack_tests)
	tests/attack/attack $(ATTACK)

MODEL = --seconds=3600 --first=`date +%s`
model: $(model_tests)
	tests/model/model $(MODEL)
