#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The programs of random steps on a machine with many processors, which the ones
# that compile gpumem every day do not have; no GPU is needed. For each of KINDS
# ("asan tsan" if unset; "plain" is without a sanitizer): SEEDS seeds of
# tests/model/model, then as many soaks as there are processors for SECONDS, each of
# another seed. All are built in folders below OUT.
#
#	[KINDS="plain"] sh tests/device/random.sh OUT [FIRST-SEED [SEEDS [SECONDS]]]
#
# OUT/random.txt is what to keep. The exit status is 0 if nothing was found.

mkdir -p "${1:?OUT [FIRST [SEEDS [SECONDS]]]}" && out=$(cd "$1" && pwd) || exit 2
first=${2:-1}
seeds=${3:-10000}
seconds=${4:-120}
source=$(cd "$(dirname "$0")/../.." && pwd)
jobs=$(nproc)
failed=0
: >"$out/random.txt"

say()
{
	echo "$*" | tee -a "$out/random.txt"
}

# build KIND: the library and both programs, in $out/KIND
build()
(
	mkdir -p "$out/$1" && cd "$out/$1" || exit 1
	case $1 in
	plain) "$source/configure" -q CFLAGS="-O2 -g1" ;;
	*) "$source/configure" -q "--enable-$1" CFLAGS="-O1 -g1" ;;
	esac &&
		make -s -j"$jobs" &&
		make -s -j"$jobs" tests/model/model tests/soak/soak
) >"$out/$1.txt" 2>&1

# each KIND WHAT COMMAND...: in one process for each processor; $at is its number
each()
{
	kind=$1
	what=$2
	shift 2
	start=$(date +%s)
	at=0
	while [ $at -lt "$jobs" ]; do
		(cd "$out/$kind" && at=$at && "$@" && echo "all ok") \
			>"$out/$kind-$at.txt" 2>&1 &
		at=$((at + 1))
	done
	wait
	bad=$(cat "$out/$kind"-[0-9]*.txt | grep -cE \
		'^not ok|WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:')
	good=$(cat "$out/$kind"-[0-9]*.txt | grep -c '^all ok')
	say "$kind, $what: $good of $jobs processes ok, $bad findings, $(($(date +%s) - start)) s"
	[ "$good" -eq "$jobs" ] && [ "$bad" -eq 0 ] || {
		failed=1
		grep -hE -A 12 '^not ok|WARNING: Thread|ERROR: Addr|runtime error:' \
			"$out/$kind"-[0-9]*.txt | head -n 100 >>"$out/random.txt"
	}
}

slice()
{
	tests/model/model --first=$((first + at * seeds / jobs)) \
		--count=$(((at + 1) * seeds / jobs - at * seeds / jobs))
}

soak()
{
	tests/soak/soak --seconds="$seconds" --seed=$((first + at))
}

for kind in ${KINDS:-asan tsan}; do
	if ! build $kind; then
		say "$kind: does not build"
		failed=1
		continue
	fi
	[ "$seeds" -eq 0 ] || each $kind "seeds $first to $((first + seeds - 1)) of the model" slice
	each $kind "soak of $seconds s" soak
	rm -rf "${out:?}/$kind"
done
exit $failed
