#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-suspend and gpumem-resume over a double of the calls of NVIDIA's driver that
# they need: all are locked before one is taken away, and all are back before one goes
# on; whatever fails, nobody is left half suspended.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool suspend
suspend=$tools/gpumem-suspend
resume=$tools/gpumem-resume
sleepers=
end_sleepers()
{
	# shellcheck disable=SC2086
	[ -z "$sleepers" ] || kill $sleepers 2>/dev/null
	discard "$scratch"
}
trap end_sleepers EXIT

mkdir "$scratch/lib" "$scratch/old" "$scratch/states"
DOUBLE=$scratch/states
export DOUBLE
# build FOLDER FLAGS...
build()
{
	folder=$1
	shift
	$CC "$@" -shared -fPIC -o "$folder/libcuda.so.1" \
		"$top_srcdir/tests/suspend_double.c"
}
# The double is found before a real driver, by the tools alone.
double()
{
	LD_LIBRARY_PATH=$scratch/lib "$@"
}
old()
{
	LD_LIBRARY_PATH=$scratch/old "$@"
}
if ! build "$scratch/lib" || ! build "$scratch/old" -DOLD; then
	skip_all "no compiler"
fi

# process STATE: in $pid, one that uses CUDA
process()
{
	sleep 100 >/dev/null 2>&1 &
	pid=$!
	sleepers="$sleepers $pid"
	echo "$1" >"$DOUBLE/$pid"
}
# states PID...: a number each
states()
{
	for each; do
		cat "$DOUBLE/$each"
	done | tr '\n' ' '
}
# calls: what the driver was asked since the last time; one, two: who is meant
calls()
{
	sed "s/ $one\$/ one/; s/ $two\$/ two/" "$DOUBLE/log" | tr '\n' ','
	: >"$DOUBLE/log"
}
# fails CALL PID RESULT
fails()
{
	echo "$3" >"$DOUBLE/$1.$2"
}
heal()
{
	rm -f "$DOUBLE"/*.*
}
says()
{
	check "$1: $(head -n 1 "$scratch/err")" grep -q "$2" "$scratch/err"
}

: >"$DOUBLE/log"
process 0
one=$pid
process 0
two=$pid

exits 0 "two are suspended" double "$suspend" "$one" "$two"
is "$(calls)" "waits 10000,lock one,waits 10000,lock two,checkpoint one,\
checkpoint two," "both locked, within ten seconds, before one is taken away"
check "says so" grep -q "^$one sleep: suspended after .* in the host's memory$" \
	"$scratch/out"
exits 0 "again" double "$suspend" "$one" "$two"
is "$(calls)" "" "there is nothing to do"
exits 0 "they are resumed" double "$resume" "$one" "$two"
is "$(calls)" "restore one,restore two,unlock one,unlock two," \
	"both back before one goes on"
exits 0 "again" double "$resume" "$two" "$one" "$two"
is "$(calls)" "" "there is nothing to do"
is "$(grep -c running "$scratch/out")" 2 "each is named once"
exits 0 "with another time" double "$suspend" --timeout=0 "$one"
is "$(calls)" "waits 0,lock one,checkpoint one," "which the driver is told"
exits 0 "as JSON" double "$resume" --json "$one"
json_is "[(p['name'], p['state'], p['error']) for p in d['processes']]" \
	"[('sleep', 'running', None)]" "has the same"
calls >/dev/null

# After each of these all run on.
diag "what fails in a suspend"
fails lock "$two" 600
exits 1 "work that is not over" double "$suspend" "$one" "$two"
is "$(states "$one" "$two")" "0 0 " "both run on"
says "a sentence" "$two sleep: its work on the devices is not over yet"
heal
fails checkpoint "$two" 801
exits 1 "what the driver cannot take" double "$suspend" "$one" "$two"
is "$(states "$one" "$two")" "0 0 " "both run on"
says "a sentence" "$two sleep: the driver cannot take what it uses: managed"
heal
fails checkpoint "$one" 2
exits 1 "too little memory of the host" double "$suspend" "$one" "$two"
is "$(states "$one" "$two")" "0 0 " "both run on"
says "a sentence" "the host has too little memory"
heal
fails checkpoint "$two" 801
fails restore "$one" 2
exits 1 "and one that does not come back" double "$suspend" "$one" "$two"
is "$(states "$one" "$two")" "2 0 " "stays away, and the other runs on"
says "a sentence" "$one sleep: the devices have too little free memory for it"
check "and one of the other" grep -q "$two sleep: the driver cannot take" \
	"$scratch/err"
heal
exits 0 "it is resumed later" double "$resume" "$one"
fails lock "$one" 401
exits 1 "somebody else at it" double "$suspend" "$one" "$two"
says "a sentence" "somebody else suspends or resumes it"
heal
fails checkpoint "$one" 999
exits 1 "an error that nobody knows" double "$suspend" "$one" "$two"
says "the driver's" "cuCheckpointProcessCheckpoint: 999, the double's text"
heal
echo 1 >"$DOUBLE/$one"
exits 1 "one that is locked" double "$suspend" "$two" "$one"
is "$(states "$one" "$two")" "1 0 " "is left alone, and so is the other"
says "a sentence" "$one sleep: it is locked already"
echo 3 >"$DOUBLE/$one"
exits 1 "one that has failed" double "$suspend" "$one"
says "a sentence" "could not bring it back, and it can only be ended"
exits 1 "and that is resumed" double "$resume" "$one"
says "a sentence" "could not bring it back, and it can only be ended"
echo 0 >"$DOUBLE/$one"
: >"$DOUBLE/log"

diag "what fails in a resume"
exits 0 "two are suspended" double "$suspend" "$one" "$two"
calls >/dev/null
fails restore "$two" 2
exits 1 "too little memory of the devices" double "$resume" "$one" "$two"
is "$(states "$one" "$two")" "1 2 " "one is back, and waits for the other"
says "a sentence" "$two sleep: the devices have too little free memory for it"
heal
exits 0 "another try" double "$resume" "$one" "$two"
is "$(calls)" \
	"restore one,restore two,restore two,unlock one,unlock two," \
	"does what is left"
fails unlock "$one" 999
echo 1 >"$DOUBLE/$one"
exits 1 "an unlock that fails" double "$resume" "$one"
says "the driver's error" "cuCheckpointProcessUnlock: 999"
heal
echo 0 >"$DOUBLE/$one"

diag "who is meant"
# A name may have anything in it.
odd="$scratch/a) 1
(b"
export odd
ln -s "$(command -v sleep)" "$odd"
sh -c '"$odd" 100 & echo $! >"$DOUBLE/child"; sleep 100 & echo $! >"$DOUBLE/other"
wait' >/dev/null 2>&1 &
parent=$!
until [ -s "$DOUBLE/other" ]; do
	sleep 0.1
done
child=$(cat "$DOUBLE/child")
sleepers="$sleepers $parent $child $(cat "$DOUBLE/other")"
rm "$DOUBLE/child" "$DOUBLE/other"
echo 0 >"$DOUBLE/$parent"
echo 0 >"$DOUBLE/$child"
exits 0 "with children" double "$suspend" --tree "$parent"
is "$(states "$parent" "$child")" "2 2 " "those that use CUDA"
is "$(grep -c suspended "$scratch/out")" 2 "and no others"
exits 0 "back" double "$resume" -t "$parent"
is "$(states "$parent" "$child")" "0 0 " "likewise"
sleep 100 >/dev/null 2>&1 &
plain=$!
sleepers="$sleepers $plain"
exits 1 "one without CUDA" double "$suspend" "$one" "$plain"
is "$(states "$one")" "0 " "changes nothing for the other"
says "a sentence" "$plain sleep: it does not use CUDA"
echo 800 >"$DOUBLE/state.$plain"
exits 1 "another user's" double "$suspend" "$plain"
says "a sentence" "$plain sleep: it is another user's"
echo 801 >"$DOUBLE/state.$plain"
exits 1 "under MPS" double "$suspend" "$plain"
says "a sentence" "not under MPS"
heal
exits 2 "no process" double "$suspend" 2147483646
says "a sentence" "2147483646: there is no such process"
for wrong in 0 -1 x 1x ""; do
	exits 2 "'$wrong' is none" double "$suspend" -- "$wrong"
done
exits 2 "nobody" double "$resume"
says "a sentence" "expected the number of a process"
exits 2 "a wrong time" double "$suspend" --timeout=-1 "$one"
exits 2 "a resume does not wait" double "$resume" --timeout=1 "$one"

diag "which driver"
exits 3 "one that is too old" old "$suspend" "$one"
says "a sentence" "is older than 570 and has no cuCheckpointProcessUnlock"
echo 100 >"$DOUBLE/init"
exits 3 "one without devices" double "$suspend" "$one"
says "a sentence" "cuInit: 100, the double's text"
rm "$DOUBLE/init"
done_testing
