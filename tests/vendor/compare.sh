# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# For tests/*_headers.sh, after tests/tap.sh: our declarations of a vendor's
# interface, in backends/vendor, against the vendor's own headers. Both are asked
# by the same program, which tests/vendor/facts.awk makes of ours, so that nobody
# keeps a second list. The test says first, below the top of the tree, which is
# current:
#
#	own=backends/vendor/NAME
#	own_files='FILE...'	in it: what is compared
#	own_flags='-D...'	with which any of them is included
#	own_least=NUMBER	how much is compared with each at least
#	included()		prints the #include lines
#	sources()		prints what is compiled with them: FLAG... FILE...

# as_in FOLDER: the flags with which our declarations are those of the version that
# is there; a vendor whose versions they tell apart has its own one of these
as_in()
{
	:
}

# recent FOLDER: whether it has what our declarations are of
recent()
{
	:
}

# facts FLAG...: what the program prints, sorted, or why it is none
facts()
{
	# shellcheck disable=SC2086
	if $CC -std=gnu11 -D_GNU_SOURCE -w $own_flags "$@" \
		-o "$scratch/facts" "$scratch/facts.c" 2>"$scratch/errors"; then
		"$scratch/facts" | sort
	else
		grep error "$scratch/errors" | sort
	fi
}

# also FOLDER: what else the test asks of the vendor's headers in it
also()
{
	:
}

# differences OWN THEIRS: what those headers say and those declarations do not.
# Leaves in $scratch/theirs all that was compared.
differences()
{
	{
		included
		for file in $own_files; do
			printf '%s/%s\0' "$1" "$file"
		done | xargs -0 awk -f tests/vendor/facts.awk
	} >"$scratch/facts.c"
	# shellcheck disable=SC2046
	facts $(as_in "$2") -isystem "$1" >"$scratch/ours"
	facts -DTHEIRS -isystem "$2" >"$scratch/theirs"
	comm -13 "$scratch/ours" "$scratch/theirs"
}

# compare FOLDER: with the headers in it
compare()
{
	is "$(differences "$own" "$1")" "" "$1 says what our declarations say"
	check "and that is much" \
		[ "$(wc -l <"$scratch/theirs")" -gt "$own_least" ]
}

# compiles FOLDER: all of it, with the headers in it
compiles()
{
	# shellcheck disable=SC2086
	is "$(sources | while read -r words; do
		$CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only -w -Iinclude -Icore \
			-I. -I"$top_builddir" -isystem "$1" $own_flags $words \
			2>&1 | grep error
	done)" "" "all of it compiles with $1"
}

# compare_all NAMED FILE FOLDER...: with our own; with each folder that NAMED
# names, separated by colons; and once with each of the others that has FILE and is
# recent, with which the build compiles. False: there were only our own.
compare_all()
{
	named=$1
	file=$2
	shift 2
	compare "$own"
	compiles "$own"
	any=false
	seen=
	for folder; do
		[ -f "$folder/$file" ] && recent "$folder" || continue
		folder=$(cd "$folder" && pwd -P)
		case $seen: in
		*:"$folder":*) continue ;;
		esac
		seen=$seen:$folder
		any=:
		compare "$folder"
		also "$folder"
	done
	saved_IFS=$IFS
	IFS=:
	# shellcheck disable=SC2086
	set -- $named
	IFS=$saved_IFS
	for folder; do
		any=:
		compare "$folder"
		compiles "$folder"
		also "$folder"
	done
	$any
}

# finds FILE EXPRESSION NAME: a copy of our declarations with that change of
# sed's differs from our own
finds()
{
	rm -rf "$scratch/changed"
	cp -r "$own" "$scratch/changed"
	sed -i "$2" "$scratch/changed/$1"
	check "$3 is found" [ -n "$(differences "$scratch/changed" "$own")" ]
}
