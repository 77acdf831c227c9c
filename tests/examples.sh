#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The short programs of docs/examples: each is at most a page long, compiles
# without a warning, and says on the simulated GPU what it is meant to show, with
# virtual memory and without. So does the manager for ArrayFire, as a stand-in for
# that calls it. Plugins and those with OpenCL have tests of their own.

. "${top_srcdir:-.}/tests/tap.sh"

library=$top_builddir/.libs
[ -f "$library/libgpumem.so" ] ||
	skip_all "there is no $library/libgpumem.so"
examples=$top_srcdir/docs/examples
PAGE=80

# compiles NAME
compiles()
{
	check "$1.c is shorter than $PAGE lines" \
		[ "$(wc -l <"$examples/$1.c")" -lt $PAGE ]
	check "$1.c compiles" $CC $SANITIZE_CFLAGS -std=gnu11 -Wall -Wextra \
		-Wpedantic -Wshadow -Werror -I"$top_srcdir/include" \
		-o "$scratch/$1" "$examples/$1.c" -L"$library" -lgpumem \
		-Wl,-rpath,"$library"
}

# says NAME CONF: what is in $scratch/want
says()
{
	exits 0 "$1 runs ($2)" env GPUMEM_BACKEND=host GPUMEM_CONF="$2" \
		"$scratch/$1"
	is "$(cat "$scratch/out")" "$(cat "$scratch/want")" \
		"and shows what it is meant to"
	is "$(cat "$scratch/err")" "" "without complaint"
}

# shows NAME: the same with virtual memory and without
shows()
{
	compiles "$1"
	says "$1" vm:on
	says "$1" vm:off
}

# fails NAME: without a device it says so, and what is missing
fails()
{
	exits 1 "$1 fails without a device" env GPUMEM_BACKEND=nonsense \
		"$scratch/$1"
	check "with the library's sentence" grep -q 'nonsense' "$scratch/err"
}

cat >"$scratch/want" <<'WANT'
host:0: gpumem simulated GPU
4 blocks of 16 MiB:   64 MiB requested,  64 MiB reserved
freed:                 0 MiB requested,  64 MiB reserved
trimmed:               0 MiB requested,   0 MiB reserved
64 MiB went back to the driver
WANT
shows hello_pool
fails hello_pool

cat >"$scratch/want" <<'WANT'
the next block is the same memory
compute wrote 1, then 2
WANT
shows stream_order
fails stream_order

cat >"$scratch/want" <<'WANT'
dropping result 0
dropping result 1
dropping result 2
96 MiB fit, 3 results are left
dropping result 3
dropping result 4
dropping result 5
160 MiB would fit: pool "model" on host:0: its hard limit of 256.00 MiB is reached: out of memory for a request of 250.00 MiB; requested 96.00 MiB, allocated 96.00 MiB, active 96.00 MiB, reserved 192.00 MiB, limit 256.00 MiB, largest free block 64.00 MiB, fragmentation 33 %; free: 32.00 MiB cached by threads, 64.00 MiB in use by streams; device: 63.81 GiB free of 64.00 GiB, outside gpumem 0 bytes; free blocks, or raise the pool's limit
WANT
compiles out_of_memory
says out_of_memory vm:on
# What was freed lies in segments, which do not join.
sed -i 's/block 64.00 MiB, fragmentation 33 %/block 32.00 MiB, fragmentation 67 %/' \
	"$scratch/want"
says out_of_memory vm:off
fails out_of_memory

# By descriptors of pages, and by names of segments.
echo "the child reads: hello" >"$scratch/want"
shows share
says share vm:on,host.share_ipc:off
says share vm:off,host.share_fd:off

exits 1 "share fails where nothing can be shared" env GPUMEM_BACKEND=host \
	GPUMEM_CONF=host.share_ipc:off,host.share_fd:off "$scratch/share"

# ---- ArrayFire ---------------------------------------------------------------

# Against ArrayFire's headers where they are, else against a stand-in, which also
# calls it.
strict="-std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Werror"
if echo '#include <af/memory.h>' | $CC -E -x c - >/dev/null 2>&1; then
	for file in manager state; do
		# shellcheck disable=SC2086
		check "arrayfire_$file.c compiles against ArrayFire" \
			$CC $strict -fsyntax-only -I"$top_srcdir/include" \
			"$examples/arrayfire_$file.c"
	done
else
	skip "ArrayFire is not installed" "the manager compiles against it"
fi
# shellcheck disable=SC2086
check "arrayfire_manager.c compiles" $CC $SANITIZE_CFLAGS $strict \
	-DCUDA_BACKEND='"host"' -DOPENCL_BACKEND='"host"' \
	-I"$top_srcdir/include" -I"$examples" \
	-I"$top_srcdir/tests/cxx/stand-in" -o "$scratch/arrayfire" \
	"$top_srcdir/tests/cxx/arrayfire.c" \
	"$top_srcdir/tests/cxx/stand-in/arrayfire.c" \
	"$examples/arrayfire_manager.c" "$examples/arrayfire_state.c" \
	-L"$library" -lgpumem -Wl,-rpath,"$library" -pthread
for vm in on off; do
	exits 0 "and does what ArrayFire demands, vm:$vm" \
		env GPUMEM_CONF=vm:$vm "$scratch/arrayfire"
	[ "$tap_got" -eq 0 ] || diag "$(grep -A 4 '^not ok' "$scratch/out")"
	check "to its end" grep -q '^1\.\.[1-9]' "$scratch/out"
	check "its report is the pool's" grep -qx 'pool: arrayfire' \
		"$scratch/out"
done

done_testing
