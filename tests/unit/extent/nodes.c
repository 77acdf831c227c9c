/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The store of nodes, also where the system gives it less than it wants. */
#include "extent/extent.h"
#include "../../tap.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if THREAD_SANITIZER
int main(void)
{
	skip_all("ThreadSanitizer has an mmap of its own");
	return EXIT_SUCCESS;
}
#else

static struct gm_nodes nodes;

/* ---- the system, as the store sees it ---- */

static size_t most_addresses = SIZE_MAX; /* that a mapping may have */
static bool no_memory;
static unsigned long made; /* memory was asked for so often */

void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
	   off_t offset)
{
	if (protection == PROT_NONE && bytes > most_addresses) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd,
			       offset);
}

int mprotect(void *address, size_t bytes, int protection)
{
	made++;
	if (no_memory) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, address, bytes, protection);
}

/* ---- the store ---- */

static void must_reserve(size_t count)
{
	if (gm_nodes_reserve(&nodes, count))
		bail("no %zu nodes", count);
}

static void test_nodes(void)
{
	struct gm_extent *taken[1000];
	size_t distinct = 0, zero = 0, ready, numbered = 0;

	is_status(gm_nodes_reserve(&nodes, 0), GPUMEM_OK, "none is reserved");
	is_uint(nodes.free_count, 0, "and none is there");
	is_uint(gm_nodes_bytes(&nodes), 0, "nor any memory");
	is_status(gm_nodes_reserve(&nodes, 1000), GPUMEM_OK, "1000 are");
	ready = nodes.free_count;
	ok(ready >= 1000, "and there");
	for (size_t i = 0; i < 1000; i++) {
		static const struct gm_extent none;
		uint32_t number;

		taken[i] = gm_nodes_take(&nodes);
		zero += memcmp(taken[i], &none, sizeof(none)) == 0;
		/* What was handed out once is not clean any more. */
		memset(taken[i], 0xee, sizeof(none));
		taken[i]->address = i;
		number = gm_node_number(&nodes, taken[i]);
		numbered += number && gm_node(&nodes, number) == taken[i] &&
			    (uintptr_t)taken[i] % 64 == 0;
	}
	for (size_t i = 0; i < 1000; i++)
		distinct += taken[i]->address == i;
	is_uint(zero, 1000, "all zeroed");
	is_uint(distinct, 1000, "no two are the same");
	is_uint(numbered, 1000, "each a line, with a number that is not 0");
	is_ptr(gm_node(&nodes, 0), NULL, "which is none's");
	is_uint(nodes.free_count, ready - 1000, "so many less are ready");
	for (size_t i = 0; i < 1000; i++)
		gm_nodes_give(&nodes, taken[i]);
	is_uint(nodes.free_count, ready, "given back, they are ready again");
	is_status(gm_nodes_reserve(&nodes, ready), GPUMEM_OK, "reserved again");
	is_uint(nodes.free_count, ready, "which makes no new ones");
	ok(gm_nodes_bytes(&nodes) >= ready * sizeof(struct gm_extent),
	   "their bytes are counted");
	zero = 0;
	for (size_t i = 0; i < 1000; i++)
		zero += gm_nodes_take(&nodes)->address == 0;
	is_uint(zero, 1000, "those that were used come zeroed too");
	gm_nodes_fini(&nodes);
}

/* Growing moves nothing, and asks the system seldom. */
static void test_growth(void)
{
	size_t count = (size_t)scaled(1000000, 100000), moved = 0;
	struct gm_extent *first;

	made = 0;
	must_reserve(1);
	first = gm_nodes_take(&nodes);
	for (size_t i = 1; i < count; i++) {
		must_reserve(1);
		moved += gm_nodes_take(&nodes) != first + i;
	}
	is_uint(moved, 0, "%zu nodes lie in a row", count);
	ok(made < 256, "which are made in %lu steps", made);
	ok(gm_nodes_bytes(&nodes) <=
		   count * sizeof(*first) / 32 * 33 + (64 << 10),
	   "and few more than that");
	gm_nodes_fini(&nodes);
}

/* Fewer addresses make a smaller store, whose end is an error that changes
 * nothing. */
static void test_few_addresses(void)
{
	size_t count = 0;
	uint32_t room;

	most_addresses = 0;
	is_status(gm_nodes_reserve(&nodes, 1), GPUMEM_NO_HOST_MEMORY,
		  "no addresses at all");
	is_uint(nodes.room, 0, "and no store");
	most_addresses = 1 << 20;
	must_reserve(1);
	room = nodes.room;
	ok(room >= 1024 && room <= (1 << 20) / sizeof(struct gm_extent),
	   "few addresses are a small store: %u nodes", room);
	most_addresses = SIZE_MAX;
	while (!gm_nodes_reserve(&nodes, 1) && count < room) {
		(void)gm_nodes_take(&nodes);
		count++;
	}
	is_uint(count, room - 1, "all but node 0 can be had");
	is_status(gm_nodes_reserve(&nodes, 1), GPUMEM_NO_HOST_MEMORY,
		  "and no more");
	gm_nodes_give(&nodes, gm_node(&nodes, 7));
	is_status(gm_nodes_reserve(&nodes, 1), GPUMEM_OK,
		  "but what is given back");
	is_ptr(gm_nodes_take(&nodes), gm_node(&nodes, 7), "which it is");
	gm_nodes_fini(&nodes);
}

static void test_no_memory(void)
{
	size_t ready;

	no_memory = true;
	is_status(gm_nodes_reserve(&nodes, 1), GPUMEM_NO_HOST_MEMORY,
		  "addresses without memory");
	is_uint(nodes.free_count + nodes.fresh, 0, "are no nodes");
	no_memory = false;
	must_reserve(1);
	ready = nodes.free_count;
	is_uint(ready, nodes.ready - 1, "with it they are, but for node 0");
	no_memory = true;
	is_status(gm_nodes_reserve(&nodes, ready + 1), GPUMEM_NO_HOST_MEMORY,
		  "no memory for more");
	is_uint(nodes.free_count, ready, "those that were there stay");
	no_memory = false;
	is_status(gm_nodes_reserve(&nodes, ready + 1), GPUMEM_OK,
		  "later there is");
	gm_nodes_fini(&nodes);
}

int main(void)
{
	static const struct gm_nodes none;

	test_nodes();
	test_growth();
	test_few_addresses();
	test_no_memory();
	ok(memcmp(&nodes, &none, sizeof(none)) == 0, "the store ends empty");
	return done_testing();
}

#endif
