/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See process.h. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0, or an errno. */
static int start(char *const argv[], int from, int to, bool quiet,
		 pid_t *pid_out)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, from, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, 1);
	if (!error && quiet)
		error = posix_spawn_file_actions_addopen(
			&actions, 2, "/dev/null", O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(pid_out, argv[0], &actions, NULL, argv,
				     environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int process_run(char *const argv[], int from, int to, bool quiet, int *code_out)
{
	pid_t pid;
	int error = start(argv, from, to, quiet, &pid);

	if (error)
		return error;
	while (waitpid(pid, code_out, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}
