#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-conform finds every lie of tests/plugins/lies.h: the first check that
# does not pass is the one that is there for it, and it comes to an end whatever
# the plugin does.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool conform
conform=$tools/gpumem-conform
liar=$top_builddir/tests/plugins/.libs/liar.so
lies=$top_srcdir/tests/plugins/lies.h

exits 0 "the plugin conforms without a lie" env LIAR_CONF=host.devices:2 \
	"$conform" "$liar"
is "$(grep -cE '^not ok|^Bail' "$scratch/out")" 0 "nothing fails"

# What follows tries the checks, not the code: once is enough.
if [ "${SANITIZER:-none}" != none ] || [ "${GPUMEM_TEST_SCALE-}" = small ]; then
	skip "tried in a run at full length, without a sanitizer" \
		"every lie is found"
	done_testing
fi

# A device of which little is enough.
small=host.page:64KiB,host.capacity:256MiB

# lie NAME CHECK [LIAR_CONF [OPTION]]: the first check that fails, as a regular
# expression
lie()
{
	exits 1 "the lie \"$1\"" env LIE="$1" LIAR_CONF="${3-},$small" \
		"$conform" ${4-} "$liar"
	first=$(sed -n 's/^not ok [0-9]* - //p' "$scratch/out" | head -n 1)
	if printf '%s\n' "$first" | grep -qE "^$2"; then
		pass "is found by its check: $2"
	else
		fail "is found by its check: $2" "the first is: $first
$(tail -n 5 "$scratch/out")"
	fi
	echo "$1" >>"$scratch/told"
}

# refused NAME: no table for the library
refused()
{
	exits 3 "the lie \"$1\"" env LIE="$1" "$conform" "$liar"
	check "is refused" grep -q '^Bail out! ' "$scratch/out"
	echo "$1" >>"$scratch/told"
}

# ends NAME SLOT HOW [OPTION]: does not come back
ends()
{
	lie "$1" "$2 returns" "" "${4-}"
	check "and how: $3" grep -qE "^Bail out! $2: .*$3" "$scratch/out"
}

# ---- what a backend is -------------------------------------------------------

refused group
refused required
lie version 'driver version'
lie count 'as many when counted again'
lie uuid 'device 0: UUID'
lie product 'device 0: has a product name and memory'
lie info 'device 0: the same info again'
lie info-beyond 'device_info writes no more than its struct'
lie granularity 'device 0: granularity .* are powers of two'
lie coarse 'device 0: granularity is at most 4 GiB'
lie empty 'device 0: has a product name and memory'
lie endless 'device 0: has a product name and memory'
lie alignment 'device 0: granularity .* are powers of two'
lie largest 'device 0: largest raw block'
lie late 'untouched memory takes none'
lie reopen 'device 0: open again after the end'
lie open-unset 'device_open sets its output'
lie account 'free moves by what is taken'
lie total 'total is at least free'
lie memory-unset 'total is at least free'

# ---- statuses, outputs, words --------------------------------------------------

lie status 'raw blocks beyond the capacity'
lie status-unknown 'alloc gives a status that a slot may give'
lie status-limit 'alloc gives a status that a slot may give'
lie status-one 'free gives a status that a slot may give'
lie status-not-ready 'free gives a status that a slot may give'
lie output 'alloc leaves its output alone when it fails'
lie reserve-output 'va_reserve leaves its output alone when it fails'
lie page-output 'page_create leaves its output alone when it fails'
lie import-output 'page_import leaves its output alone when it fails'
lie open-output 'ipc_open leaves its output alone when it fails'
lie silent 'alloc says why it fails'
lie reserve-silent 'va_reserve says why it fails'
lie import-silent 'page_import says why it fails'
lie open-silent 'ipc_open says why it fails'
lie excuse 'event_query calls no error\(\) for an answer'
lie unset 'alloc sets its output'
lie reserve-unset 'va_reserve sets its output'
lie page-unset 'page_create sets its output'
lie stream-unset 'stream_create sets its output'
lie event-unset 'event_create sets its output'
lie capture-unset 'capture_id sets its output'
lie kind-unset 'kind_alloc sets its output'
lie peer-unset 'peer_query sets its output' host.devices:2
lie export-unset 'page_export sets its output'
lie import-unset 'page_import sets its output'
lie object-unset 'object_of sets its output' host.objects:on
lie view-unset 'view_create sets its output' host.objects:on
lie print 'alloc prints nothing'
lie print-error 'alloc prints nothing'
lie map-print 'map prints nothing'
lie mask 'page_create leaves the signal mask as it was'

# ---- what does not come back ---------------------------------------------------

ends load 'the backend, loaded and started,' 'signal 6'
ends crash map 'signal 11'
ends abort copy 'signal 6'
ends exit free 'exit status 0'
ends thread event_sync 'the thread or the process was ended'
ends hang alloc 'within 10 s' --timeout=10

# ---- raw memory ----------------------------------------------------------------

lie zero 'alloc gives an aligned address'
lie odd 'alloc gives an aligned address'
lie address 'alloc gives an aligned address'
lie overlap "alloc gives what is nobody else's"
lie overlap-half "alloc gives what is nobody else's"
lie repeat "alloc gives what is nobody else's"
lie free 'free moves by what is taken'
lie free-refused 'free moves by what is taken'
lie free-mapped 'free keeps no addresses of the process'

# ---- addresses, pages, mappings ------------------------------------------------

lie reserve-zero 'va_reserve gives an aligned address'
lie reserve-odd 'va_reserve gives an aligned address'
lie reserve-above 'va_reserve gives an aligned address'
lie reserve-again "va_reserve gives what is nobody else's"
lie page 'nothing is kept' host.page:2MiB,host.capacity:2GiB
lie page-refused 'destroy it'
lie page-zero "page_create gives what is nobody else's, and not 0"
lie page-again "page_create gives what is nobody else's, and not 0"
lie content 'the pages kept their content'
lie unmap-refused 'unmap them in one call'
lie map-refused 'map 4 pages in one call'
lie some 'map fails where one place is taken, and maps none'
lie half 'map fails where one place is taken, and maps none'
lie tear 'what was there is untouched'

# ---- streams, fill, copy, capture ----------------------------------------------

lie stream-null "stream_create gives what is nobody else's, and not 0"
lie stream-again "stream_create gives what is nobody else's, and not 0"
lie event-null "event_create gives what is nobody else's, and not 0"
lie event-again "event_create gives what is nobody else's, and not 0"
lie query '.*: one that was never recorded'
# Work that is over by itself before the next step hides these. A sleep of 16 ms
# a fill outlasts what a busy machine takes from a thread.
slow=host.copy_rate:512MiB
lie sync 'an event stands for its newest record' "$slow"
lie wait 'an event stands for its newest record' "$slow"
lie order "a stream waits for another's event" "$slow"
lie fill 'fill 1 bytes at an odd place'
lie fill-silent 'fill says why it fails'
lie copy 'copy 3 bytes from and to an odd place'
lie capture 'there is none'

# ---- what not every device has -------------------------------------------------

lie kind 'pinned memory: the host reads what the device wrote'
lie kind-absent 'pinned memory: the host can read it'
lie kind-zero 'kind_alloc gives an aligned address'
lie kind-any 'device memory is no such kind'
lie peer-once 'once more is fine' host.devices:2
lie process-null 'each has a number and a name that ends'
lie process-endless 'each has a number and a name that ends'
lie process-short 'each has a number and a name that ends'
lie process-more 'no more than were wanted'
lie import 'and read through the other'
lie import-any 'a pipe is no page'
lie export-exec 'its descriptor is closed on exec'
lie name 'the same name again'
lie name-none 'which says so'
lie open-any 'zeros name nothing'
lie object 'both ends of an allocation lie in one object' host.objects:on
lie view 'are objects of their own' host.objects:on

is "$(sed -n 's/^\tX("\([^"]*\)".*/\1/p' "$lies" |
	sort | comm -23 - "$(sort "$scratch/told" >"$scratch/sorted" &&
		echo "$scratch/sorted")")" "" "every lie was told"

done_testing
