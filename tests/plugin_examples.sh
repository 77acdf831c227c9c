#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The plugins of docs/examples: compiled with nothing but the headers that are
# installed, they conform, and pools of their devices work.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

[ -f "$top_builddir/Makefile" ] || skip_all "nothing is configured here"
need_tool conform
plain_scratch
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
trace=$top_srcdir/tests/traces/lora_recompute.trace.gz

check "the headers are installed" make -C "$top_builddir" \
	install-gpumemincludeHEADERS DESTDIR="$plain/root"
headers=$(find "$plain/root" -name backend.h)
includedir=${headers%/gpumem/backend.h}

# compiles STANDARD NAME
compiles()
{
	check "plugin_$2.c compiles as $1" $CC $SANITIZE_CFLAGS -std=$1 \
		-Wall -Wextra -Wpedantic -Werror -O2 -shared -fPIC \
		-I"$includedir" -o "$scratch/$2.so" \
		"$top_srcdir/docs/examples/plugin_$2.c"
}

# conforms NAME LINES: what it lacks is skipped, all else holds
conforms()
{
	exits 0 "$1 conforms" "$tools/gpumem-conform" "$scratch/$1.so"
	check "with no failure" grep -q ' passed, 0 failed, ' "$scratch/out"
	is "$(sed -n 's/^ok [0-9]* - \([a-z ]*\) # SKIP.*/\1/p' \
		"$scratch/out" | sort -u)" \
		"$(printf '%s\n' "$2" | sort)" \
		"and skips only what it lacks"
	is "$(cat "$scratch/err")" "" "without complaint"
}

# replays NAME: a recorded program on a pool of its device
replays()
{
	exits 0 "a pool of $1 works" env GPUMEM_PLUGIN_PATH="$scratch" \
		"$tools/gpumem-replay" --device="$1:0" --scale=1/1024 \
		--check=1000 --json "$trace"
	json_is 'd["device"]' "$1:0" "on its device"
	json_is 'sum(c["failed"] for c in d["calls"].values())' 0 \
		"with no call that fails"
}

for name in minimal memfd; do
	compiles c11 $name
	compiles gnu11 $name
done

# What neither has.
lacks="adopted contexts
capture
managed memory
objects
options
order between streams
pages in other processes
peers
pinned memory
processes
raw allocations in other processes
streams"

conforms minimal "$lacks
fill and copy
mapping
virtual memory"
replays minimal
json_is 'd["calls"]["alloc"]["count"] > 0 and d["calls"]["map"]["count"] == 0' \
	True "in segments"

# Where a page is mapped it maps another: nobody may ask for that.
conforms memfd "$lacks
a page at two addresses
map takes all pages or none"
replays memfd
json_is 'd["calls"]["map"]["count"] > 0 and d["calls"]["alloc"]["count"] == 0' \
	True "in pages"
json_is 'd["moved_bytes"] > 0 and d["calls"]["unmap"]["count"] > 0' True \
	"that were moved"

done_testing
