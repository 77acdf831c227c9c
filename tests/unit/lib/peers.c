/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools that are opened to other devices: those, and only those, write the
 * blocks, wherever the memory behind them came from or was moved to, and
 * whether or not another process has it too; peers stay open as long; and who
 * can be none.
 */
#include "peers.h"
#include "peer.h"

static gpumem_status open_pool(gpumem_kind kind, gpumem_device **peers,
			       size_t count, gpumem_pool **out)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	config.kind = kind;
	config.peers = peers;
	config.peer_count = count;
	return gpumem_pool_create(devices[0], &config, out);
}

/* Every block of a pool whose pages were moved about. */
static void blocks(void)
{
	gpumem_device *peers[] = {devices[1], devices[0], devices[1]};
	gpumem_pool *pool = NULL, *closed = NULL;
	void *ptr[16], *large;
	unsigned bad = 0;

	must(open_pool(GPUMEM_KIND_DEVICE, peers, 3, &pool));
	must(open_pool(GPUMEM_KIND_DEVICE, NULL, 0, &closed));
	for (size_t i = 0; i < 16; i++)
		ptr[i] = new_block(pool, 2 * MIB, NULL);
	for (size_t i = 0; i < 16; i += 2)
		must(gpumem_free(ptr[i], NULL));
	large = new_block(pool, 14 * MIB, NULL);
	for (size_t i = 1; i < 16; i += 2)
		bad += fills(devices[1], ptr[i], 2 * MIB) != GPUMEM_OK;
	is_uint(bad, 0, "the peer writes every block");
	is_status(fills(devices[1], large, 14 * MIB), GPUMEM_OK,
		  "and one of pages that were moved");
	is_status(fills(devices[2], large, 14 * MIB), GPUMEM_INVALID,
		  "a device that is no peer does not");
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_pool_destroy(closed, GPUMEM_DESTROY_FORCE));
}

/* Pages of a pool without peers stay closed, also beside one with peers. */
static void closed_pool(bool vm)
{
	gpumem_pool *pool = NULL;
	void *ptr;

	must(open_pool(GPUMEM_KIND_DEVICE, NULL, 0, &pool));
	ptr = new_block(pool, 2 * MIB, NULL);
	is_status(fills(devices[1], ptr, MIB), vm ? GPUMEM_INVALID : GPUMEM_OK,
		  vm ? "pages of another pool are closed"
		     : "raw memory was opened once for all");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* What a peer writes another process reads, and writes. */
static void shared(uint32_t method, struct peer *importer)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct peer_message message = {
		.shared = GPUMEM_INIT(struct gpumem_shared), .text = ""};
	gpumem_pool *pool = NULL;
	unsigned char *ptr;
	int fds[PEER_FDS];

	config.peers = &devices[1];
	config.peer_count = 1;
	config.shareable = method;
	must(gpumem_pool_create(devices[0], &config, &pool));
	ptr = new_block(pool, 5 * MIB, NULL);
	must(gpumem_export(ptr, &message.shared, fds, PEER_FDS));
	is_uint(message.shared.method, method, "shared by method %u", method);
	message.fd_count = message.shared.fd_count;
	is_status(peer_ask(importer, PEER_IMPORT, &message, fds), GPUMEM_OK,
		  "another process has the block");
	peer_close_fds(fds, message.shared.fd_count);
	is_status(fills(devices[1], ptr, 5 * MIB), GPUMEM_OK,
		  "a peer writes it");
	is_status(fills(devices[2], ptr, 5 * MIB), GPUMEM_INVALID,
		  "a device that is no peer does not");
	is_int(peer_read_value(importer), 9, "the process reads that");
	is_status(peer_write_value(importer, 8), GPUMEM_OK, "and writes");
	is_int(ptr[5 * MIB - 1], 8, "into the same memory");
	is_status(peer_do(importer, PEER_CLOSE), GPUMEM_OK, "and lets it go");
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void life(void)
{
	gpumem_pool *pool = NULL;
	void *ptr;

	must(open_pool(GPUMEM_KIND_DEVICE, &devices[1], 1, &pool));
	ptr = new_block(pool, MIB, NULL);
	is_status(gpumem_device_close(devices[1]), GPUMEM_BUSY,
		  "a peer cannot be closed");
	ok(strstr(last_text(), "as a peer"), "%s", last_text());
	is_status(fills(devices[1], ptr, MIB), GPUMEM_OK, "and works on");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_status(gpumem_device_close(devices[1]), GPUMEM_OK,
		  "without the pool it can");
	must(gpumem_device_open("host:1", &devices[1]));
}

static void kinds(void)
{
	gpumem_pool *pool = NULL;
	void *ptr;

	must(open_pool(GPUMEM_KIND_PINNED, &devices[1], 1, &pool));
	ptr = new_block(pool, MIB, NULL);
	is_status(fills(devices[1], ptr, MIB), GPUMEM_OK,
		  "pinned memory is every device's");
	is_status(fills(devices[2], ptr, MIB), GPUMEM_OK, "peer or not");
	is_status(gpumem_pool_add_peer(pool, devices[2]), GPUMEM_OK,
		  "which another can be");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void queries(void)
{
	bool can = false;

	is_status(gpumem_device_peer(devices[0], devices[1], &can), GPUMEM_OK,
		  "a query");
	ok(can, "these two can");
	is_status(gpumem_device_peer(devices[0], devices[0], &can), GPUMEM_OK,
		  "of itself");
	ok(can, "always");
	is_status(gpumem_device_peer(NULL, devices[0], &can), GPUMEM_INVALID,
		  "NULL");
	is_status(gpumem_device_peer(devices[0], NULL, &can), GPUMEM_INVALID,
		  "NULL");
	is_status(gpumem_device_peer(devices[0], devices[1], NULL),
		  GPUMEM_INVALID, "NULL");
	must(gpumem_host_faults("peer_query@1"));
	can = false;
	is_status(gpumem_device_peer(devices[0], devices[1], &can),
		  GPUMEM_DRIVER, "a driver that fails");
	ok(!can, "the output is as it was");
	must(gpumem_host_faults(NULL));
}

static void refusals(void)
{
	gpumem_device *none = NULL, *closed;
	gpumem_pool *pool = NULL;

	is_status(open_pool(GPUMEM_KIND_DEVICE, NULL, 1, &pool), GPUMEM_INVALID,
		  "peers is NULL");
	is_status(open_pool(GPUMEM_KIND_DEVICE, &none, 1, &pool),
		  GPUMEM_INVALID, "a peer is NULL");
	option("host.peers", "off");
	must(gpumem_device_open("host:3", &closed));
	is_status(open_pool(GPUMEM_KIND_DEVICE, &closed, 1, &pool),
		  GPUMEM_UNSUPPORTED, "a device that can be no peer");
	ok(strstr(last_text(), "host:0 cannot be opened to host:3"), "%s",
	   last_text());
	ok(!pool, "the output is as it was");
	must(open_pool(GPUMEM_KIND_DEVICE, NULL, 0, &pool));
	is_status(gpumem_pool_add_peer(pool, closed), GPUMEM_UNSUPPORTED,
		  "nor later");
	must(gpumem_pool_destroy(pool, 0));
	is_status(gpumem_device_close(closed), GPUMEM_OK, "it is not held");
	option("host.peers", NULL);
}

/* Whatever fails, peers are let go, and the pool works or is not there. */
static void sweep(void)
{
	unsigned long nth = 0;
	unsigned bad = 0;
	bool fired;

	do {
		gpumem_pool *pool = NULL;
		char faults[32];
		void *ptr;

		snprintf(faults, sizeof(faults), "*@%lu:driver", ++nth);
		must(gpumem_host_faults(faults));
		if (!open_pool(GPUMEM_KIND_DEVICE, &devices[1], 1, &pool) &&
		    !gpumem_alloc(pool, 5 * MIB, NULL, &ptr))
			bad += gpumem_free(ptr, NULL) != GPUMEM_OK;
		bad += pool && gpumem_pool_check(pool) != GPUMEM_OK;
		if (pool)
			(void)!gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE);
		fired = gpumem_host_calls() >= nth;
		must(gpumem_host_faults(NULL));
		bad += gpumem_device_close(devices[1]) != GPUMEM_OK;
		must(gpumem_device_open("host:1", &devices[1]));
	} while (fired && nth < 1000);
	is_uint(bad, 0, "each call fails once: %lu", nth - 1);
	ok(nth > 4, "there were some");
}

static bool count_one(const struct gpumem_process *process, void *user)
{
	unsigned *count = user;

	*count += process->pid == (uint64_t)getpid();
	return true;
}

static void processes(void)
{
	unsigned count = 0;

	is_status(gpumem_process_visit(devices[0], count_one, &count),
		  GPUMEM_OK, "who uses the device");
	is_uint(count, 1, "this process");
	is_status(gpumem_process_visit(devices[0], NULL, &count),
		  GPUMEM_INVALID, "NULL");
	is_status(gpumem_process_visit(NULL, count_one, &count), GPUMEM_INVALID,
		  "NULL");
	must(gpumem_host_faults("device_processes@1:unsupported"));
	is_status(gpumem_process_visit(devices[0], count_one, &count),
		  GPUMEM_UNSUPPORTED, "a driver that cannot tell");
	must(gpumem_host_faults(NULL));
}

int main(void)
{
	struct peer importer = peer_start();

	alarm(300);
	peer_open(&importer, "host:0");
	option("host.devices", "4");
	option("host.capacity", "64MiB");
	for (int vm = 1; vm >= 0; vm--) {
		diag("%s", vm ? "pages" : "segments");
		option("vm", vm ? "on" : "off");
		open_devices();
		blocks();
		closed_pool(vm);
		if (vm)
			shared(GPUMEM_SHARE_FD, &importer);
		shared(GPUMEM_SHARE_IPC, &importer);
		life();
		kinds();
		queries();
		refusals();
		sweep();
		processes();
		close_devices();
	}
	peer_end(&importer);
	return done_testing();
}
