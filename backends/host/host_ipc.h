/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Names of raw allocations for other processes, and what is behind one. A name
 * says where an allocation is in the exporter's memory file. Its tag says that
 * the exporter itself made the name: it takes a key, which is in the file's own
 * name and so is known only to those who may look at the exporter's open files.
 * No locks.
 */
#ifndef GM_HOST_IPC_H
#define GM_HOST_IPC_H

#include "host_memory.h"

/* Where an allocation is, in a process that still has that very file. */
struct host_name {
	char magic[8];
	int32_t pid, fd;
	uint64_t inode;
	uint64_t offset, span; /* in the file */
	uint64_t bytes;
	uint32_t shift; /* of the allocation in its span */
	uint32_t turn;	/* which holder of the range */
	uint64_t tag;	/* of all the others */
};

#define HOST_NAME_BYTES 64

/* A key, and the name of the file that it is for. */
gpumem_status gm_host_key_new(uint64_t key_out[2],
			      char name_out[HOST_NAME_BYTES]);
/* That of a device's file; false: it is no such file. O_PATH will do. */
bool gm_host_key_of(int fd, uint64_t key_out[2]);
uint64_t gm_host_name_tag(const struct host_name *name, const uint64_t key[2]);

/* The exporter's file, opened here. INVALID: the process is not there or is
 * another user's, or the name is not one that it has made of a memory file of
 * its own. No other kind of file is opened or touched. */
gpumem_status gm_host_name_open(const struct host_name *name,
				struct host_file *file_out);

#endif
