/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Runs a fuzz target without libFuzzer: first the files given as arguments
 * and every seed as they are, then each seed cut off after each of its bytes
 * (of a target that costs more, after each CUT), then mutations of the seeds.
 * The numbers are pseudo-random with a fixed start, so a failure comes again:
 * FUZZ_SEED sets another start, FUZZ_RUNS the number of mutations, of which a
 * target that costs more makes fewer.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT 8192
#define RUNS 200000
/* Of one run, against those of the quicker targets: it has so many fewer. */
#ifndef COST
#define COST 1
#endif
#define CUT (1 + COST / 16)

static uint64_t state;

/* xorshift64* */
static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next() % limit) : 0;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	return value ? value : otherwise;
}

/* Runs a copy of exactly that size, so that a sanitizer sees every byte read
 * beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy) {
		puts("Bail out! out of memory");
		exit(1);
	}
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "rb");

	if (!file) {
		printf("Bail out! cannot open %s\n", path);
		exit(1);
	}
	run(data, fread(data, 1, sizeof(data), file));
	fclose(file);
}

/* Moves what is behind `at` by `by` bytes to the right, new bytes random. */
static size_t insert(uint8_t *data, size_t size, size_t at, size_t by)
{
	if (by > INPUT - size)
		by = INPUT - size;
	memmove(data + at + by, data + at, size - at);
	for (size_t i = 0; i < by; i++)
		data[at + i] = (uint8_t)next();
	return size + by;
}

static size_t cut(uint8_t *data, size_t size, size_t at, size_t by)
{
	if (by > size - at)
		by = size - at;
	memmove(data + at, data + at + by, size - at - by);
	return size - by;
}

/* A piece of the input once more, somewhere else. */
static size_t repeat(uint8_t *data, size_t size)
{
	uint8_t piece[256];
	size_t from = below(size), bytes = 1 + below(sizeof(piece));
	size_t at = below(size + 1), grown;

	if (!size)
		return size;
	if (bytes > size - from)
		bytes = size - from;
	memcpy(piece, data + from, bytes);
	grown = insert(data, size, at, bytes);
	memcpy(data + at, piece, grown - size);
	return grown;
}

/* Many times the same byte: a line or a number without end. */
static size_t stretch(uint8_t *data, size_t size, size_t at)
{
	size_t grown = insert(data, size, at, 1u << below(13));

	memset(data + at, data[below(grown)], grown - size);
	return grown;
}

static size_t mutate(uint8_t *data, size_t size)
{
	static const char likely[] = "0123456789 \n#af:,=.;-+\0\377";
	size_t at = below(size);

	switch (below(32) / 4) {
	case 7:
		if (below(8)) /* seldom: it costs most */
			return size;
		return stretch(data, size, at);
	case 0:
		return insert(data, size, at, 1 + below(8));
	case 1:
		return cut(data, size, at, 1 + below(32));
	case 2:
		return repeat(data, size);
	case 3:
		return below(size + 1);
	case 4:
		if (size)
			data[at] ^= (uint8_t)(1u << below(8));
		return size;
	default:
		if (size)
			data[at] = (uint8_t)likely[below(sizeof(likely) - 1)];
		return size;
	}
}

static void run_mutation(size_t seeds)
{
	uint8_t data[INPUT];
	const struct fuzz_seed *seed = &fuzz_seeds[below(seeds)];
	size_t size = seed->bytes < INPUT ? seed->bytes : INPUT;

	memcpy(data, seed->data, size);
	for (size_t i = 1 + below(8); i > 0; i--)
		size = mutate(data, size);
	run(data, size);
}

int main(int argc, char **argv)
{
	uint64_t runs = setting("FUZZ_RUNS", RUNS) / COST;
	size_t seeds = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef __SANITIZE_THREAD__
	puts("1..0 # SKIP a target has one thread");
	return 0;
#endif
	alarm((unsigned)(300 + runs / 1000));
	state = setting("FUZZ_SEED", 1);
	puts("1..3");
	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	for (; fuzz_seeds[seeds].data; seeds++)
		run((const uint8_t *)fuzz_seeds[seeds].data,
		    fuzz_seeds[seeds].bytes);
	printf("ok 1 - %zu seeds and %d files\n", seeds, argc - 1);
	for (size_t i = 0; i < seeds; i++)
		for (size_t cut = 0; cut < fuzz_seeds[i].bytes; cut += CUT)
			run((const uint8_t *)fuzz_seeds[i].data, cut);
	printf("ok 2 - every seed, cut off after each %d bytes\n", CUT);
	for (uint64_t i = 0; i < runs; i++)
		run_mutation(seeds);
	printf("ok 3 - %llu mutations\n", (unsigned long long)runs);
	return 0;
}
