#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The programs of docs/examples, which compute with real kernels on blocks of a
# pool in a context of their own, and compare: over each implementation that
# this machine has, with memory of both kinds. Nothing that OpenCL gave is left
# in the end.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"
. "$top_srcdir/tests/opencl_over.sh"
unset ASAN_OPTIONS

examples=$top_srcdir/docs/examples
GPUMEM_LIBRARY=$top_builddir/.libs/libgpumem.so.0
export GPUMEM_LIBRARY

# ---- a kernel on blocks ----------------------------------------------------

# It is a user's program, with Khronos' headers, and without the loader's library
# to link there is none to run.
if $CC $SANITIZE_CFLAGS -Wall -Werror -std=gnu11 -I"$top_srcdir/include" \
	-o "$scratch/scale" "$examples/opencl_scale.c" \
	-L"$top_builddir/.libs" -lgpumem -lOpenCL \
	-Wl,-rpath,"$top_builddir/.libs" >"$scratch/cc" 2>&1; then
	pass "opencl_scale.c compiles"
elif grep -q 'CL/.*: No such file' "$scratch/cc"; then
	skip "no headers of OpenCL for users' programs" "opencl_scale.c compiles"
elif grep -q 'lOpenCL' "$scratch/cc"; then
	skip "no libOpenCL.so to link with" "opencl_scale.c compiles"
else
	fail "opencl_scale.c compiles" "$(cat "$scratch/cc")"
fi

# computes ICD MEMORY WHAT
computes()
{
	exits 0 "a kernel over $1, $2" audited "$1" \
		GPUMEM_CONF="opencl.memory:$2" "$scratch/scale"
	check "its blocks are $3, its numbers right" grep -q \
		"blocks as $3, 0 numbers are wrong" "$scratch/out"
	is "$(cat "$scratch/err")" "" "and nobody complains"
	# The context that was adopted is kept for good.
	is "$(cat "$scratch/held")" \
		"contexts 1 queues 0 memory 0 svm 0 events 0" \
		"and nothing is left"
}

# Before Mesa 25 rusticl had no shared virtual memory.
rusticl="objects and views"
! fine_svm over rusticl || rusticl=pointers
for row in pocl:svm:pointers "pocl:buffer:objects and views" \
	"rusticl:auto:$rusticl" "rusticl:buffer:objects and views" \
	"mesa:auto:objects and views" \
	"oclgrind:auto:objects and views"; do
	icd=${row%%:*}
	row=${row#*:}
	if [ ! -x "$scratch/scale" ]; then
		skip "it was not compiled" "a kernel over $icd"
	elif can_use "$icd" "a kernel over $icd"; then
		computes "$icd" "${row%%:*}" "${row#*:}"
	fi
done

# ---- PyOpenCL --------------------------------------------------------------

# The python3 of the packages may not be the first one.
python=
for candidate in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$candidate" -c 'import pyopencl, numpy' \
		>/dev/null 2>&1 </dev/null || python=$candidate
done
for icd in pocl rusticl; do
	if [ -z "$python" ]; then
		skip "no python3 has pyopencl" "arrays over $icd"
	elif [ "${SANITIZER:-none}" != none ]; then
		skip "a sanitizer has to be the first library" \
			"arrays over $icd"
	elif can_use "$icd" "arrays over $icd"; then
		exits 0 "arrays over $icd" over "$icd" XDG_CACHE_HOME="$scratch" \
			"$python" "$examples/pyopencl_pool.py"
		check "their numbers are right" grep -q ': 0 numbers are wrong' \
			"$scratch/out"
	fi
done

done_testing
