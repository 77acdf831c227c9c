#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Each public header compiles alone, in C and in C++, without a warning, and
# the numbers of the version agree.

. "${top_srcdir:-.}/tests/tap.sh"

strict="-Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only"

for header in gpumem backend host record; do
	echo "#include <gpumem/$header.h>" >"$scratch/t.c"
	cp "$scratch/t.c" "$scratch/t.cc"
	for std in c11 c17; do
		check "$header.h in $std" \
			$CC -std=$std $strict -Wstrict-prototypes \
			-I"$top_srcdir/include" "$scratch/t.c"
	done
	for std in c++11 c++17; do
		if [ "${CXX:-none}" = none ]; then
			skip "no C++ compiler" "$header.h in $std"
		else
			check "$header.h in $std" $CXX -std=$std $strict \
				-I"$top_srcdir/include" "$scratch/t.cc"
		fi
	done
done

cat >"$scratch/t.c" <<'END'
#include <gpumem/gpumem.h>
#define TEXT(x) #x
#define JOIN(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
version JOIN(GPUMEM_VERSION_MAJOR, GPUMEM_VERSION_MINOR, GPUMEM_VERSION_PATCH)
string GPUMEM_VERSION_STRING
END
$CC -E -P -I"$top_srcdir/include" "$scratch/t.c" | tr -d '" ' >"$scratch/t"
is "$(sed -n 's/^version//p' "$scratch/t")" \
	"$(sed -n 's/^string//p' "$scratch/t")" \
	"the version's numbers and its string agree"

# A program that ignores a status is told so.
cat >"$scratch/t.c" <<'END'
#include <gpumem/gpumem.h>
int main(void) { gpumem_free(NULL, NULL); return 0; }
END
if $CC -Werror -I"$top_srcdir/include" -S -o "$scratch/t.s" "$scratch/t.c" \
		2>"$scratch/err"; then
	fail "an ignored status is a warning"
else
	check "an ignored status is a warning" \
		grep -q 'unused-result' "$scratch/err"
fi

sed -i 's/gpumem_free(NULL, NULL);/GPUMEM_IGNORE(gpumem_free(NULL, NULL));/' \
	"$scratch/t.c"
check "unless it says so" $CC $strict -I"$top_srcdir/include" "$scratch/t.c"
cat >"$scratch/t.cc" <<'END'
#include <gpumem/gpumem.h>
int main()
{
	gpumem_device_info info = GPUMEM_INIT(gpumem_device_info);
	(void)gpumem_free(nullptr, nullptr);
	return info.caps != 0;
}
END
if [ "${CXX:-none}" = none ]; then
	skip "no C++ compiler" "in C++ by a cast, and structs by their names"
else
	check "in C++ by a cast, and structs by their names" $CXX -std=c++17 \
		$strict -I"$top_srcdir/include" "$scratch/t.cc"
fi

# What declares a backend's slots declares what the table takes.
{
	echo '#include <gpumem/backend.h>'
	echo '#ifdef __cplusplus'
	echo 'extern "C" {'
	echo '#endif'
	echo '#define DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(acme_, slot)'
	echo 'GPUMEM_SLOT_LIST(DECLARE)'
	echo '#ifdef __cplusplus'
	echo '}'
	echo '#endif'
	echo 'gpumem_status (*f)(void *, uint64_t, uint64_t *) = acme_alloc;'
	echo '#ifndef __cplusplus'
	echo '#define ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(acme_, slot)'
	echo 'struct gpumem_backend acme = {GPUMEM_SLOT_LIST(ENTRY)};'
	echo '#endif'
} >"$scratch/t.c"
cp "$scratch/t.c" "$scratch/t.cc"
check "slots are declared by the list, in C" $CC -std=c11 $strict \
	-I"$top_srcdir/include" "$scratch/t.c"
if [ "${CXX:-none}" = none ]; then
	skip "no C++ compiler" "and in C++"
else
	check "and in C++" $CXX -std=c++11 $strict -I"$top_srcdir/include" \
		"$scratch/t.cc"
fi

# GPUMEM_INIT in C++, where designated initialisers do not exist.
cat >"$scratch/t.cc" <<'END'
#include <gpumem/gpumem.h>
bool sized() { return GPUMEM_INIT(struct gpumem_stats).size == 0; }
END
if [ "${CXX:-none}" = none ]; then
	skip "no C++ compiler" "GPUMEM_INIT in C++"
else
	check "GPUMEM_INIT in C++" $CXX -std=c++11 $strict \
		-I"$top_srcdir/include" "$scratch/t.cc"
fi

done_testing
