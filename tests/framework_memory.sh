#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# tests/device/framework_memory.py without a framework or a device: it tells programs
# that print the same from others, and says which memory was not given back.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

have_python || skip_all "there is no python3"
[ "${SANITIZER:-none}" = none ] ||
	skip_all "Python cannot load a double that has a sanitizer"

device=$top_srcdir/tests/device
export PYTHONDONTWRITEBYTECODE=1 TOP="$device"

# What stands for a program of Keras's: BAD says what is wrong with it.
cat >"$scratch/program.py" <<'END'
import os, sys

sys.path.insert(0, os.environ["TOP"])
import measured

bad = os.environ.get("BAD", "")
grows = "TF_FORCE_GPU_ALLOW_GROWTH" in os.environ
measured.phase("imported", pid=os.getpid())
measured.phase("context")
if bad == "dies":
    sys.exit("no such luck")
if bad == "idle":
    measured.leave()
for way in "function", "session":
    print(sys.argv[2], way, "losses", 2 if bad == "other" and grows else 1, flush=True)
    measured.phase("trained", way=way, epoch_s=1.0, live_bytes=1 << 20)
    measured.phase("deleted")
    measured.phase("cleared")
    measured.given_back()
measured.leave()
END

# run STATUS NAME: of programs that stand for Keras's, by two allocators
run()
{
	rm -f "$scratch/rows"
	exits "$1" "$2" python3 "$device/framework_memory.py" "$scratch" --tiny \
		--python "python3 '$scratch/program.py'" --only default growth \
		--turns 2 --out "$scratch/rows"
}

run 0 "programs that print the same"
is "$(grep -c . "$scratch/rows")" 18 "a row for each way, process and allocator"
is "$(grep -c '^conv, session.*growth.*same$' "$scratch/out")" 1 "a line in the table"
export BAD=other
run 1 "one that prints something else with another allocator"
is "$(grep -c '^wrong: conv, session: the text differs$' "$scratch/out")" 1 \
	"it is named"
BAD=dies
run 1 "one that dies"
check "its status and what it said is told" grep -q "no such luck" "$scratch/out"
BAD=idle
run 1 "one that trains nothing"
check "is told" grep -q "wrong: growth dense: it trained nothing" "$scratch/out"
unset BAD

# Read from outside, where a double stands for the driver: nothing of it is in use.
double=$(cd "$top_builddir/tests/fake/cuda/.libs" && pwd)
exits 0 "a device is read meanwhile" env LD_LIBRARY_PATH="$double" \
	python3 "$device/framework_memory.py" "$scratch" --programs dense \
	--python "python3 '$scratch/program.py'" --only default growth --turns 1
LD_LIBRARY_PATH=$double python3 - >"$scratch/out" 2>&1 <<'END'
import ctypes, os, signal, sys, time

sys.path.insert(0, os.environ["TOP"])
import driver_pool
import measured

signal.alarm(60)
watch = measured.Watch(False)
cuda, address = watch.meter.cuda, ctypes.c_uint64()
watch.begin()
cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(300 << 20))
while watch.most < 300:
    time.sleep(0.001)  # until the other thread has looked
cuda.cuMemFree_v2(address)
print(watch.end(), watch.meter.settled())
pool = driver_pool.DriverPool()
size = ctypes.c_size_t(64 << 20)
cuda.cuMemAllocFromPoolAsync(ctypes.byref(address), size, pool.pool, None)
had = pool.bytes()
cuda.cuMemFreeAsync(address, None)
pool.synchronize()
pool.trim()
print(had["used"] >> 20, pool.bytes()["reserved"], watch.meter.mib())
END
is "$(cat "$scratch/out")" "300 0
64 0 0" "the most that there was, and a pool of the driver's is trimmed"

PYTHON_TENSORFLOW= PYTHON_JAX= PYTHON_TORCH= exits 0 "all of it, of nothing" \
	sh "$device/run_keras.sh" "$scratch" "$scratch/all"
is "$(grep -c 'left out: nobody said' "$scratch/all/keras.txt")" 6 "is left out"

# row ALLOCATOR CONTEXT BEFORE PEAK TRAINED CLEARED WAITED TRIMMED: MiB, of 1000 live.
# gpumem-run runs over what $over has set.
over=growth
row()
{
	setting=$1
	[ "$1" = run ] && setting=$over
	printf '{"setting": {"%s": "1"}, ' "$setting"
	printf '"set": "s", "program": "p", "way": "w", "turn": 0, "status": 0,
"text": ["a"], "epoch_s": 1.0, "live_bytes": 1048576000, "long": true,
"allocator": "%s", "context_mib": %d, "before_mib": %d, "peak_mib": %d,
"trained_mib": %d, "cleared_mib": %d, "waited_mib": %d, "trimmed_mib": %d}' "$@" |
		tr '\n' ' '
	echo
}

# judged NAME EXPECTED: what is wrong with the rows in $scratch/rows
judged()
{
	python3 "$device/framework_table.py" "$scratch/rows" >"$scratch/out" 2>&1
	is "$(grep -v '^wrong: ' "$scratch/out" | grep -c Traceback) $(
		sed -n 's/^wrong: //p' "$scratch/out")" "0 $2" "$1"
}

{
	row default 90000 90000 90000 90000 90000 90000 90000
	row growth 500 500 3000 3000 3000 3000 3000
	row run 500 500 3064 3064 3064 3064 3064
	row adopt 500 500 1550 1550 1550 650 650
} >"$scratch/rows"
judged "what frameworks keep is theirs, and what may be left is" ""
row adopt 500 500 1550 1550 1550 500 651 >"$scratch/rows"
judged "a trim that leaves too much" \
	"p, w, adopt: 151 MiB are left after a trim"
row adopt 500 500 1550 1550 1550 651 500 >"$scratch/rows"
judged "ten seconds that do" \
	"p, w, adopt: 151 MiB are left after a wait"
row adopt 500 500 1551 1550 1550 500 500 >"$scratch/rows"
judged "a peak of more than 1.05" \
	"p, w, adopt: 1.051 times what was live"
row adopt 500 1550 1551 1550 1550 500 500 >"$scratch/rows"
judged "of what the process had before" ""
{
	row default 500 500 90000 90000 90000 90000 90000
	row adopt 700 700 700 700 700 700 700
} >"$scratch/rows"
judged "what is taken with the context counts" \
	"p, w, adopt: 200 MiB are left after a trim
p, w, adopt: 200 MiB are left after a wait"
{
	row default 500 500 90000 90000 90000 90000 90000
	row growth 500 500 3000 3000 3000 3000 3000
	row run 500 500 3065 3065 3065 3065 3065
} >"$scratch/rows"
judged "gpumem-run that changes memory" \
	"p, w, run: trained, 3065 MiB, without it 3000
p, w, run: cleared, 3065 MiB, without it 3000"
{
	row default 90000 90000 90000 90000 90000 90000 90000
	row run 500 500 3065 3065 3065 3065 3065
} >"$scratch/rows"
judged "what another setting has is not compared with it" ""
over=default
{
	row default 500 500 3000 3000 600 600 600
	row run 500 500 3000 3000 3000 3000 600
} >"$scratch/rows"
judged "and one that keeps what was freed" \
	"p, w, run: cleared, 3000 MiB, without it 600"
{
	row adopt 500 500 1500 1500 700 500 500
	row adopt 500 500 1500 1500 800 500 500
	row adopt 500 500 1500 1500 950 500 500
} >"$scratch/rows"
judged "what is left of models may become more once" ""
{
	row adopt 500 500 1500 1500 700 500 500
	row adopt 500 500 1500 1500 800 500 500
	row adopt 500 500 1500 1500 951 500 500
} >"$scratch/rows"
judged "and not again and again" "ten models: 800 MiB grow to 951"

done_testing
