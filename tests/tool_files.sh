#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The files that tools are told to write: made beside the name and renamed when
# they are whole; what is no ordinary file of one's own is left alone, but for
# what the user has open and devices. gpumem-run tries them before it runs the
# program. All writers with all names.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool trace
need_tool report
need_tool replay
seq 3000 | sed 's/.*/a & 4096 0\nf &/' >"$scratch/text"
GPUMEM_CONF="record:$scratch/trace" "$tools/gpumem-replay" "$scratch/text" \
	>"$scratch/out" || exit 1
folder=$scratch/folder
mkdir "$folder" || exit 1
victim=$scratch/victim
name=$folder/name

# writes WRITER FILE: it writes the file
writes()
{
	case $1 in
	trace) "$tools/gpumem-trace" --to=trace -o "$2" "$scratch/trace" ;;
	report) "$tools/gpumem-report" -o "$2" "$scratch/trace" ;;
	png) "$tools/gpumem-report" --png -o "$2" "$scratch/trace" ;;
	run) "$tools/gpumem-run" --report="$2" touch "$scratch/ran" ;;
	json) "$tools/gpumem-run" --json --report="$2" touch "$scratch/ran" ;;
	record) "$tools/gpumem-run" --record="$2" touch "$scratch/ran" ;;
	esac
}

# refused WRITER WHAT SENTENCE [NAME]: it fails; what is there stays, the program
# is not run, and nothing is left
refused()
{
	rm -f "$scratch/ran"
	echo victim >"$victim"
	before=$(ls -A "$folder")
	exits 1 "$1: $2" timeout 30 sh -c '"$@"' - env writer="$1" \
		file="${4:-$name}" sh "$scratch/writes"
	check "says why" grep -q "^gpumem-[a-z]*: .*: $3" "$scratch/err"
	is "$(cat "$victim") $(ls -A "$folder")" "victim $before" \
		"nothing has changed"
	check "no program has run" test ! -e "$scratch/ran"
}

# In a process of its own, which can be ended when it hangs.
{
	echo "tools='$tools' scratch='$scratch'"
	sed -n '/^writes()/,/^}/p' "$top_srcdir/tests/tool_files.sh"
	echo 'writes "$writer" "$file"'
} >"$scratch/writes"

writers="trace report"
! command -v rsvg-convert >"$scratch/out" || writers="$writers png"
runners="run json"
if [ -x "$tools/gpumem-run" ] && [ "${SANITIZER:-none}" = none ]; then
	writers="$writers $runners record"
fi
for writer in $writers; do
	ln -s "$victim" "$name"
	refused $writer "a symbolic link" "it is a symbolic link"
	rm "$name"
	ln -s "$scratch/nothing" "$name"
	refused $writer "a link to nothing" "it is a symbolic link"
	check "which is not made" test ! -e "$scratch/nothing"
	rm "$name"
	mkfifo "$name"
	refused $writer "a pipe" "it is no ordinary file"
	rm "$name"
	mkdir "$name"
	refused $writer "a folder" "it is no ordinary file"
	rmdir "$name"
	refused $writer "no folder" "No such file or directory" \
		"$scratch/none/name"
	if [ "$(id -u)" = 0 ] && chown 12345 "$victim" 2>"$scratch/out"; then
		echo theirs >"$name"
		chown 12345 "$name"
		refused $writer "another user's" "it is a file of another user"
		is "$(cat "$name")" theirs "which stays"
		rm "$name"
		chown 0 "$victim"
	else
		skip "only root can make files of others" "another user's"
	fi
	# What was there is there until the new one is whole, with its mode.
	echo before >"$name"
	chmod 640 "$name"
	ln "$name" "$scratch/old"
	[ $writer = record ] || {
		exits 0 "$writer: a file of one's own" writes $writer "$name"
		check "is replaced" test -s "$name"
		is "$(cat "$scratch/old")" before "the old one is not written to"
		is "$(stat -c %a "$name") $(ls -A "$folder")" "640 name" \
			"the new one has its mode, and nothing is left"
	}
	rm -f "$name" "$scratch/old"
done

# ---- what is open, and devices ----------------------------------------------------

for writer in trace report; do
	writes $writer - >"$scratch/plain"
	for file in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		exits 0 "$writer: $file" writes $writer $file
		check "is standard output" cmp "$scratch/out" "$scratch/plain"
	done
	writes $writer /dev/stdout | cat >"$scratch/out"
	check "also a pipe" cmp "$scratch/out" "$scratch/plain"
	exits 0 "$writer: /dev/null" writes $writer /dev/null
	check "stays a device" test -c /dev/null
	exits 1 "$writer: a descriptor that is not open" writes $writer /dev/fd/99
	check "says so" grep -q "Bad file descriptor" "$scratch/err"
done

# ---- a full disk ----------------------------------------------------------------

disk=$scratch/disk
mkdir "$disk"
if [ "$(id -u)" = 0 ] &&
	mount -t tmpfs -o size=16k full "$disk" 2>"$scratch/out"; then
	echo before >"$disk/name"
	exits 1 "a full disk" writes trace "$disk/name"
	check "says so" grep -q "No space left on device" "$scratch/err"
	is "$(ls -A "$disk") $(cat "$disk/name")" "name before" \
		"what was there stays, and nothing else"
	umount "$disk"
else
	skip "no file system can be mounted here" "a full disk"
fi

# ---- gpumem-run -------------------------------------------------------------------

if [ -x "$tools/gpumem-run" ] && [ "${SANITIZER:-none}" = none ]; then
	run=$tools/gpumem-run
	exits 3 "a folder that the program removes" "$run" \
		--report="$folder/report" sh -c 'rm -r "$1"; exit 3' - "$folder"
	check "is told when it is over" grep -q "report: No such file" \
		"$scratch/err"
	exits 0 "a folder with the number of the process" "$run" \
		--record="$scratch/%p/name" true
	mkdir "$folder"
	exits 3 "a report on a full disk" "$run" --report=/dev/full \
		sh -c 'exit 3'
	is "$(cat "$scratch/err")" \
		"gpumem-run: /dev/full: No space left on device" \
		"is told once, and the status is the program's"
	exits 0 "a report on standard output" "$run" --report=- echo program
	is "$(head -n 2 "$scratch/out")" "program
exit status 0" "comes after what the program says"
else
	skip "there is no gpumem-run here" "gpumem-run"
fi

done_testing
