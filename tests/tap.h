/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Test Anything Protocol for C, after Perl's Test::More. One test program
 * includes this once. Not thread-safe: only the main thread calls it.
 *
 *	plan(3);                                 or done_testing() at the end
 *	ok(fd >= 0, "the file %s opens", name);
 *	is_int(got, 42, "the answer");           is_uint, is_str, is_ptr alike
 *	is_status(gpumem_free(p, NULL), GPUMEM_OK, "free");
 *	skip("no virtual memory here", 1);       instead of 1 test
 *	return done_testing();
 *
 * Each check gives true when it passed, so that a test can stop early. The
 * last name of a check is a printf format. done_testing() is 0 only if every
 * check passed and there were as many as planned.
 *
 * Long tests take their size from scaled(full, small): GPUMEM_TEST_SCALE=small
 * in the environment, as in sanitizer builds, chooses the second.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers bring a malloc and an mmap of their own. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif

#define TAP_USE __attribute__((unused)) static
#define TAP_PRINTF(f, a) __attribute__((unused, format(printf, f, a))) static
#define TAP_CHECK TAP_PRINTF(4, 5) bool
#define TAP_TEXT(x) #x
#define TAP_LINE(line) __FILE__ ":" TAP_TEXT(line)
#define TAP_HERE TAP_LINE(__LINE__)

#define ok(condition, ...)                                                     \
	tap_ok((condition), #condition, TAP_HERE, __VA_ARGS__)
#define is_int(got, want, ...)                                                 \
	tap_int((intmax_t)(got), (intmax_t)(want), TAP_HERE, __VA_ARGS__)
#define is_uint(got, want, ...)                                                \
	tap_uint((uintmax_t)(got), (uintmax_t)(want), TAP_HERE, __VA_ARGS__)
#define is_str(got, want, ...) tap_str((got), (want), TAP_HERE, __VA_ARGS__)
#define is_ptr(got, want, ...) tap_ptr((got), (want), TAP_HERE, __VA_ARGS__)
#define is_status(got, want, ...) is_int((int)(got), (int)(want), __VA_ARGS__)

/* run = passed + failed; planned < 0 before there is a plan */
static struct {
	long planned, run, failed;
} tap = {-1, 0, 0};

/* A line of comment: every line of the text begins with '#'. */
static void tap_note(const char *format, va_list args)
{
	char text[4096];
	char *line = text, *end;

	vsnprintf(text, sizeof(text), format, args);
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
		printf("# %.*s\n", (int)(end - line), line);
	if (*line != '\0')
		printf("# %s\n", line);
	fflush(stdout);
}

TAP_PRINTF(1, 2) void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_note(format, args);
	va_end(args);
}

/* Prints one result. A '#' in a name would begin a directive. */
static bool tap_result(bool passed, const char *at, const char *format,
		       va_list args)
{
	char name[1024];
	const char *c;

	vsnprintf(name, sizeof(name), format, args);
	tap.run++;
	printf("%s %ld - ", passed ? "ok" : "not ok", tap.run);
	for (c = name; *c != '\0'; c++) {
		if (*c == '#')
			putchar('\\');
		putchar(*c == '\n' ? ' ' : *c);
	}
	putchar('\n');
	if (!passed) {
		tap.failed++;
		diag("  failed at %s", at);
	}
	fflush(stdout);
	return passed;
}

#define TAP_RESULT(passed)                                                     \
	do {                                                                   \
		va_list args;                                                  \
		va_start(args, format);                                        \
		tap_result(passed, at, format, args);                          \
		va_end(args);                                                  \
	} while (0)

TAP_CHECK tap_ok(bool passed, const char *condition, const char *at,
		 const char *format, ...)
{
	TAP_RESULT(passed);
	if (!passed)
		diag("  false: %s", condition);
	return passed;
}

TAP_CHECK tap_int(intmax_t got, intmax_t want, const char *at,
		  const char *format, ...)
{
	TAP_RESULT(got == want);
	if (got != want)
		diag("       got: %" PRIdMAX "\n  expected: %" PRIdMAX, got,
		     want);
	return got == want;
}

TAP_CHECK tap_uint(uintmax_t got, uintmax_t want, const char *at,
		   const char *format, ...)
{
	TAP_RESULT(got == want);
	if (got != want)
		diag("       got: %" PRIuMAX " (0x%" PRIxMAX ")\n"
		     "  expected: %" PRIuMAX " (0x%" PRIxMAX ")",
		     got, got, want, want);
	return got == want;
}

TAP_CHECK tap_str(const char *got, const char *want, const char *at,
		  const char *format, ...)
{
	bool same = got != NULL && want != NULL ? strcmp(got, want) == 0
						: got == want;

	TAP_RESULT(same);
	if (!same)
		diag("       got: %s\n  expected: %s",
		     got != NULL ? got : "(null)",
		     want != NULL ? want : "(null)");
	return same;
}

TAP_CHECK tap_ptr(const void *got, const void *want, const char *at,
		  const char *format, ...)
{
	TAP_RESULT(got == want);
	if (got != want)
		diag("       got: %p\n  expected: %p", got, want);
	return got == want;
}

/* How many checks there will be; 1 or more, said before the first. */
TAP_USE void plan(long count)
{
	tap.planned = count;
	printf("1..%ld\n", count);
	fflush(stdout);
}

/* Instead of `count` checks that cannot be made here, and why not. */
TAP_USE void skip(const char *why, long count)
{
	while (count-- > 0)
		printf("ok %ld # SKIP %s\n", ++tap.run, why);
	fflush(stdout);
}

/* Ends the program, which cannot do anything here, and why not. */
TAP_USE __attribute__((noreturn)) void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	fflush(stdout);
	exit(EXIT_SUCCESS);
}

/* Ends the program, because nothing that follows would mean anything. */
TAP_PRINTF(1, 2) __attribute__((noreturn)) void bail(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	exit(EXIT_FAILURE);
}

/* For return from main(). */
TAP_USE int done_testing(void)
{
	if (tap.planned < 0)
		plan(tap.run);
	if (tap.failed > 0)
		diag("%ld of %ld failed", tap.failed, tap.run);
	if (tap.run != tap.planned)
		diag("planned %ld, but ran %ld", tap.planned, tap.run);
	return tap.failed == 0 && tap.run == tap.planned && tap.run > 0
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}

TAP_USE long scaled(long full, long small)
{
	const char *scale = getenv("GPUMEM_TEST_SCALE");

	return scale != NULL && strcmp(scale, "small") == 0 ? small : full;
}

#endif
