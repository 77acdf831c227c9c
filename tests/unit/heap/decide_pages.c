/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is decided with virtual memory for a stream that is alone: where a block
 * goes, how many pages are new, which pages move, and how large handles are.
 * That what moves keeps what others wrote is in space.c; streams beside each
 * other are in decide_streams.c.
 */
#include "decide.h"

/* One and a half pages begin within a page; one is free, and three. */
#define SHAPE "a.5 a-1.5 .1 a1 a-1 a1 a-3 a1"
/* Another three, which a request takes that meets the limit. */
#define LIMITED "limit=full waste=100% waste_max=100%"
#define SHAPE_LIMITED SHAPE " a-3 a1"

/* What moves is unmapped, not lent, and nothing may be unused. */
#define MOVES "waste=0 alias=off"
#define SIZES "a1 a-6 a1 a-1 a1 a-3 a1 a-2 a1"

/* So much that handles of eight pages are a small part of it; "%2048" is where
 * nothing is mapped. */
#define GROWS "host.capacity=64GiB "
#define LARGE GROWS "handle_max=16MiB freed=8192 "
#define BALLAST "a3888 "

static const struct row rows[] = {
	/* ---- growth and holes ---- */
	{"growth takes whole pages, and less beside what is left", "", "",
	 "a1.5 a1.5", "driver +2 map=1 ; driver +1 map=1"},
	{"what is free is used without growth", "", "a-3 a1", "a1.5 a1",
	 "own @1 +0 ; own @1+1.5 +0"},
	{"of holes the lowest", "", "a1 .1 a1 .1 a2", "a1", "driver @2"},
	{"one page joins two free ones", "", "a-1 .1 a-1 a1", "a3",
	 "driver @1 +1"},
	{"what is beside the block stays, and another page moves", "waste=0",
	 "a-1 a1 a-2", "a3", "@3 moved=1 +0"},
	{"what lies in pieces is used before memory is taken", "", "8(a-1,a1)",
	 "a8 a1", "+0 ; driver +1"},
	{"up to the limit, and beyond the soft one", "limit=4", "a3", "a2!w a1",
	 "GPUMEM_LIMIT +0 ; driver +1"},
	{"beyond the soft limit, after all", "soft=3 limit=8", "a3", "a1",
	 "soft +1"},
	{"a page more is no waste", "waste=1000% waste_max=1000%", "a-3 .1 a-3",
	 "a5", "driver +1"},
	{"or is", "waste=0 peak=now", "a-3 .1 a-3", "a5", "moved +0"},

	/* ---- parts of pages, which can move nowhere ---- */
	{"beside the larger part of a page", "waste=0 peak=now",
	 "a.75 a-.25 .1 a.25 a-.75 .1 a1 a-1", "a1.1", "@5 moved=1 +0"},
	{"beside the lower one near the limit", "waste=0 peak=now limit=full",
	 "a.75 a-.25 .1 a.25 a-.75 .1 a1 a-1", "a1.1", "@2 moved=1 +0"},
	{"over three pages that are free", "waste=100%", SHAPE, "a2.5",
	 "own @7 +0"},
	{"over two and one that is moved, if too much cannot be",
	 "waste=0 peak=now", SHAPE, "a2.5", "moved=1 @2 +0"},
	{"not if no places are left", "waste=0 peak=now places=0", SHAPE,
	 "a2.5", "own @7 !map"},
	{"nor if nothing can be mapped twice", "waste=0 peak=now alias=off",
	 SHAPE, "a2.5", "own @7 !map"},
	{"nor for a stream that is captured", "waste=0 peak=now capture=a",
	 SHAPE, "a2.5", "own @7 !map"},

	/* ---- pages are short once one had to move for want of others ---- */
	{"near the limit: where it fits best", LIMITED, SHAPE_LIMITED, "a.5",
	 "own @5"},
	{"short: in a page that is in use", LIMITED, SHAPE_LIMITED, "a3^ a.5",
	 "moved=3 ; own @2"},
	{"not far from the limit", LIMITED, SHAPE_LIMITED, "a3^ limit=40 a.5",
	 "own @5"},
	{"near the limit: over three pages that are free", LIMITED,
	 SHAPE_LIMITED, "a2.5", "own @7"},
	{"short: over two, and one from elsewhere", LIMITED, SHAPE_LIMITED,
	 "a3^ a2.5", "moved=1 @2 +0"},
	{"not with NO_GROW", LIMITED, SHAPE_LIMITED, "a3^ a2.5!g",
	 "own !moved !map"},

	/* ---- which extents lose their pages ---- */
	{"the smallest give all, a call for each", MOVES, SIZES, "a7^ a5",
	 "moved=7 unmap=4 +0 ; own @2+1 +0"},
	{"one that has just enough", MOVES, SIZES, "a2^ a3",
	 "moved=2 unmap=1 +0 ; own @6"},
	{"one that has more, in one call", MOVES, SIZES, "a4^ a3",
	 "moved=4 unmap=1 +0 ; own @6"},
	{"what is known to be over is not asked for again", MOVES,
	 "a1 4(a-1,a1)", "a1^ -1 a2%128 a2%256", "!query ; ; !query ; query=1"},
	{"not what is beside the block, though it has enough",
	 MOVES " peak=now", "a1 a-2 a1 a-2 a1 a-2 a1 a-6", "a10",
	 "@8 moved=4 unmap=2 +0"},

	/* ---- handles of several pages ---- */
	{"few pages one by one, more in fours, mapped at once", LARGE, BALLAST,
	 "a7 a21 a1", "create=7 map=1 ; create=6 map=2 ; create=1"},
	{"of 8, 2 and 1 pages", LARGE, BALLAST, "a67", "create=10 +67"},
	{"up to an eighth of what is reserved, and a quarter of a request",
	 LARGE, "a4096", "a1024 a32 a31", "create=128 ; create=4 ; create=9"},
	{"to half of a limit of eight pages", LARGE "limit=9216", "a4096",
	 "a511", "create=66"},
	{"from there of four", LARGE "limit=9216", "a4096", "a513",
	 "create=129"},
	{"with a quarter left of two", LARGE "limit=9216", "a4096", "a2816",
	 "create=1408"},
	{"near the limit of one page", LARGE "limit=3955", BALLAST, "a68!w a67",
	 "GPUMEM_LIMIT +0 ; create=67 +67"},
	{"as large as the option says", LARGE, "", "a3888", "create=486"},
	{"rounded down to a power of two", LARGE "handle_max=7MiB", "", "a3888",
	 "create=1944"},
	{"up to what there is", LARGE "handle_max=1GiB", "", "a3888",
	 "create=486"},
	{"none larger than a page", LARGE "handle_max=0", "", "a3888",
	 "create=3888"},

	/* ---- a heap that only grows ---- */
	{"one handle for several blocks", GROWS, "a1024", "a1 a7 a1",
	 "create=1 map=1 +8 ; own +0 ; create=1 +8"},
	{"a block's last handle is a whole one", GROWS, "a1024", "a12 a4",
	 "create=2 map=1 +16 ; own +0"},
	{"of 64 MiB by default", GROWS, "a8192", "a3", "create=1 +32"},
	{"if no more than a 32nd was freed", GROWS "freed=32", "a1024", "a1",
	 "+8"},
	{"else the block's pages alone", GROWS "freed=33", "a1024", "a1", "+1"},
	{"so much that half of the waste is unused", GROWS "waste=0.6%",
	 "a1024", "a1", "create=1 +4"},
	{"and no more", GROWS "waste=0.5%", "a1024", "a1", "create=1 +2"},
	{"where there is a limit less", GROWS "limit=16384", "a1024", "a1",
	 "create=1 +2"},
	{"nothing beyond it", GROWS "limit=16385", "a16384", "a1", "+1"},
	{"nothing that the device does not have", GROWS "outside=1027", "a1024",
	 "a1!w a1!w", "driver +1 ; driver +1"},
	{"nothing once memory was short", GROWS "limit=full freed=8192",
	 "a1024 a-3 a1", "freed=0 a3%2048 limit=16384 a1",
	 "moved=3 ; ; create=1 +1"},
	{"nothing that a graph would keep", GROWS "graph=b", "a1024", "b1",
	 "+1"},

	{"a block keeps all of its handle, which is used", LARGE,
	 BALLAST "[ a-12 a1 a-51 ]", "trim a1 -2 -@3 trim",
	 "-56 ; own +0 ; ; ; -8"},
	{"so does a page that a busy stream may use", LARGE,
	 BALLAST "[ b-12 b~1 b-51 ]", "trim over trim", "-56 ; ; -8"},
	{"whole ones move", LARGE MOVES, BALLAST "4(a-64,a64)", "a256",
	 "moved +0 !create"},
	{"large ones first, though small ones lie in smaller extents",
	 LARGE MOVES " peak=now", BALLAST "16(a-1,a1) 2(a-64,a1)", "a75%2048",
	 "moved=75 unmap=5 +0"},
	{"where there is no more those of all sizes move",
	 LARGE "waste=50% alias=off limit=full", BALLAST "a-67", "a67%2048",
	 "moved=67 +0 !destroy"},
	{"one breaks rather than to waste memory", LARGE MOVES " peak=now",
	 BALLAST "a-64 a1", "a56 a3%2048", "own ; -5 destroy=1"},
	{"or at the limit", LARGE "alias=off limit=full", BALLAST "a-64 a1",
	 "a56 a3%2048", "own ; -5 destroy=1"},
	{"but not while a stream is captured",
	 LARGE "alias=off limit=full host.capture_frees=off capture=a",
	 BALLAST "a-64 a1", "a10%2048", "GPUMEM_LIMIT +0"},
	{"more pages are lent than places are left: each has eight",
	 LARGE "waste=0 peak=now places=20", BALLAST "2(a~64,a8)", "a128%2048",
	 "lent=128 +0"},
	{"as many as may be, and the rest is new",
	 LARGE "waste=0 peak=now places=11 wait=off", BALLAST "2(a~64,a8)",
	 "a128%2048", "lent=88 +40"},
};

int main(void)
{
	return DECIDE(rows);
}
