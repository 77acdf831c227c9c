/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about blocks of other processes. */
#include "attack.h"
#include "rows.h"

#include <fcntl.h>
#include <unistd.h>

static bool can_share(const struct block *block)
{
	return block->pool->shareable != GPUMEM_SHARE_NONE;
}

/* The descriptors that an export made are ours to close. */
static void close_fds(const int *fds, const struct gpumem_shared *shared)
{
	if (!fds || shared->method != GPUMEM_SHARE_FD)
		return;
	for (uint32_t i = 0; i < shared->fd_count; i++)
		expect(!close(fds[i]), "descriptor %u is not open", i);
}

void attack_gpumem_export(void)
{
	int fds[OFFER_FDS], *room = one_in(4) ? NULL : fds;
	struct block *block;
	const void *ptr = pick_pointer(&block);
	struct gpumem_shared *out = out_struct(sizeof(*out));
	size_t count = one_in(6) ? 0 : OFFER_FDS;

	/* Most blocks cannot be shared, or lie in one page: look again. */
	for (int i = 0; i < 8 && block; i++) {
		struct block *other = pick_block();

		if (can_share(other) &&
		    (!can_share(block) || other->bytes > block->bytes))
			block = other;
	}
	ptr = block ? block->ptr : ptr;
	if (one_in(8))
		world_fail("page_export");
	if (block && !can_share(block))
		wrong(B(UNSUPPORTED));
	/* A large block wants more room than there is. */
	step.perhaps |= B(INVALID);
	if (rarely()) {
		ptr = NULL;
		wrong(B(INVALID));
	}
	if (!judge(gpumem_export(ptr, out, room, room ? count : 0)))
		return;
	expect(out->size == sizeof(*out), "a description of %zu bytes",
	       out->size);
	expect(!room || out->fd_count <= count, "%u descriptors in %zu places",
	       out->fd_count, count);
	close_fds(room, out);
}

/* One byte of a description is another, or its size, or a descriptor is not
 * what it was. */
static void spoil(struct gpumem_shared *shared, int *fds, size_t *count)
{
	unsigned char *bytes = (unsigned char *)shared;
	size_t at =
		sizeof(size_t) + random_below(sizeof(*shared) - sizeof(size_t));

	wrong(B(INVALID) | B(UNSUPPORTED));
	switch (*count ? random_below(6) : random_below(3)) {
	case 0:
		bytes[at] ^= (unsigned char)(1 + random_below(255));
		break;
	case 1:
		shared->size = random_below(sizeof(*shared) - 8);
		break;
	case 2:
		shared->size = one_in(2) ? SIZE_MAX : 4097;
		break;
	case 3:
		--*count;
		break;
	case 4:
		fds[random_below(*count)] = -1;
		break;
	default:
		fds[random_below(*count)] = STDOUT_FILENO;
		break;
	}
}

/* An export of this process is not for it to import. */
static bool own(struct gpumem_shared *shared, int *fds, size_t *count)
{
	const struct block *block = pick_block();

	if (!block || !can_share(block) || world.faulty)
		return false;
	*shared = GPUMEM_INIT(struct gpumem_shared);
	if (gpumem_export(block->ptr, shared, fds, OFFER_FDS))
		return false;
	*count = shared->fd_count;
	wrong(B(INVALID));
	return true;
}

void attack_gpumem_import(void)
{
	struct gpumem_shared shared;
	struct device *device = pick_device();
	void **out = out_plain(sizeof(void *));
	int fds[OFFER_FDS], given[OFFER_FDS];
	size_t count;
	bool ours = one_in(4) && own(&shared, fds, &count), none;

	if (!ours && (!world.offers || world.imports == IMPORTS))
		return;
	if (!ours) {
		const struct offer *offer =
			&world.offer[random_below(world.offers)];

		shared = offer->shared;
		count = shared.fd_count;
		memcpy(fds, offer->fds, sizeof(fds));
		if (device && device != &world.device[0])
			wrong(B(INVALID));
	}
	memcpy(given, fds, sizeof(fds));
	if (!ours && one_in(3))
		spoil(&shared, given, &count);
	none = rarely();
	if (none)
		wrong(B(INVALID));
	if (judge(gpumem_import(device_of(device), none ? NULL : &shared, given,
				count, out)))
		world.import[world.imports++] = *out;
	if (ours)
		close_fds(fds, &shared);
}

void attack_gpumem_import_close(void)
{
	struct block *block;
	void *ptr;
	unsigned index = world.imports;

	if (world.imports && !rarely()) {
		index = (unsigned)random_below(world.imports);
		ptr = world.import[index];
	} else {
		ptr = one_in(4) ? NULL : pick_pointer(&block);
		step.wrong = ptr ? B(BAD_POINTER) : B(INVALID);
	}
	if (judge(gpumem_import_close(ptr)))
		world.import[index] = world.import[--world.imports];
}
