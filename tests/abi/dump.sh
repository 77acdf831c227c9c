#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# tests/abi_dump.sh INCLUDE OUT: what a compiled program knows of the headers in
# the folder INCLUDE, as libabigail's abidw writes it: the type of each public
# function, the layout of each struct, the numbers of each enumeration and of
# each macro that is a number. Made of the headers alone, so that neither the
# library's private types nor its compiler's flags are in it. C99, because from C11
# on <stddef.h> has types of the compiler's own. CC: the compiler.
set -e

include=$(cd "$1" && pwd)
out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

cat >"$work/headers.c" <<'END'
#include <gpumem/gpumem.h>
#include <gpumem/backend.h>
#include <gpumem/host.h>
#include <gpumem/record.h>
END

# A variable with the type of each function; an enumeration for each macro, but for
# the version, which changes with every release. In one for all of them an
# enumerator that takes the number of another would go unnoticed.
preprocess()
{
	${CC:-cc} -std=gnu99 -E "$@" -I "$include" "$work/headers.c"
}
preprocess -P | tr '\n' ' ' | tr ';' '\n' |
	sed -n 's/^.*visibility("default").*[ *]\(gpumem_[a-z0-9_]*\)(.*/\1/p' |
	sort -u >"$work/functions"
preprocess -dM |
	sed -n -E 's/^#define (GPUMEM_[A-Z0-9_]+) \(?-?(0[xX])?[0-9a-fA-F]+[uUlL]*\)?$/\1/p' |
	grep -v '^GPUMEM_VERSION_' | sort >"$work/macros"
{
	cat "$work/headers.c"
	sed 's/.*/__typeof__(\&&) abi_&;/' "$work/functions"
	sed 's/.*/enum abi_of_& { abi_number_of_& = & } abi_&;/' "$work/macros"
} >"$work/abi.c"
cd "$work"
${CC:-cc} -std=gnu99 -g -fno-eliminate-unused-debug-types -shared -fPIC \
	-I "$include" -o libabi.so abi.c
abidw --load-all-types --type-id-style hash --no-corpus-path \
	--no-comp-dir-path --no-show-locs --no-elf-needed libabi.so >dump
cd "$OLDPWD"
cp "$work/dump" "$out"
