/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which clock a recording has. The processor's counter costs a third of the
 * kernel's clock, but is one only where it runs at one rate, is the same on all
 * cores, and the kernel, which watches it, still takes it for that: then it
 * lists it among its clocks.
 */
#include "file.h"
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define CLOCKS                                                                 \
	"/sys/devices/system/clocksource/clocksource0/available_clocksource"

uint64_t gm_record_clock_ns(void)
{
	return gm_clock_ns();
}

#ifdef __x86_64__

#define LEAF 0x80000007u
#define INVARIANT (1u << 8)

static bool is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(LEAF, &a, &b, &c, &d) && d & INVARIANT;
}

static bool is_listed(void)
{
	char text[256];
	ssize_t bytes;
	int fd = open(CLOCKS, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	bytes = read(fd, text + 1, sizeof(text) - 2);
	close(fd);
	if (bytes <= 0)
		return false;
	text[0] = ' ';
	text[bytes + 1] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	return strstr(text, " tsc ") != NULL;
}

bool gm_record_ticks_usable(void)
{
	return is_invariant() && is_listed();
}

#else

bool gm_record_ticks_usable(void)
{
	return false;
}

#endif
