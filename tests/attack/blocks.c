/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about blocks, and about the vendor's objects that hold them. */
#include "attack.h"
#include "rows.h"

static void allocate(bool aligned)
{
	static const size_t odd[] = {3,
				     768,
				     SIZE_MAX,
				     (size_t)1 << 31,
				     ((size_t)1 << 30) + 1,
				     (size_t)1 << 63};
	struct pool *pool = pick_pool();
	void **out = out_plain(sizeof(void *));
	uint64_t bytes = pick_bytes();
	size_t alignment = 0;
	gpumem_status status;
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);

	if (world.blocks == BLOCKS)
		bytes = 0;
	if (aligned && !one_in(4))
		alignment = (size_t)1 << random_below(one_in(4) ? 31 : 14);
	if (aligned && rarely()) {
		alignment = odd[random_below(COUNT(odd))];
		wrong(B(INVALID));
	}
	status = aligned ? gpumem_alloc_aligned(pool_of(pool), bytes, alignment,
						stream, out)
			 : gpumem_alloc(pool_of(pool), bytes, stream, out);
	if (!judge(status))
		return;
	expect(!*out == !bytes, "%llu bytes at %p", (ull)bytes, *out);
	if (bytes)
		block_add(pool, *out, bytes, alignment, index);
}

void attack_gpumem_alloc(void)
{
	allocate(false);
}

void attack_gpumem_alloc_aligned(void)
{
	allocate(true);
}

void attack_gpumem_free(void)
{
	struct block *block;
	void *ptr = one_in(60) ? NULL : pick_pointer(&block);
	const struct device *device;
	int index;
	gpumem_stream stream;

	/* Half of the room stays for blocks that live long. */
	if (!ptr) {
		block = NULL;
	} else if (block && world.blocks < BLOCKS / 2 && one_in(3)) {
		return;
	}
	device = block ? block->pool->device : &world.device[0];
	stream = pick_stream(device, &index);
	if (block && block->stream >= 0 && one_in(2))
		stream = device->stream[block->stream];
	if (block && one_in(4))
		block_verify(block);
	if (judge(gpumem_free(ptr, stream)) && block)
		block_remove(block);
}

/* A view has a size that stays; any other block can at least shrink. */
void attack_gpumem_resize(void)
{
	struct block *block;
	void *ptr = pick_pointer(&block);
	uint64_t *usable = out_or_null(sizeof(*usable));
	uint64_t bytes = pick_bytes();
	gpumem_status status;
	int index;
	gpumem_stream stream = pick_stream(
		block ? block->pool->device : &world.device[0], &index);

	if (block && block->stream >= 0 && one_in(2))
		stream = block->pool->device->stream[block->stream];
	if (block && one_in(2))
		bytes = 1 + random_below(2 * block->requested);
	if (!bytes)
		wrong(B(INVALID));
	if (rarely()) {
		ptr = NULL;
		step.wrong = B(INVALID);
	}
	if (block && one_in(4))
		block_verify(block);
	status = gpumem_resize(ptr, bytes, stream, usable);
	if (status == GPUMEM_BUSY && ptr && block)
		expect(bytes > block->bytes || world.configuration->objects,
		       "%p does not shrink", ptr);
	if (judge(status) && block)
		block_resize(block, bytes);
}

void attack_gpumem_use_on(void)
{
	struct block *block;
	void *ptr = pick_pointer(&block);
	int index;
	gpumem_stream stream;

	if (rarely()) {
		ptr = NULL;
		step.wrong = B(INVALID);
	}
	stream = pick_stream(block ? block->pool->device : &world.device[0],
			     &index);
	(void)judge(gpumem_use_on(ptr, stream));
}

/* A pointer anywhere into a block, or outside of all. */
static void *pick_inside(struct block **block_out)
{
	void *ptr = pick_pointer(block_out);

	if (*block_out)
		return (char *)ptr + random_below((*block_out)->bytes);
	/* What is no block's start may lie in one. */
	for (unsigned i = 0; i < world.blocks; i++)
		if ((uintptr_t)ptr - (uintptr_t)world.block[i].ptr <
		    world.block[i].bytes) {
			step.wrong &= ~B(BAD_POINTER);
			*block_out = &world.block[i];
		}
	return ptr;
}

void attack_gpumem_query(void)
{
	struct block *block;
	const void *ptr = pick_inside(&block);
	struct gpumem_block *out = out_struct(sizeof(*out));

	if (judge(gpumem_query(ptr, out)))
		expect(out->ptr == block->ptr && out->bytes == block->bytes &&
			       out->pool == block->pool->handle &&
			       out->requested_bytes == block->requested,
		       "%p is found in another block", ptr);
}

/* Only device memory, where the vendor has objects, is named by them. */
static void may_have_objects(const struct block *block)
{
	if (block && !world.configuration->objects)
		wrong(B(UNSUPPORTED));
	if (block && block->pool->kind != GPUMEM_KIND_DEVICE)
		wrong(B(UNSUPPORTED));
}

static void hold(void *object)
{
	if (world.helds == HELD)
		return;
	gpumem_host_object_retain(object);
	world.held[world.helds++] = object;
}

void attack_gpumem_object(void)
{
	struct block *block;
	const void *ptr = pick_inside(&block);
	void **object = out_plain(sizeof(void *));
	uint64_t *offset = out_plain(sizeof(uint64_t));

	may_have_objects(block);
	if (judge(gpumem_object(ptr, object, offset)) && one_in(20))
		hold(*object);
}

void attack_gpumem_view(void)
{
	struct block *block;
	const void *ptr = pick_pointer(&block);
	void **view = out_plain(sizeof(void *));

	may_have_objects(block);
	if (judge(gpumem_view(ptr, view)) && one_in(10))
		hold(*view);
}
