#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What CONTRIBUTING.md says of code and a text search can tell.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# bare FILE...: each line that takes a status for a condition.
bare()
{
	awk '{
		line = $0
		gsub(/[!=]= status/, "", line)
	}
	line ~ /(if|while) \(status\)|!status[^a-z_]|[^a-z_]status (&&|\|\||\?)/ ||
	line ~ /(&&|\|\|) status[);]|; status;/ {
		print FILENAME ":" FNR ": " $0
	}' "$@"
}

is "$(bare $(find core backends tools -name '*.[ch]'))" "" \
	"a status is compared with GPUMEM_OK"

# This test can fail.
for line in 'if (status)' 'if (!status && more)' 'return status ? status : 0;' \
	'while (status) {' 'for (; i < count && status; i++)' \
	'if (any || status)'; do
	echo "$line" >"$scratch/code.c"
	is "$(bare "$scratch/code.c" | grep -c .)" 1 "found: $line"
done
for line in 'status = fn(status);' 'if (last == status && more)' \
	'if (is_bad(status))'; do
	echo "$line" >"$scratch/code.c"
	is "$(bare "$scratch/code.c")" "" "right: $line"
done

done_testing
