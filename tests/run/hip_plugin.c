/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * hip_plugin FILE ARGUMENT...: hip.c in a shared object that is opened for this
 * program alone, as Python does with its extensions: their runtime is in no
 * scope in which another library could look for it.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*run)(int, char **);

	if (!plugin) {
		printf("%s\n", dlerror());
		return 3;
	}
	run = (int (*)(int, char **))dlsym(plugin, "main");
	return run(argc - 1, argv + 1);
}
