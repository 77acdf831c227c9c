/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is queued on streams: it reads and writes memory, and looks whether what
 * must come before it is over. It runs in the program's thread, be it inside
 * the library while that waits.
 */
#include "model.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SMALL = 64 * 1024, NARROW = 256, WIDE = 4096, ASKED = 256 };

/* Denser where blocks are small, since each page that is touched costs. */
static uintptr_t stride_of(uint64_t bytes)
{
	if (bytes <= 64 * KIB)
		return 256;
	return bytes <= MIB ? 16 * KIB : 128 * KIB;
}

/* The next word that is looked at in a block, or its end: where pages and slots
 * of slabs begin, and the last. */
static uintptr_t next_word(uintptr_t at, uintptr_t end, uint64_t bytes)
{
	uintptr_t stride = stride_of(bytes);
	uintptr_t next = (at / stride + 1) * stride, last = (end - 8) & ~7ull;

	if (at >= last)
		return end;
	return next < last ? next : last;
}

static uint64_t first_word(const struct access *access)
{
	uint64_t word = access->stamp;

	memcpy(&word, (const void *)access->address,
	       access->bytes < 8 ? access->bytes : 8);
	return word;
}

static void broken(const struct access *access, uintptr_t at, uint64_t holds)
{
	found(TAP_HERE, at,
	      "block %llu at %#zx (%llu bytes) holds %llx at %#zx, not %llx",
	      (ull)access->block, (size_t)access->address, (ull)access->bytes,
	      (ull)holds, (size_t)at, (ull)access->stamp);
}

static void look(const struct access *access)
{
	uint64_t shape = access->shape ? access->shape : access->bytes;
	uintptr_t end = access->address + shape;
	uint64_t word = first_word(access);

	if (word != access->stamp)
		broken(access, access->address, word);
	for (uintptr_t at = access->address;
	     at + 16 <= access->address + access->bytes;
	     at = next_word(at, end, shape)) {
		memcpy(&word, (const void *)at, 8);
		if (word != access->stamp)
			broken(access, at, word);
	}
}

static void leave(const struct access *access)
{
	uintptr_t end = access->address + access->bytes;

	memcpy((void *)access->address, &access->stamp,
	       access->bytes < 8 ? access->bytes : 8);
	for (uintptr_t at = access->address; access->bytes >= 16 && at < end;
	     at = next_word(at, end, access->bytes))
		memcpy((void *)at, &access->stamp, 8);
}

static void check_claims(const struct work *work)
{
	for (unsigned i = 0; i < work->claims; i++) {
		const struct claim *claim = &work->claim[i];
		const struct stream *stream =
			&work->device->stream[claim->stream];

		expect_at(stream->done >= claim->number, claim->address,
			  "work %llu of s%d begins on memory that work %llu of "
			  "s%d still uses",
			  (ull)work->id, work->stream, (ull)claim->id,
			  claim->stream);
	}
}

static void unlink_work(struct work *work)
{
	struct work **link = &world.first;

	while (*link != work)
		link = &(*link)->next;
	*link = work->next;
	if (!*link)
		world.last = link;
}

static void run(void *arg)
{
	struct work *work = arg;
	struct stream *stream = &work->device->stream[work->stream];
	const struct work *outer = world.running;

	world.running = work;
	expect(work->number == stream->done + 1, "work runs out of order");
	check_claims(work);
	for (unsigned i = 0; i < work->accesses; i++) {
		const struct access *access = &work->access[i];

		if (access->looks)
			look(access);
		if (access->writes)
			leave(access);
	}
	world.running = outer;
	stream->done = work->number;
	unlink_work(work);
	free(work->access);
	free(work->claim);
	free(work);
}

static void *copy_of(const void *from, size_t bytes)
{
	void *copy = malloc(bytes + 1);

	if (!copy)
		bail("no memory for work");
	return memcpy(copy, from, bytes);
}

struct work *work_queue(struct device *device, int stream,
			const struct access *access, unsigned accesses,
			const struct claim *claim, unsigned claims)
{
	static const struct access none;
	static const struct claim no_claim;
	struct work *work = copy_of(&(struct work){0}, sizeof(*work));

	work->id = ++world.works;
	work->step = world.step;
	work->device = device;
	work->stream = stream;
	work->number = ++device->stream[stream].queued;
	work->accesses = accesses;
	work->claims = claims;
	work->access =
		copy_of(accesses ? access : &none, accesses * sizeof(*access));
	work->claim =
		copy_of(claims ? claim : &no_claim, claims * sizeof(*claim));
	*world.last = work;
	world.last = &work->next;
	must(gpumem_host_launch(device->number, device->stream[stream].handle,
				run, work));
	work->ticket = gpumem_host_queued(device->number,
					  device->stream[stream].handle);
	return work;
}

bool work_touches(const struct work *work, uintptr_t address, uint64_t bytes)
{
	for (unsigned i = 0; i < work->accesses; i++)
		if (work->access[i].address < address + bytes &&
		    address < work->access[i].address + work->access[i].bytes)
			return true;
	return false;
}

unsigned claims_on(const struct device *device, int stream, uintptr_t address,
		   uint64_t bytes, struct claim *claim)
{
	const struct clock clock = clock_of(device, stream);
	unsigned count = 0;

	for (const struct work *work = world.first; work && count < CLAIMS;
	     work = work->next)
		if (work->device == device && !comes_before(work, &clock) &&
		    work_touches(work, address, bytes))
			claim[count++] = (struct claim){.id = work->id,
							.address = address,
							.stream = work->stream,
							.number = work->number};
	return count;
}

/* The kernel reads a byte of each, and says how many it could. */
static size_t count_mapped(const struct iovec *there, size_t count)
{
	static char bytes[ASKED];
	struct iovec here = {bytes, count};
	ssize_t read = process_vm_readv(getpid(), &here, 1, there, count, 0);

	return read < 0 ? 0 : (size_t)read;
}

/* Where the kernel does not read for us the work itself will tell. */
static bool may_ask(void)
{
	static char byte;
	const struct iovec own = {&byte, 1};

	return count_mapped(&own, 1) == 1;
}

static void check_mapped(const struct iovec *there,
			 const struct work *const *of, size_t count)
{
	size_t mapped = count ? count_mapped(there, count) : 0;

	if (mapped < count && may_ask())
		found(TAP_HERE, (uintptr_t)there[mapped].iov_base,
		      "%p is not mapped, and work %llu of s%d still uses it",
		      there[mapped].iov_base, (ull)of[mapped]->id,
		      of[mapped]->stream);
}

void work_mapped(void)
{
	const struct work *of[ASKED];
	struct iovec there[ASKED];
	size_t count = 0;

	for (const struct work *work = world.first; work; work = work->next)
		for (unsigned i = 0; i < work->accesses; i++) {
			const struct access *access = &work->access[i];

			of[count] = work;
			there[count++] = (struct iovec){
				(void *)(access->address + access->bytes - 1),
				1};
			if (count < ASKED)
				continue;
			check_mapped(there, of, count);
			count = 0;
		}
	check_mapped(there, of, count);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const struct work *work = world.running;

	(void)context;
	found(TAP_HERE, (uintptr_t)info->si_addr,
	      "signal %d at %p, in %s %llu of s%d", signal, info->si_addr,
	      work ? "work" : "no work", work ? (ull)work->id : 0,
	      work ? work->stream : -1);
}

void work_begin(void)
{
	struct sigaction action = {.sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO};

	world.last = &world.first;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

void stamp_verify(const struct block *block)
{
	const struct access access = {.address = block->address,
				      .bytes = block->requested,
				      .stamp = block->stamp,
				      .block = block->id};

	look(&access);
}
