#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# ./quickstart --help, and what it does not know: it says how it is used, and
# neither installs nor builds anything. tests/fresh.sh tries what it does.

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

done_testing
