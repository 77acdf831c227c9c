/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups SHARE_IPC and SHARE_FD, as far as one process can see: whether
 * another one gets the memory is for the library's tests. See conform.h.
 */
#include "conform.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- pages by descriptor ---- */

struct twice {
	struct conform *c;
	uint64_t bytes, base; /* room for two pages */
	gpumem_page made, imported;
};

static gpumem_status map_both(const struct twice *t)
{
	const struct gpumem_backend *ops = t->c->ops;
	gpumem_status status =
		ops->map(t->c->device, t->base, &t->made, 1, t->bytes);

	if (status != GPUMEM_OK)
		return status;
	status = ops->map(t->c->device, t->base + t->bytes, &t->imported, 1,
			  t->bytes);
	if (status != GPUMEM_OK &&
	    ops->unmap(t->c->device, t->base, 1, t->bytes) != GPUMEM_OK)
		t->c->hopeless = true;
	return status;
}

/* What is written through one page is read through the other, and the memory
 * outlives the page that it was made as. */
static void check_same_memory(struct twice *t)
{
	struct conform *c = t->c;

	if (!conform_is(c, map_both(t), GPUMEM_OK,
			"map a page and its import at two places"))
		return;
	if (conform_is(c, conform_paint(c, t->base, 0x21, t->bytes), GPUMEM_OK,
		       "write through the one"))
		conform_is(
			c,
			conform_verify(c, t->base + t->bytes, 0x21, t->bytes),
			GPUMEM_OK, "and read through the other");
	if (!conform_is(c, c->ops->unmap(c->device, t->base, 1, t->bytes),
			GPUMEM_OK, "unmap the page")) {
		c->hopeless = true;
		return;
	}
	if (conform_is(c, c->ops->page_destroy(c->device, t->made, t->bytes),
		       GPUMEM_OK, "destroy it"))
		t->made = 0;
	conform_is(c, conform_verify(c, t->base + t->bytes, 0x21, t->bytes),
		   GPUMEM_OK, "the import still has its content");
	if (!conform_is(
		    c,
		    c->ops->unmap(c->device, t->base + t->bytes, 1, t->bytes),
		    GPUMEM_OK, "unmap the import"))
		c->hopeless = true;
}

/* The descriptor may go as soon as it was imported. */
static void check_import(struct twice *t, int fd)
{
	struct conform *c = t->c;
	gpumem_status status =
		c->ops->page_import(c->device, fd, t->bytes, &t->imported);

	close(fd);
	if (!conform_is(c, status, GPUMEM_OK, "import the page"))
		return;
	if (conform_is(c,
		       c->ops->va_reserve(c->device, 2 * t->bytes, t->bytes,
					  &t->base),
		       GPUMEM_OK, "reserve addresses")) {
		check_same_memory(t);
		if (!c->hopeless)
			conform_is(c,
				   c->ops->va_release(c->device, t->base,
						      2 * t->bytes),
				   GPUMEM_OK, "release them");
	}
	if (!c->hopeless)
		conform_is(
			c,
			c->ops->page_destroy(c->device, t->imported, t->bytes),
			GPUMEM_OK, "destroy the import");
}

static void check_other_fds(struct conform *c, uint64_t bytes)
{
	int pipes[2] = {-1, -1}, closed;
	gpumem_page page;

	if (!conform_ok(c, pipe(pipes) == 0, "a pipe"))
		return;
	conform_ok(c,
		   c->ops->page_import(c->device, pipes[0], bytes, &page) !=
			   GPUMEM_OK,
		   "a pipe is no page");
	closed = pipes[0];
	close(pipes[0]);
	close(pipes[1]);
	conform_ok(c,
		   c->ops->page_import(c->device, closed, bytes, &page) !=
			   GPUMEM_OK,
		   "nor is a closed descriptor");
}

static void check_fd(struct conform *c)
{
	struct twice t = {.c = c, .bytes = c->info.granularity_bytes};
	int fd = -1;

	if (!conform_has(c, GPUMEM_CAP_SHARE_FD) ||
	    !conform_has(c, GPUMEM_CAP_VM)) {
		conform_skip(c, "pages in other processes",
			     "the device cannot share pages");
		return;
	}
	check_other_fds(c, t.bytes);
	if (!conform_is(c,
			c->ops->page_create_shared(c->device, t.bytes, &t.made),
			GPUMEM_OK, "a page that can be shared"))
		return;
	if (conform_is(c, c->ops->page_export(c->device, t.made, t.bytes, &fd),
		       GPUMEM_OK, "export it")) {
		conform_ok(c, fcntl(fd, F_GETFD) == FD_CLOEXEC,
			   "its descriptor is closed on exec");
		check_import(&t, fd);
	}
	if (t.made && !c->hopeless)
		conform_is(c, c->ops->page_destroy(c->device, t.made, t.bytes),
			   GPUMEM_OK, "destroy the page");
}

/* ---- raw allocations by name ---- */

static void check_names(struct conform *c, uint64_t address, uint64_t bytes)
{
	unsigned char one[GPUMEM_SHARE_HANDLE_BYTES] = {0};
	unsigned char two[GPUMEM_SHARE_HANDLE_BYTES] = {0};
	unsigned char none[GPUMEM_SHARE_HANDLE_BYTES] = {0};
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t out;

	if (!conform_is(c, c->ops->ipc_export(c->device, address, bytes, one),
			GPUMEM_OK, "a name for a raw allocation"))
		return;
	conform_ok(c, memcmp(one, none, sizeof(one)) != 0, "which says so");
	conform_ok(c,
		   c->ops->ipc_export(c->device, address, bytes, two) ==
				   GPUMEM_OK &&
			   !memcmp(one, two, sizeof(one)),
		   "the same name again");
	conform_ok(c,
		   c->ops->ipc_open(c->device, none, bytes, &out) != GPUMEM_OK,
		   "zeros name nothing");
	conform_is(c, c->ops->memory_info(c->device, &memory), GPUMEM_OK,
		   "and the device alone");
}

static void check_ipc(struct conform *c)
{
	uint64_t bytes = conform_round(c, 100000), address = 0;

	if (!conform_has(c, GPUMEM_CAP_SHARE_IPC)) {
		conform_skip(c, "raw allocations in other processes",
			     "the device cannot share raw allocations");
		return;
	}
	if (!conform_is(c, c->ops->alloc(c->device, bytes, &address), GPUMEM_OK,
			"a raw allocation"))
		return;
	check_names(c, address, bytes);
	conform_is(c, c->ops->free(c->device, address, bytes), GPUMEM_OK,
		   "free it");
}

void conform_share(struct conform *c)
{
	check_fd(c);
	if (!c->hopeless)
		check_ipc(c);
}
