/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * layer FILE: loads gpumem-run's layer as OpenCL's loaders do, and begins it
 * with two tables of functions, as if the process had two loaders. The second
 * is refused, and changes nothing for the first, whose calls are under way.
 * Says what is wrong and exits with 1.
 */
#include <dlfcn.h>
#include <stdio.h>

enum { FUNCTIONS = 200, REFUSED = -59 };

typedef int init_function(unsigned count, void *const *target,
			  unsigned *count_out, void *const **table_out);

static int first(void)
{
	return 1;
}

static int second(void)
{
	return 2;
}

static int wrong(const char *what)
{
	printf("%s\n", what);
	return 1;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	init_function *init = library ? dlsym(library, "clInitLayer") : NULL;
	void *targets[2][FUNCTIONS], *const *table, *const *other = NULL;
	void *before[FUNCTIONS];
	unsigned count = 0, other_count = 7;

	if (!init)
		return wrong("no layer");
	for (int i = 0; i < FUNCTIONS; i++) {
		targets[0][i] = (void *)first;
		targets[1][i] = (void *)second;
	}
	if (init(FUNCTIONS, targets[0], &count, &table) || !count ||
	    count > FUNCTIONS)
		return wrong("it is not begun");
	for (unsigned i = 0; i < count; i++)
		before[i] = table[i];
	for (int i = 0; i < 2; i++)
		if (init(FUNCTIONS, targets[i], &other_count, &other) !=
		    REFUSED)
			return wrong("it is begun twice");
	if (other || other_count != 7)
		return wrong("the second loader got a table");
	for (unsigned i = 0; i < count; i++)
		if (table[i] != before[i])
			return wrong("the first loader's table changed");
	return 0;
}
