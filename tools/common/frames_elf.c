/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the code of an ELF file of 64 bits lies in memory, by its program
 * headers. The file may be any that a recording names: no word of it is
 * believed, and what is no plain file is not read.
 */
#include "frames.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define DATA_HERE ELFDATA2LSB
#else
#define DATA_HERE ELFDATA2MSB
#endif

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return at <= INT64_MAX &&
	       pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool is_ours(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == DATA_HERE &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

static void add_segment(struct frames_elf *elf, const Elf64_Phdr *header)
{
	if (header->p_type == PT_LOAD && header->p_flags & PF_X &&
	    elf->count < FRAMES_SEGMENTS)
		elf->segment[elf->count++] = (struct frames_segment){
			.offset = header->p_offset,
			.bytes = header->p_filesz,
			.address = header->p_vaddr,
		};
}

static bool read_headers(struct frames_elf *elf, int fd)
{
	Elf64_Ehdr header;
	Elf64_Phdr one;
	uint64_t at;

	if (!read_at(fd, &header, sizeof(header), 0) || !is_ours(&header))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (__builtin_add_overflow(header.e_phoff, i * sizeof(one),
					   &at) ||
		    !read_at(fd, &one, sizeof(one), at))
			return false;
		add_segment(elf, &one);
	}
	return true;
}

bool frames_elf_read(struct frames_elf *elf, const char *path)
{
	struct stat about;
	bool ok;
	int fd;

	elf->count = 0;
	if (*path != '/')
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	ok = !fstat(fd, &about) && S_ISREG(about.st_mode) &&
	     read_headers(elf, fd);
	close(fd);
	return ok;
}

bool frames_elf_address(const struct frames_elf *elf, uint64_t offset,
			uint64_t *address_out)
{
	for (size_t i = 0; i < elf->count; i++) {
		const struct frames_segment *segment = &elf->segment[i];

		if (offset >= segment->offset &&
		    offset - segment->offset < segment->bytes) {
			*address_out =
				offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}
