#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The manual of the interface says what the headers and the tables of options
# say: each function is on one page, each enumerator, field, status and option
# is there, and the examples compile and run.

. "${top_srcdir:-.}/tests/tap.sh"

unset GPUMEM_BACKEND GPUMEM_CONF
pages=$top_srcdir/docs/man
library=$top_builddir/.libs
strict="-std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Werror"

# section PAGE NAME...: the lines of sections of a page
section()
{
	page=$1
	shift
	for name; do
		awk -v want="$name" '/^\.S[hH] / { on = substr($0, 5) == want }
			on' "$page"
	done
}

# ---- functions --------------------------------------------------------------

for page in "$pages"/gpumem*.3; do
	section "$page" NAME | sed -n 's/^\.Nm \([a-z_]*\).*/\1/p' |
		while read -r name; do
			echo "$name ${page##*/}"
		done
done >"$scratch/names"
public_functions >"$scratch/functions"
check "the headers declare functions" test -s "$scratch/functions"

is "$(while read -r name; do
	count=$(grep -c "^$name " "$scratch/names")
	[ "$count" -eq 1 ] || echo "$name: $count pages"
done <"$scratch/functions")" "" "every function is on exactly one page"

is "$(while read -r name page; do
	[ "$name" = "${page%.3}" ] || grep -qx "$name" "$scratch/functions" ||
		echo "$name in $page"
done <"$scratch/names")" "" "every name of a page is a function or the page's"

is "$(while read -r name; do
	page=$(sed -n "s/^$name //p" "$scratch/names")
	section "$pages/$page" SYNOPSIS |
		grep -qE "^\.F[no] $name( |\$)" || echo "$name"
done <"$scratch/functions")" "" "every function is in the synopsis of its page"

is "$(while read -r name page; do
	[ -e "$pages/$name.3" ] ||
		[ "$(cat "$pages/link/$name.3" 2>&1)" = ".so man3/$page" ] ||
		echo "$name"
done <"$scratch/names")" "" "every function's own page leads to its page"

# What other allocators call it: the names there lack their gpumem_.
calls=$top_srcdir/docs/calls.md
is "$(grep -vE '^gpumem_(host_.*|backend_table)$' "$scratch/functions" |
	while read -r name; do
		grep -qF "\`${name#gpumem_}\`" "$calls" || echo "$name"
	done)" "" "every function of gpumem.h is in docs/calls.md"
is "$(sed -n 's/^| \(`[^|]*\)|.*/\1/p' "$calls" | grep -o '`[^`]*`' |
	tr -d '`' | while read -r name; do
		grep -qx "gpumem_$name" "$scratch/functions" || echo "$name"
	done)" "" "and it names no other"

is "$(for link in "$pages"/link/*.3; do
	name=${link##*/}
	grep -q "^${name%.3} " "$scratch/names" || echo "$name"
done)" "" "no link is left over"

# ---- types ------------------------------------------------------------------

for header in backend gpumem host record; do
	echo "#include <gpumem/$header.h>"
done >"$scratch/t.c"
$CC -E -P -I"$top_srcdir/include" "$scratch/t.c" >"$scratch/t.i"
sed '/example-begin/,/example-end/d' "$pages"/gpumem*.3 \
	"$pages/gpumem_record.5" >"$scratch/all"

is "$(tr -s ' \t\n' ' ' <"$scratch/t.i" | grep -oE 'enum [a-z_]+ \{[^}]*\}' |
	grep -oE 'GPUMEM_[A-Z_0-9]+' | while read -r name; do
	grep -qw "$name" "$scratch/all" || echo "$name"
done)" "" "every enumerator is on a page"

# "GROUP slot" of the list, of the page, and of the comments in the table.
printf '%s\n' '#include <gpumem/backend.h>' \
	'#define ROW(slot, group, caps, counted) row group slot;' \
	'GPUMEM_SLOT_LIST(ROW)' >"$scratch/t.c"
$CC -E -P -I"$top_srcdir/include" "$scratch/t.c" | tr ';' '\n' |
	sed -n 's/^ *row //p' >"$scratch/slots"
check "the header lists slots" test -s "$scratch/slots"
is "$(awk '/^these are required:/ { group = "REQUIRED" }
	/^\.It Li [A-Z_]+$/ { group = $3 }
	/^(may be|\.El)/ { group = "" }
	/^\.Fa/ && group { for (i = 2; i <= NF; i++)
		if ($i ~ /^[a-z]/) print group, $i }' "$pages/gpumem_backend.3")" \
	"$(cat "$scratch/slots")" "every slot is on gpumem_backend.3 in its group"
is "$(awk '/---- required ----/ { group = "REQUIRED" }
	/---- group / { group = $4; sub(/[.:]$/, "", group) }
	/^struct gpumem_backend \{/ { inside = 1 }
	/^};/ { inside = 0 }
	inside && group && match($0, /\(\*[a-z_]+\)\(/) {
		print group, substr($0, RSTART + 2, RLENGTH - 4) }' \
	"$top_srcdir/include/gpumem/backend.h" | grep -v ' fn$')" \
	"$(cat "$scratch/slots")" "and has its group in the table's comments"

# Of each struct the last word of each declaration.
tr -s ' \t\n' ' ' <"$scratch/t.i" |
	grep -oE 'struct gpumem_[a-z_]+ \{([^{}]|\{[^{}]*\})*\}' |
	sed -e 's/__attribute__ *(([^;]*))//g' -e 's/^struct \([a-z_]*\) {/\1 /' \
		>"$scratch/structs"
check "the headers define structs" test -s "$scratch/structs"
# page_of STRUCT
page_of()
{
	case $1 in
	gpumem_stats | gpumem_gauge | gpumem_call_stats) echo gpumem_stats.3 ;;
	gpumem_alloc_options) echo gpumem_alloc_with.3 ;;
	gpumem_block) echo gpumem_alloc.3 ;;
	gpumem_device_info | gpumem_memory | gpumem_process)
		echo gpumem_device.3
		;;
	gpumem_error) echo gpumem_error.3 ;;
	gpumem_option) echo gpumem_option.3 ;;
	gpumem_pool_config | gpumem_pressure) echo gpumem_pool.3 ;;
	gpumem_capacity) echo gpumem_pool_print.3 ;;
	gpumem_hook_event) echo gpumem_hook.3 ;;
	gpumem_oom) echo gpumem_oom.3 ;;
	gpumem_range) echo gpumem_range.3 ;;
	gpumem_shared) echo gpumem_share.3 ;;
	gpumem_sleep_options | gpumem_slept) echo gpumem_sleep.3 ;;
	gpumem_tag) echo gpumem_tag.3 ;;
	gpumem_record_*) echo gpumem_record.5 ;;
	*) echo gpumem_backend.3 ;;
	esac
}

is "$(while read -r struct body; do
	page=$(page_of "$struct")
	echo "$body" | sed -e 's/(\*\([a-z_]*\))([^;]*)/\1/g' \
		-e 's/\[[^]]*\]//g' -e 's/[{}]/ ; /g' | tr ',;' '\n\n' |
		grep -oE '[a-z_]+ *$' | while read -r field; do
		grep -qw "$field" "$pages/$page" || echo "$struct.$field"
	done
done <"$scratch/structs")" "" "every field is on the page of its struct"

# bare: C on one line, without its comments
bare()
{
	tr -s ' \t\n' ' ' |
		sed 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g' | tr -s ' '
}

# Those of backend.h are on their page by group and slot, see above.
for header in gpumem host record; do
	cat "$top_srcdir/include/gpumem/$header.h"
done | bare >"$scratch/bare"
grep -oE 'struct gpumem_[a-z_]+ \{[^{}]*\};' "$scratch/bare" >"$scratch/printed"
check "and print as C" test "$(wc -l <"$scratch/printed")" -ge 22
is "$(while read -r definition; do
	name=${definition#struct }
	page=$(page_of "${name%% *}")
	bare <"$pages/$page" | grep -qF "$definition" || echo "$definition"
done <"$scratch/printed")" "" "each page prints its structs as the headers do"
type=$(grep -oE 'typedef void \*gpumem_stream;' "$scratch/bare")
check "what a stream is, too" grep -qxF "$type" "$pages/gpumem_device.3"

tr -s ' \t\n\\' ' ' <"$top_srcdir/include/gpumem/gpumem.h" |
	sed 's/.*STATUS_LIST(X)\(.*\)typedef enum gpumem_status.*/\1/' |
	grep -oE 'X\([A-Z_]+, [-0-9]+, "[^"]*"\)' |
	sed 's/X(\(.*\), \(.*\), "\(.*\)")/\2 GPUMEM_\1 \3/' >"$scratch/want"
tr -d '\\' <"$pages/gpumem_error.3" |
	sed -n '/^\.It Li [-0-9]* Dv/{N;s/^\.It Li \(.*\) Dv \(.*\)\n/\1 \2 /p;}' \
		>"$scratch/got"
check "the header lists statuses" test -s "$scratch/want"
is "$(cat "$scratch/got")" "$(cat "$scratch/want")" \
	"every status is there with its number and text"

# ---- options ----------------------------------------------------------------

# "KEY KIND DEFAULT", from the tables and from the page.
cat "$top_srcdir/core/base/option.h" "$top_srcdir"/backends/*/*.c |
	tr -s ' \t\n\\' ' ' |
	sed -e 's/GPUMEM_OPTION_//g' -e 's/X(\([a-z_]*\), "/X("\1", "/g' |
	grep -oE '"[a-z_.]+", "[^"]*", [A-Z]+, "' |
	sed -e 's/"\(.*\)", "\(.*\)", \(.*\), "/\1 \3 \2/' -e 's/ $/ empty/' |
	awk '{ $2 = tolower($2) } 1' | sort >"$scratch/want"
sed -n 's/^\.It Cm \([a-z_.]*\) Pq \([a-z]*\) , default \(.*\)$/\1 \2 \3/p' \
	"$pages/gpumem_options.5" | sed 's/ Li / /' | sort >"$scratch/got"
check "there are options" test -s "$scratch/want"
is "$(cat "$scratch/got")" "$(cat "$scratch/want")" \
	"every option is on gpumem_options.5 with its kind and default"

probe=$top_builddir/tools/gpumem-probe
if [ -x "$probe" ]; then
	built_in='^(host\.|[^.]*$)'
	"$probe" --options --json | tr ',' '\n' |
		sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' |
		grep -E "$built_in" | sort >"$scratch/keys"
	is "$(cut -d ' ' -f 1 "$scratch/got" | grep -E "$built_in")" \
		"$(cat "$scratch/keys")" \
		"they are what gpumem-probe shows"
else
	skip "gpumem-probe was not built" "they are what gpumem-probe shows"
fi

# ---- examples ---------------------------------------------------------------

# extract PAGE NAME: the example as the reader would see it
extract()
{
	sed -n "/^\.\\\\\" example-begin $2\$/,/^\.\\\\\" example-end\$/p" \
		"$pages/$1" | sed -e '/^\./d' -e 's/\\&//g' -e 's/\\-/-/g' \
		-e "s/\\\\(aq/'/g" -e 's/\\e/\\/g' >"$scratch/$2.c"
	check "$1 has an example" test -s "$scratch/$2.c"
	check "which compiles" $CC $strict -fsyntax-only \
		-I"$top_srcdir/include" "$scratch/$2.c"
}

build()
{
	$CC $SANITIZE_CFLAGS $strict -I"$top_srcdir/include" "$@"
}

run()
{
	env LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

extract gpumem.3 hello
extract gpumem_host.3 oom
extract gpumem_backend.3 mini
extract gpumem_share.3 share
extract gpumem_pool_print.3 summary
extract gpumem_event.3 event
extract gpumem_hook.3 trace
extract gpumem_resize.3 resize
extract gpumem_alloc_with.3 alloc_with
extract gpumem_free_own.3 free_own
extract gpumem_object.3 object
extract gpumem_object.3 view
extract gpumem_pool.3 pressure
extract gpumem_device.3 native

if [ ! -f "$library/libgpumem.so" ]; then
	skip "there is no $library/libgpumem.so" "the examples run"
	done_testing
fi

for name in hello oom share summary event trace resize \
	alloc_with free_own object view pressure native; do
	check "the example $name links" build -o "$scratch/$name" \
		"$scratch/$name.c" -L"$library" -lgpumem
done
check "the example mini links without the library" build -shared -fPIC \
	-o "$scratch/mini.so" "$scratch/mini.c"

check "hello runs on the simulated GPU" \
	run GPUMEM_BACKEND=host "$scratch/hello"
cp "$scratch/.output" "$scratch/said"
check "it gives back what it reserved" grep -qE \
	'^host:0 .* ([1-9][0-9]*) reserved, \1 given back$' "$scratch/said"
check "hello runs without virtual memory" \
	run GPUMEM_BACKEND=host GPUMEM_CONF=vm:off "$scratch/hello"
check "hello runs on the example of a plugin" \
	run GPUMEM_BACKEND=mini GPUMEM_PLUGIN_PATH="$scratch" "$scratch/hello"
check "oom passes" run "$scratch/oom"
check "trace runs" run GPUMEM_BACKEND=host "$scratch/trace"
cp "$scratch/.output" "$scratch/said"
check "it tells what is left" grep -qx '1 live' "$scratch/said"
check "summary runs" run GPUMEM_BACKEND=host "$scratch/summary"
cp "$scratch/.output" "$scratch/said"
check "its last line is JSON" sh -c \
	"tail -n 1 '$scratch/said' | grep -qE '^\{\"pool\": \"default\", .*\}\}$'"
check "resize grows its buffer in place" \
	run GPUMEM_BACKEND=host "$scratch/resize"
is "$(cat "$scratch/.output")" "63 steps, moved 0 times" \
	"and never moves it where there is virtual memory"
check "resize runs without virtual memory" \
	run GPUMEM_BACKEND=host GPUMEM_CONF=vm:off "$scratch/resize"
cp "$scratch/.output" "$scratch/said"
check "it moves its buffer then" \
	grep -qE '^63 steps, moved [1-9]' "$scratch/said"
# says NAME LINE
says()
{
	check "$1 runs" run GPUMEM_BACKEND=host "$scratch/$1"
	is "$(cat "$scratch/.output")" "$2" "and says what it did"
}
says alloc_with "1024 bytes of zeros
without the scratch buffer"
says free_own ""
says object "1 block is in quarantine"
says view "freed once"
says pressure "soft limit"
says native "host:0 has nothing behind it"
for vm in on off; do
	check "share runs, vm $vm" \
		run GPUMEM_BACKEND=host GPUMEM_CONF=vm:$vm "$scratch/share"
	is "$(cat "$scratch/.output")" "the child reads: hello" \
		"and its child reads what it wrote"
	check "event runs, vm $vm" \
		run GPUMEM_BACKEND=host GPUMEM_CONF=vm:$vm "$scratch/event"
	is "$(cat "$scratch/.output")" "hello" "and keeps its streams in order"
done

done_testing
