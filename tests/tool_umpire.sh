#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Logs that Umpire writes with UMPIRE_REPLAY in gpumem-trace, gpumem-replay and
# gpumem-report: both forms, allocators and their memory, and what is none.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"
. "${top_srcdir:-.}/tests/foreign.sh"

program=Umpire
time=1700000000000000000

# early: of lines of standard input, "EVENT PAYLOAD [RESULT]" with | between
early()
{
	while IFS='|' read -r event payload result; do
		time=$((time + 1000000))
		printf '{ "kind":"replay", "uid":%s, "timestamp":%s, ' \
			"${uid-7}" "$time"
		printf '"event": "%s", "payload": { %s }%s }\n' "$event" \
			"$payload" "${result:+, \"result\": $result}"
	done
}

# The program asks, and is told; what is told twice counts once.
early >"$log" <<'END'
version|"major":5, "minor":0, "patch":1
makeMemoryResource|"name": "HOST"|"0x10"
makeMemoryResource|"name": "DEVICE"|"0x20"
makeAllocator|"type":"P", "allocator_name":"pool", "args": [ "DEVICE" ]
makeAllocator|"type":"P", "allocator_name":"pool", "args": [ "DEVICE" ]|{ "allocator_ref":"0x30" }
allocate|"allocator_ref": "0x30", "size": 1000
allocate|"allocator_ref": "0x30", "size": 1000|{ "memory_ptr": "0x7f00" }
allocate|"allocator_ref": "0x30", "size": 0
allocate|"allocator_ref": "0x30", "size": 0|{ "memory_ptr": "0x9f00" }
allocate|"allocator_ref": "0x10", "size": 5000|{ "memory_ptr": "0x7f00" }
allocate|"allocator_ref": "0x20", "size": 24|{ "memory_ptr": "0x8f00" }
copy|"src": "0x7f00", "dest": "0x8f00", "size": 24
deallocate|"allocator_ref": "0x10", "memory_ptr": "0x7f00"
deallocate|"allocator_ref": "0x30", "memory_ptr": "0x9f00"
deallocate|"allocator_ref": "0x30", "memory_ptr": "0x7f00"
coalesce|"allocator_name": "pool"
release|"allocator_ref": "0x30"
END
figures "a log" 1024 24 2 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['seconds'], d['damaged_events'], len(d['pools'])" "(0.014, 0, 1)" \
	"has times, and memory of the CPU is left out"
exits 0 "in words" "$trace" "$log"
is "$(tr '\n' ' ' <"$scratch/out" | grep -c 'log of Umpire, 14.0 ms')" 1 \
	"says what it is"
exits 0 "by tag" "$tools/gpumem-report" --json "$log"
json_is "sorted((t['tag'], t['bytes']) for t in d['peak']['tags'])" \
	"[('DEVICE', 24), ('pool', 1000)]" "the allocator is the tag"
{ printf '# a comment\n\n' && cat "$log" && echo; } >"$scratch/more"
sed 's/$/\r/' "$scratch/more" >"$log"
figures "with comments, as Windows ends lines" 1024 24 2 0
gzip -c "$log" >"$log.gz"
exits 0 "compressed" "$tools/gpumem-replay" --device=host:0 --no-load --json \
	"$log.gz"
json_is "d['peak_requested_bytes']" 1024 "the same"

# As later versions write it: pools on pools, devices, pinned memory.
make='{"category":"operation","name":"make_%s","numeric_args":{"introspection":1},'
make="$make"'"string_args":{"allocator_ref":"0x%s"%s},"tags":{"allocator_name":"%s",'
make="$make"'"replay":"true"},"timestamp":1}\n'
took='{"category":"operation","name":"%s","numeric_args":{"size":%s},"string_args":'
took="$took"'{"allocator_ref":"0x%s","pointer":"0x%s"},"tags":{"replay":"true"},'
took="$took"'"timestamp":%s}\n'
gave='{"category":"operation","name":"deallocate","string_args":{"allocator_ref":'
gave="$gave"'"0x%s","pointer":"0x%s"},"tags":{"replay":"true"},"timestamp":%s}\n'
{
	printf '{"category":"metadata","name":"version","timestamp":1}\n'
	# shellcheck disable=SC2059
	{
		printf "$make" memory_resource 1 '' DEVICE::1
		printf "$make" memory_resource 2 '' PINNED
		printf "$make" memory_resource 3 '' UM
		printf "$make" allocator 4 ',"arg0":"DEVICE::1"' base
		printf "$make" allocator 5 ',"arg0":"base"' top
		printf "$took" allocate 100 5 f000 2000
		printf "$took" named_allocate 200 3 f000 3000
		printf "$took" allocate 50 2 f000 4000
		printf "$gave" 5 f000 5000
		printf "$took" allocate 70 4 f000 6000
	}
	printf '{"category":"statistic","name":"any","timestamp":1}\n'
} >"$log"
figures "a later log" 350 320 4 0
exits 0 "in short" "$trace" --json "$log"
json_is "[(p['number'], p['peak_requested_bytes'], p['live_bytes'])
	for p in d['pools']]" "[(1, 200, 200), (2, 100, 70), (65, 50, 50)]" \
	"each device is a pool, and pinned memory"

# Only the beginning of its making is there: it is the allocator that is used.
begin='makeAllocator|"allocator_name":"pool", "args": [ "DEVICE" ]'
took='allocate|"allocator_ref": "0x30", "size": 10|{ "memory_ptr": "0x7f00" }'
printf '%s\n' "$begin" "$took" \
	'deallocate|"allocator_ref": "0x30", "memory_ptr": "0x7f00"' \
	'deallocate|"allocator_ref": "0x30", "memory_ptr": "0xff00"' |
	early >"$log"
figures "an allocator without an address" 10 0 1 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['damaged_events']" 1 "names a free of what Umpire did not allocate"

printf '%s\n' "$begin" "$took" "$took" | early | head -c -9 >"$log"
figures "a last line that is cut off" 10 10 1 0

# refused_after NAME LINE REASON: as it is, behind an allocation
refused_after()
{
	{ printf '%s\n' "$begin" "$took" | early && printf '%s\n' "$2"; } >"$log"
	refused "$1" "line 3: $3"
}

# refused_event NAME EVENT REASON
refused_event()
{
	refused_after "$1" "$(echo "$2" | early)" "$3"
}

none="it is no event of Umpire's"
refused_after "a line of the program's" "step 1 of 2" "$none"
refused_after "an object of another" '{ "kind":"log" }' "$none"
refused_after "a number" 5 "$none"
refused_after "half a line" '{ "kind":"replay", "uid":7, ' "$none"
refused_after "another process" "$(echo "$took" | uid=8 early)" \
	"it is of a second process, another uid"
for event in reallocate move anything; do
	refused_event "$event" "$event|\"size\": 5" \
		"an event of Umpire's that is not read"
done
refused_event "a size of letters" \
	'allocate|"allocator_ref": "0x30", "size": "10"|{ "memory_ptr": "0xf" }' \
	"expected a number of bytes as size"
refused_event "a size below 0" \
	'allocate|"allocator_ref": "0x30", "size": -1|{ "memory_ptr": "0xf" }' \
	"expected a number of bytes as size"
refused_event "a size that is none" \
	'allocate|"allocator_ref": "0x30", "size": 999999999999999999|{ "memory_ptr": "0xf" }' \
	"no block is as large as its size"
refused_event "an address of letters" \
	'deallocate|"allocator_ref": "0x30", "memory_ptr": "here"' \
	"expected an address as pointer"
refused_event "a free of nothing" 'deallocate|"allocator_ref": "0x30"' \
	"expected an address as pointer"
refused_event "no allocator" 'deallocate|"memory_ptr": "0xf"' \
	"expected an address as allocator_ref"
refused_event "an allocator without a name" 'makeAllocator|"args": [ "HOST" ]' \
	"an allocator without a name, or one too many"
unknown="the log does not say what memory its allocator is of, or one that is "
unknown="${unknown}not known"
refused_event "an allocator that was not made" \
	'allocate|"allocator_ref": "0x40", "size": 1|{ "memory_ptr": "0xf" }' \
	"$unknown"
{
	printf '%s\n' 'makeMemoryResource|"name": "OTHER"|"0x40"' \
		'allocate|"allocator_ref": "0x40", "size": 1|{ "memory_ptr": "0xf" }'
} | early >"$log"
refused "memory that is not known" "line 2: $unknown"
printf '%s\n' "$begin" 'makeAllocator|"allocator_name":"x", "args": ["HOST"]' \
	"$took" | early >"$log"
refused "two allocators without addresses" "line 3: $unknown"
echo 'makeMemoryResource|"name": "HOST"|"0x10"' | early >"$log"
refused "no memory of a GPU" "it has no allocations of a GPU's memory"

done_testing
