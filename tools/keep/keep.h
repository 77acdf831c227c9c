/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the files of gpumem-keep share: the daemon, and its commands. */
#ifndef GPUMEM_TOOLS_KEEP_H
#define GPUMEM_TOOLS_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr_un;

enum { KEEP_LEASE = 600, KEEP_LEASE_MOST = 30 * 86400 };

struct keep_config {
	const char *socket; /* NULL: the usual one */
	const char *words;  /* a file; NULL: none */
	uint32_t lease_seconds;
	bool replace, root, json;
	char **args; /* of the command */
	size_t count;
};

/* place.c: where the daemon is. False, and told: nobody says where. */
bool keep_place(const char *path, struct sockaddr_un *place_out);

/* Each: the exit status. */
int keep_serve(const struct keep_config *config);
int keep_list(const struct keep_config *config);
int keep_show(const struct keep_config *config);
int keep_drop(const struct keep_config *config);
int keep_renew(const struct keep_config *config);
int keep_put(const struct keep_config *config);
/* What is executed instead has the descriptors from 3 on. */
int keep_get(const struct keep_config *config);

#endif
