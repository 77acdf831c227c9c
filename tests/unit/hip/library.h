/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The library on the hip backend over a double of AMD's runtime. A process has
 * one runtime, so the checks of each release run in a process of their own,
 * with `device` open. Include this once.
 */
#ifndef HIP_LIBRARY_H
#define HIP_LIBRARY_H

#include "../../fake/cuda/fakecuda.h"
#include "../../fake/hip/fakehip.h"
#include "../lib/fixture.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

static __typeof__(fakecuda_audit) *audit;
static __typeof__(fakehip_fault) *fault;
static __typeof__(fakehip_heal) *heal;
static __typeof__(fakehip_calls) *hip_calls_of;

static void find(void *library, const char *name, void *slot)
{
	void *address = library ? dlsym(library, name) : NULL;

	if (!address)
		bail("no %s", name);
	memcpy(slot, &address, sizeof(address));
}

/* A path below the build's root. */
TAP_PRINTF(2, 3)
void built(char path_out[4096], const char *format, ...)
{
	const char *folder = getenv("top_builddir");
	int used = snprintf(path_out, 4096, "%s/", folder ? folder : ".");
	va_list args;

	va_start(args, format);
	vsnprintf(path_out + used, 4096 - (size_t)used, format, args);
	va_end(args);
}

static void runtime_path(char path_out[4096], int release)
{
	built(path_out, "tests/fake/hip/%d/.libs/libamdhip64.so.%d", release,
	      release);
}

static void start(int release, const char *level)
{
	char path[4096];
	void *library;

	built(path, "backends/.libs");
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
	built(path, "tests/fake/cuda/.libs/libcuda.so.1");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	find(library, "fakecuda_audit", &audit);
	runtime_path(path, release);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	find(library, "fakehip_fault", &fault);
	find(library, "fakehip_heal", &heal);
	find(library, "fakehip_calls", &hip_calls_of);
	option("hip.library", path);
	option("hip.vm", level);
	if (gpumem_device_open("hip:0", &device) != GPUMEM_OK)
		bail("%s", last_text());
}

/* In a process of its own, which ends with its checks and tells how many there
 * were. With faults of the runtime, as FAKEHIP_QUIRKS has them; "" for none. */
static void on(int release, const char *level, const char *quirks,
	       void (*checks)(void))
{
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes))
		bail("pipe");
	child = fork();
	if (!child) {
		alarm(300);
		diag("ROCm %d, hip.vm %s %s", release, level, quirks);
		setenv("FAKEHIP_QUIRKS", quirks, 1);
		start(release, level);
		checks();
		exit(write(pipes[1], &tap, sizeof(tap)) == sizeof(tap) ? 0 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		bail("no child");
	if (status || read(pipes[0], &tap, sizeof(tap)) != sizeof(tap))
		bail("ROCm %d ends with 0x%x", release, (unsigned)status);
	close(pipes[0]);
	close(pipes[1]);
}

static void skip_without_doubles(void)
{
	char path[4096];

	runtime_path(path, 6);
	if (access(path, F_OK))
		skip_all("configured without hip or cuda");
}

#endif
