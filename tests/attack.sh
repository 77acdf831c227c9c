#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The attack (tests/attack/) has a row for each public function, and what a row
# lets it return stands in the comment of the header.

. "${top_srcdir:-.}/tests/tap.sh"

attack=$top_builddir/tests/attack/attack
[ -x "$attack" ] || skip_all "there is no $attack"

public_functions >"$scratch/declared"
"$attack" --list >"$scratch/rows"
cut -d' ' -f1 "$scratch/rows" | sort >"$scratch/named"
check "the headers declare functions" test -s "$scratch/declared"
is "$(comm -23 "$scratch/declared" "$scratch/named")" "" \
	"every public function has a row"
is "$(comm -13 "$scratch/declared" "$scratch/named")" "" \
	"every row is of a public function"
is "$(uniq -d "$scratch/named")" "" "and of one that has no other"

# FUNCTION WORD...: the words of the comment before each declaration. A function
# is named in its declaration by the first word before a parenthesis.
awk '
	/^\/\*/ { comment = "" }
	/^\/\*/, /\*\// { comment = comment " " $0; next }
	/GPUMEM_API/ { declaration = ""; inside = 1 }
	inside { declaration = declaration " " $0 }
	inside && match(declaration, /gpumem_[a-z_]+\(/) {
		print substr(declaration, RSTART, RLENGTH - 1), comment
		inside = 0
	}
' "$top_srcdir"/include/gpumem/*.h >"$scratch/comments"

# A comment that says "as gpumem_x()" says what that says, and "the same" what
# the comment before it does.
undocumented()
{
	awk '
	FNR == NR {
		text = $0
		if (text ~ /The same (for|with) /)
			text = text " " last
		if (match(text, /[aA]s[ *]+gpumem_[a-z_]+\(/)) {
			as = substr(text, RSTART, RLENGTH - 1)
			sub(/.* /, "", as)
			text = text " " said[as]
		}
		said[$1] = last = text
		next
	}
	{
		for (i = 2; i <= NF; i++)
			if (said[$1] !~ ("[^A-Z_]" $i "([^A-Z_]|$)"))
				print $1, $i
	}' "$scratch/comments" "$scratch/rows"
}
is "$(undocumented)" "" "each status of a row is in the header's comment"

done_testing
