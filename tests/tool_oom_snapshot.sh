#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What option oom_snapshot leaves of a program that runs out of memory: a file that
# Python, gpumem-trace and gpumem-report read, with the blocks that were live, what
# happened before and the out of memory itself; and a text beside it.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool trace
need_tool replay
need_tool report
have_python || skip_all "there is no python3"
file=$scratch/snapshot

# 600 blocks, of which the even ones are freed, one that is resized, and the last.
{
	echo '# gpumem-trace 1'
	seq 600 | sed 's/.*/a & 70000 0/'
	seq 2 2 600 | sed 's/.*/f &/'
	echo 'a 700 1000000 1'
	echo 'a 701 5000000000 0'
} >"$scratch/small"

# runs_out CONF: the program, with the files made anew
runs_out()
{
	rm -f "$file" "$file.txt"
	exits 1 "a program that is out of memory, $1" with \
		"oom_snapshot:$file,limit:64MiB${1:+,$1}" \
		"$tools/gpumem-replay" --device=host:0 "$scratch/small"
}

cat >"$scratch/judge.py" <<'END'
import pickle, sys

data = pickle.load(open(sys.argv[1], "rb"))
stacks = sys.argv[2] == "stacks"
assert set(data) == {
    "segments", "device_traces", "allocator_settings", "external_annotations"
}, set(data)
(trace,) = data["device_traces"]
actions = [e["action"] for e in trace]
assert actions.count("alloc") == 601, actions.count("alloc")
assert actions.count("free_requested") == 300
assert actions.count("free_completed") == 300
assert actions[-1] == "oom" and actions.count("oom") == 1
assert trace[-1]["size"] == 5000000000 and trace[-1]["device_free"] > 0
assert all(a["time_us"] <= b["time_us"] for a, b in zip(trace, trace[1:]))
live = {}
for entry in trace:
    if entry["action"] == "alloc":
        assert entry["addr"] not in live
        live[entry["addr"]] = entry["size"]
    if entry["action"] == "free_completed":
        assert live.pop(entry["addr"]) == entry["size"]
found = {}
for segment in data["segments"]:
    assert segment["device"] == 0 and segment["segment_type"] == "large"
    at, sums = segment["address"], [0, 0, 0]
    for block in segment["blocks"]:
        assert block["address"] == at, (block, at)
        at += block["size"]
        sums[2] += block["requested_size"]
        sums[1] += block["size"] * (block["state"] != "inactive")
        if block["state"] == "active_allocated":
            found[block["address"]] = block["requested_size"]
            sums[0] += block["size"]
            assert bool(block["frames"]) == stacks, block
    assert at == segment["address"] + segment["total_size"]
    assert sums == [segment[k] for k in
                    ("allocated_size", "active_size", "requested_size")]
assert found == live, (len(found), len(live))
if stacks:
    frame = trace[0]["frames"][0]
    assert set(frame) == {"name", "filename", "line"} and frame["filename"]
print("right")
END

judge()
{
	is "$(python3 "$scratch/judge.py" "$file" $1 2>&1 | tail -n 1)" right \
		"its blocks are those that its events leave"
	exits 0 "gpumem-trace reads it" "$tools/gpumem-trace" --json "$file"
	json_is "(d['live_blocks'], d['live_bytes'], d['allocations'], d['kinds']['free'])" \
		"(301, 22000000, 601, 300)" "and finds what was live"
	exits 0 "gpumem-report, too" "$tools/gpumem-report" --json "$file"
	json_is "len(d['out_of_memory'])" 1 "with the out of memory"
}

runs_out ""
judge none
is "$(stat -c %a "$file" "$file.txt" | xargs)" "600 600" "only the user reads them"
check "the text has the sentence" grep -q '^pool "replay" on host:0: its hard limit of' \
	"$file.txt"
for line in 'by tag, in pool "replay":' 'largest live blocks:' \
	'  976.56 KiB at 0x[0-9a-f]* on device 0'; do
	check "the text has $line" grep -q "^$line\$" "$file.txt"
done
is "$(ls -A "$scratch" | grep -c gpumem-)" 0 "nothing else is left"
runs_out vm:off
judge none
runs_out track:on
judge stacks
runs_out "record:$scratch/recording"
judge none
exits 0 "the recording is whole" "$tools/gpumem-trace" --json "$scratch/recording"
json_is "d['allocations']" 601 "with the same"

# A folder that is not there is known when the device is opened.
exits 2 "no such folder" with "oom_snapshot:/nonexistent/file" \
	"$tools/gpumem-replay" --device=host:0 "$scratch/small"
check "is told" grep -q 'option "oom_snapshot": "/nonexistent/file" cannot be written' \
	"$scratch/err"

disk=$scratch/disk
mkdir "$disk"
if [ "$(id -u)" = 0 ] &&
	mount -t tmpfs -o size=16k full "$disk" 2>"$scratch/out"; then
	file=$disk/snapshot
	runs_out log:error
	check "a full disk is logged" grep -q \
		"oom_snapshot.*not all of it could be written" "$scratch/err"
	is "$(ls -A "$disk" | grep -v txt)" "" "and no half is left"
	umount "$disk"
else
	skip "no file system can be mounted here" "a full disk"
fi

done_testing
