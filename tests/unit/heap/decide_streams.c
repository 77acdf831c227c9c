/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is decided with virtual memory where streams are at work, are captured,
 * or have free memory beside each other: what is lent, what passes, what is
 * waited for, and what stays.
 */
#include "decide.h"

/* Eight pages, and work of the stream on four that are free. */
#define LENDS "waste=0"
#define WORK "a1 a~4 a3"

/* Six pages are to be lent, and no place is left. */
#define PLACES "waste=0 waste_max=0 places=0"

/* Halves of pages that the stream is at work on, too. */
#define HALVES "a2 a~4 a2 4(a~.5,a.5)"

/* A page of each stream in turn, twice, and one of the stream that asks. */
#define TURNS "2(a-1,b-1,c-1) d-1"

/* Whatever is unused is waste. */
#define WASTE "waste=0 peak=now stream_waste=0"

/* A thousand pages were needed. */
#define LARGE "host.capacity=64GiB waste=0 peak=1000"

static const struct row rows[] = {
	/* ---- pages lent to the same stream ---- */
	{"what is at work is lent: nothing more is taken, or unmapped", LENDS,
	 WORK, "a4^ trim over trim",
	 "moved lent=4 +0 !unmap ; !unmap ; ; lent=-4 +0"},
	{"alone, what is over is lent too", LENDS, "a1 a-4 a3", "a2^",
	 "lent=2 +0 !unmap"},
	{"with others, what is over is unmapped, the oldest first", LENDS,
	 "a1 a-4 a2 b-1", "a2^", "moved=2 !lent unmap=2 +0"},
	{"lent again before the first work is over; and all goes",
	 "waste=0 peak=now", WORK, "a4^ ~1 a5%128 ~3 a4%256 ~5 trim over trim",
	 "lent=4 +0 ; ; lent=4 +1 ; ; lent=4 +0 ; ; +0 ; ; lent=-12 -5"},
	{"what is lent is no other stream's", "waste=0 wait=off", WORK,
	 "a4^ ~1 b4^", "+4"},
	{"but behind its work", LENDS, WORK, "a4^ ~1 b4^", "behind +0"},
	{"not while another stream is captured, if that forbids it",
	 "waste=0 host.capture_frees=off capture=b", "a1 a~4 a3 b0", "a4^",
	 "!lent +4"},
	{"else it is", "waste=0 capture=b", "a1 a~4 a3 b0", "a4^", "lent=4 +0"},
	{"not with option alias off", "waste=0 alias=off", WORK, "a4^",
	 "!lent +4"},
	{"nor on a device that cannot", "waste=0 host.alias=off", WORK, "a4^",
	 "!lent +4"},
	{"a map that fails is undone, and made again", "waste=0 faults=map@1",
	 WORK, "a4^", "trimmed lent=4 +0 map=2"},
	{"at the limit: five pages are too many, four are there",
	 "waste=0 limit=full", WORK, "a5^!w a4^",
	 "GPUMEM_LIMIT !lent +0 ; lent=4 +0"},
	{"addresses of stale places serve once the work is over",
	 "waste=0 space=24MiB wait=off", "a~4 a1", "a5 a4!w over a4",
	 "lent=4 +1 ; GPUMEM_NO_MEMORY +0 ; ; lent=-4 +4"},

	/* ---- as many are lent as may be ---- */
	{"work is waited for rather than that more is taken", PLACES, "a1 a~6",
	 "a7^", "+1 sync=1"},
	{"what is over needs no wait", PLACES, "a1 a~6", "over a7^",
	 "+1 !sync"},
	{"NO_WAIT takes memory", PLACES, "a1 a~6", "a7^!w", "+7 !sync"},
	{"so does a pool that does not wait", PLACES " wait=off", "a1 a~6",
	 "a7^", "+7 !sync"},
	{"and any while a stream is captured",
	 PLACES " capture=b host.capture_frees=off", "a1 a~6 b-1", "a7^",
	 "+7 !sync"},
	{"and where the driver fails to wait", PLACES " faults=event_sync@1+",
	 "a1 a~6", "a7^", "+7"},
	{"or to unmap", PLACES " faults=unmap@1+", "a1 a~6", "a7^", "+7"},
	{"if another stream has all places its work is waited for",
	 "waste=0 waste_max=0 peak=now stream_waste=10000%", "a1 a~4 b3",
	 "a4^ places=0 ~@3 b4^", "lent=4 ; ; ; waited +1"},

	/* ---- memory of others rather than that more is unused ---- */
	{"nobody else has any: it grows by what is missing",
	 "waste=0 stream_waste=0", HALVES, "a6", "moved lent=4 +2"},
	{"another stream serves for what is missing", "waste=0 stream_waste=0",
	 HALVES " b~1", "a6", "lent=4 +1 follows=1"},
	{"as long as that is no waste nothing waits",
	 "waste=0 stream_waste=100%", HALVES " b~1", "a6", "+2 !follows"},
	{"pending blocks, behind the work that uses them", WASTE, "ab20 a1",
	 "a20", "behind @1 +0"},
	{"for another stream, too", WASTE, "ab20 a1", "c20",
	 "behind @1 +0 follows=1"},
	{"and for the one that uses them", WASTE, "ab20 a1", "b20",
	 "behind @1 +0"},
	{"the one that was freed first, and no more", WASTE,
	 "ab20 a1 ab20 a1 ab20", "a20", "behind @1 +0 pending=-1"},
	{"as many as it takes", WASTE, "ab20 ab20 ab20 a1 ab20", "a40",
	 "behind @1 +0 pending=-2"},
	{"what lies side by side joins", WASTE, "ab20 a1 ab20 ab20 a1 ab20",
	 "a40", "behind @3 +0 pending=-3"},
	{"where none is large enough pages are lent, of not too few", WASTE,
	 "7(ab10,a1)", "a12.5", "moved lent=13 +0 pending=-5"},
	{"which NO_GROW forbids, but not to have them all", WASTE, "7(ab10,a1)",
	 "a12.5!g", "GPUMEM_NO_MEMORY pending=-7"},
	{"not the one of which a stream is captured that asks", WASTE,
	 "ab20 a1", "capture=b b20", "driver +20 !pending"},
	{"not with NO_WAIT", WASTE, "ab20 a1", "a20!w", "driver +20"},
	{"nor without option wait", WASTE " wait=off", "ab20 a1", "a20",
	 "driver +20"},
	{"nor within stream_waste", "waste=0 peak=now stream_waste=200%",
	 "ab20 a1", "a20", "driver +20"},
	{"nor to a graph", WASTE " graph=c", "ab20 a1 c0", "c20", "driver +20"},
	{"which keeps its own", WASTE " graph=a", "ab20 a1", "b20",
	 "driver +20"},
	{"nor if the driver refuses the wait", WASTE, "ab20 a1",
	 "faults=stream_wait@1+ a20", "driver +20"},
	{"nor for a stream that is captured", WASTE, "ab20 a1", "capture=a a20",
	 "driver +20"},
	{"at the limit, without a wait of the host", "limit=full", "ab1 a1",
	 "c1", "behind @1 +0 follows=1 !sync"},
	{"or not at all", "limit=full wait=off", "ab1 a1", "c1",
	 "GPUMEM_LIMIT"},
	{"the host waits for what no stream may", "limit=full", "ab1 a1",
	 "capture=a a1", "waited @1 sync=1"},
	{"free memory of another stream, behind its work", WASTE, "b~20 a1",
	 "a20", "behind @1 +0 follows=1"},
	{"not to a graph", WASTE " graph=c", "b~20 a1 c0", "c20", "driver +20"},
	{"nor at the limit, where the host waits", "limit=full graph=c",
	 "b~20 a1 c0", "c20", "!follows sync=1"},
	{"which keeps its own", WASTE " graph=b", "b~20 a1", "a20",
	 "driver +20"},
	{"not with NO_WAIT either", WASTE, "b~20 a1", "a20!w", "driver +20"},

	/* ---- how much streams may leave unused ---- */
	{"4.5 % of the peak, by default", LARGE, "a960 b~40 c~25", "a20",
	 "driver +20"},
	{"and no more", LARGE, "a960 b~40 c~26", "a20", "behind +0"},
	{"with a limit 10 %", LARGE " limit=8192", "a960 b~40 c~80", "a20",
	 "driver +20"},
	{"and no more", LARGE " limit=8192", "a960 b~40 c~81", "a20",
	 "behind +0"},
	{"as an option says", LARGE " stream_waste=2%", "a960 b~40", "a20",
	 "driver +20"},
	{"and no more", LARGE " stream_waste=2%", "a960 b~41", "a20",
	 "behind +0"},
	{"with a limit, too", LARGE " stream_waste=2% limit=8192", "a960 b~41",
	 "a20", "behind +0"},
	{"half of it", LARGE " stream_waste=50%", "a960 b~520", "a20",
	 "driver +20"},
	{"and no more", LARGE " stream_waste=50%", "a960 b~521", "a20",
	 "behind +0"},

	/* ---- what is over, of others ---- */
	{"beside what another stream has finished with", "waste=0 peak=now",
	 "b-3 .60 a-3", "a6", "@1 +0"},
	{"not beside what it is at work on", "waste=0 peak=now wait=off",
	 "b~3 .60 a-3", "a6", "!@1 +3"},
	{"one that is long enough serves", "waste=0 peak=now", "b-6 .60 a-3",
	 "a6", "streams @1 +0"},
	{"what is side by side joins", "waste=0 waste_max=0 idle", TURNS, "d4",
	 "streams !moved"},
	{"where a stream was busy pages move", "waste=0 waste_max=0", TURNS,
	 "d4", "moved"},
	{"and for a small block", "waste=0 waste_max=0 idle", TURNS, "d3",
	 "moved"},
	{"near the limit the smallest of all streams", "limit=full",
	 "b-.5 b.5 a-4", "a.25", "streams @1"},
	{"its own where the other is busy", "limit=full", "b~.5 b.5 a-4",
	 "a.25", "own @3"},
	{"or too small", "limit=full", "b-.5 b.5 a-4", "a1", "own @3"},
	{"or far from the limit", "limit=10", "b-.5 b.5 a-4", "a.25", "own @3"},
	{"what fits is not taken apart where the driver has no more",
	 "waste=1000% waste_max=1000% outside=full", "a.5 b-2.75 a.75",
	 "a64^!w a2.75", "GPUMEM_NO_MEMORY +0 ; @2 +0"},

	/* ---- what a trim leaves ---- */
	{"what a busy stream may use stays", "", "a1 b~4", "trim over trim",
	 "+0 ; ; -4"},
	{"the page that is busy, of three", "", "b-1 b~1 b-1", "trim over trim",
	 "-2 ; ; -1"},
	{"all while a stream is captured, if that forbids it",
	 "host.capture_frees=off limit=full", "a1 b-4",
	 "capture=b trim a1^!w capture= a1^ trim",
	 "+0 ; GPUMEM_LIMIT ; ; moved=1 ; -3"},

	/* ---- a capture that forbids nothing but to touch the stream ---- */
	{"what was freed in it stays, all else goes", "", "b1 a-8 a4 b-2",
	 "capture=a -@3 trim capture= trim", "-10 ; +0 ; -4"},
	{"what is over moves, what was freed in it does not", "limit=full",
	 "b1 a4 c-4", "capture=a b4^ -@2 b4%128!w",
	 "moved=4 +0 ; +0 ; GPUMEM_LIMIT"},
	{"for the captured stream, too", "limit=full", "b1 a4 c-4",
	 "capture=a a4^ -@2 b4%128!w", "moved=4 +0 ; +0 ; GPUMEM_LIMIT"},
	{"what others have finished with moves to it", "limit=full capture=a",
	 "b1 a~1 b-2 b1 b-2", "a4^", "moved=4 +0"},
	{"but no page of which it has freed the lower part", "limit=full",
	 "b1 a~1 a1.5 b1.5", "capture=a -@3 -@4 a1^ a1%128!w",
	 "moved=1 ; GPUMEM_LIMIT"},
	{"or the upper one", "limit=full", "b1 a~1 b1.5 a1.5",
	 "capture=a -@3 -@4 a1^ a1%128!w", "moved=1 ; GPUMEM_LIMIT"},
	{"it lends itself nothing until it is over", "limit=full", "b1 a~4",
	 "capture=a a4^!w capture= a4^", "GPUMEM_LIMIT !lent ; ; lent=4"},
	{"a stream beside it does", "limit=full", "b1 a0 b~4",
	 "capture=a b4^ over trim", "lent=4 ; ; lent=-4"},
	{"none is asked whether it is captured where none is touched",
	 "limit=full", "b1 a0 b-4", "a4^", "unmap=1 !asks"},
	{"segments go", "vm=off", "a-8 b-8", "capture=a trim", "-16"},
};

int main(void)
{
	return DECIDE(rows);
}
