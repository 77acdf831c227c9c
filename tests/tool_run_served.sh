#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Stream-ordered allocations of a program under gpumem-run --adopt: over the double
# of NVIDIA's driver, whose streams stand still when they are told to.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_cuda
[ -e "$top_builddir/.libs/libgpumem.so" ] ||
	skip_all "gpumem-run loads a shared libgpumem into programs"
FAKECUDA_DEVICES=2
unset GPUMEM_PLUGIN_PATH GPUMEM_BACKEND
export FAKECUDA_DEVICES

check "served_cases compiles" $CC -w -O1 -o "$scratch/cases" "$source/pool.c" \
	"$source/served_cases.c" "$source/served_order.c" \
	"$source/served_pools.c" "$source/served_random.c" \
	"$source/served_returns.c" -ldl -lpthread

# served NAME CASE [OPTION...]: under --adopt, the report in $scratch/out
served()
{
	tap_name=$1
	tap_case=$2
	shift 2
	check "$tap_name" "$run" --adopt --json --report="$scratch/out" "$@" \
		timeout 60 "$scratch/cases" "$tap_case"
}

# of KIND KEY: of the first device
of()
{
	json "[x['kinds']['$1']['$2'] for p in d['processes']
		for x in p['devices']][0]"
}

# ---- each promise in a process of its own -------------------------------------

all="serves waits_for_the_stream another_stream_frees streams_of_threads stream_ends
	freed_at_once others_blocks captured another_context attributes thresholds
	ends_with_blocks most most_of_threads passes_on of_another_use devices faults peers
	peers_first described trims resets
	released forks clears many_streams lost_device shut_down lagging"
for name in $all; do
	served $name $name
done
FAKECUDA_NO_VMM=1
export FAKECUDA_NO_VMM
for name in serves waits_for_the_stream another_stream_frees streams_of_threads \
	stream_ends freed_at_once captured described trims resets lagging; do
	served "$name, without virtual memory" $name
done
unset FAKECUDA_NO_VMM
FAKECUDA_DECOMPRESSES=1 served "a pool for decompression" decompresses
FAKECUDA_STRICT=1 served "contexts that do not mix" lagging
FAKECUDA_ASYNC=1
export FAKECUDA_ASYNC
for name in waits_for_the_stream another_stream_frees threads; do
	served "$name, as streams run" $name
done
FAKECUDA_NO_VMM=1 served "threads, without virtual memory" threads
unset FAKECUDA_ASYNC

# ---- memory that goes back, and that is not there -------------------------------

GPUMEM_CONF=decay_ms:50 served "idle memory goes back with no call by anybody" decays
GPUMEM_CONF=decay_ms:50 FAKECUDA_NO_VMM=1 \
	served "and without virtual memory" decays
GPUMEM_CONF=decay_ms:50 served "and so do blocks that are kept" blocks_decay
FAKECUDA_MEMORY=128MiB
export FAKECUDA_MEMORY
served "an allocation of another kind gets what is unused" relieves
served "and a limit knows what is in flight" relieves --limit=250MiB
json_is "[x['refused'] for p in d['processes'] for x in p['devices']]" "[0]" \
	"and refuses nothing that fits"
served "out of memory is the driver's own error" no_memory
json_is "$(cat <<'END'
[(x['kinds']['async']['allocations'], x['kinds']['async']['failures'],
x['refused'], x['pool']['served']) for p in d['processes'] for x in p['devices']]
END
)" "[(2, 1, 0, 2)]" "and counted once"
unset FAKECUDA_MEMORY
served "a limit is of all kinds together" refused --limit=64MiB
json_is "$(cat <<'END'
[(x['kinds']['async']['failures'], x['kinds']['allocations']['failures'],
x['refused'], x['reserved_peak_bytes'] <= 64 << 20)
for p in d['processes'] for x in p['devices']]
END
)" "[(1, 1, 2, True)]" "and each refusal is counted once"
served "what is unused makes room under it" makes_room --limit=64MiB
FAKECUDA_NO_VMM=1 served "and without virtual memory" makes_room --limit=64MiB

# ---- by gpumem-run --trim --------------------------------------------------------

# waiting CASE OPTION...: a program that waits for its memory to go, whose number is
# $pid
waiting()
{
	tap_case=$1
	shift
	: >"$scratch/pid"
	GPUMEM_CONF=decay_ms:0 "$run" "$@" --report="$scratch/report" timeout 60 \
		"$scratch/${program:-cases}" "$tap_case" >"$scratch/pid" &
	waited=$!
	while [ ! -s "$scratch/pid" ] && kill -0 $waited 2>/dev/null; do
		sleep 0.05
	done
	pid=$(cat "$scratch/pid")
}

waiting waits --adopt
exits 0 "a process is asked for what it does not use" "$run" --trim="$pid"
check "says how much that was" grep -qx 'gave back 64 MiB' "$scratch/out"
wait $waited
is $? 0 "and the program finds it gone, without a signal"
exits 1 "its end is seen" "$run" --trim="$pid"
check "and said" grep -q "no process of this user" "$scratch/err"
waiting waits
exits 1 "a process without --adopt" "$run" --trim="$pid"
check "is not asked" grep -q "started without --adopt" "$scratch/err"
kill "$pid"
wait $waited
waiting lasts --adopt
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	exits 1 "another user" setpriv --reuid=65534 --clear-groups "$run" \
		--trim="$pid"
else
	skip "this is not root with setpriv" "another user"
fi
"$run" --trim="$pid" >"$scratch/first" &
exits 0 "two ask at once" "$run" --trim="$pid"
wait $!
is $? 0 "and both are answered"
# A gpumem-run that was killed leaves its folder; numbers of processes return.
stale=$(mktemp -d /tmp/gpumem-run-XXXXXX)
for live in /dev/shm/gpumem-run-*/"$pid"-*-0.ledger /tmp/gpumem-run-*/"$pid"-*-0.ledger; do
	[ ! -e "$live" ] || cp "$live" "$stale/$pid-1000000000-0.ledger"
done
exits 0 "an earlier process of that number is not asked" "$run" --trim="$pid"
rm -r "$stale"
kill "$pid"
wait $waited
check "a program with a pool of its own compiles" $CC -O1 -o "$scratch/own" \
	-I "$top_srcdir/include" "$source/own_pool.c" -L "$top_builddir/.libs" \
	-lgpumem "-Wl,-rpath,$top_builddir/.libs"
program=own
export GPUMEM_PLUGIN_PATH="$top_builddir/backends/.libs"
waiting cuda:0 --adopt
unset GPUMEM_PLUGIN_PATH
exits 0 "so is one whose pool is gpumem's own" "$run" --trim="$pid"
check "what that has unused is counted" grep -qx 'gave back 64 MiB' "$scratch/out"
wait $waited
is $? 0 "and gone, what was in use is not"
for pid in 0 -1 x 1x 99999999999 ''; do
	exits 2 "--trim=$pid" "$run" --trim="$pid"
done
exits 2 "--trim and a program" "$run" --trim=1 true

# ---- the report ------------------------------------------------------------------

served "the figures" serves
json_is "$(cat <<'END'
[(p['unserved'], x['pool']['served'], x['peak_bytes'], x['current_bytes'],
x['kinds']['async']['allocations'], x['kinds']['virtual']['allocations'],
p['unknown_frees'], p['untracked']) for p in d['processes'] for x in p['devices']]
END
)" "[(None, 4, $((4 << 20)), 0, 4, 0, 0, 0)]" "are those of the program"
exits 0 "as text" "$run" --adopt "$scratch/cases" serves
check "in a row" grep -qx \
	"    gpumem's pool served 4 of 4 stream-ordered allocations" "$scratch/err"

# ---- however the program reaches the driver ---------------------------------------

check "the driver's program compiles" $CC -w -o "$scratch/driver" \
	"$source/driver.c" "$source/driver_memory.c" "$source/driver_ways.c" -ldl
for way in handle get get1 'get all 2'; do
	# shellcheck disable=SC2086
	case $way in
	*2) set -- $way ;;
	*) set -- $way all ;;
	esac
	"$run" --adopt --json --report="$scratch/out" "$scratch/driver" "$@" >/dev/null
	json_is "[(x['pool']['served'], x['kinds']['async']['allocations'],
		x['kinds']['async']['current_bytes']) for p in d['processes']
		for x in p['devices']]" "[(2, 2, 0)]" "by $way"
done

# ---- whether a framework took its setting ----------------------------------------

echo 'int nothing;' >"$scratch/nothing.c"
check "a library of TensorFlow's compiles" $CC -w -shared -fPIC \
	-o "$scratch/libtensorflow_framework.so.2" "$scratch/nothing.c"
# framework CASE [VARIABLE=VALUE...]: where that library is loaded
framework()
{
	tap_case=$1
	shift
	env "$@" LD_PRELOAD="$scratch/libtensorflow_framework.so.2" "$run" --adopt \
		--json --report="$scratch/out" "$scratch/cases" "$tap_case"
}
check "a framework that allocates otherwise" framework otherwise
json_is "[p['declined'] for p in d['processes']]" "['TensorFlow did not take \
TF_GPU_ALLOCATOR=cuda_malloc_async: it made no stream-ordered allocation']" "is named"
LD_PRELOAD=$scratch/libtensorflow_framework.so.2 "$run" --adopt \
	--report="$scratch/text" "$scratch/cases" otherwise
check "as text, too" grep -q '^  TensorFlow did not take TF_GPU_ALL' "$scratch/text"
for how in "serves" "otherwise TF_GPU_ALLOCATOR=bfc"; do
	# shellcheck disable=SC2086
	check "not so: $how" framework $how
	json_is "[p['declined'] for p in d['processes']]" "[None]" "and it is not"
done
served "nor where it is not loaded" otherwise
json_is "[p['declined'] for p in d['processes']]" "[None]" "and it is not"

# ---- where nothing is served -----------------------------------------------------

check "without --adopt" "$run" --json --report="$scratch/out" "$scratch/cases" \
	reaches_driver
json_is "[x['pool']['served'] for p in d['processes'] for x in p['devices']]" "[0]" \
	"the calls are only counted"
served "with --no-pool" reaches_driver --no-pool
CUDA_INJECTION64_PATH=/nowhere served "under a tool that watches the driver" \
	reaches_driver
GPUMEM_CONF=page:3KiB served "where the pool cannot be had" reaches_driver
json_is "[bool(p['unserved']) for p in d['processes']]" "[True]" "it says why"
exits 0 "as text" with page:3KiB "$run" --adopt "$scratch/cases" reaches_driver
check "in a line" grep -q \
	"^  stream-ordered allocations were the driver's: .*page" "$scratch/err"
done_testing
