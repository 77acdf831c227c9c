#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-bench: every benchmark runs and its figures are there; none is looked
# at, since time decides no test.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool bench
bench=$tools/gpumem-bench
short="--iterations=64 --rounds=2"

common_manners bench
wants_good_options bench pair --seconds=0.001

exits 0 "pair" "$bench" $short pair
check "prints a table" grep -qE '^4 KiB +[0-9.]+ (ns|us|ms)' "$scratch/out"
check "with glibc beside it" grep -qE '^pair +gpumem +glibc +x' "$scratch/out"

check "says what its times are" sh -c \
	"tr '\\n' ' ' <'$scratch/out' | grep -q \"simulated in the host's memory\""
exits 0 "pair as JSON" "$bench" $short --json pair
json_is "d['simulated']" True "in JSON too"
valid_json "it is JSON"
json_is "[r['case'] for r in d['results']]" \
	"['256 B', '1 KiB', '4 KiB', '16 KiB', '64 KiB', '256 KiB', '1 MiB', '4 MiB', '20 MiB', '64 MiB', '256 MiB']" \
	"every size is there"
json_is "[r['bytes'] for r in d['results']], {r['series'] for r in d['results']}" \
	"([256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 20971520, 67108864, 268435456], {'hot pair'})" \
	"and as a number"
json_is "all(r['ns'] > 0 and r['peers']['glibc']['ns'] > 0 and
	abs(r['peers']['glibc']['ratio'] * r['peers']['glibc']['ns'] - r['ns'])
	< 0.01 * r['ns'] + 0.01 for r in d['results'])" True \
	"every figure and ratio is there"

exits 0 "threads" "$bench" $short --threads=3 --json threads
json_is "[r['case'] for r in d['results']][:3], len(d['results']),
	all('vs_1_thread' in r for r in d['results'])" \
	"(['1 thread, own stream', '2 threads, own stream', '3 threads, own stream'], 9, True)" \
	"one, two and three, three ways"
json_is "[(r['series'], r['threads']) for r in d['results']] ==
	[(s, t) for s in ('own stream', 'one stream', 'another frees')
	for t in (1, 2, 3)]" True "and as numbers"
json_is "all(0 < r['harness_ns'] for r in d['results'])" True \
	"with what the benchmark takes itself"
exits 1 "nowhere to print" sh -c "exec '$bench' $short pair >&-"
check "says so" grep -q 'cannot write' "$scratch/err"
exits 0 "threads on a device without streams" \
	with host.streams:off,host.copy:off,host.capture:off \
	"$bench" $short --threads=2 threads

# ---- the figures that are drawn of them -------------------------------------

# draws NAME: of what the last `exits` printed
draws()
{
	cp "$scratch/out" "$scratch/json"
	exits 0 "$1" python3 "$top_srcdir/docs/plots/plot.py" \
		--out="$scratch" --command='a <command>' --machine=Machine \
		--date=Today "$scratch/json"
}

if python3 -c 'import matplotlib' 2>/dev/null; then
	exits 0 "pair and threads" "$bench" $short --threads=2 --json pair \
		threads
	draws "are drawn"
	is "$(cat "$scratch/out")" "$scratch/size.svg
$scratch/threads.svg" "each as a figure"
	check "says so of what is not there" grep -q 'no results of growth' \
		"$scratch/err"
	for text in 'a &lt;command&gt;; Machine; Today' glibc gpumem \
		'benchmark itself' 'another frees'; do
		check "shows: $text" grep -q "$text" "$scratch/threads.svg"
	done
	exits 0 "a peer that could not be measured" sh -c "sed \
		's/^          \"ns\": .*/          \"ns\": null,/' \
		'$scratch/json'"
	draws "is left out"
	is "$(grep -c glibc "$scratch/size.svg")" 0 "of the key, too"
else
	skip "python3 has no matplotlib" "the figures"
fi

exits 0 "churn" "$bench" $short --json churn
json_is "[(r['unit'], r['live_blocks'], r['host_bytes'] > 0,
	r['memory_ratio'] >= 1) for r in d['results']]" \
	"[('op', 4000, True, True)]" "its figures are there"
exits 0 "churn with uniform sizes" "$bench" $short --uniform churn

exits 0 "record" "$bench" $short --json record
json_is "[(r['case'], r['unit'],
	r['times_a_pair'] > 0) for r in d['results']]" \
	"[('256 B', 'event', True), ('1 MiB', 'event', True)]" \
	"its figures are there"

exits 0 "trim" with host.capacity:256MiB "$bench" $short --json trim
json_is "[r['unit'] for r in d['results']],
	[r['MiB_a_call'] for r in d['results'][:2]]" \
	"(['call', 'call', 'pair', 'longest pair'], [128.0, 128.0])" \
	"gives back half of a small device"

# These hold a lot of memory, of which a sanitizer wants several times as much.
if [ "${SANITIZER:-none}" = none ]; then
	exits 0 "random" "$bench" $short --json random
	json_is "[(r['live_blocks'], r['live'], r['memory_ratio'] >= 1)
		for r in d['results']]" \
		"[(1000, 1000, True), (10000, 10000, True)]" \
		"its figures are there"
	# With room to spare, a pool that is warm needs the driver no more for
	# memory; one that is not does. However slow the machine is, nothing is given
	# back meanwhile.
	exits 0 "random, cold" with waste:20% "$bench" $short --warm=0 --json \
		random
	json_is "[r['memory_calls_first'] > 0 and r['driver_calls'] > 0
		for r in d['results']]" "[True, True]" "takes memory"
	exits 0 "random, warm" with waste:20%,decay_ms:0 "$bench" \
		--iterations=4096 --rounds=2 --warm=16 --json random
	json_is "[r['memory_calls_last'] for r in d['results']]" "[0.0, 0.0]" \
		"takes no more"
	exits 0 "growth" "$bench" $short --json growth
	json_is "[r['live_blocks'] for r in d['results']] ==
		[r['live'] for r in d['results']] ==
		2 * [10 ** i for i in range(2, 7)]" True \
		"a hundred to a million blocks"
else
	skip "too much memory under a sanitizer" "random"
	skip "too much memory under a sanitizer" "growth"
fi

exits 1 "a device that is too small" with host.capacity:8MiB \
	"$bench" $short pair
check "says so" grep -q 'pair, 20 MiB: .* out of memory' "$scratch/err"
exits 2 "a benchmark that is none" "$bench" nonsense
for option in --threads=0 --threads=x --rounds=0 --rounds=65 --iterations=0 \
	--seconds=0 --seconds=-1 --seconds=nan --warm=x --warm=-1; do
	exits 2 "$option" "$bench" "$option" pair
done
exits 3 "a device that is not there" "$bench" --device=host:1 pair

done_testing
