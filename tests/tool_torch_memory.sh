#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# A snapshot of PyTorch's that is larger than the memory that the tools may have: they
# hold what they know of it, not what it says. It is made up here.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool trace
need_tool replay
need_tool report
have_python || skip_all "there is no python3"
[ "${SANITIZER:-none}" = none ] ||
	skip_all "a sanitizer takes more addresses than there may be"

make_snapshot() {
	python3 "$top_srcdir/tests/torch_large.py" "$@"
}

# 500 stacks of 200 frames.
large=$scratch/large.pickle
blocks=$(make_snapshot "$large" 64 --depth 200)
check "there are many blocks" [ "$blocks" -gt 20000 ]

# With 48 MiB of addresses, code and libraries in them.
limited() {
	(
		ulimit -v 49152 && exec "$@"
	)
}

limited "$tools/gpumem-trace" --json "$large" >"$scratch/out"
is $? 0 "gpumem-trace reads 64 MiB with 48"
is "$(value allocations | head -n 1)" "$blocks" "it has all blocks"
limited "$tools/gpumem-trace" --to=trace "$large" >"$scratch/trace"
is $? 0 "so it does where it writes"
is "$(grep -c '^a' "$scratch/trace")" "$blocks" "all of them"
limited "$tools/gpumem-replay" "$large" >"$scratch/replayed" 2>&1
is $? 0 "gpumem-replay does"
gzip -1 "$large"
limited "$tools/gpumem-trace" --to=trace "$large.gz" | cmp -s - "$scratch/trace"
is $? 0 "of what gzip made, too"
head -c 100000 "$large.gz" >"$scratch/cut.gz"
"$tools/gpumem-trace" "$scratch/cut.gz" 2>&1 | grep -q "gzip data ends too early"
is $? 0 "what is cut off is told"
gzip -dc "$large.gz" | "$tools/gpumem-trace" --to=trace - | cmp -s - "$scratch/trace"
is $? 0 "a pipe, which is read once, is held"
rm -f "$large.gz" "$scratch/trace"

# The most of memory that a tool has of it, against the file: what each event takes
# counts most where there are no stacks, and addresses where each is another block's.
# peak FILE TOOL...: MiB.
peak() {
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[2:] + [sys.argv[1]], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)' "$@"
}

for options in "--depth 0" "--depth 0 --again 0 --live 10" "--depth 5" \
	"--depth 10 --stacks 0"; do
	make_snapshot "$large" 64 $options >"$scratch/blocks"
	for tool in report trace; do
		most=$(peak "$large" "$tools/gpumem-$tool" --json)
		check "gpumem-$tool, $options: $most MiB for 64" [ "$most" -le 96 ]
	done
done
done_testing
