#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run --record: what a recording says is what the report of the same run
# says, of each kind of memory, by any number of threads and processes, however
# they end; and where it cannot be written nothing else changes. Over the double of
# NVIDIA's driver, and PoCL.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
need_tool trace
need_tool replay
need_no_sanitizer
have_python || skip_all "there is no python3"
run=$tools/gpumem-run
trace=$tools/gpumem-trace
source=$top_srcdir/tests/run
mkdir "$scratch/a folder"
file="$scratch/a folder/the recording"

# recorded [OPTION...] COMMAND...: the report in $scratch/out, the recording in $file
recorded()
{
	rm -f "$scratch/a folder"/*
	"$run" --json --report="$scratch/out" --record="$file" "$@" \
		>"$scratch/text" 2>&1
}

cat >"$scratch/judge.py" <<'END'
import json, subprocess, sys

HOST = ("pinned", "registered", "host_ptr")


def figures_of(process):
    """What the report of a process says, by device and kind."""
    found = {}
    for device in process["devices"]:
        name = device.get("name") or "%s:%d" % (process["api"], device["device"])
        for kind, counts in device["kinds"].items():
            if kind not in HOST and counts["allocations"]:
                found[name, kind] = (
                    counts["peak_bytes"],
                    counts["current_bytes"],
                    counts["allocations"],
                    counts["frees"],
                )
    return found


def recorded_of(recording):
    """The same of a recording."""
    return {
        (pool["device"], pool["name"]): (
            pool["peak_requested_bytes"],
            pool["live_bytes"],
            pool["allocations"],
            pool["allocations"] - pool["live_blocks"],
        )
        for pool in recording["pools"]
        if pool["allocations"]
    }


trace, report = sys.argv[1], json.load(open(sys.argv[2]))
for process in report["processes"]:
    file = process["recording"]
    if not figures_of(process) and not file:
        continue
    recording = json.loads(subprocess.check_output([trace, "--json", file]))
    for key in ("unended_blocks", "unknown_events", "damaged_events",
                "lost_events", "lost_definitions"):
        if recording[key]:
            print(file, key, recording[key])
    if recording["process"] != process["pid"]:
        print(file, "is of process", recording["process"])
    if recording["ended"] != process["exited"]:
        print(file, "ended" if recording["ended"] else "has no end")
    if figures_of(process) != recorded_of(recording):
        print(file, figures_of(process), recorded_of(recording))
END

# agrees NAME: each process of the last run has a recording that says the same
agrees()
{
	is "$(python3 "$scratch/judge.py" "$trace" "$scratch/out" 2>&1)" "" \
		"$1: the recording says what the report does"
}

# says EXPRESSION EXPECTED NAME: of the recording
says()
{
	cp "$scratch/out" "$scratch/report"
	"$trace" --json "$file" >"$scratch/out" 2>&1
	json_is "$1" "$2" "$3"
	cp "$scratch/report" "$scratch/out"
}

# replays NAME: what gpumem-trace makes of it reaches the same peak
replays()
{
	peak=$("$trace" --json "$file" |
		sed -n 's/^  "peak_requested_bytes": \([0-9]*\),$/\1/p')
	"$trace" --to=trace -o "$scratch/trace" "$file"
	is "$("$tools/gpumem-replay" --device=host:0 --json "$scratch/trace" |
		sed -n 's/^  "peak_requested_bytes": \([0-9]*\),$/\1/p')" \
		"$peak" "$1: a replay has the same peak"
}

# ---- NVIDIA's driver ----------------------------------------------------------

cuda()
{
	LD_LIBRARY_PATH=$top_builddir/tests/fake/cuda/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	program=$scratch/record
	check "the programs compile" $CC -w -O1 -o "$program" \
		"$source/record.c" "$source/pool.c" -ldl -lpthread
	check "and the one for limits" $CC -w -O1 -o "$scratch/limit" \
		"$source/limit.c" "$source/limit_calls.c" \
		"$source/limit_threads.c" "$source/pool.c" -ldl -lpthread
	check "and the one for arrays" $CC -w -o "$scratch/array" \
		"$source/array.c" "$source/pool.c" -ldl -lpthread
	check "and the one for graphs" $CC -w -o "$scratch/graph_nodes" \
		"$source/graph_nodes.c" "$source/graph.c" "$source/pool.c" \
		-ldl -lpthread
	check "and the one of tool_run.sh" $CC -w -o "$scratch/driver" \
		"$source/driver.c" "$source/driver_memory.c" \
		"$source/driver_ways.c" -ldl

	for option in --backend=cuda --no-pool; do
		for case in kinds again refused streams threads short_threads; do
			recorded $option "$program" $case
			is "$(tail -n 1 "$scratch/text")" "done" \
				"$option $case"
			agrees "$option $case"
			replays "$option $case"
		done
		recorded $option "$scratch/driver" get all 2
		agrees "$option: the default stream of each thread"
		recorded $option "$scratch/array" sizes
		agrees "$option: arrays"
		replays "$option: arrays"
		for case in nodes captures; do
			recorded $option "$scratch/graph_nodes" $case
			agrees "$option: graphs, $case"
			replays "$option: graphs, $case"
		done
		recorded $option "$scratch/driver" handle contexts
		agrees "$option: contexts that end"
	done

	recorded "$program" kinds
	says "[(p['name'], p['device'], p['kind']) for p in d['pools']]" \
		"[('allocations', 'cuda:0', 'device memory'), ('managed', 'cuda:0', 'managed memory'), ('async', 'cuda:0', 'device memory'), ('virtual', 'cuda:0', 'device memory')]" \
		"a pool is a kind of a device"
	says "(d['program'], d['live_blocks'])" "('record', 4)" \
		"which has the program's name"
	recorded --adopt "$program" again
	json_is "d['processes'][0]['devices'][0]['pool']['hits']" 9 \
		"what is kept"
	says "(d['allocations'], d['kinds']['free'], d['peak_blocks'],
		d['live_bytes'])" "(10, 10, 1, 0)" "is not live"
	recorded "$program" streams
	is "$("$trace" --to=trace "$file" | grep '^[af]')" "a 1 4096 1
a 2 8192 0
a 3 12288 2
a 4 16384 3
f 1 2
f 2
f 3
f 4" "streams are those of the calls"
	recorded "$program" threads
	says "d['threads']" 3 "threads are told apart"
	recorded "$program" short_threads
	is "$(find "$file" -size -4400k | wc -l)" 1 \
		"threads that end leave their chunk to others"

	# Without memory.
	recorded --limit=64MiB "$scratch/limit" kinds
	agrees "a limit"
	says "d['kinds']['oom']" \
		"$(json "sum(x['refused'] for p in d['processes']
			for x in p['devices'])")" "it refuses as often"
	check "and is told" sh -c '"$1" "$2" | grep -qE \
		"64 MiB +[0-9.]+ [A-Z]iB +the pool.s limit is reached" ||
		"$1" "$2" | grep -q "limit is reached"' - \
		"$tools/gpumem-report" "$file"
	recorded --limit=64MiB "$scratch/limit" threads
	agrees "threads under a limit"
	recorded "$scratch/driver" handle all
	says "d['kinds']['oom']" 1 "the driver has no more"
	FAKECUDA_DEVICES=2
	export FAKECUDA_DEVICES
	recorded --limit=64MiB "$scratch/limit" devices
	agrees "two devices"
	says "[p['device'] for p in d['pools']]" "['cuda:0', 'cuda:1']" \
		"are two pools"
	unset FAKECUDA_DEVICES

	# Ends.
	for case in leave quit crash kill; do
		recorded "$scratch/driver" handle $case
		agrees "$case"
		says "d['live_bytes']" 6291456 "$case: what was live is there"
	done
	recorded "$program" meanwhile kill
	json_is "d['signal']" 9 "one that is killed while threads allocate"
	says "(d['damaged_events'], d['allocations'] > 10, d['ended'])" \
		"(0, True, False)" "leaves all that it did"
	for i in 1 2 3 4 5 6; do
		recorded "$program" meanwhile
		json_is "d['status']" 0 "it exits while threads allocate ($i)"
		# Of each thread a free may be under way.
		says "(d['damaged_events'], d['unended_blocks'] < 3, d['ended'])" \
			"(0, True, True)" "and the recording has its end ($i)"
	done

	# Processes.
	recorded "$program" parent
	agrees "a child that uses none"
	is "$(ls "$scratch/a folder")" "the recording" "has none"
	recorded "$scratch/driver" handle fork_first
	agrees "a child that does"
	json_is "sorted(p['recording'] == '$file' or p['recording'] ==
		'$file.%d' % p['pid'] for p in d['processes'])" "[True, True]" \
		"has its own, with its number"
	recorded "$program" execute
	agrees "programs one after the other in a process"
	json_is "sorted(p['recording'][len('$file'):].replace(str(p['pid']), 'N')
		for p in d['processes'])" "['', '.N', '.N.2']" \
		"have their own, too"
	recorded sh -c '"$1" streams; "$1" again' - "$program"
	agrees "processes one after the other"
	says "d['allocations']" 4 "and the first one has the name"
	recorded "$program" again
	says "d['allocations']" 10 "another gpumem-run has it again"

	# Names.
	plain=$file
	file="$plain %p.%p"
	recorded sh -c '"$1" kinds; "$1" again; exec "$1" execute' - "$program"
	agrees "%p in the name"
	json_is "sorted(p['recording'].replace(str(p['pid']), 'N')
		[len('$plain'):] for p in d['processes'])" \
		"[' N.N', ' N.N', ' N.N', ' N.N.2', ' N.N.3']" "is the process"
	file=$plain
	check "a name without a folder" sh -c 'cd "$1" && shift && exec "$@"' - \
		"$scratch/a folder" "$(realpath "$run")" --json \
		--report="$scratch/out" --record=relative sh -c \
		'cd / && exec "$1" again' - "$program"
	json_is "[p['recording'] for p in d['processes']]" \
		"['$(cd "$scratch/a folder" && pwd -P)/relative']" \
		"is where it was given"
	exits 0 "as text" "$run" --record="$file" "$program" again
	check "the report says where" grep -qxF "  recorded to $file" "$scratch/err"

	# What cannot be, once the program runs.
	file=$scratch/folder/file
	mkdir -p "$scratch/folder"
	recorded sh -c 'rm -r "${1%/*}"; exec "$2" kinds' - "$file" "$program"
	is "$? $(cat "$scratch/text")" "0 done" "the program runs on"
	json_is "[(p['recording'], p['unrecorded'].startswith(
		'cannot record to \"$file')) for p in d['processes']]" \
		"[(None, True)]" "the report says so"
	exits 0 "as text" "$run" --record="$scratch/%p/file" "$program" again
	check "with the reason" grep -q \
		'^  not recorded: cannot record .*: No such file or directory$' \
		"$scratch/err"
	file=$plain
	recorded "$program" limited
	is "$? $(cat "$scratch/text")" "0 done" "no file may be so large"
	json_is "['RLIMIT_FSIZE' in p['unrecorded'] for p in d['processes']]" \
		"[True]" "and the report says so"
	exits 2 "no name" "$run" --record= true
	exits 0 "without --record" "$run" --json --report="$scratch/out" "$run" \
		--record="$scratch/none" "$run" --json \
		--report="$scratch/inner" "$program" again
	check "nothing is recorded" test ! -e "$scratch/none"

	# What others do to descriptors; with a pool, as the double needs its own.
	recorded --adopt "$program" descriptors "$scratch/mine"
	says "(d['overwritten_events'] > 0, d['damaged_events'], d['ended'])" \
		"(True, 0, True)" "a program that closes all descriptors"
	is "$(cat "$scratch/mine")" mine "has its own files to itself"
}

# ---- programs that use no GPU --------------------------------------------------

idle()
{
	for command in 'cd /proc/self/fd && echo *' \
		'grep -E "^(Threads|Sig...):" /proc/self/status' \
		'grep -c recording /proc/self/maps' 'exit 3' 'kill -9 $$'; do
		sh -c "$command" >"$scratch/out1" 2>&1
		echo "status $?" >>"$scratch/out1"
		recorded sh -c "$command"
		echo "status $?" >>"$scratch/text"
		is "$(cat "$scratch/text")" "$(cat "$scratch/out1")" \
			"alike: $command"
		is "$(ls "$scratch/a folder")" "" "and there is no file"
	done
}

idle
if [ -f "$top_builddir/tests/fake/cuda/.libs/libcuda.so.1" ]; then
	cuda
else
	skip "configured without cuda" "NVIDIA's driver"
fi

# ---- OpenCL ---------------------------------------------------------------------

if ! [ -f "$tools/.libs/libgpumem-opencl-layer.so" ] ||
	! [ -f "$top_builddir/backends/.libs/opencl.so" ]; then
	skip "configured without opencl" "OpenCL"
	done_testing
fi
. "$top_srcdir/tests/opencl_over.sh"
printf '#include <CL/cl.h>\nint main(void) { return !clGetPlatformIDs; }\n' \
	>"$scratch/link.c"
if ! [ -f "$scratch/icd/pocl.icd" ] ||
	! $CC -w -o "$scratch/link" "$scratch/link.c" -lOpenCL 2>/dev/null; then
	skip "there is no PoCL, no CL/cl.h, or no libOpenCL.so to link with" "OpenCL"
	done_testing
fi
check "the program of OpenCL compiles" $CC -w -o "$scratch/opencl" \
	"$source/opencl.c" "$source/opencl_objects.c" -lOpenCL -lpthread

# over_recorded COMMAND...
over_recorded()
{
	rm -f "$scratch/a folder"/*
	over pocl "$run" --json --report="$scratch/out" --record="$file" "$@" \
		>"$scratch/text" 2>&1
}

for case in objects svm held threads child leave quit kill; do
	over_recorded "$scratch/opencl" $case
	agrees "OpenCL: $case"
done
over_recorded "$scratch/opencl" objects
says "sorted(p['name'] for p in d['pools'])" "['buffers', 'images']" \
	"OpenCL: a pool is a kind"
says "[p['device'].startswith('pthread') for p in d['pools']]" "[True, True]" \
	"of a device"
over_recorded sh -c '"$1" leave; "$1" leave' - "$scratch/opencl"
agrees "OpenCL: processes one after the other"
over pocl "$run" --report="$scratch/report" --record="$scratch/%p/file" \
	"$scratch/opencl" leave >"$scratch/text" 2>&1
check "OpenCL: what cannot be is told" grep -q \
	'^  not recorded: .*: No such file or directory$' "$scratch/report"

done_testing
