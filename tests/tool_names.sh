#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Nothing that others name commands a terminal: drivers, devices, processes,
# options, files and arguments, in the tools' text, messages and log. Programs
# that read JSON get all of it.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool probe
plugin=$top_builddir/tests/plugins/.libs/rude.so
esc=$(printf '\033')
shown='\\x1b\[2J\\x1b\]0;x\\x07\\x9bA\\x7f\\xe2\\x80\\xae\\xff'

# only_text NAME: the last `exits` printed nothing but printable ASCII, the one
# letter that is to stay, and line ends
only_text()
{
	letter=$(printf '\303\274')
	is "$(sed "s/$letter//g" "$scratch/out" "$scratch/err" |
		LC_ALL=C tr -d '\012\040-\176' | od -An -c)" "" \
		"$1: nothing for a terminal"
}

rude()
{
	env GPUMEM_PLUGIN_PATH="${plugin%/*}" GPUMEM_BACKEND=rude "$@"
}

if [ -f "$plugin" ]; then
	exits 0 "a device with rude names" rude "$tools/gpumem-probe" \
		--device=rude:0
	only_text "its names"
	for name in product note; do
		check "shows the $name" \
			grep -qE "^  $name +$name $shown" "$scratch/out"
	done
	check "shows the UUID" grep -qE "^  UUID +$shown" "$scratch/out"
	check "shows the PCI place" grep -qE '^  PCI +\\x1b\[2J\\xff$' \
		"$scratch/out"
	check "shows the process" \
		grep -qE '^  held by +4 KiB +process 42 +process$' "$scratch/out"
	check "and its name" grep -qE "^ +$shown" "$scratch/out"
	exits 0 "in the list" rude "$tools/gpumem-probe" --list -b rude
	only_text "the list"
	check "shows the product" grep -q "^rude:0: product $shown" \
		"$scratch/out"
	exits 0 "its driver's version" rude "$tools/gpumem-probe" -b rude
	only_text "the version"
	exits 0 "its options" rude "$tools/gpumem-probe" --options
	only_text "the options"
	check "shows the default" grep -qE "^rude.text +$shown" "$scratch/out"
	exits 0 "as JSON" rude "$tools/gpumem-probe" --device=rude:0 --json
	only_text "JSON"
	valid_json "it is JSON"
	json_is "d['backends'][0]['devices'][0]['pci']" '\x1b[2J\xff' \
		"what is no UTF-8 is there as it is shown"
	exits 0 "its log" rude env GPUMEM_CONF=log:warn "$tools/gpumem-probe"
	only_text "the log"
	check "says what the plugin said" grep -q "a plugin says $shown" \
		"$scratch/err"
	exits 3 "its refusal" rude env "GPUMEM_CONF=rude.refuse:${esc}[31mwhy" \
		"$tools/gpumem-probe" -b rude
	only_text "the reason"
	check "says it" grep -q "x1b.31mwhy $shown" "$scratch/err"
	if [ -x "$tools/gpumem-conform" ]; then
		rude "$tools/gpumem-conform" "$plugin" >"$scratch/out" \
			2>"$scratch/err"
		only_text "gpumem-conform"
		check "shows the version" grep -q "driver version $shown" \
			"$scratch/out"
	fi
	exits 0 "among others" rude env "GPUMEM_CONF=rude.refuse:${esc}[31mwhy" \
		"$tools/gpumem-probe"
	only_text "the reasons of all"
else
	skip "the plugins are not built as files" "a device with rude names"
fi

# ---- what the user names ----------------------------------------------------

for key in "l${esc}[2Jimit:1" "limit:1${esc}[2J"; do
	GPUMEM_CONF=$key,log:warn "$tools/gpumem-probe" \
		>"$scratch/out" 2>"$scratch/err"
	only_text "a bad option"
	check "is told" grep -q 'x1b\[2J' "$scratch/err"
done
exits 0 "an option's value" with "host.fail:alloc@1:lost,cuda.library:${esc}[2J" \
	"$tools/gpumem-probe" --options
only_text "its value"
exits 2 "a device named so" "$tools/gpumem-probe" --device="a${esc}[2J"
only_text "a device"
exits 3 "in an argument of its own" "$tools/gpumem-probe" -d "a${esc}[2J"
only_text "an argument"
check "is told" grep -q 'a\\x1b\[2J' "$scratch/err"
exits 2 "an option named so" "$tools/gpumem-probe" "--x${esc}[2J"
only_text "an option"

if [ -x "$tools/gpumem-replay" ]; then
	trace="$scratch/${esc}[2J$(printf '\377').trace"
	printf 'a 1 4096 0\nf 1\n' >"$trace"
	exits 0 "a trace named so" "$tools/gpumem-replay" "$trace"
	only_text "its name"
	exits 0 "as JSON" "$tools/gpumem-replay" --json "$trace"
	valid_json "it is JSON"
	printf 'a 1 4096 0\nf \033[2J\n' >"$trace"
	exits 1 "a trace with such content" "$tools/gpumem-replay" "$trace"
	only_text "its content"
	exits 1 "a trace that is not there" "$tools/gpumem-replay" "$trace.gz"
	only_text "a name of nothing"
fi
if [ -x "$tools/gpumem-conform" ]; then
	exits 3 "a backend named so" "$tools/gpumem-conform" "a${esc}[2J"
	only_text "its name"
	check "says which" grep -q 'a\\x1b\[2J' "$scratch/out"
fi

done_testing
