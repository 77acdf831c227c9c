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

# wide FILE...: each line of more than 80 columns that could be broken.
wide()
{
	awk '{
		line = $0
		while ((at = index(line, "\t")))
			line = substr(line, 1, at - 1) \
				substr("        ", 1, 8 - (at - 1) % 8) \
				substr(line, at + 1)
		rest = $0
		gsub(/^[ \t]+|[ \t]+$/, "", rest)
	}
	length(line) > 80 && rest ~ /[ \t]/ && rest !~ /^(#error|FUZZ_SEED)/ {
		print FILENAME ":" FNR
	}' "$@"
}

is "$(wide $(find backends bindings core docs include tests tools -path tests/tmp \
	-prune -o -name '*.[ch]' -print -o -name '*.[ch]pp' -print))" "" \
	"a line of C has 80 columns"
printf '\t\t\t%060d\n' 0 >"$scratch/code.c"
is "$(wide "$scratch/code.c")" "" "one that cannot be broken may have more"
printf '\t\t\t%055d 0\n\t\t\t%054d 0\n' 0 0 >"$scratch/code.c"
is "$(wide "$scratch/code.c")" "$scratch/code.c:1" "one of 81 is found"

# Scripts for machines with a GPU are run by no test, and read by this one.
# unread FILE...: what a shell says of those that it cannot read.
unread()
{
	for file; do
		sh -n "$file" 2>&1
	done
}

is "$(unread quickstart $(find bindings docs tests tools -path tests/tmp -prune -o \
	-name '*.sh' -print))" "" "a shell can read every script"
printf "awk '# the driver's own\n(1)'\n" >"$scratch/code.sh"
is "$(unread "$scratch/code.sh" | head -n 1 | grep -c .)" 1 "one that it cannot is found"

# A backend that asks for an option that none of its rows has is given none.
# unknown FILE...: the keys that are read and have no row.
unknown()
{
	sed -n 's/.*[>.]option("\([^"]*\)".*/\1/p' "$@" | sort -u |
		while read -r key; do
			grep -q "{\"$key\"," "$@" || echo "$key"
		done
}

for backend in cuda hip opencl; do
	is "$(unknown backends/$backend/*.[ch] backends/common/*.[ch])" "" \
		"$backend reads options that it has"
done
echo 'services->option("x.librray", path, sizeof(path)); {"x.library", "",' \
	>"$scratch/code.c"
is "$(unknown "$scratch/code.c")" x.librray "a misspelt key is found"

done_testing
