/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Where the daemon's socket is; see keep.h. */
#include "keep/keep.h"
#include "common/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char file[] = "gpumem-keep.socket";

/* The user's folder for what ends with the machine; false: it has none. */
static bool usual(char *path, size_t room)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	char other[64];

	snprintf(other, sizeof(other), "/run/user/%lu",
		 (unsigned long)geteuid());
	if (!folder || *folder != '/')
		folder = other;
	return snprintf(path, room, "%s/%s", folder, file) < (int)room &&
	       access(folder, X_OK) == 0;
}

bool keep_place(const char *path, struct sockaddr_un *place_out)
{
	char there[sizeof(place_out->sun_path)];

	if (!path && !usual(there, sizeof(there))) {
		tool_error("there is no folder in XDG_RUNTIME_DIR or in "
			   "/run/user: say where the socket is, by --socket");
		return false;
	}
	if (!path)
		path = there;
	if (strlen(path) >= sizeof(place_out->sun_path)) {
		tool_error("%s: a socket's path has at most %zu bytes", path,
			   sizeof(place_out->sun_path) - 1);
		return false;
	}
	*place_out = (struct sockaddr_un){.sun_family = AF_UNIX};
	strcpy(place_out->sun_path, path);
	return true;
}
