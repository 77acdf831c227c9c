#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The pages of the tools name every option of --help and say how a tool exits,
# and all pages are well-formed. What the pages of the interface say is tested
# in man_api.sh.

. "${top_srcdir:-.}/tests/tap.sh"

pages=$top_srcdir/docs/man

for source in "$top_srcdir"/tools/gpumem-*.c; do
	tool=${source##*/gpumem-}
	tool=${tool%.c}
	page=$pages/gpumem-$tool.1
	program=$top_builddir/tools/gpumem-$tool
	check "gpumem-$tool has a page" test -s "$page"
	check "which says how it exits" grep -q '^\.S[Hh] EXIT STATUS' "$page"
	if [ ! -x "$program" ]; then
		skip "gpumem-$tool was not built" "which names every option"
		continue
	fi
	missing=$("$program" --help 2>&1 | grep -oE -e '--[a-z][a-z-]+' |
		sort -u | while read -r option; do
		# As written in man(7), \-\-json, or in mdoc(7), Fl -json.
		tr -d '\\' <"$page" |
			grep -qE -e "(Fl -|--)${option#--}([^a-z-]|\$)" ||
			echo "$option"
	done)
	is "$missing" "" "which names every option"
done

# The page that a reader begins with leads to all others, by subject and in SEE
# ALSO; and all say whose they are, not BSD's.
for page in "$pages"/*.[1-8]; do
	name=${page##*/}
	echo "Xr ${name%.*} ${name##*.}"
done | grep -vx 'Xr gpumem 3' | sort >"$scratch/all"
sed -n 's/^\.It \(Xr .*\)/\1/p' "$pages/gpumem.3" | sort >"$scratch/listed"
is "$(comm -3 "$scratch/all" "$scratch/listed")" "" \
	"every page is in the lists of gpumem(3)"
sed -n '/^\.Sh SEE ALSO/,$s/^\.\(Xr [^,]*[^, ]\).*/\1/p' "$pages/gpumem.3" |
	sort >"$scratch/listed"
is "$(comm -3 "$scratch/all" "$scratch/listed")" "" "and in its SEE ALSO"
for line in '.Os gpumem' '.ds doc-volume-operating-system gpumem'; do
	is "$(grep -Lxe "$line" "$pages"/*.[1-8])" "" "every page says $line"
done

for page in "$pages"/*.[1-8]; do
	if command -v mandoc >/dev/null 2>&1; then
		is "$(mandoc -T lint -W warning "$page" 2>&1)" "" \
			"${page##*/} is well-formed"
	else
		skip "mandoc is not installed" "${page##*/} is well-formed"
	fi
done

done_testing
