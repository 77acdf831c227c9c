#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Tests write nothing to the user's HOME: OpenCL implementations keep compiled
# kernels there, so a test that compiles some is run in the harness's environment
# by a user whose HOME was empty. Mesa asks for the home of the user, whatever HOME
# says, unless XDG_CACHE_HOME is set; what that leaves is seen by fresh.sh.

. "${top_srcdir:-.}/tests/tap.sh"

[ "${SANITIZER:-none}" = none ] ||
	skip_all "tests/opencl_examples.sh is run by itself, and keeps the same files"
[ -f "$top_builddir/Makefile" ] || skip_all "nothing is configured here"
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$scratch/home" "$scratch/tmp"

# The recipe runs COMMAND as the harness runs a test.
printf 'include Makefile\nas-a-test:\n\t@$(AM_TESTS_ENVIRONMENT) $(COMMAND)\n' \
	>"$scratch/harness.mk"

# harness COMMAND: as that user runs it by make
harness()
{
	env HOME="$scratch/home" XDG_CACHE_HOME="$scratch/home/cache" \
		POCL_CACHE_DIR="$scratch/home/pocl" TMPDIR="$scratch/tmp" \
		make -s -C "$top_builddir" -f "$scratch/harness.mk" as-a-test \
		COMMAND="$1"
}

exits 0 "the environment of tests" harness env
for name in HOME TMPDIR XDG_CACHE_HOME; do
	check "$name is in the build folder" \
		grep -qF "$name=$top_builddir/tests/" "$scratch/out"
done
check "programs run on OpenCL" harness \
	"sh '$top_srcdir/tests/opencl_examples.sh'"
is "$(find "$scratch/home" "$scratch/tmp" -mindepth 1)" "" \
	"nothing was written to the user's HOME or temporary folder"

done_testing
