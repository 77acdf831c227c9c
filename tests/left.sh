#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Nothing that a test made is left in a build folder after `make distclean`, which
# distcheck asks of a few tests only. The folder can be thrown away afterwards, so
# `make check` does not run this: .ci/run does for one that has run all tests, and
# tests/fresh.sh on a bare system. What ./quickstart itself keeps may stay.
#
#	sh tests/left.sh FOLDER

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir/${1:?the folder of a build}" || exit 1
[ -f Makefile ] || skip_all "nothing is configured here"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
check "make distclean" make distclean
is "$(find . \( -path ./cache -o -path ./pyopencl \) -prune -o -type f \
	! -regex '\./\([a-z]+\.txt\|gpumem-[^/]*\.tar\.gz\)' -print)" \
	"" "leaves nothing that a test made"

done_testing
