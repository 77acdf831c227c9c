#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What gpumem.h and gpumem(3) say of where an allocation comes from, and in which
# order, is what the library tries: its own lists, as it logs them at debug level.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool replay
GPUMEM_BACKEND=host GPUMEM_CONF=log:debug "$tools/gpumem-replay" \
	"$top_srcdir/tests/traces/llm_serving.trace.gz" >"$scratch/out" \
	2>"$scratch/err"

# told KIND: the list, without numbers
told()
{
	sed -n "s/.*host:0: $1 [0-9]*: //p" "$scratch/err"
}

# promised FROM TO: the points between two lines of gpumem_alloc's comment,
# without what stands in brackets
promised()
{
	sed -n "/$1/,/$2/ s/^ \*   - \([^(]*[^( ]\).*/\1/p" \
		"$top_srcdir/include/gpumem/gpumem.h"
}

# paged N: the N-th list of that section of gpumem(3)
paged()
{
	awk -v n="$1" '/^\.Ss Before out of memory/ { on = 1; next }
		on && /^\.Ss/ { exit }
		on && /^\.Bl -enum/ { at++ }
		on && item && at == n { print }
		{ item = /^\.It$/ }' "$top_srcdir/docs/man/gpumem.3"
}

check "the sources are logged" grep -q "source 1: " "$scratch/err"
is "$(told source)" "$(promised 'then these sources' 'When all fail')" \
	"in the order of gpumem.h"
is "$(told source)" "$(paged 1)" "and of gpumem(3)"
is "$(told help)" "$(promised 'When all fail' 'Returns OK; NO_MEMORY')" \
	"and so is what follows when they have none"
is "$(told help)" "$(paged 2)" "in gpumem(3) too"

done_testing
