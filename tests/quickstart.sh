#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# ./quickstart --help, and what it does not know: it says how it is used, and
# neither installs nor builds anything. What it says at its end, and to a user who
# may not install anything. tests/fresh.sh tries what it does.

. "${top_srcdir:-.}/tests/tap.sh"

# A copy alone in a folder: what it makes would be seen beside it. The commands
# that it could install or build with do nothing here but leave a note.
alone=$scratch/alone
notes=$scratch/notes
mkdir -p "$alone" "$scratch/bin" || exit 1
cp "$top_srcdir/quickstart" "$alone/quickstart" || exit 1
for command in apt-get sudo make autoreconf gcc mkdir; do
	printf '#!/bin/sh\necho "%s $*" >>"%s"\nexit 1\n' "$command" "$notes" \
		>"$scratch/bin/$command"
	chmod +x "$scratch/bin/$command"
done

quickstart()
{
	PATH=$scratch/bin:$PATH sh "$alone/quickstart" "$@"
}

# usage FILE: both commands are in it, and the last sentence.
usage()
{
	grep -q '^From a fresh clone' "$1" &&
		grep -q '\./quickstart  ' "$1" &&
		grep -q '\./quickstart check  ' "$1" &&
		grep -q 'exit status is 0 if none failed\.$' "$1" &&
		! grep -q '^#' "$1"
}

for option in --help -h; do
	exits 0 "quickstart $option" quickstart "$option"
	check "says how it is used" usage "$scratch/out"
	is "$(cat "$scratch/err")" "" "and complains of nothing"
done

# refused ARGUMENT...
refused()
{
	exits 2 "quickstart $*: exit status 2" quickstart "$@"
	is "$(head -n 1 "$scratch/err")" \
		"quickstart: it takes \"check\" or nothing, not \"$*\"" \
		"the argument is named"
	check "with how it is used" usage "$scratch/err"
	is "$(cat "$scratch/out")" "" "and nothing on standard output"
}

refused chekc
refused --hlep
refused check twice
refused check plain twice
refused plain
refused ""

is "$(ls -A "$alone")" quickstart "nothing was made beside it"
is "$(cat "$notes" 2>/dev/null)" "" "no command was run for it"

# ---- a user without root ---------------------------------------------------

user=$scratch/user
mkdir -p "$user/bin" || exit 1
cp "$top_srcdir/quickstart" "$user/quickstart" || exit 1
stub()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"
}
for command in gcc sudo apt-get; do
	stub "$user/bin/$command" 'exit 1'
done
stub "$user/bin/id" 'echo 1000'
exits 1 "a user who may not install" env PATH="$user/bin:$PATH" \
	sh "$user/quickstart" check
check "is told how" grep -qE \
	'^\(as root: .* apt-get install --no-install-recommends .*gcc' \
	"$scratch/err"
is "$(grep -c find "$scratch/err")" 0 "and nothing of a folder that is missing"
is "$(tail -n 1 "$scratch/out")" "0 passed, 1 failed, 0 skipped" \
	"it is one failure"

# ---- what it says at its end -----------------------------------------------

# A tree that is built at once, by commands that do nothing.
built=$scratch/a\ b
mkdir -p "$built/bin" "$built/build/tools" || exit 1
cp "$top_srcdir/quickstart" "$built/quickstart" || exit 1
for command in gcc make autoconf automake autoreconf libtoolize pkg-config; do
	stub "$built/bin/$command" 'exit 0'
done
stub "$built/configure" 'exit 0'
stub "$built/build/tools/gpumem-run" 'exit 0'

# ends GPUS REPLAY: gpumem-probe says that, gpumem-replay runs that
ends()
{
	stub "$built/build/tools/gpumem-probe" \
		"printf 'backends\\n  x\\n\\nGPUs here\\n$1\\n\\nhost:0\\n'"
	stub "$built/build/tools/gpumem-replay" "$2"
	exits 0 "quickstart" env -u GPUMEM_BACKEND PATH="$built/bin:$PATH" \
		sh "$built/quickstart"
}

if [ -f /usr/include/stdio.h ]; then
	ends '  none  there is no /dev/x' 'exit 0'
	check "a machine without a GPU is called so" \
		grep -q '^==> without a GPU: ' "$scratch/out"
	check "what is next in C" \
		grep -qF "in C         cc program.c -I\"$built/include\"" \
		"$scratch/out"
	check "in Python" grep -q 'in Python    pip install ' "$scratch/out"
	check "and for any program" \
		grep -q 'any program  .*/build/tools/gpumem-run" PROGRAM' \
		"$scratch/out"
	ends '  /dev/nvidia0  cannot be used: apt install x' \
		'[ "$GPUMEM_BACKEND" = host ] || exit 3'
	is "$(grep -c 'without a GPU' "$scratch/out")" 0 \
		"one with a GPU that is not used is not"
	is "$(sed -n '/^==> the GPUs of this machine$/,/^$/p' "$scratch/out" |
		sed -n 2p)" "  /dev/nvidia0  cannot be used: apt install x" \
		"what helps is said at the end"
	ends '  /dev/nvidia0  used by cuda (2 devices)\n  /dev/nvidia1  used by cuda (2 devices)' \
		'exit 0'
	is "$(sed -n '/^==> the GPUs of this machine$/,/^==> what/p' \
		"$scratch/out" | grep -c '^  /dev/nvidia[01]  used by cuda')" 2 \
		"each of several is said"
else
	skip "there is no stdio.h" "what it says at its end"
fi

done_testing
