#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Logs of RMM's logging_resource_adaptor in gpumem-trace, gpumem-replay and
# gpumem-report: each column and action, what is cut off, and what is none.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"
. "${top_srcdir:-.}/tests/foreign.sh"

program=RMM

cat >"$log" <<'END'
Thread,Time,Action,Pointer,Size,Stream
139923,12:00:00:000001,allocate,0x7f1000000000,1048576,0x1
139924,12:00:00:000002,allocate,0x7f1000200000,2097152,(nil)
139923,12:00:00:000003,free,0x7f1000000000,1048576,0x2
139923,12:00:00:000004,allocate failure,(nil),99999999999,0x1
139923,12:00:00:000005,allocate,(nil),0,0x1
139923,12:00:00:000006,free,(nil),0,0x1
139923,12:00:01:500005,free,0x7f1000200000,2097152,0x1
END
figures "a log" 3145728 0 2 1
exits 0 "in short" "$trace" --json "$log"
json_is "d['threads'], d['streams'], d['seconds'], d['unknown_names'],
	d['damaged_events']" "(3, 3, 1.500004, [], 0)" \
	"threads, with that of the pool, streams and times"
exits 0 "as a trace" "$trace" --to=trace "$log"
is "$(grep -v '^[#t]' "$scratch/out" | tr '\n' ,)" \
	"a 1 1048576 1,a 2 2097152 0,f 1 2,f 2 1," "in the order of the file"
exits 0 "in words" "$trace" "$log"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c "log: log of RMM, 1.50 s: [0-9]* events, 3 streams")" 1 \
	"says what it is, without a date"
gzip -c "$log" >"$log.gz"
exits 0 "compressed" "$tools/gpumem-replay" --device=host:0 --no-load --json \
	"$log.gz"
json_is "d['peak_requested_bytes']" 3145728 "the same"

# Lines as Windows ends them, points in times, a date, columns in another order, one
# that is new, an action that is new; a day that ends.
cat >"$scratch/lf" <<'END'
Size,Pointer,Stream,Action,Time,Device,Thread
100,7f0000000000,0x0,allocate,2026-01-02 23:59:59.999,0,7
50,0x7f0000001000,0x0,allocate,2026-01-03 00:00:00.001,0,7
50,0x7f0000001000,0x0,defragment,2026-01-03 00:00:00.001,0,7
100,0x7f0000000000,0x0,free,2026-01-03 00:00:00.002,0,7
END
sed 's/$/\r/' "$scratch/lf" >"$log"
figures "another order" 150 50 2 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['seconds'], d['unknown_names']" \
	"(0.003, ['column \"Device\"', 'action \"defragment\"'])" \
	"and names what is new"

# The log began late: a block was there. Two frees are lost.
cat >"$log" <<'END'
Thread,Time,Action,Pointer,Size,Stream
1,10:00:00.000000,allocate,0x7f0000000000,4096,0x0
1,10:00:00.000001,free,0x7f0000100000,8192,0x0
1,09:59:59.000001,allocate,0x7f0000000800,4096,0x0
1,10:00:00.000002,allocate,0x7f0000000800,1024,0x0
END
figures "blocks that nobody allocated or freed" 12288 1024 3 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['kinds']['live'], d['unended_blocks']" "(1, 2)" "says so"

head='Thread,Time,Action,Pointer,Size,Stream'
printf '%s\n1,10:00:00.000000,allocate,0x7f0000000000,4096,0x0' "$head" >"$log"
figures "a last line without an end" 4096 4096 1 0
printf '%s\n1,1:0:0.0,allocate,0x7f00,4096,0x0\n1,1:0:0.0,allocate,0x8f00,40' \
	"$head" >"$log"
figures "a last line that is cut off" 4096 4096 1 0
exits 0 "in short" "$trace" --json "$log"
json_is "d['damaged_events']" 1 "says so"

# refused_line NAME LINE REASON
refused_line()
{
	printf '%s\n1,1:0:0.0,free,0x1,1,0\n%s\n' "$head" "$2" >"$log"
	refused "$1" "line 3: $3"
}

refused_line "too few fields" "1,1:0:0.0,free,0x1,1" \
	"it has not as many fields as the first line"
refused_line "a size of letters" "1,1:0:0.0,free,0x1,many,0x0" \
	"expected a number of bytes as Size"
refused_line "a size below 0" "1,1:0:0.0,free,0x1,-1,0x0" \
	"expected a number of bytes as Size"
refused_line "a size that is none" "1,1:0:0.0,free,0x1,999999999999999999,0x0" \
	"no block is as large as its Size"
refused_line "an address of letters" "1,1:0:0.0,free,here,1,0x0" \
	"expected an address as Pointer"
refused_line "a line that is none" "$(head -c 2000 /dev/zero | tr '\0' x)" \
	"it is no line of RMM's"
printf 'Action,Pointer of a kind,Size\n' >"$log"
exits 1 "no Pointer" "$trace" "$log"
is "$(cat "$scratch/err")" \
	"gpumem-trace: $log: line 1: expected the columns Action, Pointer, Size" \
	"says so"

done_testing
