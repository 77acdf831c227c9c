# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Backends that are wrong in one way each.

# Modules that a loader must refuse, and one that it must not.
MODULE = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
check_LTLIBRARIES = \
	$(FAKE_COMMON) \
	$(fakes) \
	$(layers) \
	tests/plugins/bad-abi.la \
	tests/plugins/bad-group.la \
	tests/plugins/bad-init.la \
	tests/plugins/bad-name.la \
	tests/plugins/bad-nosymbol.la \
	tests/plugins/bad-null.la \
	tests/plugins/bad-option.la \
	tests/plugins/bad-short.la \
	tests/plugins/bad-slot.la \
	tests/plugins/good.la \
	tests/plugins/good2.la \
	tests/plugins/liar.la \
	tests/plugins/rude.la
tests_plugins_bad_abi_la_LDFLAGS = $(MODULE)
tests_plugins_bad_group_la_LDFLAGS = $(MODULE)
tests_plugins_bad_init_la_LDFLAGS = $(MODULE)
tests_plugins_bad_name_la_LDFLAGS = $(MODULE)
tests_plugins_bad_nosymbol_la_LDFLAGS = $(MODULE)
tests_plugins_bad_null_la_LDFLAGS = $(MODULE)
tests_plugins_bad_option_la_LDFLAGS = $(MODULE)
tests_plugins_bad_short_la_LDFLAGS = $(MODULE)
tests_plugins_bad_slot_la_LDFLAGS = $(MODULE)
tests_plugins_good_la_LDFLAGS = $(MODULE)
tests_plugins_good2_la_LDFLAGS = $(MODULE)
tests_plugins_rude_la_LDFLAGS = $(MODULE)
# It has the whole host backend in it, and shows one function.
tests_plugins_liar_la_CFLAGS = $(FLOOR_CFLAGS)
tests_plugins_liar_la_LDFLAGS = $(MODULE)
tests_plugins_liar_la_LIBADD = libhost.la
tests_plugins_liar_la_SOURCES = \
	tests/plugins/late.h \
	tests/plugins/liar.c \
	tests/plugins/liar.h \
	tests/plugins/liar_address.h \
	tests/plugins/liar_memory.h \
	tests/plugins/liar_more.h \
	tests/plugins/liar_stream.h \
	tests/plugins/liar_virtual.h \
	tests/plugins/lies.h
