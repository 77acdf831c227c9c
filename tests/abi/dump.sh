#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What a compiled program knows of the public headers: the type of each public
# function, the layout of each struct, the numbers of each enumeration and of each
# macro that is a number. Made of the headers alone, so that neither the library's
# private types nor its compiler's flags are in it.
#
#	sh tests/abi/dump.sh declare INCLUDE OUT   of the headers in that folder, as
#	                                           C that names no header of ours
#	sh tests/abi/dump.sh write IN OUT          of that C, as libabigail's abidw
#	                                           writes it
#
# The C is what is kept: it depends on no compiler and no libabigail, and two of
# one kind of the second can be compared. C99, because from C11 on <stddef.h> has
# types of the compiler's own. CC: the compiler.
set -e

out=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# preprocess OPTION...: the headers in $include; what they include of the compiler
# stands in the C once more, and not what that says.
preprocess()
{
	${CC:-cc} -std=gnu99 -E -nostdinc "$@" -I "$include" -I "$work/empty" \
		"$work/headers.c"
}

# A variable with the type of each function; an enumeration for each macro, but for
# the version, which changes with every release. In one for all of them an
# enumerator that takes the number of another would go unnoticed.
declare_all()
{
	mkdir "$work/empty"
	for header in stdbool stddef stdint; do
		echo "#include <$header.h>"
		: >"$work/empty/$header.h"
	done
	for header in gpumem backend host record; do
		echo "#include <gpumem/$header.h>"
	done >"$work/headers.c"
	preprocess -P >"$work/plain"
	tr '\n' ' ' <"$work/plain" | tr ';' '\n' |
		sed -n 's/^.*visibility("default").*[ *]\(gpumem_[a-z0-9_]*\)(.*/\1/p' |
		sort -u >"$work/functions"
	preprocess -dM >"$work/defined"
	sed -n -E 's/^#define (GPUMEM_[A-Z0-9_]+) (\(?-?(0[xX])?[0-9a-fA-F]+[uUlL]*\)?)$/\1 \2/p' \
		"$work/defined" | grep -v '^GPUMEM_VERSION_' | sort >"$work/macros"
	cat "$work/plain"
	sed 's/.*/__typeof__(\&&) abi_&;/' "$work/functions"
	sed 's/\([^ ]*\) \(.*\)/enum abi_of_\1 { abi_number_of_\1 = \2 } abi_\1;/' \
		"$work/macros"
}

case $1 in
declare)
	include=$(cd "$2" && pwd)
	declare_all >"$work/abi.c"
	;;
write)
	cp "$2" "$work/kept.c"
	cd "$work"
	${CC:-cc} -std=gnu99 -g -fno-eliminate-unused-debug-types -shared -fPIC \
		-o libabi.so kept.c
	abidw --load-all-types --type-id-style hash --no-corpus-path \
		--no-comp-dir-path --no-show-locs --no-elf-needed libabi.so >abi.c
	cd "$OLDPWD"
	;;
*) exit 2 ;;
esac
cp "$work/abi.c" "$out"
