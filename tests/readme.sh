#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# README.md: it is two screens, its program compiles and runs on the simulated
# GPU, and says why where it cannot; the pieces of C in the documents behind it
# compile where what they use is declared; the figures are those of today; the
# links lead somewhere.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

[ -f "$top_builddir/.libs/libgpumem.so" ] || skip_all "no shared library here"
readme=$top_srcdir/README.md
SCREEN=65
behind="install.md backends.md tools.md"

# piece FILE N: the N-th piece of C
piece()
{
	awk -v n="$2" '/^```c$/ { on = ++at == n; next } /^```$/ { on = 0 } on' "$1"
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

check "two screens" test "$(wc -l <"$readme")" -le $((2 * SCREEN))
piece "$readme" 1 >"$scratch/program.c"
compiles "it" "$scratch/program.c" -o "$scratch/program" \
	-L"$top_builddir/.libs" -lgpumem -Wl,-rpath,"$top_builddir/.libs"
exits 0 "it runs" env GPUMEM_BACKEND=host "$scratch/program"
is "$(cat "$scratch/out" "$scratch/err")" "" "without a word"
exits 1 "it fails without a device" env GPUMEM_BACKEND=nonsense \
	"$scratch/program"
check "and says why" grep -q nonsense "$scratch/err"

# ---- the other pieces --------------------------------------------------------

for document in $behind; do
	file=$top_srcdir/docs/$document
	n=0
	while [ $((n += 1)) -le "$(grep -c '^```c$' "$file")" ]; do
		{
			echo '#include <gpumem/gpumem.h>'
			echo 'void f(void *context, void *device_id, void *queue,'
			echo 'size_t bytes, gpumem_device *device,'
			echo 'gpumem_pool *pool, void *block);'
			echo 'void f(void *context, void *device_id, void *queue,'
			echo 'size_t bytes, gpumem_device *device,'
			echo 'gpumem_pool *pool, void *block)'
			echo '{ (void)context; (void)device_id; (void)queue;'
			echo '(void)bytes; (void)device; (void)pool; (void)block;'
			piece "$file" $n
			echo '}'
		} >"$scratch/piece.c"
		compiles "piece $n of $document" "$scratch/piece.c" -fsyntax-only \
			-Wno-unused-result
	done
done

# ---- figures ---------------------------------------------------------------

if [ -x "$tools/gpumem-replay" ]; then
	exits 0 "the recorded programs" sh "$top_srcdir/tests/traces/table.sh" \
		"$tools/gpumem-replay"
	is "$(sed 's/^ *//' "$readme" | grep -vxFf - "$scratch/out")" "" \
		"their table is as it says"
	exits 0 "one of them" "$tools/gpumem-replay" --device=host \
		"$top_srcdir/tests/traces/llama_generate.trace.gz"
	is "$(sed -n '/^memory /,/^reserved after/p' "$scratch/out" |
		grep -vxFf "$top_srcdir/docs/tools.md" -)" "" \
		"is as docs/tools.md shows it"
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

# links FILE: from its folder
links()
{
	grep -o '\]([^)#:]*)' "$1" | sed 's/^](//; s/)$//' >"$scratch/links"
	check "${1##*/} has links" test -s "$scratch/links"
	while read -r link; do
		check "there is $link" test -e "$(dirname "$1")/$link"
	done <"$scratch/links"
}

links "$readme"
for document in $behind; do
	links "$top_srcdir/docs/$document"
done

done_testing
