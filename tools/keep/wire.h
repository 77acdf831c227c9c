/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-keep and its clients send each other through a socket of whole
 * messages (SOCK_SEQPACKET): a header, the words of an entry or a sentence, and
 * descriptors beside them. bindings/python/gpumem/keep.py has the same.
 *
 *     client   PUT, with MORE for descriptors beyond those of one message;
 *              GET, DROP, RENEW of a name; LIST
 *     daemon   END: it is done. FAILED: `why`, and a sentence in the words.
 *              GET: ENTRY, and MORE likewise. LIST: an ENTRY each, then END
 *
 * A client has one request under way at a time. No locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_KEEP_WIRE_H
#define GPUMEM_TOOLS_KEEP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its last byte is the version. */
#define WIRE_MAGIC UINT32_C(0x6b656501)

enum {
	WIRE_NAME = 64, /* with the 0 behind it */
	WIRE_WORDS = 4096,
	WIRE_FDS = 253 /* of one message: Linux takes no more */
};

enum wire_what {
	WIRE_PUT = 1,
	WIRE_MORE,
	WIRE_GET,
	WIRE_DROP,
	WIRE_RENEW,
	WIRE_LIST,
	WIRE_ENTRY,
	WIRE_END,
	WIRE_FAILED
};

/* Why a request was refused. */
enum wire_why {
	WIRE_WRONG = 1, /* it is no request */
	WIRE_ABSENT,	/* there is no such name */
	WIRE_TAKEN,	/* there is one already */
	WIRE_OTHERS,	/* it is another user's */
	WIRE_FULL	/* there is no room */
};

struct wire_message {
	uint32_t magic;
	uint32_t what;
	uint32_t why;
	uint32_t fd_count;	/* of the entry, in all messages */
	uint32_t word_bytes;	/* of words[]; no more are sent */
	uint32_t lease_seconds; /* PUT, RENEW: wished; ENTRY: left */
	uint32_t replace;	/* PUT: an entry of that name goes; 0 or 1 */
	uint32_t alive;		/* ENTRY: the process that put it is there */
	uint32_t uid, pid;	/* ENTRY: who put it */
	uint64_t age_seconds;	/* ENTRY */
	char name[WIRE_NAME];
	unsigned char words[WIRE_WORDS];
};

/* What was received beside a message; they are the receiver's to close. */
struct wire_fds {
	int fd[WIRE_FDS];
	size_t count;
};

/* 1: it was sent; 0: there is no room now (a socket that does not block); -1:
 * the other side is gone, or errno says what. */
int wire_send(int socket, const struct wire_message *message, const int *fds,
	      size_t fd_count);

enum wire_got { WIRE_GOT, WIRE_NOTHING, WIRE_CLOSED, WIRE_MALFORMED, WIRE_CUT };

/* NOTHING: none is there yet. CLOSED: or errno says what. MALFORMED: it is no
 * message of this version. CUT: some of its descriptors found no room. Of what
 * is not GOT no descriptor stays open. A name is text that ends. */
enum wire_got wire_receive(int socket, struct wire_message *message,
			   struct wire_fds *fds);

void wire_close(struct wire_fds *fds);

/* A sentence becomes the words. */
void wire_fail(struct wire_message *message, enum wire_why why,
	       const char *sentence);

#endif
