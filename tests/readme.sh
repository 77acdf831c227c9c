#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# README.md: its first program stands within the first screen, compiles and runs
# on the simulated GPU; the other pieces of C compile where what they use is
# declared; the figures that it shows are those of today; its links lead somewhere.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

[ -f "$top_builddir/.libs/libgpumem.so" ] || skip_all "no shared library here"
readme=$top_srcdir/README.md
SCREEN=40

# piece N: the N-th piece of C
piece()
{
	awk -v n="$1" '/^```c$/ { on = ++at == n; next } /^```$/ { on = 0 } on' \
		"$readme"
}

# compiles WHAT FILE ARGUMENT...
compiles()
{
	what=$1
	file=$2
	shift 2
	check "$what compiles" $CC $SANITIZE_CFLAGS -std=gnu11 -Wall -Wextra \
		-Werror -I"$top_srcdir/include" "$file" "$@"
}

# ---- the program -----------------------------------------------------------

is "$(sed ${SCREEN}q "$readme" | awk '/^```c$/ { on = 1 } /^```$/ { on = 0 }
	/^}$/ && on { print "whole" }')" whole "the first screen has a program"
piece 1 >"$scratch/program.c"
compiles "it" "$scratch/program.c" -o "$scratch/program" \
	-L"$top_builddir/.libs" -lgpumem -Wl,-rpath,"$top_builddir/.libs"
exits 0 "it runs" env GPUMEM_BACKEND=host "$scratch/program"
is "$(cat "$scratch/out" "$scratch/err")" "" "without a word"
exits 1 "it fails without a device" env GPUMEM_BACKEND=nonsense \
	"$scratch/program"

# ---- the other pieces --------------------------------------------------------

pieces=$(grep -c '^```c$' "$readme")
n=2
while [ $n -le "$pieces" ]; do
	{
		echo '#include <gpumem/gpumem.h>'
		echo '#include <stdio.h>'
		echo 'void f(void *context, void *device_id, void *queue,'
		echo 'size_t bytes, gpumem_device *device, gpumem_pool *pool,'
		echo 'void *block); void f(void *context, void *device_id,'
		echo 'void *queue, size_t bytes, gpumem_device *device,'
		echo 'gpumem_pool *pool, void *block) { (void)context;'
		echo '(void)device_id; (void)queue; (void)bytes; (void)device;'
		echo '(void)pool; (void)block;'
		piece $n
		echo '}'
	} >"$scratch/piece$n.c"
	compiles "piece $n" "$scratch/piece$n.c" -fsyntax-only \
		-Wno-unused-result
	n=$((n + 1))
done

# ---- figures ---------------------------------------------------------------

if [ -x "$tools/gpumem-replay" ]; then
	exits 0 "the recorded program" "$tools/gpumem-replay" --device=host \
		"$top_srcdir/tests/traces/llama_generate.trace.gz"
	for row in requested allocated reserved; do
		check "peak $row is as it says" grep -qxF \
			"$(grep "^peak $row " "$scratch/out")" "$readme"
	done
else
	skip "the tools are not built" "its figures"
fi

# The trace itself has the peak of the allocator that it was recorded with.
is "$(sed -n 's/.*"peak_reserved_bytes": \([0-9]*\).*/\1/p' \
	"$top_srcdir/docs/plots/native.json")" \
	"$(gzip -dc "$top_srcdir/tests/traces/gpt2_varlen.trace.gz" |
		sed -n '2s/.*peak_reserved=//p')" \
	"what the plot shows of the native allocator has that peak"

# ---- links -----------------------------------------------------------------

grep -o '\]([^)#:]*)' "$readme" | sed 's/^](//; s/)$//' >"$scratch/links"
check "it has links" test -s "$scratch/links"
while read -r link; do
	check "there is $link" test -e "$top_srcdir/$link"
done <"$scratch/links"

done_testing
