#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# docs/examples/adopter.c, which was written from the documents alone: it
# compiles as a user's program does, and finds everything as they say, with
# virtual memory and without, on the device that the environment names.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

library=$top_builddir/.libs
[ -f "$library/libgpumem.so" ] ||
	skip_all "there is no $library/libgpumem.so"

check "it compiles without a warning" $CC $SANITIZE_CFLAGS -std=c11 \
	-Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" \
	-o "$scratch/adopter" "$top_srcdir/docs/examples/adopter.c" \
	-L"$library" -lgpumem

# adopts DEVICE BACKEND CONF: what GPUMEM_BACKEND says and which device that is
adopts()
{
	exits 0 "it holds on $1 ($2, ${3:-no options})" env \
		GPUMEM_BACKEND="$2" GPUMEM_CONF="$3" \
		LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		"$scratch/adopter"
	is "$(cat "$scratch/err")" "" "without complaint"
	is "$(sed -n 's/^device: //p' "$scratch/out")" "$1" "on that device"
	sed -n '$p' "$scratch/out" >"$scratch/json"
	mv "$scratch/json" "$scratch/out"
	valid_json "and its last line is JSON"
}

adopts host:0 host ''
adopts host:0 host vm:off
adopts host:1 host:1 host.devices:2
adopts host:1 host:7,host:1 host.devices:2,vm:off

done_testing
