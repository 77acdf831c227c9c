#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-keep: what it is given outlives who gave it, until it is dropped or its lease
# ends; clients that die, say nonsense or do not listen harm nobody; and a block of a
# process that was killed is read by another one.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool keep
keep=$tools/gpumem-keep
daemon=
end_daemon()
{
	[ -z "$daemon" ] || kill -9 "$daemon" 2>/dev/null
	discard "$scratch" "$place"
}
# A socket's path is short.
place=$(mktemp -d /tmp/gpumem-XXXXXX) || exit 1
trap end_daemon EXIT
XDG_RUNTIME_DIR=$place
export XDG_RUNTIME_DIR
at=$place/gpumem-keep.socket

# soon COMMAND...: it becomes true
soon()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || return 1
		sleep 0.1
	done
}
answers()
{
	"$keep" list >/dev/null 2>&1
}
# serve ARGUMENT...: in $daemon
serve()
{
	"$keep" "$@" serve 2>"$scratch/daemon" &
	daemon=$!
	soon answers
}
# held: how many descriptors the daemon has that are no sockets of clients
held()
{
	find "/proc/$daemon/fd" -lname '/dev/null' -o -lname '/memfd*' \
		-o -lname "$scratch/*" | wc -l
}
no_more_than()
{
	[ "$(held)" -le "$1" ]
}
says()
{
	check "$1: $(head -n 1 "$scratch/err")" grep -q "$2" "$scratch/err"
}
common_manners keep

# ---- entries ---------------------------------------------------------------------

exits 3 "without a daemon" "$keep" list
says "a sentence" "no gpumem-keep serves there"
check "a daemon" serve
before=$(held)
is "$(stat -c %a "$at")" 600 "its socket is the user's alone"
exits 0 "an empty list" "$keep" list
is "$(cat "$scratch/out")" "" "prints nothing"
echo hello >"$scratch/file"
put()
{
	"$keep" "$@" 3 3<"$scratch/file"
}
exits 0 "a file is put" put --lease=100 put notes
rm "$scratch/file"
exits 0 "the list" "$keep" list
check "has it" grep -q '^notes  *-  *-  *1  *0 s  *100 s  *[0-9]* (ended)$' \
	"$scratch/out"
exits 0 "as JSON" "$keep" --json list
json_is "[(e['name'], e['bytes'], e['fds'], e['lease_seconds'] > 90, e['alive'])
	for e in d['entries']]" "[('notes', None, 1, True, False)]" "has the same"
exits 0 "it is got" "$keep" get notes -- sh -c 'cat <&3; echo $GPUMEM_KEEP_FDS'
is "$(cat "$scratch/out" | tr '\n' ' ')" "hello 1 " "with what was in it"
exits 7 "a command's status" "$keep" get notes -- sh -c 'exit 7'
exits 127 "is its own" "$keep" get notes -- "$scratch/none"
echo other >"$scratch/file"
exits 1 "another of that name" put put notes
says "a sentence" "notes: there is an entry of that name: drop it first"
exits 0 "unless it replaces it" put --replace put notes
exits 0 "then" "$keep" get notes -- cat /dev/fd/3
is "$(cat "$scratch/out")" other "it is the new one"
exits 0 "show" "$keep" show notes
check "prints one" grep -q '^notes ' "$scratch/out"
exits 1 "and none" "$keep" show note
says "a sentence" "note: there is no entry of that name"
exits 1 "renew of none" "$keep" renew note
exits 0 "renew" "$keep" --lease=5000 renew notes
exits 0 "then" "$keep" --json show notes
json_is "d['entries'][0]['lease_seconds'] > 4000" True "it has longer"
printf 'a word\0' >"$scratch/words"
exits 0 "with words" "$keep" --words="$scratch/words" put two 3 4 \
	3<"$scratch/file" 4</dev/null
exits 0 "are got" "$keep" --words="$scratch/got" get two -- test -e /dev/fd/4
check "as they were" cmp "$scratch/words" "$scratch/got"
head -c 4097 /dev/zero >"$scratch/words"
exits 1 "too many words" put --words="$scratch/words" put three
says "a sentence" "at most 4096"
exits 1 "a descriptor that is not open" "$keep" put three 77
says "a sentence" "77: Bad file descriptor"
exits 0 "drop" "$keep" drop notes two
is "$(held)" "$before" "closes them"
exits 1 "again" "$keep" drop notes two
is "$(grep -c 'there is no entry' "$scratch/err")" 2 "says so of each"

# ---- leases ----------------------------------------------------------------------

exits 0 "a short lease" put --lease=1 put short
gone()
{
	! "$keep" show short >/dev/null 2>&1
}
check "ends" soon gone
is "$(held)" "$before" "and what it held is closed"

# ---- one of them, and its end ----------------------------------------------------

exits 1 "a second daemon" "$keep" serve
says "a sentence" "another one serves there"
kill -HUP "$daemon"
check "a terminal that goes is not its end" answers
exits 0 "something to keep" put put kept
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
check "the socket of one that was killed" test -S "$at"
check "is in nobody's way" serve
exits 1 "what it held is gone" "$keep" show kept
kill "$daemon"
wait "$daemon"
is $? 0 "a signal ends it well"
check "and its socket goes" test ! -e "$at"
: >"$at"
exits 1 "a file in its place" "$keep" serve
says "a sentence" "there is something else"
check "stays" test -f "$at"
rm "$at"
long=$(printf '%0110d' 0)
exits 3 "a path that no socket has" "$keep" --socket="/tmp/$long" serve
says "a sentence" "at most 107 bytes"
exits 3 "no folder" env XDG_RUNTIME_DIR=/nowhere "$keep" list
says "a sentence" "say where the socket is, by --socket"
check "a daemon" serve
before=$(held)

# ---- clients that are none -------------------------------------------------------

talk()
{
	python3 "$top_srcdir/tests/keep_talk.py" "$at" "$1"
}
if have_python && python3 -c 'import socket; socket.send_fds' 2>/dev/null; then
	talk cases >"$scratch/cases" 2>"$scratch/err"
	while read -r case; do
		check "$case" test "${case##*: }" != end
	done <"$scratch/cases"
	is "$(wc -l <"$scratch/cases")" 18 "all of them: $(cat "$scratch/err")"
	check "the daemon is there" answers
	is "$("$keep" list)" "" "and has nothing of them"
	is "$(talk own | tr '\n' ' ')" "end 1 True b'own' end " \
		"who put it is alive, and a name ends where it ends"
	talk half
	check "one that dies while it puts leaves nothing" soon no_more_than \
		"$before"
	is "$("$keep" list)" "" "no entry either"
	is "$(talk slow)" "there is no entry of that name" \
		"who does not listen keeps nobody waiting"
	is "$(talk crowd)" "there is no entry of that name" \
		"whom there is no place for waits for one"
	is "$(talk many)" 1024 "as many entries as it says"
	is "$(talk dropped | tr '\n' ' ')" \
		"end end True True {'there is no entry of that name'} " \
		"what is dropped on its way arrives"
	check "after all of that nothing is held" soon no_more_than "$before"
else
	skip "there is no python3 from 3.9 on" "clients that are none"
fi
kill "$daemon"
wait "$daemon"
(
	ulimit -n 400
	exec "$keep" serve 2>"$scratch/daemon"
) &
daemon=$!
check "a daemon with few descriptors" soon answers
many=$(seq 3 9 | while read -r n; do echo "3 3 3 3 3 3 3 3 3 3"; done)
# shellcheck disable=SC2086
exits 1 "no room for 70 more" put put many $many
says "a sentence" "there is no room for so many descriptors"
kill "$daemon"
wait "$daemon"

# ---- who it is -------------------------------------------------------------------

if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups true 2>/dev/null &&
	setpriv --reuid=65534 --clear-groups test -x "$keep"; then
	mkdir "$place/others"
	chown 65534 "$place/others"
	chmod 711 "$place"
	other=$place/others/socket
	as_other()
	{
		setpriv --reuid=65534 --clear-groups "$@"
	}
	begin_other()
	{
		setpriv --reuid=65534 --clear-groups "$keep" --socket="$other" \
			serve &
		daemon=$!
		soon as_other "$keep" --socket="$other" list >/dev/null 2>&1
	}
	check "another user's daemon" begin_other
	exits 3 "is not given root's memory" "$keep" --socket="$other" put x 0
	says "a sentence" "it is another user's"
	kill "$daemon"
	wait "$daemon"
else
	skip "this is not root, or the folder is closed to others" "other users"
fi

# ---- a block of the simulated GPU ------------------------------------------------

check "a program compiles" $CC $SANITIZE_CFLAGS -std=gnu11 \
	-I"$top_srcdir/include" -o "$scratch/block" \
	"$top_srcdir/tests/keep_block.c" -L"$top_builddir/.libs" -lgpumem \
	-Wl,-rpath,"$top_builddir/.libs"
check "a daemon" serve
before=$(held)
exits 137 "it has its weights kept, and is killed" with host.capacity:1GiB \
	"$scratch/block" put "$scratch/words" "$keep" \
	--words="$scratch/words" put weights
exits 0 "they are there" "$keep" --json list
json_is "[(e['name'], e['bytes'] >= 5 << 20, e['backend'], e['fds'] > 0)
	for e in d['entries']]" "[('weights', True, 'host', True)]" \
	"and what they are"
rm "$scratch/words"
exits 0 "another process reads them" with host.capacity:1GiB "$keep" \
	--words="$scratch/words" get weights -- \
	"$scratch/block" get "$scratch/words"
exits 0 "and a third" with host.capacity:1GiB "$keep" \
	--words="$scratch/words" get weights -- \
	"$scratch/block" get "$scratch/words"
check "they are held" test "$(held)" -gt "$before"
exits 0 "drop" "$keep" drop weights
is "$(held)" "$before" "gives them back"
kill "$daemon"
wait "$daemon"
is $? 0 "it ends well"
daemon=
done_testing
