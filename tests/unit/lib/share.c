/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two processes share blocks, for real: by descriptors and by names, on the
 * host backend and on those of cuda and hip over the doubles of their drivers.
 * What one writes the other reads, whoever frees, ends or dies first. This
 * process only gives orders.
 */
#include "forge.h"
#include "peer.h"

#define MIB ((size_t)1 << 20)

struct target {
	const char *device;
	uint32_t method;
	const char *name;
};

static const struct target targets[] = {
	{"host:0", GPUMEM_SHARE_FD, "host, descriptors"},
	{"host:0", GPUMEM_SHARE_IPC, "host, names"},
	{"cuda:0", GPUMEM_SHARE_FD, "cuda, descriptors"},
	{"cuda:0", GPUMEM_SHARE_IPC, "cuda, names"},
	{"hip:0", GPUMEM_SHARE_FD, "hip, descriptors"},
	{"hip:0", GPUMEM_SHARE_IPC, "hip, names"},
};

/* `from` exports its block and `to` imports it; where, or 0. */
static uint64_t pass(struct peer *from, struct peer *to, const char *name)
{
	struct peer_message message = {.shared = peer_shared(from)};
	gpumem_status status;

	message.fd_count = message.shared.fd_count;
	status = peer_ask(to, PEER_IMPORT, &message, from->fds);
	peer_close_fds(from->fds, message.shared.fd_count);
	if (!is_status(status, GPUMEM_OK, "%s: imported", name))
		diag("%s", message.text);
	return message.address;
}

static void begin(const struct target *t, struct peer *from, struct peer *to,
		  size_t bytes)
{
	*from = peer_start();
	*to = peer_start();
	peer_prepare(from, t->device, t->method, bytes, 11);
	peer_open(to, t->device);
}

/* Nothing is held: the devices close. */
static void end(const struct target *t, struct peer *from, struct peer *to)
{
	if (from) {
		is_status(peer_do(from, PEER_UNMAKE), GPUMEM_OK,
			  "%s: the pool ends", t->name);
		is_status(peer_do(from, PEER_END), GPUMEM_OK,
			  "%s: the exporter's device closes", t->name);
		peer_end(from);
	}
	is_status(peer_do(to, PEER_END), GPUMEM_OK,
		  "%s: the importer's device closes", t->name);
	peer_end(to);
}

static void test_both_ways(const struct target *t, size_t bytes)
{
	struct peer from, to;

	begin(t, &from, &to, bytes);
	(void)pass(&from, &to, t->name);
	is_int(peer_read_value(&to), 11, "%s: %zu bytes are read", t->name,
	       bytes);
	is_status(peer_write_value(&to, 22), GPUMEM_OK, "and written");
	is_int(peer_read_value(&from), 22, "as the exporter sees");
	is_status(peer_write_value(&from, 33), GPUMEM_OK, "and back");
	is_int(peer_read_value(&to), 33, "it is one memory");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed");
	is_int(peer_read_value(&from), 33, "the exporter still has it");
	end(t, &from, &to);
}

static void test_twice(const struct target *t)
{
	struct peer_message again = {0}, busy = {0}, misuse = {0};
	struct peer from, to;
	struct gpumem_shared shared;
	uint64_t first = 0;

	begin(t, &from, &to, 5 * MIB);
	shared = peer_shared(&from);
	for (int i = 0; i < 2; i++) {
		again = (struct peer_message){.shared = shared,
					      .fd_count = shared.fd_count};
		is_status(peer_ask(&to, PEER_IMPORT, &again, from.fds),
			  GPUMEM_OK, "%s: imported", t->name);
		if (!i)
			first = again.address;
	}
	peer_close_fds(from.fds, shared.fd_count);
	is_uint(again.address, first, "twice at the same address");
	is_status(peer_ask(&to, PEER_MISUSE, &misuse, NULL), GPUMEM_BAD_POINTER,
		  "it is no block");
	ok(strstr(misuse.text, "gpumem_import_close"), "says %s", misuse.text);
	is_int(peer_word(&from, 9), -1, "the exporter gives the block a word");
	is_int(peer_word(&to, 1), -1, "the import has none of its own");
	is_int(peer_word(&to, 2), 1, "until it is set");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed once");
	is_int(peer_read_value(&to), 11, "it is still there");
	is_int(peer_word(&to, 3), 2, "with its word");
	is_int(peer_word(&from, 8), 9, "as the exporter's block with its own");
	is_status(peer_ask(&to, PEER_END, &busy, NULL), GPUMEM_BUSY,
		  "and holds the device open");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed twice");
	is_status(peer_ask(&to, PEER_CLOSE, &again, NULL), GPUMEM_BAD_POINTER,
		  "and no third time");
	(void)pass(&from, &to, t->name);
	is_int(peer_word(&to, 4), -1, "imported anew it has no word");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed");
	end(t, &from, &to);
}

/* What the driver does then is its business with names; descriptors keep the
 * memory. */
static void test_free_first(const struct target *t)
{
	struct peer from, to;

	begin(t, &from, &to, 5 * MIB);
	(void)pass(&from, &to, t->name);
	is_status(peer_do(&from, PEER_FREE), GPUMEM_OK,
		  "%s: freed and trimmed while imported", t->name);
	if (t->method == GPUMEM_SHARE_FD)
		is_int(peer_read_value(&to), 11, "the importer has it still");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "and closes it");
	end(t, &from, &to);
}

static void test_exit_first(const struct target *t)
{
	struct peer_message late = {0};
	struct peer from, to;

	begin(t, &from, &to, 5 * MIB);
	(void)pass(&from, &to, t->name);
	late.shared = peer_shared(&from);
	late.fd_count = late.shared.fd_count;
	peer_end(&from);
	if (t->method == GPUMEM_SHARE_FD)
		is_int(peer_read_value(&to), 11,
		       "%s: the exporter ended, its memory did not", t->name);
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "%s: closed", t->name);
	is_status(peer_ask(&to, PEER_IMPORT, &late, from.fds),
		  t->method == GPUMEM_SHARE_FD ? GPUMEM_OK : GPUMEM_INVALID,
		  "%s: imported when the exporter has ended", t->name);
	peer_close_fds(from.fds, late.shared.fd_count);
	if (t->method == GPUMEM_SHARE_FD) {
		is_int(peer_read_value(&to), 11, "it is all there");
		is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed");
	} else {
		ok(strstr(late.text, "has ended"), "says %s", late.text);
	}
	end(t, NULL, &to);
}

static void test_importer_dies(const struct target *t)
{
	struct peer_message message = {0};
	struct peer from, to, next = peer_start();

	begin(t, &from, &to, 5 * MIB);
	(void)pass(&from, &to, t->name);
	is_status(peer_write_value(&to, 44), GPUMEM_OK, "%s: written", t->name);
	is_status(peer_ask(&to, PEER_DIE, &message, NULL), GPUMEM_NO_DEVICE,
		  "the importer dies");
	peer_end(&to);
	is_int(peer_read_value(&from), 44, "what it wrote is there");
	peer_open(&next, t->device);
	(void)pass(&from, &next, t->name);
	is_int(peer_read_value(&next), 44, "for the next importer too");
	is_status(peer_do(&next, PEER_CLOSE), GPUMEM_OK, "closed");
	end(t, &from, &next);
}

/* As many descriptors are open after a hundred rounds as before. */
static void test_no_leak(const struct target *t)
{
	struct peer_message before = {0}, after = {0};
	struct peer from, to;

	begin(t, &from, &to, 5 * MIB);
	(void)pass(&from, &to, t->name);
	(void)peer_ask(&to, PEER_END, &before, NULL); /* BUSY, but counts */
	is_status(before.status, GPUMEM_BUSY, "%s: held open", t->name);
	for (int i = 0; i < 20; i++) {
		struct peer_message m = {.shared = peer_shared(&from)};

		(void)peer_do(&to, PEER_CLOSE);
		m.fd_count = m.shared.fd_count;
		(void)peer_ask(&to, PEER_IMPORT, &m, from.fds);
		peer_close_fds(from.fds, m.shared.fd_count);
	}
	(void)peer_ask(&to, PEER_END, &after, NULL);
	is_int(after.value, before.value, "no descriptor is left behind");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed");
	end(t, &from, &to);
}

/* The sender says how much is shared: here, more than there is. What the
 * vendors' drivers say of a part of a page was seen. */
static void claim_more(const struct target *t, struct peer *from,
		       struct peer *to, uint64_t more)
{
	bool part = t->method == GPUMEM_SHARE_FD && strcmp(t->device, "host:0");
	struct peer_message m = {.shared = peer_shared(from)};
	uint64_t total = m.shared.total_bytes;

	m.fd_count = m.shared.fd_count;
	m.shared.total_bytes += m.fd_count ? m.fd_count * more : more;
	m.shared.fd_bytes += m.fd_count ? more : 0;
	m.shared.bytes = m.shared.total_bytes - m.shared.offset_bytes;
	forge_sum(&m.shared);
	is_status(peer_ask(to, PEER_IMPORT, &m, from->fds),
		  part ? GPUMEM_UNSUPPORTED : GPUMEM_INVALID,
		  "%s: %llu bytes instead of %llu", t->name,
		  (unsigned long long)m.shared.total_bytes,
		  (unsigned long long)total);
	diag("%s", m.text);
	peer_close_fds(from->fds, m.shared.fd_count);
}

/* It gives no importer more, and leaves nothing behind. */
static void test_too_much(const struct target *t)
{
	struct peer from, to;

	begin(t, &from, &to, 5 * MIB);
	if (t->method == GPUMEM_SHARE_IPC)
		claim_more(t, &from, &to, 1);
	claim_more(t, &from, &to, 2 * MIB);
	(void)pass(&from, &to, t->name);
	is_int(peer_read_value(&to), 11, "the true size is taken");
	is_status(peer_do(&to, PEER_CLOSE), GPUMEM_OK, "closed");
	end(t, &from, &to);
}

/* NULL: its plugin and the double are there. */
static const char *missing(const struct target *t, bool cuda, bool hip)
{
	if (!strncmp(t->device, "cuda", 4) && !cuda)
		return "configured without cuda";
	if (!strncmp(t->device, "hip", 3) && !hip)
		return "configured without the headers of HIP and CUDA";
	return NULL;
}

int main(void)
{
	bool cuda = peer_has_cuda(), hip = peer_has_hip();

	alarm(240);
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		const struct target *t = &targets[i];

		const char *why = missing(t, cuda, hip);

		if (why) {
			skip(why, 1);
			continue;
		}
		test_both_ways(t, 1024);
		test_both_ways(t, 5 * MIB);
		/* Of a size that is in handles of several pages elsewhere. */
		test_both_ways(t, PEER_LARGE);
		test_twice(t);
		test_free_first(t);
		test_exit_first(t);
		test_importer_dies(t);
		test_no_leak(t);
		test_too_much(t);
	}
	return done_testing();
}
