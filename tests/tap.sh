# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Test Anything Protocol for shell tests, as tap.h is for C. Sourced:
#
#	. "${top_srcdir:-.}/tests/tap.sh"
#	check "the answer is there" grep -q 42 answer
#	is "$(cat answer)" 42 "the answer"
#	skip "no compiler" "it compiles"
#	done_testing
#
# The automake harness sets top_srcdir, top_builddir, CC, CXX, SANITIZER. A
# folder for what the test makes is in $scratch, and goes at exit.

top_srcdir=${top_srcdir:-$PWD}
top_builddir=${top_builddir:-$PWD}
CC=${CC:-cc}
tap_run=0
tap_failed=0

# discard FOLDER...: also what was copied into it from a read-only source folder
discard()
{
	chmod -R u+w "$@"
	rm -rf "$@"
}

scratch=$(mktemp -d) || exit 1
trap 'discard "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# plain_scratch: a folder in $plain that goes at exit too and has no blank in its
# path, for libtool installs into no other, and LD_PRELOAD names none in another
plain_scratch()
{
	plain=$scratch
	case $scratch in
	*[[:space:]]*)
		plain=$(mktemp -d /tmp/gpumem-XXXXXX) || exit 1
		trap 'discard "$scratch" "$plain"' EXIT
		;;
	esac
}

diag()
{
	printf '%s\n' "$*" | sed 's/^/#   /'
}

# pass NAME; fail NAME [WHY]
pass()
{
	tap_run=$((tap_run + 1))
	printf 'ok %d - %s\n' "$tap_run" "$1"
}

fail()
{
	tap_run=$((tap_run + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_run" "$1"
	[ -z "${2-}" ] || diag "$2"
	return 1
}

# check NAME COMMAND...: its output is shown when it fails
check()
{
	tap_name=$1
	shift
	if "$@" >"$scratch/.output" 2>&1 </dev/null; then
		pass "$tap_name"
	else
		fail "$tap_name" "exit status $? of: $*
$(tail -n 40 "$scratch/.output")"
	fi
}

# exits STATUS NAME COMMAND...: ends with that status; output in $scratch/out
# and $scratch/err
exits()
{
	tap_want=$1
	tap_name=$2
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	tap_got=$?
	if [ "$tap_got" -eq "$tap_want" ]; then
		pass "$tap_name"
	else
		fail "$tap_name" "got $tap_got, expected $tap_want from: $*
$(tail -n 20 "$scratch/out" "$scratch/err")"
	fi
}

# is GOT EXPECTED NAME
is()
{
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "     got: $1
expected: $2"
	fi
}

# skip WHY NAME
skip()
{
	tap_run=$((tap_run + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_run" "$2" "$1"
}

skip_all()
{
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

done_testing()
{
	printf '1..%d\n' "$tap_run"
	[ "$tap_failed" -eq 0 ] && [ "$tap_run" -gt 0 ]
	exit
}

# The names of the functions that the public headers declare. Such a
# declaration begins with GPUMEM_API, and its name is what stands before the
# first parenthesis once the attributes are gone.
public_functions()
{
	for header in backend gpumem host; do
		echo "#include <gpumem/$header.h>"
	done | $CC -E -P -I"$top_srcdir/include" -x c - | tr '\n' ' ' |
		tr ';' '\n' | grep 'visibility("default")' |
		sed -e 's/__attribute__((visibility("default")))//' \
			-e 's/__attribute__((warn_unused_result))//' \
			-e 's/(.*//' -e 's/.*[ *]//' | sort
}
