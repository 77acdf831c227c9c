#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run and OpenCL: a program that knows nothing of it behaves as it does
# without, over each implementation of this machine, and what it allocates is
# counted exactly. Not over oclgrind: what that calls itself goes to the loader of
# a program that is linked with one, where its functions end in a loop.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

layer=$tools/.libs/libgpumem-opencl-layer.so
[ -f "$layer" ] || skip_all "configured without opencl"
need_no_sanitizer
. "$top_srcdir/tests/opencl_over.sh"
run=$tools/gpumem-run
program=$scratch/program
layer=$tools/.libs/libgpumem-opencl-layer.so

# ---- the library ------------------------------------------------------------

is "$(nm -D --defined-only "$layer" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
	"clDeinitLayer clGetLayerInfo clInitLayer clInitLayerWithProperties " \
	"the layer has the functions that loaders call"
is "$(objdump -p "$layer" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')" "" \
	"it needs libc only"
is "$(OPENCL_LAYERS=/a/b.so:/c.so "$run" --report="$scratch/report" sh -c \
	'echo "${OPENCL_LAYERS##*opencl-layer.so}"')" ":/a/b.so:/c.so" \
	"it stands before other layers"
is "$(env -u OPENCL_LAYERS "$run" --report="$scratch/report" sh -c \
	'echo "${OPENCL_LAYERS##*opencl-layer.so}"')" "" "or alone"
mkdir -p "$scratch/two words:and/tools" "$scratch/two words:and/lib"
cp "$tools"/.libs/gpumem-run "$tools"/.libs/libgpumem-*.so \
	"$scratch/two words:and/tools"
cp "$top_builddir"/.libs/libgpumem.so.* "$scratch/two words:and/lib"
moved=$scratch/moved
ln -s "$scratch/two words:and" "$moved"
if [ "$(env LD_LIBRARY_PATH="$moved/lib" "$moved/tools/gpumem-run" \
	--report="$scratch/report" sh -c 'printf %s "$OPENCL_LAYERS" | tr -cd ":" |
	wc -c; test -f "$OPENCL_LAYERS" && echo there')" = "0
there" ]; then
	pass "its path may have a colon"
else
	fail "its path may have a colon"
fi
check "a program compiles that has two loaders" $CC -w -o "$scratch/layer" \
	"$top_srcdir/tests/run/layer.c" -ldl
exits 0 "the second loader of a process is refused" "$run" \
	--report="$scratch/report" "$scratch/layer" "$(realpath "$layer")"

# ---- programs ---------------------------------------------------------------

printf '#include <CL/cl.h>\nint main(void) { return !clGetPlatformIDs; }\n' \
	>"$scratch/link.c"
if ! $CC -w -o "$scratch/link" "$scratch/link.c" -lOpenCL 2>/dev/null; then
	skip "there is no CL/cl.h, or no libOpenCL.so to link with" "what is counted"
	done_testing
fi
check "the program compiles" $CC -w -o "$program" \
	"$top_srcdir/tests/run/opencl.c" \
	"$top_srcdir/tests/run/opencl_objects.c" -lOpenCL -lpthread

# alike ICD NAME COMMAND...: the same output, errors and exit status; the report is
# in $scratch/out
alike()
{
	icd=$1
	name=$2
	shift 2
	over "$icd" "$@" >"$scratch/out1" 2>"$scratch/err1" </dev/null
	echo "status $?" >>"$scratch/out1"
	over "$icd" "$run" --json --report="$scratch/out" -- "$@" \
		>"$scratch/out2" 2>"$scratch/err2" </dev/null
	echo "status $?" >>"$scratch/out2"
	is "$(cat "$scratch/out2" "$scratch/err2")" \
		"$(cat "$scratch/out1" "$scratch/err1")" "$icd: alike: $name"
}

# kind NAME: peak, current, allocations, frees and failures
kind()
{
	json "[[k['peak_bytes'], k['current_bytes'], k['allocations'],
		k['frees'], k['failures']] for p in d['processes']
		for x in p['devices'] for k in [x['kinds']['$1']]]"
}

ways="objects svm held threads child leave quit kill"
for icd in pocl rusticl mesa; do
	can_use "$icd" "programs" || continue
	for way in $ways; do
		alike "$icd" "$way" "$program" $way
		have_python || continue
		case $way in
		leave | quit | kill)
			is "$(kind buffers)" "[[6291456, 6291456, 1, 0, 0]]" \
				"$icd: $way: what is live is counted"
			continue
			;;
		svm) continue ;; # not every implementation has it
		esac
		json_is "[(p['api'], [(k['current_bytes'], k['allocations'] -
			k['frees']) for x in p['devices']
			for k in x['kinds'].values() if k['allocations']] ==
			[(0, 0)] * len([k for x in p['devices']
			for k in x['kinds'].values() if k['allocations']]))
			for p in d['processes']]" "[('opencl', True)]" \
			"$icd: $way: nothing is left"
	done
done

# ---- a limit ----------------------------------------------------------------

check "the program of limits compiles" $CC -w -o "$scratch/limit" \
	"$top_srcdir/tests/run/opencl_limit.c" \
	"$top_srcdir/tests/run/opencl_limit_device.c" \
	"$top_srcdir/tests/run/opencl_limit_kinds.c" \
	"$top_srcdir/tests/run/opencl_limit_threads.c" -lOpenCL -lpthread -ldl

# limited ICD CASE: under a limit of 4 MiB, the report in $scratch/out; a skip, and
# not 0, if the implementation has not what it takes
pocl_devices=pthread
limited()
{
	over "$1" POCL_DEVICES="$pocl_devices" "$run" --limit=4MiB --json \
		--report="$scratch/out" "$scratch/limit" "$2" \
		>"$scratch/text" 2>&1 </dev/null
	case $? in
	0) pass "$1: limit: $2" ;;
	77)
		skip "$1 has not what it takes" "$1: limit: $2"
		return 1
		;;
	*) fail "$1: limit: $2" "$(cat "$scratch/text")" ;;
	esac
	json_is "[x['peak_bytes'] for p in d['processes'] for x in p['devices']
		if x['peak_bytes'] > 1 << 22]" "[]" \
		"$1: limit: $2: the figures are never above it"
}

# refused: by the limit, of each device
refused()
{
	json "[x['refused'] for p in d['processes'] for x in p['devices']]"
}

for icd in pocl rusticl mesa; do
	can_use "$icd" "a limit" || continue
	for case in buffers properties images svm no_memory failures threads; do
		limited "$icd" $case
	done
done

# PoCL says of the processor that it has so many GiB, and takes no other unit.
if can_use pocl "a limit in percent"; then
	for case in buffers images threads; do
		check "pocl: 0.390625 % of 1 GiB: $case" over pocl \
			POCL_MEMORY_LIMIT=1 POCL_DEVICES="$pocl_devices" "$run" \
			--limit=0.390625% --json --report="$scratch/out" \
			"$scratch/limit" "$case"
		json_is "d['limit_percent'], [x['peak_bytes']
			for p in d['processes'] for x in p['devices']
			if x['peak_bytes'] > 1 << 22]" "(0.390625, [])" \
			"pocl: $case: the figures are never above it"
	done
fi

# ---- figures ----------------------------------------------------------------

if ! [ -f "$scratch/icd/pocl.icd" ] || ! have_python; then
	skip "there is no PoCL or no python3" "the figures"
	done_testing
fi

# counted WAY: `run --json` of that over PoCL, into $scratch/out
counted()
{
	over pocl "$run" --json --report="$scratch/out" "$program" "$1" \
		>/dev/null 2>&1
}

counted objects
is "$(kind buffers)" "[[1048576, 0, 4, 4, 3]]" \
	"buffers: parts are free, errors are counted"
is "$(kind images)" "[[16384, 0, 3, 3, 1]]" \
	"images: one that is made of a buffer has no memory"
is "$(kind host_ptr)" "[[2097152, 0, 1, 1, 0]]" "memory of the program"
json_is "[(x['peak_bytes'], x['current_bytes'], 'pool' in x, 'async' in x['kinds'])
	for p in d['processes'] for x in p['devices']]" \
	"[(1048576, 0, False, False)]" "which is not the device's"
json_is "[p[n] for p in d['processes'] for n in
	('unknown_frees', 'unhooked', 'untracked')]" "[0, 0, 0]" \
	"nothing is missing"
json_is "[x['name'] for p in d['processes'] for x in p['devices']]" \
	"['$(over pocl "$program" name | sed -n 2p)']" "the device has its name"
counted svm
is "$(kind svm)" "[[300000, 50000, 6, 5, 1]]" \
	"shared virtual memory: each way to free it, and what is left"
json_is "[p['unknown_frees'] for p in d['processes']]" "[0]" \
	"and each was known"
counted held
is "$(kind buffers)" "[[8388608, 0, 2, 2, 0]]" \
	"a command holds what was released"
counted threads
json_is "[(k['allocations'], k['frees'], k['current_bytes'],
	2048 <= k['peak_bytes'] <= 12288) for p in d['processes']
	for x in p['devices'] for k in [x['kinds']['buffers']]]" \
	"[(1600, 1600, 0, True)]" "threads"
counted child
is "$(kind buffers)" "[[4194304, 0, 1, 1, 0]]" \
	"a child changes nothing of its parent's"
json_is "len(d['processes'])" 1 "and has no figures of its own"
counted kill
json_is "[(d['signal'], p['exited']) for p in d['processes']]" \
	"[(9, False)]" "one that was killed"
over pocl "$run" --json --report="$scratch/out" sh -c '"$1" leave; "$1" leave' - \
	"$program" >/dev/null
json_is "len(d['processes'])" 2 "processes are told apart"
over pocl "$run" --report="$scratch/report" "$run" --json \
	--report="$scratch/out" "$program" objects >/dev/null
is "$(kind buffers)" "[[1048576, 0, 4, 4, 3]]" \
	"gpumem-run inside another one counts once"
over pocl OPENCL_LAYERS="$top_builddir/tests/fake/opencl/.libs/opencl-layer.so" \
	FAKECL_AUDIT="$scratch/held" "$run" --json --report="$scratch/out" \
	"$program" leave >/dev/null
is "$(kind buffers) $(cat "$scratch/held")" \
	"[[6291456, 6291456, 1, 0, 0]] contexts 1 queues 1 memory 1 svm 0 events 0" \
	"beside another layer, which sees the program's calls and no others"
check "without gpumem-run the layer does nothing" \
	over pocl OPENCL_LAYERS="$(realpath "$layer")" "$program" objects
over pocl "$run" "$program" objects >/dev/null 2>"$scratch/text"
check "as text" grep -qE '^    buffers +1 MiB +0 B +4 +4 +3$' "$scratch/text"
check "by process" grep -qE '^process [0-9]+, program, by OpenCL$' "$scratch/text"

# ---- what a limit did --------------------------------------------------------

limited pocl held
limited pocl buffers
is "$(refused) $(kind buffers)" "[10] [[4194304, 0, 6, 6, 10]]" \
	"what the limit refuses is counted"
limited pocl images
is "$(refused) $(kind images)" "[12] [[4194304, 0, 2, 2, 5]]" \
	"images, too, which are not counted before"
limited pocl svm
is "$(refused) $(kind svm)" "[8] [[4194304, 0, 102, 102, 3]]" \
	"and shared virtual memory"
limited pocl no_memory
is "$(kind host_ptr)" "[[8388608, 0, 1, 1, 0]]" \
	"memory of the program is not"
limited pocl failures
is "$(refused) $(kind buffers)" "[3] [[4194304, 0, 1, 1, 104]]" \
	"nor what the implementation refuses"
pocl_devices="pthread basic"
! limited pocl two || is "$(refused)" "[3, 1]" "each device has its own"
pocl_devices=pthread
over pocl "$run" --limit=4MiB --json --report="$scratch/out" \
	"$scratch/limit" killed >/dev/null 2>&1
is "$(refused) $(kind buffers)" "[1] [[4194304, 4194304, 1, 0, 1]]" \
	"of a program that is killed"
over pocl "$run" --limit=4M "$scratch/limit" buffers 2>"$scratch/text"
check "as text: the limit" grep -q \
	'^limit of each process on each device: 4 MiB$' "$scratch/text"
check "and how often it refused" grep -q \
	'^    the limit refused 10 of those that failed$' "$scratch/text"
over pocl "$run" --limit=4MiB --record="$scratch/recording" \
	"$scratch/limit" images 2>/dev/null
"$tools/gpumem-trace" --json "$scratch/recording" >"$scratch/out"
json_is "(d['kinds']['oom'], d['kinds']['alloc'], d['kinds']['free'])" \
	"(12, 6, 6)" "each is recorded"
check "as that of a limit" sh -c '"$1" "$2" | grep -q "limit is reached"' - \
	"$tools/gpumem-report" "$scratch/recording"

# What a device has: that of the limit, if it has more.
sizes()
{
	over pocl "$run" "$@" --report="$scratch/report" "$scratch/limit" sizes
}
plain=$(over pocl "$scratch/limit" sizes)
is "$(sizes --limit=4MiB)" "4194304 4194304" "a device under a limit"
is "$(sizes --limit=1TiB)" "$plain" "that is more than it has"
is "$(sizes)" "$plain" "and without one"
exits 1 "without one nothing is refused" over pocl "$run" --json \
	--report="$scratch/report" "$scratch/limit" svm
cp "$scratch/report" "$scratch/out"
is "$(refused)" "[0]" "and the report says so"

# What of a device is free, as a layer says that stands below.
fake=$(realpath "$top_builddir/tests/fake/opencl/.libs/opencl-layer.so")
told()
{
	case=$1
	shift
	over pocl POCL_DEVICES="pthread basic" "$run" "$@" \
		--report="$scratch/report" sh -c \
		'OPENCL_LAYERS=$1:$OPENCL_LAYERS exec "$2" "$3"' - \
		"$fake" "$scratch/limit" "$case"
}
check "under a limit a device has free what is left of it" \
	told free --limit=4MiB
check "without one what it says" told told
told part --limit=4MiB >"$scratch/text" 2>&1
case $? in
0) pass "a part has what its device has" ;;
77) skip "PoCL has no parts of a device" "a part has what its device has" ;;
*) fail "a part has what its device has" "$(cat "$scratch/text")" ;;
esac

# What the implementation is asked for, by a layer that stands below.
check "a layer compiles" $CC -w -shared -fPIC -o "$scratch/below.so" \
	"$top_srcdir/tests/run/opencl_below.c"
for case in race race_second pipes; do
	rm -f "$scratch/peak"
	over pocl POCL_DEVICES="pthread basic" BELOW="$scratch/peak" \
		"$run" --limit=4MiB --report="$scratch/report" sh -c \
		'OPENCL_LAYERS=$1:$OPENCL_LAYERS exec "$2" "$3"' - \
		"$scratch/below.so" "$scratch/limit" $case >"$scratch/text" 2>&1
	if [ $? = 77 ]; then
		skip "PoCL has no second device" "above another layer: $case"
		continue
	fi
	is "$(cat "$scratch/text" "$scratch/peak")" "4194304 0" \
		"$case: no more than the limit reaches it, and no pipe stays"
done

# ---- unified shared memory ---------------------------------------------------------

# Its functions are in no loader's table: an address leads to gpumem-run's own.
check "a program of unified shared memory compiles" $CC -w -o "$scratch/usm" \
	"$top_srcdir/tests/run/opencl_usm.c" -lOpenCL

# usm CASE [OPTION...]
usm()
{
	case=$1
	shift
	over pocl POCL_DEVICES="pthread basic" "$run" --json \
		--report="$scratch/out" "$@" sh -c \
		'OPENCL_LAYERS=$1:$OPENCL_LAYERS exec "$2" "$3"' - \
		"$scratch/below.so" "$scratch/usm" "$case"
}

usm_is()
{
	json_is "[(x['peak_bytes'], x['current_bytes'], x['refused'],
		tuple(x['kinds']['usm'][k] for k in
		('peak_bytes', 'allocations', 'frees', 'failures')))
		for p in d['processes'] for x in p['devices']]" "$1" "$2"
}

for case in named unnamed; do
	check "unified shared memory, $case" usm $case
	usm_is "[(67108864, 0, 0, (50331648, 3, 3, 0))]" "is counted"
	json_is "[p['unknown_frees'] for p in d['processes']]" "[0]" \
		"and a free that fails is none"
done
check "and limited" usm limited --limit=32MiB
usm_is "[(33554432, 0, 4, (33554432, 3, 3, 2))]" "and each refusal counted"
check "another extension that allocates" usm other
json_is "[p['unhooked'] for p in d['processes']]" "[1]" \
	"is left alone, and noted"

done_testing
