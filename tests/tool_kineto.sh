#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Profiles of PyTorch's, as Kineto writes them, in gpumem-trace, gpumem-replay
# and gpumem-report: memory events, devices apart, what was there before, and
# what is none.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"
. "${top_srcdir:-.}/tests/foreign.sh"

program=PyTorch

# profile: of the lines of standard input, "NAME ARGUMENTS" as below
# memory TS ADDR BYTES TOTAL [DEVICE [TYPE [PID [RESERVED]]]]: an event of memory
# other TEXT: an event, as it is
profile()
{
	printf '{"schemaVersion": 1, "deviceProperties": [{"id": 0}],\n'
	printf '"traceEvents": [\n'
	while read -r what line; do
		case $what in
		other) printf '%s,\n' "$line" ;;
		*)
			# shellcheck disable=SC2086
			set -- $line
			printf '{"ph":"i","cat":"cpu_instant_event","s":"t",'
			printf '"name":"[%s]","pid":%s,"tid":9,"ts":%s,' \
				"$what" "${7:-1}" "$1"
			printf '"args":{'
			[ "${8-}" = - ] ||
				printf '"Total Reserved":%s,' "${8:-2097152}"
			printf '"Total Allocated":%s,"Bytes":%s,"Addr":%s,' \
				"$4" "$3" "$2"
			printf '"Device Id":%s,"Device Type":%s}},\n' \
				"${5:-0}" "${6:-1}"
			;;
		esac
	done
	printf '{"name":"end","ph":"i","args":{"Bytes":1}}\n],\n'
	printf '"traceName":"a \\"trace\\" [memory] ]}"}\n'
}

# Stamps go back; the file's order counts.
profile >"$log" <<'END'
memory 5.125 139611588448256 1024 1024
other {"name":"aten::add","ph":"X","args":{"big":99999999999999999999999}}
memory 4.5 139611588448256 -1024 0
memory 4.25 139611588448256 2048 2048
memory 9 139611588452352 512 2560
other {"name":"[memory] of a name","ph":"X","args":{"Bytes":7,"Addr":7}}
memory 10 139611588448256 -2048 512
END
figures "a profile" 2560 512 3 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['seconds'], d['threads'], len(d['pools'])" "(6e-06, 2, 1)" \
	"has times, threads with that of the pool, and one pool"
exits 0 "as a trace" "$trace" --to=trace "$log"
is "$(grep -v '^[#t]' "$scratch/out" | tr '\n' ,)" \
	"a 1 1024 0,f 1,a 2 2048 0,a 3 512 0,f 2," "in the order of the file"
exits 0 "in words" "$trace" "$log"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c 'profile of PyTorch, 6.00 us')" 1 "says what it is"
gzip -c "$log" >"$log.gz"
exits 0 "compressed" "$tools/gpumem-replay" --device=host:0 --no-load --json \
	"$log.gz"
json_is "d['peak_requested_bytes']" 2560 "the same"
tr '\n' ' ' <"$log" >"$scratch/line"
mv "$scratch/line" "$log"
figures "in one line" 2560 512 3 0

# Freed and never allocated, with and without others that stay; an address that
# has the highest bit.
profile >"$log" <<'END'
memory 1 140000000000000 1048576 4194304
memory 2 140000001048576 -2097152 2097152
memory 3 -4611686018427387904 512 2097664
END
figures "blocks that were there before" 4194304 2097664 2 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['kinds']['live'], d['live_blocks']" "(2, 3)" \
	"one that is freed, and one that is the rest"

# Two devices have the same addresses; memory of the CPU is left out.
profile >"$log" <<'END'
memory 1 4096 1000 1000
memory 2 4096 3000 3000 1
memory 3 4096 9000 9000 -1 0
memory 4 4096 -1000 0
memory 5 4096 2000 2000
OutOfMemory 6 0 99999 2000
memory 7 4096 0 2000
END
figures "two devices" 5000 5000 3 1
exits 0 "in short" "$trace" --json "$log"
json_is "[(p['number'], p['peak_requested_bytes'], p['live_bytes'])
	for p in d['pools']]" "[(1, 2000, 2000), (2, 3000, 3000)]" \
	"each is a pool"

# What was reserved is what the events say: at the first that does it was there, and
# where one says nothing, or that it is not known, it is as before.
profile >"$log" <<'END'
memory 1 4096 1000 1000 0 1 1 2097152
memory 2 8192 2000 2000 1 1 1 -
memory 3 8192 -2000 0 1 1 1 4194304
memory 4 12288 5000 6000 0 1 1 23068672
memory 5 12288 -5000 1000 0 1 1 -1
memory 6 16384 1000 2000 0 1 1 6291456
OutOfMemory 7 0 99999 2000
memory 8 16384 -1000 1000 0 1 1 8388608
END
exits 0 "what was reserved" "$trace" --json "$log"
json_is "d['peak_reserved_bytes'], d['reserved_bytes'],
	[(p['peak_reserved_bytes'], p['reserved_bytes']) for p in d['pools']],
	d['kinds']['grow'], d['kinds']['shrink']" \
	"(27262976, 12582912, [(23068672, 8388608), (4194304, 4194304)], 2, 2)" \
	"is known, device by device"
exits 0 "in a report" "$tools/gpumem-report" --json "$log"
json_is "d['peak']['reserved_bytes'], [o['reserved_bytes']
	for o in d['out_of_memory']]" "(27262976, [2097152])" "too"

# refused_after NAME REASON: the lines of standard input, behind an allocation
refused_after()
{
	{ echo memory 1 4096 1000 1000 && cat; } | profile >"$log"
	refused "$1" "$2"
}

numbers="a [memory] event without a whole number as Addr, Bytes, Device Id or "
numbers="${numbers}Device Type"
refused_after "bytes that are none" "line 4: $numbers" <<'END'
memory 2 4096 "-1000" 0
END
refused_after "bytes of half" "line 4: $numbers" <<'END'
memory 2 4096 -0.5 0
END
refused_after "no address" "line 4: $numbers" <<'END'
other {"name":"[memory]","args":{"Bytes":5,"Device Id":0,"Device Type":1}}
END
refused_after "no arguments" "line 4: $numbers" <<'END'
other {"name":"[memory]"}
END
refused_after "an address beyond 64 bits" \
	"line 4: an event of memory that is no JSON" <<'END'
memory 2 99999999999999999999 -1000 0
END
refused_after "a device too high" \
	"line 4: a Device Id that is not from 0 to 63" <<'END'
memory 2 4096 1000 1000 64
END
refused_after "another kind of device" \
	"line 4: memory of a second Device Type" <<'END'
memory 2 8192 1000 1000 0 12
END
refused_after "another process" \
	"line 4: memory of a second process: give a file of one" <<'END'
memory 2 8192 1000 1000 0 1 2
END
refused_after "a free of other bytes" \
	"line 4: a block is freed that has other Bytes" <<'END'
memory 2 4096 -999 1
END
refused_after "bytes that no device has" \
	"line 4: no block is as large as its Bytes" <<'END'
memory 2 8192 999999999999999999 0
END

refused_after "more reserved than a device has" \
	"line 4: no device has as much as its Total Reserved" <<'END'
memory 2 8192 1000 2000 0 1 1 999999999999999999
END

none="it has no [memory] events of a GPU: the profiler writes them with "
none="${none}profile_memory=True"
profile >"$log" <<'END'
other {"name":"aten::add","ph":"X"}
memory 3 4096 9000 9000 -1 0
END
refused "memory of the CPU alone" "$none"
{ echo memory 1 4096 1000 1000 | profile; } | head -n 3 >"$log"
refused "a file that is cut off" "line 4: the file is cut off"
{ echo memory 1 4096 1000 1000 | profile; } | head -c -8 | tr -d '\n' >"$log"
refused "a file that is cut off within a text" "line 1: the file is cut off"
{ echo memory 1 4096 1000 1000 | profile && echo ']'; } >"$log"
refused "a bracket too many" "line 7: it is no JSON"

done_testing
