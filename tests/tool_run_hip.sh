#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run and programs of AMD's runtime, which know nothing of it: they behave as
# they do without, and what they allocate is counted exactly and once, limited and
# recorded, however they reach the runtime and however they end. Over a runtime of
# the test's own, and over the doubles of ROCm 5, 6 and 7, which speak to NVIDIA's
# driver. No proof of AMD's runtime or its devices.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_hip
runtime=$plain/libamdhip64.so.6
before=$LD_LIBRARY_PATH
LD_LIBRARY_PATH=$plain:$driver${before:+:$before}
export LD_LIBRARY_PATH

# runtime FILE: the test's own, which has that name
runtime()
{
	$CC -w -shared -fPIC -o "$plain/$1" -Wl,-soname,"$1" \
		-Wl,--version-script="$source/hip_below.map" \
		"$source"/hip_below*.c -ldl -lpthread
}

# program OPTION...: compiles the one that uses the runtime
program()
{
	$CC -w "$source/hip.c" "$source/hip_memory.c" "$source/hip_ways.c" "$@"
}

check "a runtime compiles" runtime libamdhip64.so.6
check "a program does" program -o "$scratch/hip" -ldl
check "and linked with the runtime" program -DLINKED -o "$scratch/linked" \
	"$runtime" -ldl
check "and one for limits" $CC -w -O1 -o "$scratch/limit" \
	"$source/hip_limit.c" "$runtime" -lpthread
check "which ask for versions of symbols, as AMD's have them" sh -c \
	'objdump -p "$1" | grep -q " hip_4\.2$"' - "$scratch/linked"

# ---- the library ------------------------------------------------------------

# named PATTERN: the functions in lists of such names
named()
{
	sed -n "/^#define HIP_$1(X)/,/^\$/s/^	X(\([A-Za-z0-9_]*\),.*/\1/p" \
		"$top_srcdir/tools/preload/hip_hooks.h" | sort
}

named '.*' >"$scratch/called"
named '.*HOOKS' >"$scratch/wrapped"
check "functions are wrapped" grep -qx hipMalloc "$scratch/wrapped"
is "$(nm -D --defined-only "$preload" | awk '$3 ~ /^hip/ { print $3 }' | sort)" \
	"$(cat "$scratch/wrapped")" "the library has these of the runtime, no other"
is "$(nm -D --defined-only "$runtime" | awk '$3 ~ /^hip/ { print $3 }' |
	sed 's/@.*//' | sort | comm -13 - "$scratch/called")" "" \
	"the runtime of the test has all of them"
is "$(objdump -p "$preload" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')" "" \
	"it needs libc only"

# alike NAME [OPTION...] -- COMMAND...: the same output, errors and exit status
alike()
{
	tap_alike=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	"$@" >"$scratch/out1" 2>"$scratch/err1" </dev/null
	echo "status $?" >>"$scratch/out1"
	# shellcheck disable=SC2086
	"$run" $options --json --report="$scratch/out" -- "$@" \
		>"$scratch/out2" 2>"$scratch/err2" </dev/null
	echo "status $?" >>"$scratch/out2"
	is "$(cat "$scratch/out2" "$scratch/err2")" \
		"$(cat "$scratch/out1" "$scratch/err1")" "alike: $tap_alike"
}

alike "no runtime is in sight" -- "$scratch/hip" absent all
is "$(head -n 1 "$scratch/out2")" none "and none is found"
json_is "d['processes']" "[]" "nor anything counted"

# ---- what is counted ------------------------------------------------------------

have_python || skip "there is no python3" "the figures"

# kind NAME [API]: peak, current, allocations, frees and failures by device
kind()
{
	json "[[k['peak_bytes'], k['current_bytes'], k['allocations'],
		k['frees'], k['failures']] for p in d['processes']
		if p['api'] == '${2:-hip}' for x in p['devices']
		for k in [x['kinds']['$1']]]"
}

# kinds_are NAME ASYNC NOTES: what `hip WAY all` does
kinds_are()
{
	have_python || return 0
	is "$(kind allocations)" "[[4194304, 0, 7, 7, 2]]" "$1: allocations"
	is "$(kind async)" "$2" "$1: stream-ordered"
	is "$(kind virtual)" "[[2097152, 0, 1, 1, 0]]" "$1: virtual memory"
	is "$(kind managed)" "[[5000, 0, 1, 1, 0]]" "$1: managed"
	is "$(kind pinned)" "[[31000, 0, 5, 5, 0]]" "$1: pinned"
	is "$(kind registered)" "[[8192, 0, 1, 1, 0]]" "$1: registered"
	is "$(json "[p[n] for p in d['processes'] for n in
		('unknown_frees', 'unhooked', 'untracked')]")" "$3" \
		"$1: what is missing"
	is "$(json "[(p['api'], p['exited'], x['peak_bytes'],
		x['current_bytes'], 'pool' in x, 'reserved_bytes' in x,
		'graphs' in x['kinds'])
		for p in d['processes'] for x in p['devices']]")" \
		"[('hip', True, 4194304, 0, False, False, True)]" "$1: the device"
}

counted()
{
	kinds_are "$1" "[[12288, 0, 2, 2, 0]]" "[0, 0, 0]"
}

for way in link handle default get entry; do
	program=$scratch/hip
	[ $way != link ] || program=$scratch/linked
	alike "by $way" -- "$program" $way all
	counted $way
done
alike "by link, with --no-pool" --no-pool -- "$scratch/linked" link all
counted "by link, with --no-pool"
# There is a variant of one function that nobody knows.
for way in get_spt entry_spt "get 6 2" "entry 6 2"; do
	set -- $way
	first=$1
	shift
	alike "by $way" -- "$scratch/hip" $first all "$@"
	kinds_are "by $way" "[[8192, 0, 1, 1, 0]]" "[1, 1, 0]"
done

# Each part by itself, so that none is hidden by a larger one.
alike "rows and the like" -- "$scratch/hip" handle rows
is "$(kind allocations)" "[[9608, 9608, 4, 0, 0]]" "are as long as they are"
alike "a handle that is held" -- "$scratch/hip" handle virtual
json_is "[(x['peak_bytes'], x['current_bytes']) for p in d['processes']
	for x in p['devices']]" "[(3145728, 0)]" \
	"is there until its last release"
alike "two devices, one of which is reset" -- "$scratch/hip" handle devices
is "$(kind allocations)" \
	"[[8388608, 8388608, 2, 1, 0], [6291456, 0, 2, 2, 0]]" \
	"each has its figures"
is "$(kind pinned) $(kind virtual)" \
	"[[0, 0, 0, 0, 0], [1000, 1000, 1, 0, 0]] [[0, 0, 0, 0, 0], [1048576, 1048576, 1, 0, 0]]" \
	"and keeps memory of the host, and handles"

# ---- names that packages give it -------------------------------------------------

check "a runtime of another name" runtime libamdhip64-0a1b2c3d.so
check "and a program of it" program -DLINKED -o "$scratch/renamed" \
	"$plain/libamdhip64-0a1b2c3d.so" -ldl
alike "linked" -- "$scratch/renamed" link leave
is "$(kind allocations)" "[[6291456, 6291456, 1, 0, 0]]" "it is counted"
check "and a plugin of it" program -DLINKED -shared -fPIC \
	-o "$scratch/plugin.so" \
	"$plain/libamdhip64-0a1b2c3d.so" -ldl
check "and a program that opens it" $CC -w -o "$scratch/opens" \
	"$source/hip_plugin.c" -ldl
alike "in no scope of others" -- "$scratch/opens" "$scratch/plugin.so" link leave
is "$(kind allocations)" "[[6291456, 6291456, 1, 0, 0]]" "it is counted too"

# ---- ends ------------------------------------------------------------------------

# ended NAME STATUS WHAT: 6 MiB are live at the end, whatever that is
ended()
{
	"$run" --json --report="$scratch/out" "$scratch/hip" handle "$3" \
		>/dev/null 2>&1
	is $? "$2" "$1"
	have_python && is "$(kind allocations)" "[[6291456, 6291456, 1, 0, 0]]" \
		"$1: what was live is counted"
}

ended "an end that leaves memory" 0 leave
json_is "[p['exited'] for p in d['processes']]" "[True]" "which was exit()"
ended "_exit()" 5 quit
ended "a crash" 139 crash
json_is "[p['exited'] for p in d['processes']]" "[False]" "was no exit()"
ended "SIGKILL" 137 kill
alike "a child before the runtime" -- "$scratch/hip" handle fork_first
json_is "sorted(x['peak_bytes'] for p in d['processes'] for x in p['devices'])" \
	"[1048576, 2097152]" "each process has its own figures"
alike "a child after it" -- "$scratch/hip" handle fork_last
json_is "[(x['peak_bytes'], x['current_bytes'])
	for p in d['processes'] for x in p['devices']]" "[(4194304, 0)]" \
	"a child changes nothing of its parent's"
exits 0 "as text" "$run" "$scratch/hip" handle memory
check "whose calls they are" grep -qE '^process [0-9]+, hip, by HIP$' \
	"$scratch/err"
check "and what they had" grep -qE \
	'^    driver allocations +4 MiB +0 B +6 +6 +2$' "$scratch/err"
alike "no file may be written" -- sh -c 'ulimit -f 0; "$1" handle all' - \
	"$scratch/hip"
json_is "d['processes']" "[]" "then nothing is counted"

# ---- --limit ------------------------------------------------------------------------

for case in kinds properties failures devices threads child; do
	for options in "" --no-pool; do
		check "limit $options: $case" "$run" --limit=64MiB $options \
			--json --report="$scratch/out" "$scratch/limit" $case
	done
done
# The runtime says that each device has 1 GiB.
for case in kinds properties devices threads child; do
	check "limit in percent: $case" "$run" --limit=6.25% --json \
		--report="$scratch/out" "$scratch/limit" $case
done
# Frees that take long: what they free is there until they return.
check "limit: threads, slowly" env BELOW_SLOW=1 "$run" --limit=64MiB --json \
	--report="$scratch/out" "$scratch/limit" threads
check "limit: kinds" "$run" --limit=64MiB --json --report="$scratch/out" \
	"$scratch/limit" kinds
json_is "[(x['refused'], x['peak_bytes'], [x['kinds'][k]['failures']
	for k in ('allocations', 'async', 'virtual', 'managed', 'pinned')])
	for p in d['processes'] for x in p['devices']]" \
	"[(13, 67108864, [10, 2, 1, 1, 0])]" "what was refused is counted"
exits 137 "one that is killed" "$run" --limit=64MiB --json \
	--report="$scratch/out" "$scratch/limit" kinds killed
json_is "[x['refused'] for p in d['processes'] for x in p['devices']]" "[13]" \
	"its refusals are told"
exits 1 "without a limit there is none" "$run" --json --report="$scratch/out" \
	"$scratch/limit" child

# ---- --record -----------------------------------------------------------------------

cat >"$scratch/judge.py" <<'END'
import json, subprocess, sys

trace, report = sys.argv[1], json.load(open(sys.argv[2]))
files = {}
for process in report["processes"]:
    found = files.setdefault(process["recording"], {})
    for device in process["devices"]:
        for kind, counts in device["kinds"].items():
            if kind not in ("pinned", "registered") and counts["allocations"]:
                key = "%s:%d" % (process["api"], device["device"]), kind
                found[key] = [counts["peak_bytes"], counts["current_bytes"],
                              counts["allocations"], counts["frees"]]
if not files:
    print("nothing was recorded")
for file, found in files.items():
    recording = json.loads(subprocess.check_output([trace, "--json", file]))
    for key in ("unended_blocks", "unknown_events", "damaged_events",
                "lost_events", "lost_definitions"):
        if recording[key]:
            print(file, key, recording[key])
    said = {(p["device"], p["name"]):
            [p["peak_requested_bytes"], p["live_bytes"], p["allocations"],
             p["allocations"] - p["live_blocks"]]
            for p in recording["pools"] if p["allocations"]}
    if said != found:
        print(file, said, found)
END

# recorded NAME [OPTION...] COMMAND...
recorded()
{
	tap_recorded=$1
	shift
	rm -f "$scratch/recording"*
	"$run" --json --report="$scratch/out" --record="$scratch/recording" \
		"$@" >/dev/null 2>&1
	have_python && [ -x "$tools/gpumem-trace" ] ||
		{ skip "no python3 or no gpumem-trace" "$tap_recorded"; return; }
	is "$(python3 "$scratch/judge.py" "$tools/gpumem-trace" "$scratch/out" \
		2>&1)" "" "recorded as it is reported: $tap_recorded"
}

recorded "each kind" "$scratch/linked" link all
recorded "two devices" "$scratch/hip" handle devices
recorded "SIGKILL" "$scratch/hip" handle kill
recorded "two processes" "$scratch/hip" handle fork_first
recorded "eight threads at the limit" --limit=64MiB "$scratch/limit" threads

recorded "streams" "$scratch/hip" handle streams
if [ -x "$tools/gpumem-trace" ]; then
	is "$("$tools/gpumem-trace" --to=trace "$scratch/recording" |
		grep '^[af]')" "a 1 4096 1
a 2 8192 0
a 3 12288 2
a 4 16384 0
f 1 0
f 2 2
f 3 0
f 4" "which are those of the calls"
fi

# ---- AMD's own, without a device ------------------------------------------------------

real=$(/sbin/ldconfig -p 2>/dev/null |
	sed -n 's/.*libamdhip64\.so\.[0-9]* .*=> //p' | head -n 1)
if [ -n "$real" ] && [ ! -e /dev/kfd ]; then
	number=${real##*.}
	LD_LIBRARY_PATH=$before
	for way in handle default; do
		alike "AMD's runtime, by $way" -- "$scratch/hip" $way plain \
			"$number"
		check "which is called" grep -q '^hipMalloc: 10[01], last 10[01]$' \
			"$scratch/out2"
	done
	check "a program is linked with it" program -DLINKED \
		-Wl,--unresolved-symbols=ignore-all -o "$scratch/own" \
		"$real"
	alike "AMD's runtime, by link" --limit=1MiB -- "$scratch/own" link plain
	check "which is called" grep -q '^hipMalloc: 10[01], last 10[01]$' \
		"$scratch/out2"
	LD_LIBRARY_PATH=$plain:$driver${before:+:$before}
else
	skip "no libamdhip64 of AMD here, or a device" "AMD's own runtime"
fi

# ---- a driver that is made of AMD's runtime ------------------------------------------

mkdir "$plain/over"
check "a driver over the runtime" $CC -w -shared -fPIC \
	-Wl,-soname,libcuda.so.1 -o "$plain/over/libcuda.so.1" \
	"$source/hip_above.c" "$runtime"
LD_LIBRARY_PATH=$plain/over:$plain${before:+:$before}
# Without NVIDIA's part nobody sees that the driver was called, so that what this
# calls counts in its place.
calls="[[3145728, 0, 1, 1, 0]]"
[ -f "$driver/libcuda.so.1" ] || calls="[[8388608, 0, 2, 2, 0]]"
for options in "" --no-pool; do
	alike "a program of both $options" $options -- "$scratch/hip" handle both
	is "$(kind allocations)" "$calls" "what it calls itself is counted"
	[ ! -f "$driver/libcuda.so.1" ] ||
		is "$(kind allocations cuda)" "[[5242880, 0, 1, 1, 0]]" \
			"and what it calls the driver for is the driver's"
done
alike "--backend=hip" --backend=hip -- "$scratch/hip" handle both
is "$(kind allocations)" "[[8388608, 0, 2, 2, 0]]" "then all is the runtime's"
LD_LIBRARY_PATH=$plain:$driver${before:+:$before}

# ---- NVIDIA's driver beside it, and below it -----------------------------------------

if [ ! -f "$driver/libcuda.so.1" ]; then
	skip "configured without cuda" "programs that use both"
	done_testing
	exit
fi

alike "a program of both" -- "$scratch/hip" handle both
is "$(kind allocations cuda) $(kind allocations)" \
	"[[5242880, 0, 1, 1, 0]] [[3145728, 0, 1, 1, 0]]" "each counts its own"
json_is "[p['exited'] for p in d['processes']]" "[True, True]" "both end"
alike "with a limit" --limit=6MiB -- "$scratch/hip" handle both
json_is "[x['refused'] for p in d['processes'] for x in p['devices']]" \
	"[0, 0]" "a program has as much of each"
recorded "both, in one file" "$scratch/hip" handle both
json_is "len(set(p['recording'] for p in d['processes']))" 1 "which both name"
alike "--backend=hip" --backend=hip -- "$scratch/hip" handle both
json_is "[p['api'] for p in d['processes']]" "['hip']" "follows that alone"
alike "--backend=cuda" --backend=cuda -- "$scratch/hip" handle both
json_is "[p['api'] for p in d['processes']]" "['cuda']" "that"

# A runtime that is made of NVIDIA's driver: the call of the program counts.
for release in 5 6 7; do
	[ -e "$doubles/$release/.libs/libamdhip64.so.$release" ] || {
		skip "there is no double" "ROCm $release"
		continue
	}
	LD_LIBRARY_PATH=$doubles/$release/.libs:$driver${before:+:$before}
	plain="plain $release"
	for options in "" --no-pool --backend=hip; do
		alike "ROCm $release $options" $options -- \
			"$scratch/hip" handle $plain
		json_is "[p['api'] for p in d['processes']]" "['hip']" \
			"is counted once"
		is "$(kind allocations) $(kind managed) $(kind pinned)" \
			"[[4194304, 1048576, 2, 1, 1]] [[5000, 0, 1, 1, 0]] [[1000, 0, 1, 1, 0]]" \
			"as the program had it"
	done
	alike "ROCm $release --backend=cuda" --backend=cuda -- \
		"$scratch/hip" handle $plain
	json_is "[p['api'] for p in d['processes']]" "['cuda']" "is followed"
	is "$(kind allocations cuda)" "[[4194304, 1048576, 2, 1, 1]]" "below it"
	exits 0 "ROCm $release --limit" "$run" --limit=64MiB --json \
		--report="$scratch/report" "$scratch/hip" handle $plain
	is "$(cat "$scratch/out")" "hipMalloc: 2, last 2
59 of 64
done" "is of that size"
	check "a program of pools compiles" $CC -w -O1 -D__HIP_PLATFORM_AMD__ \
		-o "$scratch/pools" "$source/hip_pools.c" \
		"$doubles/$release/.libs/libamdhip64.so.$release"
	alike "ROCm $release, pools" -- "$scratch/pools"
	is "$(cat "$scratch/out1")" "the device's: 1
used: 4
used: 24
kept: 1
trimmed: 0
no pool: 1
status 0" "of the device and its own"
	is "$(kind async)" "[[25165824, 0, 3, 3, 1]]" "are counted as it had them"
	alike "ROCm $release, pools, --backend=cuda" --backend=cuda -- \
		"$scratch/pools"
	is "$(kind async cuda)" "[[25165824, 0, 3, 3, 0]]" "as below it"
	exits 0 "ROCm $release, pools, --limit" "$run" --limit=64MiB --json \
		--report="$scratch/report" "$scratch/pools" 48
	is "$(grep refused "$scratch/out")" "refused: 2" "holds for them"
done

done_testing
