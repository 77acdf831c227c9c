#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Programs of tests/traces/scripted.py, which no figure was tuned for: each is
# replayed, and whole ones stay near what they ask for. And a seed always gives
# the same program.

. "${top_srcdir:-.}/tests/tap.sh"

replay=$top_builddir/tools/gpumem-replay
[ -x "$replay" ] || skip_all "gpumem-replay was not built"
[ "$(python3 -c 'print(1)' 2>/dev/null)" = 1 ] || skip_all "there is no python3"

# Without -B it would write beside the sources.
scripted()
{
	python3 -B "$top_srcdir/tests/traces/scripted.py" "$@"
}

# value KEY: of the JSON in $scratch/out
value()
{
	sed -n "s/^ *\"$1\": \\([0-9.]*\\),\\{0,1\\}\$/\\1/p" "$scratch/out"
}

# replays KIND CONF MOST: and the ratio of peak reserved to peak requested
replays()
{
	exits 0 "$1, $2" env GPUMEM_CONF="$2" "$replay" --device=host:0 --json \
		"$scratch/all/$1.trace" || return
	is "$(value events)" "$events" "$1, $2: events"
	is "$(value ooms)" 0 "$1, $2: none fails"
	ratio=$(value reserved_ratio)
	check "$1, $2: ratio ${ratio:-?} is between 1 and $3" \
		awk "BEGIN { exit !(1 <= $ratio && $ratio <= $3) }"
}

# A short one has not had its peak, and a larger part of it is one segment.
events=50000 on=1.15 off=1.3
[ "${GPUMEM_TEST_SCALE-}" != small ] || events=2000 on=2 off=2

mkdir "$scratch/all"
check "all kinds are written" scripted --all "$scratch/all" --events "$events"
kinds=$(scripted --list | sed 's/ .*//')
is "$(ls "$scratch/all" | wc -l)" "$(echo "$kinds" | wc -l)" \
	"as many as are listed"
for kind in $kinds; do
	most=$on
	# Its blocks are of less than a page, and each outgrows its place: by best
	# fit in one address space it takes 1.16, in whole pages.
	[ "$kind" != caches ] || most=1.25
	replays "$kind" vm:on "$most"
	replays "$kind" vm:off "$off"
done

scripted offload --events "$events" >"$scratch/again.trace"
check "the same seed, the same program" \
	cmp "$scratch/again.trace" "$scratch/all/offload.trace"
scripted offload --events "$events" --seed 2 >"$scratch/other.trace"
if cmp -s "$scratch/other.trace" "$scratch/again.trace"; then
	fail "another seed, another program"
else
	pass "another seed, another program"
fi

# sizes FILE: of what is allocated, in order
sizes()
{
	sed -n 's/^a [0-9]* \([0-9]*\) .*/\1/p' "$1"
}

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
	$1 != $2 { changed++ }
	{ to[$1] = $2 }
	END { if (!changed) print "none" }' | sort -u)" "" \
	"by up to ten percent, each size to one"
exits 2 "an unknown kind" scripted nothing

done_testing
