#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# All that is compiled with CUDA's headers compiles with the oldest that README
# names: each constant of cuda.h that is used is one that 11.4 has, and what is
# newer stands as a number. GPUMEM_CUDA_HEADERS names folders with a cuda.h each,
# separated by colons: all of it is compiled with each of these too.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
sources="backends/cuda backends/common/gpu tools/preload tests/fake/common
	tests/fake/cuda tests/fake/hip tests/unit/cuda tests/unit/fake"
known=tests/cuda/constants-11.4.txt

# Without comments and strings. Our own macros have a definition.
used()
{
	# shellcheck disable=SC2086
	find $sources -name '*.[ch]' | xargs cat | sed -e 's/"[^"]*"//g' |
		$CC -fpreprocessed -dD -E -P -w - 2>/dev/null |
		grep -oE '\b(CU|CUDA)_[A-Z0-9_]+\b' | sort -u
}

# shellcheck disable=SC2086
find $sources -name '*.[ch]' | xargs sed -nE \
	-e 's/^#[ \t]*define[ \t]+([A-Z0-9_]+).*/\1/p' \
	-e 's/^[ \t]*(CUDA_[A-Z_]+_COUNT)( =.*)?,?$/\1/p' | sort -u >"$scratch/ours"
used | grep -vxFf "$scratch/ours" >"$scratch/used"
check "constants of cuda.h are used" [ "$(wc -l <"$scratch/used")" -gt 90 ]
grep -v '^#' "$known" | sort >"$scratch/known"
is "$(comm -23 "$scratch/used" "$scratch/known")" "" \
	"each is one that CUDA 11.4 has: write a newer one as its number"
is "$(comm -13 "$scratch/used" "$scratch/known")" "" \
	"and the list has no other"

# compiles HEADERS FILE
compiles()
{
	case $2 in
	tools/preload/*) flags="-DPRELOAD_CUDA -Icore" ;;
	backends/*) flags=-Ibackends/cuda ;;
	*) flags= ;;
	esac
	# shellcheck disable=SC2086
	$CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only -w -Iinclude -I. $flags \
		-I"$top_builddir" -isystem "$1" "$2" 2>&1 | grep error
}

saved_IFS=$IFS
IFS=:
for headers in ${GPUMEM_CUDA_HEADERS-}; do
	IFS=$saved_IFS
	# shellcheck disable=SC2086
	is "$(find $sources -name '*.c' ! -name 'hip*' |
		while read -r file; do
			compiles "$headers" "$file"
		done)" "" "all of it compiles with $headers"
done
[ -n "${GPUMEM_CUDA_HEADERS-}" ] ||
	skip "GPUMEM_CUDA_HEADERS names no folders" "other headers"
done_testing
