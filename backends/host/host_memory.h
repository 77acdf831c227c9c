/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The simulated device's memory: ranges of one memfd, and ranges of addresses
 * at which they are mapped. All of it is guarded by the device's `memory`, and
 * the callers hold it.
 */
#ifndef GM_HOST_MEMORY_H
#define GM_HOST_MEMORY_H

#include <gpumem/backend.h>
#include <sys/types.h>
#include <unistd.h>

struct host_device;

/* The unit of ordinary memory and of all file offsets here: what the system
 * maps, 4 KiB on most, 64 KiB on others. */
static inline uint64_t gm_host_unit(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- Files ------------------------------------------------------------- */

/* A descriptor that we keep, and which file it is. */
struct host_file {
	int fd;
	dev_t device;
	ino_t inode;
};

/*
 * What may not be done any more to a file that other processes can have: to cut
 * it is to kill whoever has it mapped. The device's own grows; neither can be
 * sealed further.
 */
#define HOST_SEALS_DEVICE (F_SEAL_SEAL | F_SEAL_SHRINK)
#define HOST_SEALS_PAGE (HOST_SEALS_DEVICE | F_SEAL_GROW)

/* A new file of that name and size in memory, sealed. */
gpumem_status gm_host_file_make(const char *name, uint64_t bytes, int seals,
				struct host_file *file_out);
/* It is a file in memory with exactly these seals. */
bool gm_host_file_is_sealed(int fd, int seals);
/* Its name, as gm_host_file_make() was given it; false: it is none of those. A
 * descriptor opened with O_PATH will do. */
bool gm_host_file_name(int fd, char *name_out, size_t bytes);
/* Takes fd over, under a number of its own; closes it when that fails. */
gpumem_status gm_host_file_keep(int fd, struct host_file *file_out);
/* LOST, with a sentence, and the device is lost: the program has closed it. */
gpumem_status gm_host_file_check(struct host_device *device,
				 const struct host_file *file);
/* If it is still ours. */
void gm_host_file_close(const struct host_file *file);

/* ---- Physical memory --------------------------------------------------- */

/*
 * A range of the device's memfd. It stays the same range for ever, in use or
 * free; only its holder changes. A page that other processes can have is in a
 * file of its own, and its range stands empty.
 *
 *     bytes <= span            bytes == 0 exactly when nobody holds it
 */
struct host_page {
	uint64_t offset, span; /* in the file */
	uint64_t bytes;	       /* what its holder was charged */
	uint32_t mappings;     /* at so many addresses */
	uint32_t turn;	       /* how often it was taken */
	bool raw;	       /* held by alloc, not by page_create */
	bool own;	       /* not that range, but `file` of its own */
	bool foreign;	       /* own, and charged to who made it */
	struct host_file file;
};

/* Free pages of one span; the lowest is on top. room >= all pages of it. */
struct host_bin {
	uint32_t *heap;
	uint32_t count, room, made;
};

#define HOST_BINS 480

struct host_phys {
	struct host_file file;
	uint64_t key[2];      /* in the file's name: see host_ipc.h */
	uint64_t file_bytes;  /* its size */
	uint64_t next_offset; /* where no page has been yet */
	struct host_page *pages;
	uint32_t count, room;
	struct host_bin bins[HOST_BINS];
};

gpumem_status gm_host_phys_init(struct host_phys *phys);
/* Everything is given back at once; nothing may be mapped any more. */
void gm_host_phys_free(struct host_phys *phys);
/* A page that spans at least `span` bytes, for which `bytes` are charged.
 * NO_MEMORY: the capacity would be exceeded. */
gpumem_status gm_host_phys_take(struct host_device *device, uint64_t bytes,
				uint64_t span, uint32_t *number_out);
/* The same of a page that is charged to nobody here. */
gpumem_status gm_host_phys_adopt(struct host_device *device, uint64_t bytes,
				 uint32_t *number_out);
/* LOST: the program has closed the file that the page is in. */
gpumem_status gm_host_phys_check(struct host_device *device, uint32_t number);
/* Drops its content and gives the memory to the system. */
void gm_host_phys_give(struct host_device *device, uint32_t number);
/* Maps a file from offset on. A failure leaves what was there. */
gpumem_status gm_host_phys_map(struct host_device *device,
			       const struct host_file *file, uint64_t address,
			       uint64_t bytes, uint64_t offset);
/* The page of a handle of page_create, if it is in use with so many bytes; the
 * lower half of the handle is its number + 1. Else NULL. */
struct host_page *gm_host_page_find(struct host_device *device,
				    gpumem_page page, uint64_t bytes);
/* What page_create gives for page `number`. */
gpumem_page gm_host_page_name(const struct host_device *device,
			      uint32_t number);
/* What may still be taken. */
uint64_t gm_host_phys_left(const struct host_device *device);

/* ---- Objects ------------------------------------------------------------ */

/* What the address of an alloc stands for, or of a part of it: a view. Ours is
 * one reference, the program may have others. */
struct host_buffer {
	struct host_buffer *next; /* views only: of the device */
	uint64_t address, bytes;
	_Atomic uint64_t memory; /* where the bytes are; 0: freed */
	_Atomic uint32_t references;
};

/* A copy, with one reference. */
gpumem_status gm_host_buffer_new(const struct host_buffer *wanted,
				 struct host_buffer **buffer_out);
/* Its memory goes, and so does our reference. */
void gm_host_buffer_end(struct host_buffer *buffer);

/* ---- Address ranges ---------------------------------------------------- */

/* A reservation, or what one alloc gave. */
struct host_range {
	uint64_t address, bytes;    /* as the caller knows it */
	uint64_t base, span;	    /* as the system knows it */
	uint64_t memory;	    /* alloc: where it is mapped; base, or
				       with `buffer` elsewhere */
	struct host_buffer *buffer; /* with option host.objects */
	uint32_t page;		    /* alloc: its number */
	uint32_t kind;		    /* kind_alloc: which */
	/* Reservation: by granule, page number + 1 where its mapping begins,
	 * HOST_GRANULE_MORE where one goes on, 0 where nothing is mapped. */
	uint32_t *granules;
	uint64_t *peers; /* where a mapping begins: mask of the other devices
			    that use it */
	uint64_t granule_bytes; /* of both arrays, peers first; 0 without */
	uint64_t mapped;	/* granules that are not 0 */
};

#define HOST_GRANULE_MORE UINT32_MAX

/* From high to low, since that is the order in which mmap gives them. */
struct host_ranges {
	struct host_range *item;
	size_t count, room;
};

gpumem_status gm_host_range_add(struct host_ranges *ranges,
				const struct host_range *range);
/* The range that holds the address, or NULL. */
struct host_range *gm_host_range_find(const struct host_ranges *ranges,
				      uint64_t address);
void gm_host_range_remove(struct host_ranges *ranges, struct host_range *range);
/* Unmaps all and frees the list. */
void gm_host_range_clear(struct host_ranges *ranges);

/* Addresses that fault when they are used. */
gpumem_status gm_host_address_reserve(uint64_t bytes, uint64_t alignment,
				      uint64_t *address_out);
/* Makes addresses at which pages are mapped fault again. A failure leaves what
 * was there. */
gpumem_status gm_host_address_fault(uint64_t address, uint64_t bytes);
/* They may become anybody's. A failure leaves what was there. */
gpumem_status gm_host_address_release(uint64_t address, uint64_t bytes);

#endif
