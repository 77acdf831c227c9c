#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-conform: the host backend conforms, whatever it is capable of, and
# one that breaks a promise is caught, for each promise.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool conform
conform=$tools/gpumem-conform

common_manners conform
wants_good_options conform host

# plan_fits NAME: the plan of the last output is the number of its results
plan_fits()
{
	is "$(sed -n 's/^1\.\.//p' "$scratch/out")" \
		"$(grep -cE '^(not )?ok ' "$scratch/out")" "$1"
}

# ---- the host backend ------------------------------------------------------

exits 0 "the host backend" with host.devices:2 "$conform" host
plan_fits "its plan is right"
is "$(grep -o 'SKIP .*' "$scratch/out")" "SKIP the device has no CAP_OBJECTS" \
	"nothing is skipped but what goes without virtual memory"
is "$(grep -c '^not ok' "$scratch/out")" 0 "nothing fails"

lesser_devices()
{
	exits 0 "its second device" with host.devices:2 "$conform" --device=1 host
	exits 0 "pages of 4 KiB on a small device" \
		with host.page:4KiB,host.capacity:256MiB "$conform" host
	exits 0 "one that can do nothing more" \
		with host.vm:off,host.copy:off,host.capture:off,host.streams:off,\
host.pinned:0,host.managed:0,host.peers:off,host.share_ipc:off \
		"$conform" host
	plan_fits "its plan is right"
	is "$(grep -oE 'SKIP .*' "$scratch/out" | sort -u | wc -l | tr -d ' ')" 10 \
		"each group that is not there is a skip with its reason"
	exits 0 "one whose memory is named by objects" with host.objects:on \
		"$conform" host
	is "$(grep -c '^ok .*view_destroy' "$scratch/out")" 2 "its views are tried"
	exits 0 "one that cannot say what is free" with host.memory_info:off \
		"$conform" host

	exits 0 "one that is alone" "$conform" host
	check "has no peer to try" grep -q 'SKIP there is one device' "$scratch/out"
}

if [ "${SANITIZER:-none}" = thread ]; then
	skip "$conform_under_tsan" "what is capable of less"
else
	lesser_devices
fi

exits 1 "a driver that cannot be waited for" \
	with 'host.fail:stream_sync@9+:driver' "$conform" host
check "ends at once" grep -q '^Bail out! waiting' "$scratch/out"

# ---- what is not there -----------------------------------------------------

exits 3 "a backend that is none" "$conform" nonsense
check "says so" grep -q '^Bail out! nonsense: ' "$scratch/out"
exits 3 "a file that is not there" "$conform" "$scratch/nothing.so"
echo "no plugin" >"$scratch/text.so"
exits 3 "a file that is no plugin" "$conform" "$scratch/text.so"
exits 3 "a device that is not there" "$conform" --device=1 host
exits 2 "no backend" "$conform"
exits 2 "two backends" "$conform" host host
exits 2 "no number" "$conform" --device=x host

# ---- a plugin out of tree, and one that lies -------------------------------

liar=$scratch/liar.so
sources=$top_srcdir/backends/host
if ! $CC $SANITIZE_CFLAGS -shared -fPIC -I"$top_srcdir/include" -o "$liar" \
	"$top_srcdir/tests/plugins/liar.c" "$sources"/*.c -lpthread \
	>"$scratch/log" 2>&1; then
	fail "the plugin compiles" "$(cat "$scratch/log")"
	done_testing
fi

exits 0 "a plugin out of tree" "$conform" "$liar"
cp "$liar" "$scratch/plain"
exits 0 "named with a slash" "$conform" "$scratch/plain"

# lie NAME CHECK: the check that must catch it
lie()
{
	exits 1 "the lie \"$1\"" env LIE="$1" "$conform" "$liar"
	check "is caught by its check" grep -qE "^not ok [0-9]+ - $2" \
		"$scratch/out"
}

# What follows tries the checks, not the code: once is enough.
if [ "${SANITIZER:-none}" != none ]; then
	skip "tried in the build without a sanitizer" "every fault and lie is caught"
	done_testing
fi

# caught OPTIONS SLOT@NTH: a call of the slot fails, and that is told
caught()
{
	exits 1 "a driver whose ${2%@*} fails" \
		with "$1host.fail:$2:driver" "$conform" host
	check "is caught" grep -q '^not ok' "$scratch/out"
}

for call in free@4 copy@4 event_query@4 map@4 unmap@4 kind_alloc@4 \
	kind_free@4 page_create_shared@1 page_export@1 ipc_export@1; do
	caught '' "$call"
done
for call in peer_query@1 peer_enable@1 map_peers@1 device_processes@1; do
	caught host.devices:2, "$call"
done
for call in object_of@1 view_create@1 view_destroy@1; do
	caught host.objects:on, "$call"
done

lie count 'as many when counted again'
lie uuid 'device 0: UUID'
lie account 'free moves by what is taken'
lie total 'total is at least free'
lie object 'both ends of an allocation lie in one object'
lie view 'are objects of their own'
lie output 'the failure left its output alone'
lie status 'raw blocks beyond the capacity'
lie address 'first: all aligned and below'
lie overlap 'first: no two overlap'
lie free 'nothing is kept'
lie query 'own stream: one that was never recorded'
lie sync 'an event stands for its newest record'
lie order "a stream waits for another's event"
lie alignment 'the address is aligned'
lie page 'nothing is kept'
lie content 'the pages kept their content'
lie some 'then all fit'
lie fill 'fill 1 bytes at an odd place'
lie copy 'copy 3 bytes from and to an odd place'
lie capture 'there is none'
lie kind 'pinned memory: the host reads what the device wrote'
lie import 'and read through the other'
lie name 'the same name again'
for name in group required; do
	exits 3 "the lie \"$name\"" env LIE=$name "$conform" "$liar"
	check "is refused" grep -q '^Bail out! ' "$scratch/out"
done

done_testing
