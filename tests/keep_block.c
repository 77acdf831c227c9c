/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * For tests/tool_keep.sh: a program that has weights in a block, has them kept,
 * and is killed; and one that finds them.
 *
 *     keep_block put WORDS TOOL ARGUMENT...   the tool gets the descriptors as
 *                                             arguments behind its own
 *     keep_block get WORDS                    has them from 3 on
 */
#include <gpumem/gpumem.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 5 << 20, ROOM = 16, FIRST = 3 };

static unsigned char weights[BYTES];

static void fill(void)
{
	for (size_t i = 0; i < BYTES; i++)
		weights[i] = (unsigned char)(i * 7 + i / 4096);
}

static int execute(char **argv, int count, const int *fds, uint32_t fd_count)
{
	char **args = calloc((size_t)count + fd_count + 1, sizeof(*args));
	char text[ROOM][12];

	if (!args)
		return 1;
	memcpy(args, argv, (size_t)count * sizeof(*args));
	for (uint32_t i = 0; i < fd_count; i++) {
		snprintf(text[i], sizeof(text[i]), "%d", fds[i]);
		args[(uint32_t)count + i] = text[i];
		(void)fcntl(fds[i], F_SETFD, 0);
	}
	execv(args[0], args);
	return 1;
}

static int put(const char *words, char **argv, int count)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	gpumem_device *device;
	gpumem_pool *pool;
	int fds[ROOM], status;
	FILE *file;
	void *ptr;

	config.shareable = GPUMEM_SHARE_FD;
	if (gpumem_device_open(NULL, &device) ||
	    gpumem_pool_create(device, &config, &pool) ||
	    gpumem_alloc(pool, BYTES, NULL, &ptr) ||
	    gpumem_copy(device, ptr, weights, BYTES, NULL) ||
	    gpumem_stream_sync(device, NULL) ||
	    gpumem_export(ptr, &shared, fds, ROOM))
		return 1;
	file = fopen(words, "we");
	if (!file || fwrite(&shared, sizeof(shared), 1, file) != 1 ||
	    fclose(file))
		return 1;
	if (fork() == 0)
		_exit(execute(argv, count, fds, shared.fd_count));
	if (wait(&status) < 0 || status)
		return 1;
	return raise(SIGKILL);
}

static int get(const char *words)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	static unsigned char seen[BYTES];
	const char *said = getenv("GPUMEM_KEEP_FDS");
	gpumem_device *device;
	int fds[ROOM];
	FILE *file = fopen(words, "re");
	void *ptr;

	if (!file || fread(&shared, sizeof(shared), 1, file) != 1 ||
	    fclose(file) || shared.fd_count > ROOM || !said ||
	    (uint32_t)atoi(said) != shared.fd_count)
		return 1;
	for (uint32_t i = 0; i < shared.fd_count; i++)
		fds[i] = FIRST + (int)i;
	if (gpumem_device_open(NULL, &device) ||
	    gpumem_import(device, &shared, fds, shared.fd_count, &ptr) ||
	    gpumem_copy(device, seen, ptr, BYTES, NULL) ||
	    gpumem_stream_sync(device, NULL) || gpumem_import_close(ptr) ||
	    gpumem_device_close(device)) {
		puts(gpumem_error_text());
		return 1;
	}
	return memcmp(seen, weights, BYTES) != 0;
}

int main(int argc, char **argv)
{
	fill();
	if (argc == 3 && !strcmp(argv[1], "get"))
		return get(argv[2]);
	return argc > 3 ? put(argv[2], argv + 3, argc - 3) : 2;
}
