#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# No two files of core/ have one name. In a module at most three need each other in a
# circle: more cannot be read one after the other. A file needs another whose
# function or data its object names. Between modules there is none: tests/floors.sh.

. "${top_srcdir:-.}/tests/tap.sh"

# named FOLDER: "FILE T NAME" for what an object defines, "FILE U NAME" for what it
# wants. The library's own are in .libs where it is shared.
named()
{
	folder=$1
	[ ! -d "$folder/.libs" ] || folder=$folder/.libs
	for object in "$folder"/*.o; do
		# Of a file that is no more, an old build has one still.
		name=$(basename "$object" .o | sed 's/^lib[a-z]*_la-//')
		[ -f "$2/$name.c" ] || continue
		nm "$object" | awk -v file="$name" 'NF == 3 && $2 ~ /[TDBRV]/ {
			print file, "T", $3
		}
		NF == 2 { print file, "U", $2 }'
	done
}

# circles: reads that, and prints each circle of more than three
circles()
{
	awk '$2 == "T" { home[$3] = $1 }
	{ line[NR] = $0; file[$1] }
	END {
		for (i = 1; i <= NR; i++) {
			split(line[i], part)
			if (part[2] == "U" && part[3] in home)
				needs[part[1], home[part[3]]] = 1
		}
		for (by in file)
			for (from in file)
				if ((from, by) in needs)
					for (to in file)
						if ((by, to) in needs)
							needs[from, to] = 1
		for (one in file) {
			count = 0
			text = ""
			for (other in file)
				if (one == other || (((one, other) in needs) &&
				    ((other, one) in needs))) {
					count++
					text = text " " other
					least = count == 1 || other < least \
						? other : least
				}
			if (count > 3 && one == least)
				print count ":" text
		}
	}'
}

is "$(find "$top_srcdir/core" -name '*.[ch]' | sed 's,.*/,,' | sort | uniq -d)" "" \
	"each file of core/ has a name of its own"
for folder in "$top_srcdir"/core/*/; do
	module=$(basename "$folder")
	is "$(named "$top_builddir/core/$module" "$folder" | circles)" "" \
		"$module has no circle of more than three files"
done

# This test can fail.
ring()
{
	for file in "$@"; do
		echo "$file T of_$file"
		shift
		echo "$file U of_${1:-a}"
	done
}
is "$(ring a b c d | circles | wc -w)" 5 "four in a circle are found"
is "$(ring a b c | circles)" "" "three are not too many"
is "$(named "$top_builddir/core/base" "$top_srcdir/core/base" |
	grep -c ' T gm_fail$')" 1 "objects are read"

done_testing
