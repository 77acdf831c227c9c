#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The double of NVIDIA's driver answers as the driver does, or as
# tests/fake/cuda/answers.txt says that it does not, and why.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

double=$top_builddir/tests/fake/cuda/.libs
[ -f "$double/libcuda.so.1" ] || skip_all "configured without cuda"
need_no_sanitizer
flags=$(sed -n 's/^CUDA_CPPFLAGS = //p' "$top_builddir/Makefile")
# shellcheck disable=SC2086
printf '#include <cuda.h>\nCUDA_VERSION\n' | $CC $flags -E -P - |
	grep -q '^1[2-9][0-9][0-9][0-9]$' ||
	skip_all "cuGetProcAddress is another one in headers before 12.0"

answers=$top_srcdir/tests/fake/cuda/answers.txt
# shellcheck disable=SC2086
check "the questions compile" $CC -std=gnu11 -w $flags -o "$scratch/answers" \
	"$top_srcdir"/tests/device/answers/*.c -L"$double" -l:libcuda.so.1
LD_LIBRARY_PATH=$double "$scratch/answers" >"$scratch/says"
is $? 0 "each section comes to its end"
grep -v '^#' "$answers" | sed -e 's/ \[not compared\]$//' \
	-e 's/: [^:]* \[double: \(.*\)\]$/: \1/' >"$scratch/known"
check "there are many" [ "$(wc -l <"$scratch/known")" -gt 400 ]
is "$(diff "$scratch/known" "$scratch/says")" "" "the double says what is known"
done_testing
