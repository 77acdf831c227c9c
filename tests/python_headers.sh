#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# With which headers the Python package makes a plugin: the vendor's where they
# are and new enough, and else our own declarations. It is never left out for
# want of headers.

. "${top_srcdir:-.}/tests/tap.sh"

top=$(cd "$top_srcdir" && pwd)
export PYTHONDONTWRITEBYTECODE=1
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
	skip_all "no python3 of 3.9 or later"

# flags BACKEND PLACE...: those that are taken if headers may be in these places
flags()
{
	PYTHONPATH=$top/bindings/python python3 -c '
import sys
import gpumem_build as build
name, *places = sys.argv[1:]
build.PLUGINS[name] = (places, *build.PLUGINS[name][1:])
print(*build.include_flags(name))' "$@"
}

# of BACKEND PART: of its row
of()
{
	PYTHONPATH=$top/bindings/python python3 -c '
import sys
import gpumem_build as build
print(build.PLUGINS[sys.argv[1]][int(sys.argv[2])])' "$@"
}

for folder in "$top"/backends/vendor/*; do
	backend=${folder##*/}
	is "$(flags "$backend" /nonexistent '$NO_SUCH_VARIABLE' | grep -o '/.*')" \
		"$folder" "$backend: without headers, our own"

	header="$scratch/$backend/new/include/$(of "$backend" 1)"
	mkdir -p "${header%/*}"
	echo "$(of "$backend" 4);" >"$header"
	is "$(flags "$backend" "$scratch/$backend/*" | grep -o '/.*')" \
		"$scratch/$backend/new/include" "$backend: the vendor's"
	echo >"$header"
	is "$(flags "$backend" "$scratch/$backend/*" | grep -o '/.*')" \
		"$folder" "$backend: but not those that are too old"
	check "$backend: our own are not" grep -qw "$(of "$backend" 4)" \
		"$folder/$(of "$backend" 1)"
done
done_testing
