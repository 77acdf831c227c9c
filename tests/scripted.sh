#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The programs of tests/traces/scripted.py: each is replayed, and the peak of a
# whole one stays near what was asked for. The same seed always gives the same
# program.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool replay
have_python || skip_all "there is no python3"

# Without -B it would write beside the sources.
scripted()
{
	python3 -B "$top_srcdir/tests/traces/scripted.py" "$@"
}

# sizes FILE: of what is allocated, in order
sizes()
{
	sed -n 's/^a [0-9]* \([0-9]*\) .*/\1/p' "$1"
}

# replays KIND CONF MOST: and the ratio of peak reserved to peak requested
replays()
{
	ratio=
	exits 0 "$1, $2" with "$2" "$tools/gpumem-replay" --device=host:0 \
		--json "$scratch/all/$1.trace" || return
	is "$(value events)" "$events" "$1, $2: events"
	is "$(value ooms)" 0 "$1, $2: none fails"
	ratio=$(value reserved_ratio)
	check "$1, $2: ratio ${ratio:-?} is between 1 and $3" \
		awk "BEGIN { exit !(1 <= $ratio && $ratio <= $3) }"
}

# A short one has not had its peak, and a larger part of it is one segment.
# Without virtual memory the kernel's choice of addresses orders the segments,
# so that one of them may take a tenth more in one run than in most; all
# together hardly differ.
events=50000 on=1.1 off=1.3 mean_off=1.12
[ "${GPUMEM_TEST_SCALE-}" != small ] || events=2000 on=2 off=2 mean_off=2

mkdir "$scratch/all"
check "all kinds are written" scripted --all "$scratch/all" --events "$events"
kinds=$(scripted --list | sed 's/ .*//')
is "$(ls "$scratch/all" | wc -l)" "$(echo "$kinds" | wc -l)" \
	"as many as are listed"
for kind in $kinds; do
	most_on=$on
	# Its blocks are of less than a page, and each outgrows its place: best
	# fit in a single address space needs 1.16, in whole pages.
	if [ "$kind" = caches ] && [ "$events" = 50000 ]; then
		most_on=1.2
	fi
	replays "$kind" vm:on "$most_on"
	replays "$kind" vm:off "$off"
	echo "${ratio:-9}" >>"$scratch/ratios"
done
mean=$(awk '{ sum += $1 } END { print sum / NR }' "$scratch/ratios")
check "vm:off: mean ratio $mean of all kinds is at most $mean_off" \
	awk "BEGIN { exit !($mean <= $mean_off) }"

# Small blocks that another stream uses, where nothing is ever over: for each
# slot that stays pending a slab would hold a page.
if exits 0 "sharded, five passes, nothing is over" "$tools/gpumem-replay" \
	--device=host:0 --json --passes=5 --lag=inf "$scratch/all/sharded.trace"; then
	ratio=$(value reserved_ratio)
	check "sharded, nothing is over: ratio ${ratio:-?} is between 1 and $on" \
		awk "BEGIN { exit !(1 <= $ratio && $ratio <= $on) }"
fi

scripted offload --events "$events" >"$scratch/again.trace"
check "the same seed, the same program" \
	cmp "$scratch/again.trace" "$scratch/all/offload.trace"
scripted offload --events "$events" --seed 2 >"$scratch/other.trace"
# The second line of a trace names its seed.
if [ "$(sizes "$scratch/other.trace")" = "$(sizes "$scratch/again.trace")" ]; then
	fail "another seed, another program"
else
	pass "another seed, another program"
fi

# vary PERCENT: to $scratch/varied.trace
vary()
{
	scripted --vary "$scratch/again.trace" --percent "$1" --seed 3 \
		>"$scratch/varied.trace"
}

vary 0
is "$(sizes "$scratch/varied.trace" | cksum)" \
	"$(sizes "$scratch/again.trace" | cksum)" "sizes changed by nothing"
vary 10
sizes "$scratch/again.trace" >"$scratch/before"
sizes "$scratch/varied.trace" >"$scratch/since"
is "$(paste "$scratch/before" "$scratch/since" | awk '
	$1 in to && to[$1] != $2 { print "not the same everywhere" }
	$2 > $1 * 1.1 || $2 < $1 * 0.9 { print "by more" }
	$2 > $1 { larger++ }
	$2 < $1 { smaller++ }
	{ to[$1] = $2 }
	END { if (!larger || !smaller) print "all in one direction" }' |
	sort -u)" "" "by up to ten percent, each size to one"

# A step of three blocks, of which one lives on into the next step, beside one that
# stays; the peak is in the second.
cat >"$scratch/steps.trace" <<'EOF'
# gpumem-trace 1
# two steps
a 1 1000 0
a 2 10 0
a 3 100 0
f 2
a 4 20 0
f 3
a 5 10 0
a 6 200 0
f 4
a 7 20 0
f 6
EOF
scripted --step "$scratch/steps.trace" --length 5 --events 14 >"$scratch/step.trace"
is "$(sed 1,2d "$scratch/step.trace" | tr '\n' ';')" \
	"a 1 1000 0;a 2 20 0;a 3 10 0;a 4 200 0;f 2;a 5 20 0;f 4;a 6 10 0;a 7 200 0;\
f 5;a 8 20 0;f 7;f 3;a 9 10 0;" \
	"a step again and again"
exits 2 "an unknown kind" scripted nothing

done_testing
