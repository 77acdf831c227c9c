#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What gpumem.h and the pages say of where an allocation comes from, in which
# order, and what its flags leave out of that, is what the library tries: its own
# lists, as it logs them at debug level.

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

# paged N PAGE SECTION: the N-th list of that section
paged()
{
	awk -v n="$1" -v section=".Ss $3" '$0 == section { on = 1; next }
		on && /^\.S[sh]/ { exit }
		on && /^\.Bl -(enum|bullet)/ { at++ }
		on && item && at == n { print }
		{ item = /^\.It$/ }' "$top_srcdir/docs/man/$2.3"
}
listed()
{
	paged "$1" gpumem_out_of_memory "What is tried"
}

# left_out FLAG
left_out()
{
	sed -n "s/.*host:0: $1 leaves out: //p" "$scratch/err"
}

check "the sources are logged" grep -q "source 1: " "$scratch/err"
is "$(told source)" "$(promised 'then these sources' 'When all fail')" \
	"in the order of gpumem.h"
is "$(told source)" "$(listed 1)" "and of gpumem_out_of_memory(3)"
is "$(told help)" "$(promised 'When all fail' 'Returns OK; NO_MEMORY')" \
	"and so is what follows when they have none"
is "$(told help)" "$(listed 2)" "in gpumem_out_of_memory(3) too"

check "what a flag leaves out is logged" \
	grep -q "NO_WAIT leaves out: " "$scratch/err"
is "$(left_out NO_WAIT)" "$(promised 'NO_WAIT leaves out' 'CAP_FREE_WAITS')" \
	"NO_WAIT leaves out what gpumem.h says"
is "$(left_out NO_WAIT)" \
	"$(paged 1 gpumem_alloc_with 'What the flags leave out')" \
	"and gpumem_alloc_with(3)"
is "$(left_out NO_GROW)" "$(promised 'NO_GROW leaves out' 'What fails')" \
	"NO_GROW leaves out what gpumem.h says"
is "$(left_out NO_GROW)" \
	"$(paged 2 gpumem_alloc_with 'What the flags leave out')" \
	"and gpumem_alloc_with(3)"

done_testing
