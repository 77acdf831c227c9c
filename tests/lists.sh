#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Nothing is forgotten: each source, header, test, trace and page of the tree
# is in the lists of Makefile.am and the fragments that it includes, and so is
# built, run and distributed. Where each test runs follows from what it needs.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
lists="Makefile.am $(sed -n 's/^include //p' Makefile.am | tr '\n' ' ')"

# Some are taken by a pattern. The lists are words, so their names have no blank.
plain_scratch
for file in $(grep -ohE '[(]srcdir[)]/tests/[^ )]*[*][^ )]*' $lists |
	sed 's/^[^/]*.//'); do
	echo "$file"
done >"$plain/patterns"
lists="$lists $plain/patterns"

# unlisted: those files of the standard input that Makefile.am does not know.
# What a test program is called there is its source without the suffix.
unlisted()
{
	while read -r file; do
		case $file in
		tests/unit/*.c | tests/fuzz/fuzz_*.c) word=${file%.c} ;;
		tests/plugins/*.c)
			grep -qwF "${file%.c}.la" $lists && continue
			word=$file
			;;
		*) word=$file ;;
		esac
		grep -qE "(^|[[:space:]])$word([[:space:]]|\$)" $lists ||
			echo "$file"
	done
}

# missing PATTERN...: files of that name that Makefile.am does not know. In a
# build in the source folder other tests' files lie there too.
missing()
{
	for pattern; do
		find backends bindings core docs include tests tools \( \
			-path '*/link/*' -o -path tests/tmp -o \
			-path tests/home \) -prune -o -type f \
			-name "$pattern" -print
	done | sort | unlisted
}

is "$(missing '*.c' '*.h'  '*.cpp' '*.hpp' '*.cu')" "" \
	"every source and header is listed"
is "$(missing '*.map')" "" "every map of symbols is listed"
is "$(missing '*.sh')" "" "every shell test is listed"
is "$(missing '*.gz')" "" "every trace is listed"
is "$(missing '*.[1-8]')" "" "every page is listed"
is "$(missing '*.py' '*.pyi')" "" "every Python file is listed"
# What a name does not tell from what a build makes, git does.
if files=$(git ls-files -- backends bindings core docs include tests tools \
	2>/dev/null) && [ -n "$files" ]; then
	is "$(echo "$files" | grep -v '/link/' | unlisted)" "" \
		"every file of the repository is listed"
else
	skip "this is no git clone" "every file of the repository is listed"
fi
# What the build makes is in the list of what it cleans.
made=$(sed -n 's/^CLEANFILES += //p' $lists | tr '\n' ' ')
is "$(grep -ohE '[a-z_/0-9-]+\.([ch](pp)?|sh|gz|pyi?|[1-8])( |$)' $lists |
	while read -r file; do
		case $file in
		backends/* | bindings/* | core/* | docs/* | include/* | tests/* | tools/*)
			[ -f "$file" ] || case " $made " in
			*" $file "*) ;;
			*) echo "$file" ;;
			esac
			;;
		esac
	done)" "" "every listed file is there"

# Nobody knows a file by a pattern who does not name it.
# unused: those of the standard input whose name no other file of the tests or
# of the documents has
unused()
{
	while read -r file; do
		name=${file##*/}
		case $name in
		*.h | *.hpp | *.awk) ;;
		*) name=${name%.*} ;;
		esac
		grep -rlwF --exclude="${file##*/}" -- "$name" tests docs .ci \
			CONTRIBUTING.md >/dev/null 2>&1 ||
			echo "$file"
	done
}

check "a pattern has files" test -s "$plain/patterns"
is "$(grep -vE '([.]md|/CMakeLists.txt)$' "$plain/patterns" | unused)" "" \
	"and somebody uses each of them"
is "$(echo "tests/nobody$$.h" | unused)" "tests/nobody$$.h" \
	"one that nobody does is found"

# The vendors' headers are elsewhere.
find backends bindings core docs include tests tools -path tests/tmp -prune -o \
	-name '*.[ch]' -print >"$scratch/files"
is "$(while read -r file; do
	grep -hE '^[[:space:]]*(/\*| \*)' "$file"
done <"$scratch/files" | grep -oE '[A-Za-z_0-9][A-Za-z_0-9/-]*\.[ch]\>' |
	sort -u | while read -r name; do
		grep -qE "(^|/)$name\$" "$scratch/files" || echo "$name"
	done | grep -vx 'nvml\.h')" "" \
	"every file that a comment names is there"

# So is what docs/design.md names.
is "$(grep -oE '`[a-z_]+\(\)`' docs/design.md | tr -d '`()' | sort -u |
	while read -r name; do
		grep -rqw "$name" core include || echo "$name()"
	done)" "" "every function that docs/design.md names is there"
is "$(grep -oE '[a-z_]+(/[a-z_]+)*\.[ch]\>' docs/design.md | sort -u |
	while read -r name; do
		grep -qE "(^|/)$name\$" "$scratch/files" || echo "$name"
	done)" "" "every file that docs/design.md names is there"

# A decision is read in one go, and found in the index.
is "$(awk 'FNR == 61 { print FILENAME }' docs/decisions/[0-9]*.md)" "" \
	"a decision has at most 60 lines"
is "$(for file in docs/decisions/[0-9]*.md; do
	grep -qF "(${file##*/})" docs/decisions/README.md || echo "$file"
done)" "" "the index has each"

# dangling FILE...: what they link to and is not there
dangling()
{
	for file; do
		grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | grep -v '://' |
			while read -r link; do
				[ -e "${file%/*}/$link" ] || echo "$file: $link"
			done
	done
}

is "$(dangling ./*.md $(find docs -name '*.md'))" "" \
	"what a document links to is there"
echo '[here](nowhere.md)' >"$scratch/document.md"
is "$(dangling "$scratch/document.md")" "$scratch/document.md: nowhere.md" \
	"a link that leads nowhere is found"

# SECURITY.md names a test for each claim.
is "$(grep -oE '`[a-z_]+((/[a-z_]+)+|\.sh)`' SECURITY.md | tr -d '`' |
	while read -r name; do
		[ -f "tests/$name" ] || [ -f "tests/$name.c" ] || echo "$name"
	done)" "" "every test that SECURITY.md names is there"

# ---- where a test runs -------------------------------------------------------

# of LIST: the tests in it
of()
{
	awk -v list="$1" '$1 == list { on = 1 } on { print $1 } on && !/\\$/ { exit }' \
		tests/local.mk | grep '\.sh$'
}

# refusing FILE...: those that skip where the library has a sanitizer
refusing()
{
	# The name is in the files, not expanded.
	# shellcheck disable=SC2016
	awk 'FNR == 1 { last = "" }
		last == "[ \"${SANITIZER:-none}\" = none ] ||" && /skip_all/ {
			print FILENAME
		}
		/^need_(no_sanitizer|run_cuda|run_hip)$/ { print FILENAME }
		{ last = $0 }' "$@"
}

# compiled FILE...: those that run the library of the build, or compile as it is
compiled()
{
	grep -lE '[$](SANITIZE_CFLAGS|tools/|top_builddir/(\.libs|tools|tests))' "$@"
}

of plain_tests >"$scratch/plain"
of preload_tests >"$scratch/preload"
of other_tests >"$scratch/other"
for list in plain preload other; do
	check "there are ${list}_tests" test -s "$scratch/$list"
done
# One that says what passed is a test, but for what is a stage of its own.
cat "$scratch/plain" "$scratch/preload" "$scratch/other" >"$scratch/all"
is "$(grep -l '^\. .*/tests/tap\.sh"$' tests/*.sh | grep -vxFf "$scratch/all" |
	while read -r file; do
		grep -qF "${file##*/}" .ci/run tests/fresh.sh || echo "$file"
	done)" "" "and each test is one of these"
is "$(refusing $(cat "$scratch/other"))" "" \
	"what skips where there is a sanitizer is no other test"
refusing $(cat "$scratch/plain") | sort >"$scratch/refusing"
is "$(compiled $(cat "$scratch/plain") | sort | comm -23 - "$scratch/refusing")" \
	"" "and what a sanitizer could see is one"
is "$(refusing $(cat "$scratch/preload") | comm -3 - "$scratch/preload")" "" \
	"gpumem-run's all skip there"

# ThreadSanitizer runs all of the modules that have locks.
awk '$1 == "thread_tests" { on = 1 } on { print $1, $3 } on && !/\\$/ { on = 0 }' \
	tests/unit/local.mk | grep -o 'tests/unit/[a-z_/]*' >"$scratch/threads"
check "tests have threads" test -s "$scratch/threads"
is "$(grep -l pthread_create tests/unit/*/*.c |
	grep -vE '^tests/unit/(device|heap|host|lib|pool)/' | sed 's/\.c$//' |
	grep -vxFf "$scratch/threads")" "" "and those that make some are with them"

done_testing
