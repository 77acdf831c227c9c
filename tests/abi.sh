#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What a compiled program or plugin relies on is what tests/abi/gpumem.abi keeps:
# functions, layouts and numbers of the public headers, as C that this machine's
# compiler and libabigail read just as they read the headers of today, and compare.
# After a change that is meant, `make abi` writes that file anew; what may still
# change is in docs/compatibility.md.

. "${top_srcdir:-.}/tests/tap.sh"

command -v abidiff >/dev/null 2>&1 && command -v abidw >/dev/null 2>&1 ||
	skip_all "libabigail's abidw and abidiff are not installed"
# Others leave out types that no function takes.
$CC -v 2>&1 | grep -q '^gcc version' || skip_all "$CC is not gcc"

kept=$top_srcdir/tests/abi/gpumem.abi
include=$scratch/include
cp -R "$top_srcdir/include" "$include" && chmod -R u+w "$include" || exit 1

dump()
{
	sh "$top_srcdir/tests/abi/dump.sh" "$@"
}

# differs: whether the copy of the headers is not what was kept; says how
differs()
{
	dump declare "$include" "$scratch/now.c" &&
		dump write "$scratch/now.c" "$scratch/now.abi" || return 2
	! abidiff --harmless --non-reachable-types "$scratch/kept.abi" \
		"$scratch/now.abi" >"$scratch/report"
}

check "what was kept is read" dump write "$kept" "$scratch/kept.abi"

differs
case $? in
0)
	fail "the headers are what was kept"
	diag "$(head -60 "$scratch/report")"
	diag "if that is meant: make abi"
	;;
1) pass "the headers are what was kept" ;;
*) fail "the headers are what was kept" "abidw failed" ;;
esac

# notices WHAT FILE SCRIPT: a change of a header by sed
notices()
{
	cp "$include/gpumem/$2" "$scratch/saved"
	sed -i "$3" "$include/gpumem/$2"
	if cmp -s "$scratch/saved" "$include/gpumem/$2"; then
		fail "$1 is noticed" "nothing to change in $2"
	else
		check "$1 is noticed" differs
	fi
	cp "$scratch/saved" "$include/gpumem/$2"
}

notices "a field in the middle of a struct" gpumem.h \
	's/^\tuint64_t largest_free_bytes;/\tuint64_t more;\n&/'
notices "a field at the end of a struct" gpumem.h \
	's/^\tchar note\[160\];.*/&\n\tuint32_t more;/'
notices "a field of another type" gpumem.h \
	's/^\tuint64_t hits; /\tuint32_t hits; /'
notices "a number of a status" gpumem.h 's/X(LOST, -14,/X(LOST, -24,/'
notices "a number of a capability" gpumem.h 's/X(PEER, 12,/X(PEER, 22,/'
notices "a number that a macro has" gpumem.h \
	's/^#define GPUMEM_RESET_TOTALS 1u/#define GPUMEM_RESET_TOTALS 2u/'
notices "another argument of a function" gpumem.h \
	's/gpumem_use_on(void \*ptr,/gpumem_use_on(uint64_t ptr,/'
notices "a function that is gone" gpumem.h \
	's/^GPUMEM_API const char \*gpumem_version(void);//'
notices "another argument of a slot" backend.h \
	's/(\*page_destroy)(void \*device, gpumem_page page,/(*page_destroy)(void *device, void *page,/'
notices "slots that have changed places" backend.h \
	's/(\*event_query)/(*other)/; s/(\*event_sync)/(*event_query)/; s/(\*other)/(*event_sync)/'
notices "another argument of a function of the simulated GPU" host.h \
	's/(int /(long /'

done_testing
