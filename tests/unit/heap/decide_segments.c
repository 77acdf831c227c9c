/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is decided without virtual memory: where a small block goes, which
 * segments of which nothing is used are spared, given back or waited for, and
 * what streams that are at work have side by side. How often segments are
 * exchanged is in exchange.c, waits that take long in drain.c.
 */
#include "decide.h"

/* Small blocks keep the segment that they lie in. */
#define TWO "vm=off", "[ a1.5 a-.5 ] [ a15.75 a-.25 ]"

/* The device has none. */
#define NONE "vm=off host.vm=off"

/* Nothing is used of the second segment. */
#define UNUSED "vm=off", "a40 a-20"
#define AT_WORK "a40 a~20"

/* A large block has all but a little of the second one. */
#define LEFT_OF "vm=off"
#define LEFT_IN "a4 [ a15 a-1 ]"
#define LEFT LEFT_OF, LEFT_IN

/* All that is unused is waste; four streams have a quarter each. */
#define WASTE "vm=off stream_waste=0 peak=now"
#define PARTS "a40 [ a~8 b~8 c~8 d8 ]"

static const struct row rows[] = {
	/* ---- where a small block goes ---- */
	{"in the smaller segment", TWO, "a64K", "own @2"},
	{"also what fits the other exactly", TWO, "a256K", "own @2"},
	{"so does what is less than a 16th of a segment", "vm=off",
	 "[ a1.5 a-.5 ] [ a3.75 a-.25 ]", "a255.75K", "own @2"},
	{"what is not, where it fits best", "vm=off",
	 "[ a1.5 a-.5 ] [ a3.75 a-.25 ]", "a256K", "own @4"},
	{"in a new one, if there is no other", "vm=off",
	 "[ a2 ] [ a15.75 a-.25 ]", "a64K", "driver +2"},
	{"in the larger one, if it may not be new", "vm=off",
	 "[ a2 ] [ a15.75 a-.25 ]", "a64K!g", "own @3"},
	{"of two as large, where it fits best", "vm=off",
	 "[ a2 ] [ a15.5 a-.5 ] [ a15.75 a-.25 ]", "a64K!g", "own @5"},
	{"not in one that few pieces keep", "vm=off",
	 "[ a1.5 a-.5 ] [ a15.75 a16K a16K a16K a16K a16K a16K a16K a-144K ]",
	 "a64K", "own @2"},
	{"in one that many pieces keep anyway", "vm=off",
	 "[ a1.5 a-.5 ] [ a15.75 a16K a16K a16K a16K a16K a16K a16K a16K "
	 "a-128K ]",
	 "a64K", "own @12"},
	{"not before few pieces", "vm=off",
	 "[ a1.5 a-.5 ] [ a15.75 a-64K a16K a16K a16K a16K a16K a16K a96K ]",
	 "a64K", "own @2"},
	{"before many", "vm=off",
	 "[ a1.5 a-.5 ] [ a15.75 a-64K a16K a16K a16K a16K a16K a16K a16K a16K "
	 "a64K ]",
	 "a64K", "own @4"},
	{"with virtual memory where it fits best", "",
	 "a-2 a1 a-1 a1 a1 a1 a1 a1 a1 a1", "a64K", "own @3"},
	{"what fits is taken from an idle stream", "vm=off idle",
	 "[ a18 a-6 ] [ b6 b-2 ]", "a2", "streams @4"},
	{"not where its own fits well", "vm=off idle", "[ a18 a-6 ] [ b6 b-2 ]",
	 "a5.7", "own @2"},
	{"nor where nothing of theirs is large enough", "vm=off idle",
	 "[ a18 a-6 ] [ b6 b-2 ]", "a3", "own @2"},
	{"nor where streams were busy", "vm=off", "[ a18 a-6 ] [ b6 b-2 ]",
	 "a2", "own @2"},
	{"nor where that one is", "vm=off idle", "[ a18 a-6 ] [ b6 b~2 ]", "a2",
	 "own @2"},

	/* ---- what goes ---- */
	{"a trim leaves what a busy stream may use, and what is used", NONE,
	 "a8 b~8 a8", "trim over trim -@3 trim", "+0 ; +0 ; -8 ; +0 ; -8"},
	{"and one that a stream being captured may use",
	 NONE " host.capture_frees=off", "a8 b-8 a8",
	 "capture=b trim capture= trim", "+0 ; +0 ; -8"},
	{"one whose first part is free stays until all of it is", NONE,
	 "[ a-.7 a.7 a.6 ]", "trim -@2 -@3 trim", "+0 ; +0 ; +0 ; free=2"},
	{"ever larger blocks pile up none", NONE, "",
	 "a4 -1 a8 -3 a12 -5 a16 -7 a20 -9 a24",
	 "free=1 +4 ; +0 ; free=1 +4 ; +0 ; free=1 +4"},
	{"more than the device gives at a time, or has",
	 NONE " host.max_alloc=32MiB host.capacity=64MiB", "",
	 "a40 a15.9 a15 a15 a15 a15",
	 "GPUMEM_NO_MEMORY +0 ; alloc=1 ; alloc=1 ; alloc=1 ; alloc=1 ; "
	 "GPUMEM_NO_MEMORY +0"},
	{"nothing is asked for that it does not give",
	 NONE " host.max_alloc=1MiB", "", "a512K a512K a512K",
	 "alloc=1 +1 ; own +0 ; alloc=1 +1"},
	{"a limit takes from what is usual", NONE " limit=10", "",
	 "a8 a4 a1536K", "+8 ; GPUMEM_LIMIT +0 ; +1.5"},

	/* ---- which are spared ---- */
	{"of an unused segment most is used, and the rest then", UNUSED,
	 "a16 a2", "own @2 ; own @2+16 +0"},
	{"two thirds of one are too little: it goes back", UNUSED, "a13",
	 "exchanged -6 free=1"},
	{"a part of one is cut", "vm=off", "a40 [ a-16 a4 ]", "a1900K",
	 "own @2"},
	{"a 24th of what is reserved is cut", "vm=off", "a140 a-6", "a1",
	 "own @2"},
	{"what is more is spared", "vm=off", "a140 a-8", "a1", "driver"},
	{"of little the smallest segment is cut", "vm=off", "a2 a-2", "a100K",
	 "own @2"},
	{"and a larger one is not", "vm=off", "a4 a-4", "a100K", "!own"},
	{"18 of 480 MiB are cut", "vm=off", "a480 a-18", "a4", "own @2"},
	{"but not where there are several streams", "vm=off", "a480 a-18 b0",
	 "a4", "driver"},
	{"16 are", "vm=off", "a480 a-16 b0", "a4", "own @2"},
	{"a new segment in 72 MiB", "vm=off", "a72", "a1", "+2"},
	{"in 384", "vm=off", "a384", "a1", "+8"},
	{"in 900", "vm=off", "a900", "a1", "+20"},
	{"where there are several streams", "vm=off", "a900 b0", "a1", "+8"},
	{"what a large block leaves of its segment", LEFT, "a100K",
	 "driver +2"},
	{"so that it can go back when that is freed", LEFT, "a100K -@2 trim",
	 "driver ; +0 ; -16"},
	{"before it as well", "vm=off", "a4 [ a-1 a15 ]", "a100K", "driver"},
	{"and between two", "vm=off", "a4 [ a7 a-2 a7 ]", "a100K", "driver"},
	{"for a slab", LEFT, "a1K", "driver"},
	{"not for a 16th of the segment", LEFT, "a1", "own @3"},
	{"where no more than half is left", "vm=off", "a4 [ a8 a-8 ]", "a100K",
	 "driver"},
	{"and not where more is", "vm=off", "a4 [ a7 a-9 ]", "a100K", "own @3"},
	{"nor where two lie on one side", "vm=off", "a4 [ a7 a8 a-1 ]", "a100K",
	 "own @4"},
	{"or before them", "vm=off", "a4 [ a-1 a7 a8 ]", "a100K", "own @2"},
	{"nor beside another stream's", "vm=off", "a4 [ b15 a-1 ]", "a100K",
	 "own @3"},
	{"on either side", "vm=off", "a4 [ a-1 b15 ]", "a100K", "own @2"},
	{"nor in a segment that is not large", "vm=off", "a480 [ a15 a-1 ]",
	 "a100K", "own @3"},
	{"nor at the limit", LEFT_OF " limit=full", LEFT_IN, "a100K",
	 "own @3 +0"},
	{"nor where the driver has no more",
	 LEFT_OF " faults=alloc@1+:no_memory", LEFT_IN, "a100K", "own @3 +0"},
	{"nor with NO_GROW", LEFT, "a100K!g", "own @3 !alloc"},
	{"nor of a graph", LEFT_OF " graph=a", LEFT_IN, "a100K", "own @3"},
	{"nor where a busy stream does not wait", "vm=off segment_wait_ms=0",
	 "a4 [ a15 a~1 ]", "a100K", "own @3"},
	{"what a busy stream needs again is cut", "vm=off segment_wait_ms=0",
	 AT_WORK, "a1900K", "own @2"},
	{"a graph's is cut", "vm=off graph=b", "a40 b-20", "b1900K", "own @2"},
	{"one that begins badly does not make another be cut", "vm=off",
	 "a80 a-20 [ a128K a-3 a800K ]", "a2.5%1", "!@2"},
	{"a segment for an aligned block has room for it", "vm=off", "a40",
	 "a1%16", "driver alloc=1"},
	{"another stream's that is unused stays behind what serves", "vm=off",
	 "a40 a-20 [ a~2 a4 a-26 ]", "b1900K", "streams @5"},

	/* ---- which go back for another one ---- */
	{"up to the waste it stays; then it goes", UNUSED, "a1900K a1900K",
	 "driver !free ; exchanged free=1 -18"},
	{"at the limit it is cut", "vm=off limit=full", "a40 a-20", "a1900K",
	 "own @2 !free"},
	{"and where the driver has no more", "vm=off faults=alloc@1+:no_memory",
	 "a40 a-20", "a1900K", "own @2 !free"},
	{"and while a stream is captured", "vm=off host.capture_frees=off",
	 "a40 a-20 b0", "a1900K capture=b a1900K", "own @2 !free"},
	{"and with NO_GROW", UNUSED, "a1!g", "own @2 !alloc"},
	{"and before another stream loses what would do",
	 "vm=off segment_waste=0", "a40 a-20 [ b-3.75 b.25 ]", "a1900K!g",
	 "own @2"},
	{"and where it cannot go back",
	 "vm=off segment_waste=0 "
	 "segment_wait_ms=0",
	 "a40 b~20 [ a-3.75 a.25 ]", "b1900K", "own @2"},
	{"another stream's stays, and goes, too", UNUSED, "b1900K b1900K",
	 "!@2 ; free=1"},

	/* ---- which are waited for ---- */
	{"more than ever: work is waited for, once, and it goes back", "vm=off",
	 AT_WORK, "a50 a1", "waited sync=1 +30 ; !sync"},
	{"what is over goes without a wait", UNUSED, "a50", "!sync +30"},
	{"as much has been reserved before", "vm=off peak=now", "a40 a~20 .50",
	 "a50", "driver !sync +50"},
	{"it is no waste", "vm=off peak=80 segment_waste=25%", AT_WORK, "a50",
	 "driver !sync +50"},
	{"or up to 16 MiB are", "vm=off peak=95", AT_WORK, "a50",
	 "driver !sync +50"},
	{"a whole segment has been reserved before",
	 "vm=off segment_waste=0 peak=940", "a900 a~40 .34", "a17",
	 "driver !sync +34"},
	{"or not", "vm=off segment_waste=0 peak=940", "a900 a~40 .32", "a17",
	 "waited -6"},
	{"NO_WAIT waits for nothing", "vm=off", AT_WORK, "a50!w", "!sync +50"},
	{"nor does a pool that does not wait", "vm=off wait=off", AT_WORK,
	 "a50", "!sync +50"},
	{"or not for segments", "vm=off segment_wait_ms=0", AT_WORK, "a50",
	 "!sync +50"},
	{"nor for a graph", "vm=off graph=b", AT_WORK " b0", "b50",
	 "!sync +50"},
	{"nor anybody while a stream is captured",
	 "vm=off host.capture_frees=off capture=b", "a40 a~20 b0", "a50",
	 "!sync +50"},
	{"which is not waited for itself", "vm=off capture=a", AT_WORK, "b50",
	 "!sync +50"},
	{"a driver that fails to wait is not asked again", "vm=off", AT_WORK,
	 "faults=event_wait@1+ a50 faults= a70", "+50 ; +0 ; !sync"},
	{"a small block leaves one whole, with work on it", "vm=off", AT_WORK,
	 "a1900K", "!@2 !sync"},
	{"the next allocation waits again", "vm=off", AT_WORK, "a50 ~1 a70",
	 "waited sync=1"},
	{"both streams are waited for", "vm=off", "a40 a~20 b~22", "a60",
	 "sync=2 +18"},
	{"all that have a part of a segment are", "vm=off",
	 "a40 [ a~10 b~10 b~10 ]", "a60", "sync=2 +30"},
	{"unless a part is used", "vm=off", "a40 [ a~10 b~10 b10 ]", "a60",
	 "!sync +60"},
	{"or a graph keeps it", "vm=off graph=b", "a40 [ a~10 b~10 b~10 ]",
	 "a60", "!sync +60"},

	/* ---- side by side, behind the work of several ---- */
	{"what is side by side serves one, which waits for one", WASTE, PARTS,
	 "a12", "behind @2 +0 follows=1"},
	{"or for two", WASTE, PARTS, "a20", "behind @2 +0 follows=2"},
	{"or for all, if none of it is its own", WASTE, PARTS, "d20",
	 "behind @2 +0 follows=3"},
	{"not with NO_WAIT", WASTE, PARTS, "a20!w", "+20 !follows"},
	{"nor too little", WASTE, PARTS, "a26", "+26 !follows"},
	{"nor where it is no waste", "vm=off stream_waste=100% peak=now", PARTS,
	 "a20", "+20 !follows"},
	{"nor in a pool that does not wait", WASTE " wait=off", PARTS, "a20",
	 "+20 !follows"},
	{"a whole segment is spared", WASTE, "a40 [ a~8 b~8 c~8 d~8 ] .128",
	 "a20", "+20 !follows"},
	{"but cut where nobody waits for it", WASTE " segment_wait_ms=0",
	 "a40 [ a~8 b~8 c~8 d~8 ]", "a20", "behind @2"},
	{"not one of which a stream is captured", WASTE " capture=c", PARTS,
	 "a20", "!behind !@2"},
	{"nor for that stream", WASTE " capture=a", PARTS, "a20",
	 "!behind !@2"},
	{"aligned", WASTE, PARTS, "a16%4", "behind"},
	{"if there is enough for that", WASTE, PARTS, "a16%16", "!behind"},
	{"at the limit before the host waits", WASTE " limit=full", PARTS,
	 "a20", "behind @2 !sync"},
	{"be it an unused segment", WASTE " limit=full",
	 "a40 [ a~8 b~8 c~8 d~8 ] .128", "a20", "behind @2 !sync"},
	{"the smallest that is enough", WASTE,
	 "[ a~10 b~10 a4 ] [ a~9 b~9 a4 ]", "a17", "behind @4 +0"},
	{"a graph keeps what it has", WASTE " graph=b", PARTS, "a12",
	 "!behind !@2"},
	{"and takes nothing", WASTE " graph=a", PARTS, "a12", "!behind !@2"},
};

int main(void)
{
	return DECIDE(rows);
}
