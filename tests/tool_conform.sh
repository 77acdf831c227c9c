#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-conform: the host backend conforms, whatever it is capable of, and a
# call of it that fails is caught. Who breaks a promise: tool_conform_lies.sh.

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

# A device of which little is enough.
small=host.page:64KiB,host.capacity:256MiB

# ---- the host backend ------------------------------------------------------

exits 0 "the host backend" with host.devices:2 "$conform" host
check "which is simulated" grep -q "^# .*simulated in the host's memory" \
	"$scratch/out"
plan_fits "its plan is right"
is "$(grep -o 'SKIP .*' "$scratch/out")" "SKIP the device has no CAP_OBJECTS
SKIP there is nothing behind this device
SKIP no check called ipc_close device_adopt" \
	"nothing is skipped but what this process and this device cannot do"
is "$(grep -c '^not ok' "$scratch/out")" 0 "nothing fails"

lesser_devices()
{
	exits 0 "its second device" with $small,host.devices:2 "$conform" --device=1 host
	exits 0 "pages of 4 KiB on a small device" \
		with host.page:4KiB,host.capacity:256MiB "$conform" host
	exits 0 "pages of 64 MiB on a device of 8 GiB" \
		with host.page:64MiB,host.capacity:8GiB "$conform" host
	is "$(grep -c 'SKIP there is not room' "$scratch/out")" 0 \
		"all of it has room"
	exits 0 "pages of 64 MiB on a device of 512 MiB" \
		with host.page:64MiB,host.capacity:512MiB "$conform" host
	check "what has no room is skipped" \
		grep -q 'SKIP there is not room' "$scratch/out"
	exits 0 "one that can do nothing more" \
		with host.vm:off,host.copy:off,host.capture:off,host.streams:off,\
host.pinned:0,host.managed:0,host.peers:off,host.share_ipc:off \
		"$conform" host
	plan_fits "its plan is right"
	is "$(grep -oE 'SKIP .*' "$scratch/out" | sort -u | wc -l | tr -d ' ')" 13 \
		"each group that is not there is a skip with its reason"
	exits 0 "one whose memory is named by objects" with $small,host.objects:on \
		"$conform" host
	is "$(grep -c '^ok .*view_destroy' "$scratch/out")" 2 "its views are tried"
	check "and every slot that needs nobody else" grep -q \
		'every slot is tried # SKIP no check called peer_query' \
		"$scratch/out"
	exits 0 "one that cannot say what is free" \
		with $small,host.memory_info:off "$conform" host

	exits 0 "one that is alone" with $small "$conform" host
	check "has no peer to try" grep -q 'SKIP there is one device' "$scratch/out"
}

if [ "${SANITIZER:-none}" = thread ]; then
	skip "$conform_under_tsan" "what is capable of less"
else
	lesser_devices
fi

exits 1 "a driver that cannot be waited for" \
	with "$small,host.fail:stream_sync@9+:driver" "$conform" host
check "ends at once" grep -q '^Bail out! waiting' "$scratch/out"

exits 0 "with one thread" "$conform" --one-thread \
	"$top_builddir/tests/plugins/.libs/good.so"
check "which is said" grep -q 'threads # SKIP left out by --one-thread' \
	"$scratch/out"

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
exits 2 "no time at all" "$conform" --timeout=0 host

# ---- a plugin out of tree --------------------------------------------------

liar=$top_builddir/tests/plugins/.libs/liar.so
LIAR_CONF=$small
export LIAR_CONF
exits 0 "a plugin out of tree" "$conform" "$liar"
cp "$liar" "$scratch/plain"
exits 0 "named with a slash" "$conform" "$scratch/plain"

exits 0 "capabilities without slots are cleared" env LIE=claims "$conform" \
	"$liar"
check "and that is said" grep -q '^# capabilities .* have no slots' \
	"$scratch/out"
exits 0 "a device that maps over what is mapped" env LIE=maps-over \
	"$conform" "$liar"
is "$(grep -c 'SKIP the device maps over' "$scratch/out")" 2 \
	"has no check of it, and keeps no pages"

# What follows tries the checks, not the code: once is enough.
if [ "${SANITIZER:-none}" != none ]; then
	skip "tried in the build without a sanitizer" "every fault is caught"
	done_testing
fi

# caught OPTIONS SLOT@NTH: a call of the slot fails, and that is told
caught()
{
	exits 1 "a driver whose ${2%@*} fails" \
		with "$1$small,host.fail:$2:driver" "$conform" host
	check "is caught" grep -q '^not ok' "$scratch/out"
}

for call in free@4 copy@4 event_query@4 map@4 unmap@4 kind_alloc@4 \
	kind_free@4 page_create_shared@1 page_export@1 ipc_export@1 \
	event_import@1 event_native@1 host_pin@1 host_unpin@1; do
	caught '' "$call"
done
for call in peer_query@1 peer_enable@1 map_peers@1 open_mapped@1 \
	device_processes@1; do
	caught host.devices:2, "$call"
done
for call in object_of@1 view_create@1 view_destroy@1; do
	caught host.objects:on, "$call"
done

done_testing
