# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# For tests/*_headers.sh, after tests/tap.sh: our declarations of a vendor's
# interface, in backends/vendor, against the vendor's own headers. Both are asked
# by the same program, which tests/vendor/facts.awk makes of ours, so that nobody
# keeps a second list. The test says first:
#
#	own=backends/vendor/NAME	below the top of the tree, which is current
#	own_files='FILE...'		in it: what is compared
#	own_flags='-D...'		for both
#	included()			prints the #include lines
#
# A folder of headers is compared by compare FOLDER, and that a difference would
# be found is tested by finds FILE EXPRESSION NAME.

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

# differences OWN THEIRS: what those headers say and our declarations do not.
# Leaves in $scratch/theirs all that was compared.
differences()
{
	{
		included
		for file in $own_files; do
			echo "$1/$file"
		done | xargs awk -f tests/vendor/facts.awk
	} >"$scratch/facts.c"
	facts -isystem "$1" >"$scratch/ours"
	facts -DTHEIRS -isystem "$2" >"$scratch/theirs"
	comm -13 "$scratch/ours" "$scratch/theirs"
}

# compare FOLDER
compare()
{
	is "$(differences "$own" "$1")" "" "$1 says what our declarations say"
	check "and that is much" [ "$(wc -l <"$scratch/theirs")" -gt 50 ]
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

# compare_all NAMED FILE FOLDER...: with each folder that the variable NAMED
# names, separated by colons, and with each of the others that has FILE
compare_all()
{
	named=$1
	file=$2
	shift 2
	for folder; do
		[ ! -f "$folder/$file" ] || named=$named:$folder
	done
	saved_IFS=$IFS
	IFS=:
	# shellcheck disable=SC2086
	set -- $named
	IFS=$saved_IFS
	any=
	for folder; do
		[ -n "$folder" ] || continue
		compare "$folder"
		any=yes
	done
	[ -n "$any" ]
}
