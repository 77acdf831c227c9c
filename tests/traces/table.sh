#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The table of README.md: what each recorded program asks for at its peak, and how
# many times that PyTorch's native allocator took ("-": the trace does not say), and a
# pool takes, on the simulated GPU with default options.
#
#	sh tests/traces/table.sh [GPUMEM-REPLAY]

replay=${1:-gpumem-replay}
folder=$(dirname "$0")
printf '| program | asks for | PyTorch 2.11 takes | gpumem takes |\n|---|---|---|---|\n'
for file in "$folder"/*.trace.gz; do
	name=$(basename "$file" .trace.gz)
	native=$(gzip -dc "$file" | sed -n '2s/.*peak_reserved=//p; 2q')
	env -u GPUMEM_CONF "$replay" -d host:0 --json "$file" |
		sed -n 's/^ *"\(peak_[a-z]*\)_bytes": \([0-9]*\),*$/\1 \2/p' |
		awk -v name="$name" -v native="${native:-0}" '
			{ bytes[$1] = $2 }
			END {
				asked = bytes["peak_requested"]
				theirs = native > 0 ? sprintf("%.2f", native / asked) : "-"
				printf "| `%s` | %.2f GiB | %s | %.3f |\n", name,
					asked / 2 ^ 30, theirs, bytes["peak_reserved"] / asked
			}'
done
