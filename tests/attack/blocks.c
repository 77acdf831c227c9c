/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about blocks, and about the vendor's objects that hold them. */
#include "attack.h"
#include "rows.h"

/* 0, a power of two, or one that is refused. */
static size_t pick_alignment(void)
{
	static const size_t odd[] = {3,
				     768,
				     SIZE_MAX,
				     (size_t)1 << 31,
				     ((size_t)1 << 30) + 1,
				     (size_t)1 << 63};

	if (rarely()) {
		wrong(B(INVALID));
		return odd[random_below(COUNT(odd))];
	}
	if (one_in(4))
		return 0;
	return (size_t)1 << random_below(one_in(4) ? 31 : 14);
}

static void allocate(bool aligned)
{
	struct pool *pool = pick_pool();
	void **out = out_plain(sizeof(void *));
	uint64_t bytes = pick_bytes();
	size_t alignment = 0;
	gpumem_status status;
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);

	if (world.blocks == BLOCKS)
		bytes = 0;
	if (aligned)
		alignment = pick_alignment();
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

static void pick_options(struct gpumem_alloc_options *options)
{
	options->alignment = pick_alignment();
	options->flags = (uint32_t)random_below(16);
	options->tag = one_in(2) ? 0 : gpumem_tag_get();
	if (rarely()) {
		options->flags |= 16u << random_below(28);
		wrong(B(INVALID));
	}
	if (rarely()) {
		options->size -= 1 + random_below(options->size);
		wrong(B(INVALID));
	}
}

/* An output that need not be there. */
static void *out_or_none(size_t bytes)
{
	unsigned before = step.wrong;
	void *out = out_plain(bytes);

	step.wrong = before;
	return out;
}

void attack_gpumem_alloc_with(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct pool *pool = pick_pool();
	bool none = one_in(10);
	void **out = out_plain(sizeof(void *));
	uint64_t *usable = out_or_none(sizeof(uint64_t)), holds = 0;
	uint64_t bytes = world.blocks == BLOCKS ? 0 : pick_bytes();
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);

	if (!none)
		pick_options(&options);
	if (!judge(gpumem_alloc_with(pool_of(pool), bytes, stream,
				     none ? NULL : &options, out, usable)))
		return;
	expect(!*out == !bytes, "%llu bytes at %p", (ull)bytes, *out);
	must(gpumem_usable_bytes(*out, &holds));
	expect(!usable || *usable == holds, "%p holds %llu, and not %llu", *out,
	       (ull)holds, (ull)*usable);
	if (!bytes)
		return;
	if (options.flags & GPUMEM_ALLOC_WHOLE)
		bytes = holds;
	/* Who writes to it next may do so on another stream. */
	if (options.flags & GPUMEM_ALLOC_ZERO)
		world_wait(pool->device, stream);
	if (options.flags & GPUMEM_ALLOC_ZERO && index >= 0)
		block_zeroed(pool, *out, holds, index);
	block_add(pool, *out, bytes, options.alignment, index);
}

void attack_gpumem_usable_bytes(void)
{
	struct block *block;
	const void *ptr = pick_pointer(&block);
	uint64_t *out = out_plain(sizeof(uint64_t));

	if (judge(gpumem_usable_bytes(ptr, out)))
		expect(*out == block->bytes, "%p holds something else", ptr);
}

void attack_gpumem_block_set_user(void)
{
	void *user = one_in(4) ? NULL : &world.block[random_below(BLOCKS)];
	struct block *block;
	void *ptr = one_in(60) ? NULL : pick_pointer(&block);

	if (!ptr)
		wrong(B(INVALID));
	if (judge(gpumem_block_set_user(ptr, user)))
		block->user = user;
}

void attack_gpumem_block_get_user(void)
{
	struct block *block;
	const void *ptr = pick_pointer(&block);
	void **out = out_plain(sizeof(void *));

	if (judge(gpumem_block_get_user(ptr, out)))
		expect(*out == block->user, "%p has another word", ptr);
}

/* A block that is to be freed: half of the room stays for those that live long.
 * False: none this time. */
static bool pick_freed(void **ptr_out, struct block **block_out)
{
	*block_out = NULL;
	*ptr_out = one_in(60) ? NULL : pick_pointer(block_out);
	if (*block_out && world.blocks < BLOCKS / 2 && one_in(3))
		return false;
	if (*block_out && one_in(4))
		block_verify(*block_out);
	return true;
}

void attack_gpumem_free_own(void)
{
	struct block *block;
	void *ptr;

	if (pick_freed(&ptr, &block) && judge(gpumem_free_own(ptr)) && block)
		block_remove(block);
}

void attack_gpumem_free_sized(void)
{
	struct block *block;
	gpumem_stream stream;
	uint64_t bytes = random_below(1000);
	void *ptr;
	int index;

	if (!pick_freed(&ptr, &block))
		return;
	stream = pick_stream(block ? block->pool->device : &world.device[0],
			     &index);
	if (block)
		bytes = block->requested +
			random_below(block->bytes - block->requested + 1);
	if (block && rarely()) {
		bytes = one_in(2) ? block->requested - 1 : block->bytes + 1;
		wrong(B(INVALID));
	}
	if (judge(gpumem_free_sized(ptr, (size_t)bytes, stream)) && block)
		block_remove(block);
}

void attack_gpumem_free(void)
{
	const struct device *device;
	struct block *block;
	gpumem_stream stream;
	void *ptr;
	int index;

	if (!pick_freed(&ptr, &block))
		return;
	device = block ? block->pool->device : &world.device[0];
	stream = pick_stream(device, &index);
	if (block && block->stream >= 0 && one_in(2))
		stream = device->stream[block->stream];
	if (judge(gpumem_free(ptr, stream)) && block)
		block_remove(block);
}

/* A view has a size that stays; any other block can at least shrink, and grow
 * within what it holds, but for a limit: that counts what is requested. */
static void judge_resize(const struct block *block, uint64_t bytes,
			 gpumem_status status)
{
	uint64_t more = bytes > block->requested ? bytes - block->requested : 0;

	if (status == GPUMEM_BUSY)
		expect(bytes > block->bytes || world.configuration->objects ||
			       more > tag_room(block, 0),
		       "%p does not shrink", block->ptr);
	if (status == GPUMEM_OK && more)
		expect(tag_room(block, more) >= more,
		       "%p grows by %llu bytes beyond a limit", block->ptr,
		       (ull)more);
}

void attack_gpumem_resize(void)
{
	struct block *block;
	void *ptr = pick_pointer(&block);
	uint64_t *usable = out_or_null(sizeof(*usable));
	uint64_t bytes = pick_bytes();
	gpumem_status status;
	bool good;
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
	good = judge(status);
	if (ptr && block)
		judge_resize(block, bytes, status);
	if (good && block)
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

void attack_gpumem_view_block(void)
{
	struct block *block = pick_block();
	struct device *device = block ? block->pool->device : pick_device();
	struct gpumem_block *out = out_struct(sizeof(*out));
	void *view = NULL;

	may_have_objects(block);
	if (!world.configuration->objects)
		wrong(B(UNSUPPORTED));
	if (step.wrong || !block || gpumem_view(block->ptr, &view)) {
		view = one_in(4) ? NULL : pick_nowhere();
		wrong(view ? B(BAD_POINTER) : B(INVALID));
	}
	if (judge(gpumem_view_block(device_of(device), view, out)))
		expect(out->ptr == block->ptr && out->bytes == block->bytes &&
			       out->pool == block->pool->handle,
		       "the view of %p leads to %p", block->ptr, out->ptr);
}
