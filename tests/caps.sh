#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# caps.sh [TRACE...]: recorded programs under a limit. What runs at a limit runs
# at every larger one, and at 1.03 times what was requested at the peak, however
# far the device lags behind. `make caps` tries all limits up to 1.3 times the
# peak in steps of 0.5 %, and three passes in steps of 2 %; `make check` some.
#
#	make caps [TRACES='FILE...'] [CONF=OPTIONS]

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool replay
if [ $# -eq 0 ]; then
	for name in $(recorded); do
		set -- "$@" "$top_srcdir/tests/traces/$name.trace.gz"
	done
fi

# bar NAME: in thousandths of the peak; nothing is promised of other programs
bar()
{
	[ -f "$top_srcdir/tests/traces/$1.trace.gz" ] || return 0
	case $1 in
	llm_serving) echo 1060 ;;
	*) echo 1030 ;;
	esac
}

# peak FILE: of the bytes that are requested, by other means
peak()
{
	gzip -dcf "$1" | awk '
		$1 == "a" { size[$2] = $3; live += $3 }
		$1 == "f" { live -= size[$2] }
		live > peak { peak = live }
		END { printf "%.0f\n", peak }'
}

# caps NAME LAG PASSES: those to try, upwards
caps()
{
	if [ "${CAPS-}" = all ]; then
		if [ "$3" -eq 1 ]; then
			seq 1000 5 1300
		else
			seq 1000 20 1300
		fi
		return
	fi
	case $1:$2 in
	gpt2_varlen:inf | llm_serving:inf) bar "$1" ;;
	gpt2_varlen:* | llm_serving:*) ;;
	*) [ "${SANITIZER-none}" != none ] || seq 1000 10 1020; bar "$1" ;;
	esac
}

# plan FILE NUMBER: a line for each run
plan()
{
	name=$(basename "$1" .trace.gz)
	bytes=$(peak "$1")
	for passes in 1 ${CAPS:+3}; do
		for lag in 0 ${CAPS:+1000} inf; do
			for cap in $(caps "$name" $lag $passes); do
				echo "$2 $lag $passes $cap $bytes"
			done
		done
	done | awk '{ printf "%s %s %s %s %.0f\n", $1, $2, $3, $4, $5 * $4 / 1000 }'
}

# work WORKER: every so many-th run of the plan, with its end
work()
{
	awk "NR % $workers == $1" "$scratch/plan" |
		while read -r number lag passes cap limit; do
			"$tools/gpumem-replay" --device host:0 --json \
				--lag="$lag" --passes="$passes" \
				--limit="$limit" "$scratch/trace.$number" \
				>/dev/null 2>"$scratch/err.$1" </dev/null
			end=$?
			grep -q ': out of memory for' "$scratch/err.$1" && end=oom
			echo "$number $lag $passes $cap $end"
		done >"$scratch/ends.$1"
}

GPUMEM_CONF=${CONF-}
export GPUMEM_CONF
workers=1
[ "${CAPS-}" != all ] || workers=$(nproc)
number=0
for file; do
	number=$((number + 1))
	basename "$file" .trace.gz >"$scratch/name.$number"
	cat "$file" >"$scratch/trace.$number"
	plan "$file" $number
done >"$scratch/plan"
for worker in $(seq 0 $((workers - 1))); do
	work "$worker" &
done
wait
cat "$scratch"/ends.* | sort -k1,1n -k3,3n -k2,2 -k4,4n >"$scratch/ends"

check "every run was tried" \
	test "$(wc -l <"$scratch/plan")" -eq "$(wc -l <"$scratch/ends")"
cut -d' ' -f1-3 "$scratch/ends" | uniq >"$scratch/groups"
while read -r number lag passes; do
	name=$(cat "$scratch/name.$number")
	what="$name, $lag events behind, passes: $passes"
	grep "^$number $lag $passes " "$scratch/ends" >"$scratch/group"
	first=$(awk '$5 == 0 { print $4; exit }' "$scratch/group")
	is "$(awk '$5 == 0 { ran = 1 } ran && $5 != 0 { print $4 }
		$5 != 0 && $5 != "oom" { print $4, "ended with", $5 }' \
		"$scratch/group")" "" \
		"$what: runs from ${first:-no limit tried} on"
	at=$(bar "$name")
	[ -z "$at" ] || [ "$passes" -ne 1 ] || check "and at $at" \
		test -n "$first" -a "${first:-0}" -le "$at"
done <"$scratch/groups"

done_testing
