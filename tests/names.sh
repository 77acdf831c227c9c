#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Each enumerator of the public headers has a word: gpumem_ENUM_name() of enum
# gpumem_ENUM. The enums are read from the headers, so that one that is new, or one
# more number of an old one, fails here until it has one.

. "${top_srcdir:-.}/tests/tap.sh"

library=$top_builddir/.libs
[ -f "$library/libgpumem.so" ] || skip_all "there is no $library/libgpumem.so"

# enums: "ENUM NUMBER-NAME..." of each enum of the headers that are included
enums()
{
	printf '#include <gpumem/%s.h>\n' gpumem host record backend |
		$CC -E -P -I"${1:-$top_srcdir/include}" -x c - | tr -s ' \t\n' ' ' |
		grep -oE 'enum gpumem_[a-z_]+ \{[^}]*\}' |
		sed -e 's/^enum gpumem_//' -e 's/ = [^,}]*//g' -e 's/[{},]/ /g' |
		while read -r enum names; do
			case $enum in
			# What a plugin gives the library, and the parts of a
			# recording's file that only its readers see.
			option_kind | slot | record_clock | \
				record_definition_kind | record_short) ;;
			*) echo "$enum" $names ;;
			esac
		done
}

enums >"$scratch/enums"
check "the headers have enums" test -s "$scratch/enums"

# "ENUM NUMBER WORD" of each, by a program that calls what there is for it.
{
	printf '#include <gpumem/%s.h>\n' gpumem record
	echo '#include <stdio.h>'
	echo 'int main(void)'
	echo '{'
	while read -r enum names; do
		for name in $names; do
			case $name in *_COUNT) continue ;; esac
			printf '\tprintf("%s %s %%s\\n", gpumem_%s_name(%s));\n' \
				"$enum" "$name" "$enum" "$name"
		done
		[ "$enum" = call ] ||
			printf '\tprintf("%s none %%s\\n", gpumem_%s_name(%s));\n' \
				"$enum" "$enum" 12345
	done <"$scratch/enums"
	echo '	return 0;'
	echo '}'
} >"$scratch/words.c"
check "each enum has a function" $CC $SANITIZE_CFLAGS -Wall -Werror \
	-Wno-enum-conversion -I"$top_srcdir/include" -o "$scratch/words" \
	"$scratch/words.c" -L"$library" -lgpumem
check "which are called" env \
	LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
	"$scratch/words"
cp "$scratch/.output" "$scratch/words.txt"

is "$(awk '{ word = tolower($2); sub(/^gpumem_/, "", word) }
	$2 == "none" { next }
	$1 == "status" { if ($3 != $2) print; next }
	substr(word, length(word) - length($3) + 1) != $3 ||
		$3 == "unknown" || $3 == "" || seen[$1, $3]++ { print }' \
	"$scratch/words.txt")" "" "each enumerator has its own name as its word"
is "$(sed -n 's/ none / /p' "$scratch/words.txt" |
	grep -vE '^status GPUMEM_UNKNOWN$|^[a-z_]+ unknown$')" "" \
	"a number that is none has none"

# A new one is noticed.
cp -R "$top_srcdir/include" "$scratch/include" && chmod -R u+w "$scratch/include"
sed -i 's/^struct gpumem_memory {/enum gpumem_novel { GPUMEM_NOVEL_A = 1 };\n&/' \
	"$scratch/include/gpumem/gpumem.h"
is "$(enums "$scratch/include" | grep novel)" "novel GPUMEM_NOVEL_A" \
	"an enum that is new is found"

done_testing
