#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# All that uses CUDA compiles with the headers of every version from 11.4 on: with
# gpumem's own declarations, as they are and as 11.4 would have them, and with the
# cuda.h in each folder of GPUMEM_CUDA_HEADERS, separated by colons. And our own
# have nothing that nobody uses.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
own=backends/vendor/cuda
plugin="backends/cuda backends/common/gpu"
preload=tools/preload
others="tests/fake/common tests/fake/cuda tests/fake/hip tests/unit/cuda
	tests/unit/fake tests/device/answers"
sources="$plugin $preload $others"

# words PATTERN FILE...: those of that form, without comments and strings
words()
{
	pattern=$1
	shift
	cat "$@" | sed -e 's/"[^"]*"//g' |
		$CC -fpreprocessed -dD -E -P -w - 2>/dev/null |
		grep -oE "\\b($pattern)\\b" | sort -u
}

# shellcheck disable=SC2046,SC2086
for what in 'CU(DA)?_[A-Z0-9_]+' 'cu[A-Z][A-Za-z0-9]+(_v[2-9])?(_ptsz)?'; do
	words "$what" $own/*.h | grep -vx 'CU.*_H' >"$scratch/declared"
	words "$what" $(find $sources -name '*.[ch]') >"$scratch/used"
	check "declared: $what" [ "$(wc -l <"$scratch/declared")" -gt 100 ]
	is "$(comm -23 "$scratch/declared" "$scratch/used")" "" "each is used"
done

# compile FOLDERS HEADERS [OPTION...]
compile()
{
	folders=$1
	headers=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only -w -Iinclude -I. \
		-I"$top_builddir" -isystem "$headers" "$@" \
		$(find $folders -name '*.c' ! -name 'hip*') 2>&1 | grep error
}

# compiles HEADERS [OPTION...]
compiles()
{
	is "$(compile "$others" "$@"
		compile "$plugin" "$@" -Ibackends/cuda
		compile "$preload" "$@" -DPRELOAD_CUDA -Icore)" "" \
		"all of it compiles with $*"
}

compiles $own
for version in 11040 12000; do
	compiles $own -DCUDA_VERSION=$version
done
saved_IFS=$IFS
IFS=:
for folder in ${GPUMEM_CUDA_HEADERS-}; do
	IFS=$saved_IFS
	compiles "$folder"
done
[ -n "${GPUMEM_CUDA_HEADERS-}" ] ||
	skip "GPUMEM_CUDA_HEADERS names no folders" "NVIDIA's headers"
done_testing
