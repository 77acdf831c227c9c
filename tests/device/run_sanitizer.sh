#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# On a machine with an NVIDIA GPU and compute-sanitizer: programs under its memcheck,
# and both with gpumem-run, each around the other.
#
#	sh tests/device/run_sanitizer.sh BUILD OUT
#
# BUILD is a folder in which `make` has been run, OUT a folder for the results:
# OUT/summary.txt has the checks, as TAP, and what memcheck and gpumem-run counted in
# each run; the rest is what they printed. A program has to print the same, end alike
# and have as many errors as under memcheck alone, one that writes where it should
# not too. What there is no time for is left out, and said to be. The exit status is
# 0 if no check failed.
#
# shellcheck disable=SC2086

build=$(cd "${1:?BUILD OUT}" && pwd) || exit 2
mkdir -p "${2:?BUILD OUT}" && out=$(cd "$2" && pwd) || exit 2
source=$(cd "$(dirname "$0")/../.." && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
begin=$(date +%s)
seconds=${SECONDS_ALL:-200} # no run begins after so many
limit=40                    # of a run
failed=0
# Calls that fail are a program's own affair.
memcheck="compute-sanitizer --tool memcheck --target-processes all \
--require-cuda-init no --report-api-errors no --launch-timeout 30 --error-exitcode 9"
export LC_ALL=C PATH="$PATH:$cuda/bin"
summary=$out/summary.txt
{
	date -u +%Y-%m-%d
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1
	compute-sanitizer --version 2>&1 | tail -n 1
} | tee "$summary"

say()
{
	printf '%s\n' "$*" | tee -a "$summary"
}

# is GOT WANT NAME
is()
{
	if [ "$1" = "$2" ]; then
		say "ok - $3"
	else
		say "not ok - $3"
		failed=$((failed + 1))
	fi
}

# counted FILE: of each process that allocated, its bytes at the peak, allocations,
# and how often the pool had a block
counted()
{
	python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    for x in p["devices"]:
        kinds = {k: (v["peak_bytes"], v["allocations"])
                 for k, v in x["kinds"].items() if v["allocations"]}
        print(p["program"].split("/")[-1], kinds, "hits", x["pool"]["hits"],
              "kept", x["pool"]["current_bytes"], end="; ")
' "$1" 2>/dev/null
}

# under RUN COMMAND...: a run; its output, status and errors are in files RUN.*.
# Errors are a number, or "none" where memcheck said nothing.
under()
{
	run=$1
	shift
	timeout -k 5 $limit "$@" >"$out/$run.all" 2>"$out/$run.err" </dev/null
	status=$?
	grep -v '^=========' "$out/$run.all" >"$out/$run.out"
	echo "status $status" >>"$out/$run.out"
	cat "$out/$run.log" "$out/$run.all" 2>/dev/null |
		sed -n 's/^=========.*ERROR SUMMARY: \([0-9,]*\) error.*/\1/p' |
		tail -n 1 >"$out/$run.errors"
	[ -s "$out/$run.errors" ] || echo none >"$out/$run.errors"
	report=
	[ ! -f "$out/$run.json" ] || report=$(counted "$out/$run.json")
	say "# $run: status $status, errors $(cat "$out/$run.errors") $report"
}

# all NAME COMMAND...: its four runs
all()
{
	name=$1
	shift
	under "$name" $memcheck --log-file "$out/$name.log" "$@"
	under "$name.run" "$build/tools/gpumem-run" --json \
		--report="$out/$name.run.json" \
		$memcheck --log-file "$out/$name.run.log" "$@"
	under "$name.no-pool" "$build/tools/gpumem-run" --no-pool --json \
		--report="$out/$name.no-pool.json" \
		$memcheck --log-file "$out/$name.no-pool.log" "$@"
	under "$name.inside" $memcheck --log-file "$out/$name.inside.log" \
		"$build/tools/gpumem-run" --json \
		--report="$out/$name.inside.json" "$@"
}

# same RUN NAME: what it printed, how it ended and what memcheck found
same()
{
	is "$(cat "$out/$1.out")" "$(cat "$out/$2.out")" \
		"$1: prints and ends as it does without"
	is "$(cat "$out/$1.errors")" "$(cat "$out/$2.errors")" \
		"$1: has as many errors"
}

# there NAME: whether there is time for it
there()
{
	[ $(($(date +%s) - begin)) -gt "$seconds" ] || return 0
	say "# $1: left out: no time is left"
	return 1
}

# clean NAME COMMAND...: all four are the same, and memcheck was there
clean()
{
	there "$1" || return 0
	all "$@"
	is "$(grep -cxE 'status (0|9)' "$out/$name.out")" 1 "$name: runs"
	is "$(grep -c '[0-9]' "$out/$name.errors")" 1 "$name: memcheck ran"
	for how in run no-pool inside; do
		same "$name.$how" "$name"
	done
}

# wrong HOW: memcheck finds it in all four
wrong()
{
	there "wrong-$1" || return 0
	all "wrong-$1" "$out/wrong" "$1"
	is "$(grep -c '^[1-9]' "$out/$name.errors")" 1 "$name: memcheck finds it"
	for how in run no-pool inside; do
		same "$name.$how" "$name"
	done
}

if ! command -v compute-sanitizer >/dev/null; then
	say "# left out: there is no compute-sanitizer"
	exit 0
fi
if ${CC:-cc} -w -o "$out/driver" "$source/tests/run/driver.c" \
	"$source/tests/run/driver_memory.c" "$source/tests/run/driver_ways.c" -ldl
then
	clean driver "$out/driver" handle all
fi
if command -v nvcc >/dev/null; then
	nvcc -o "$out/static" "$source/tests/device/run_static.cu" &&
		clean static "$out/static" &&
		is "$(cat "$out/static.errors" 2>/dev/null)" 0 \
			"static: memcheck finds nothing"
	if nvcc -o "$out/wrong" "$source/tests/device/run_wrong.cu"; then
		clean wrong-clean "$out/wrong" clean
		wrong past
		wrong kept
		wrong freed
	fi
else
	say "# left out: there is no nvcc"
fi
say "# $failed failed"
[ $failed -eq 0 ]
