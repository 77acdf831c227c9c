/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-keep holds: descriptors by name, each entry with the words that
 * came beside it and a lease. What is being sent to somebody stays until it is,
 * also when it is dropped. Entries and descriptors are bounded, so that the
 * memory is, too. No sockets here, and no locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_KEEP_ENTRIES_H
#define GPUMEM_TOOLS_KEEP_ENTRIES_H

#include "keep/wire.h"

#include <sys/types.h>

/* Of all entries, those that are still coming included. */
enum { ENTRIES_MOST = 1024 };

struct entry {
	struct entry *next;
	uint64_t number; /* the later, the larger */
	unsigned uses;	 /* whoever sends it, or brings it */
	bool listed;	 /* it has its name */
	bool replaces;	 /* is to take it from another */
	uid_t uid;
	pid_t pid;
	uint64_t started; /* when that process did: numbers return */
	uint64_t put_ns, end_ns, lease_ns;
	uint32_t fd_count, fd_have;
	uint32_t word_bytes;
	char name[WIRE_NAME];
	unsigned char *words;
	int fds[];
};

struct entries {
	struct entry *first; /* in the order of their numbers */
	uint64_t number;
	size_t count;
	size_t fd_count, fd_most; /* what is still to come included */
};

/* What became of a request; 0: it is done, else an enum wire_why and a
 * sentence. */
struct answer {
	int why;
	const char *sentence;
};

/* An entry that is still to get its descriptors, with one use; not listed. */
struct answer entries_begin(struct entries *entries,
			    const struct wire_message *message, uid_t uid,
			    pid_t pid, struct entry **entry_out);
/* Once it has them all it gets its name. */
struct answer entries_put(struct entries *entries, struct entry *entry);
/* The holder has no more use of it. */
void entries_let(struct entries *entries, struct entry *entry);

/* The one of a name, if that user may have it: its own, or root. */
struct answer entries_find(struct entries *entries, const char *name, uid_t uid,
			   struct entry **entry_out);
/* The first that is newer than that number; NULL: none. */
struct entry *entries_after(struct entries *entries, uint64_t number);
void entries_drop(struct entries *entries, struct entry *entry);
struct answer entries_renew(struct entry *entry, uint32_t lease_seconds);

/* Drops those whose lease is over. When the next one ends; 0: none does. */
uint64_t entries_expire(struct entries *entries, uint64_t now_ns);
void entries_free(struct entries *entries);

/* What a client is told of one. */
void entries_describe(const struct entry *entry, struct wire_message *message);

#endif
