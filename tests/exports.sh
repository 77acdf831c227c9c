#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The shared library defines what the headers declare and nothing else, and
# needs libc only.

. "${top_srcdir:-.}/tests/tap.sh"

library=$top_builddir/.libs/libgpumem.so
[ -f "$library" ] || skip_all "there is no $library"

public_functions >"$scratch/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' |
	sed 's/@.*//' | sort >"$scratch/defined"

check "the headers declare functions" test -s "$scratch/declared"
is "$(comm -23 "$scratch/declared" "$scratch/defined")" "" \
	"every function of the headers is there"
is "$(comm -13 "$scratch/declared" "$scratch/defined")" "" \
	"nothing else is exported"

needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libpthread|libdl|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')
if [ "${SANITIZER:-none}" = none ]; then
	is "$needed" "" "it needs libc only"
else
	skip "a sanitizer's runtime is linked" "it needs libc only"
fi

is "$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')" \
	libgpumem.so.0 "its soname"
is "$(objdump -p "$library" | grep -E 'RPATH|RUNPATH')" "" \
	"it has no run path"

done_testing
