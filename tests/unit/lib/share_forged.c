/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Forged descriptions and descriptors, thousands of them: what another process
 * exported, with one or two things changed and the sums made good again. Each
 * import is refused, or it is the very memory that its descriptors or its name
 * stand for; none ends the program, writes an output on failure or leaves
 * anything behind.
 *
 *	lib_share_forged [COUNT [SEED]]
 */
#include "fixture.h"
#include "forge.h"
#include "peer.h"
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGES = 3, STRANGERS = 9 };

/* What there is to forge from. */
static struct gpumem_shared by_fd, by_name;
static int pages[PAGES];	 /* the descriptors of by_fd */
static int strangers[STRANGERS]; /* that stand for no page */
static int name_file;		 /* the file that by_name is in */

/* One attempt. */
static struct gpumem_shared shared;
static int fds[PEER_FDS];
static size_t fd_count;
static unsigned taken, refused, other;

static int stranger_memory(const char *name, off_t bytes, int seals)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, bytes) || fcntl(fd, F_ADD_SEALS, seals))
		bail("no memfd");
	return fd;
}

static void make_strangers(void)
{
	static const char name[] = "gpumem-host-page-0";
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;
	off_t bytes = (off_t)by_fd.fd_bytes;
	char path[32];
	int i = 0;

	if (pipe(strangers))
		bail("no pipe");
	i += 2;
	strangers[i++] = open("/dev/null", O_RDWR | O_CLOEXEC);
	strangers[i++] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strangers[i++] = stranger_memory(name, bytes, F_SEAL_SHRINK);
	strangers[i++] = stranger_memory(name, bytes / 2, seals);
	strangers[i++] = stranger_memory("gpumem-host-page-1", bytes, seals);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pages[0]);
	strangers[i++] = open(path, O_RDONLY | O_CLOEXEC);
	strangers[i++] = open(path, O_PATH | O_CLOEXEC);
	for (i = 0; i < STRANGERS; i++)
		if (strangers[i] < 0)
			bail("no stranger %d", i);
}

/* ---- what is changed ---- */

static uint64_t odd_number(void)
{
	const uint64_t numbers[] = {0,
				    1,
				    2,
				    4096,
				    by_fd.fd_bytes,
				    by_fd.total_bytes,
				    by_name.total_bytes,
				    by_name.total_bytes + 4096,
				    UINT64_C(1) << 40,
				    UINT64_C(1) << 47,
				    UINT64_C(1) << 63,
				    UINT64_MAX,
				    random_number()};

	return numbers[random_below(sizeof(numbers) / sizeof(*numbers))] +
	       (one_in(4) ? random_below(3) - 1 : 0);
}

static void change_byte(void)
{
	((unsigned char *)&shared)[random_below(sizeof(shared))] ^=
		(unsigned char)(1 + random_below(255));
}

static void change_number(void)
{
	uint64_t *const numbers[] = {&shared.fd_bytes, &shared.total_bytes,
				     &shared.offset_bytes, &shared.bytes};

	*numbers[random_below(4)] = odd_number();
}

static void change_small(void)
{
	uint32_t *number = one_in(2) ? &shared.method : &shared.fd_count;

	*number = (uint32_t)odd_number();
}

/* Whole pages more or less, so that the sizes go on making sense. */
static void change_total(void)
{
	shared.total_bytes += (random_below(5) - 2) * by_fd.fd_bytes;
	shared.fd_count = (uint32_t)(shared.total_bytes / by_fd.fd_bytes);
}

static void change_handle(void)
{
	size_t word = 8 * random_below(sizeof(shared.handle) / 8);
	uint64_t number = odd_number();

	memcpy(shared.handle + word, &number, sizeof(number));
}

static void change_handles(void)
{
	const struct gpumem_shared *from = one_in(2) ? &by_fd : &by_name;

	memcpy(shared.handle, from->handle, sizeof(shared.handle));
}

/* A part of a name that makes sense, without the key. */
static void change_name(void)
{
	struct forge_name name = forge_read(&shared);
	uint64_t key[2] = {random_number(), random_number()};

	switch (random_below(6)) {
	case 0:
		name.offset += 4096 * (random_below(65) - 32);
		break;
	case 1:
		name.span += 4096 * (random_below(65) - 32);
		break;
	case 2:
		name.bytes = shared.total_bytes = odd_number();
		break;
	case 3:
		name.fd = (int32_t)random_below(1024);
		break;
	case 4:
		name.pid = (int32_t)odd_number();
		break;
	default:
		name.shift += (uint32_t)(16 * random_below(64));
	}
	memcpy(shared.handle, &name, sizeof(name));
	if (one_in(2))
		forge_write(&shared, &name, key);
}

static void change_fd(void)
{
	int *fd = &fds[random_below(PAGES)];

	switch (random_below(5)) {
	case 0:
		*fd = pages[random_below(PAGES)];
		break;
	case 1:
		*fd = (int)random_below(2048);
		break;
	case 2:
		*fd = one_in(2) ? -1 : INT_MAX;
		break;
	default:
		*fd = strangers[random_below(STRANGERS)];
	}
}

static void change_count(void)
{
	fd_count = random_below(PAGES + 3);
	if (one_in(2))
		shared.fd_count = (uint32_t)fd_count;
}

/* As gm_share_files() of core/pool. */
static void sum_files(void)
{
	uint64_t sum = UINT64_C(14695981039346656037);
	unsigned char bytes[sizeof(dev_t) + sizeof(ino_t)];
	struct stat file;

	for (size_t i = 0; i < fd_count; i++) {
		if (fstat(fds[i], &file))
			return;
		memcpy(bytes, &file.st_dev, sizeof(dev_t));
		memcpy(bytes + sizeof(dev_t), &file.st_ino, sizeof(ino_t));
		for (size_t k = 0; k < sizeof(bytes); k++)
			sum = (sum ^ bytes[k]) * UINT64_C(1099511628211);
	}
	memcpy(shared.handle + 8, &sum, sizeof(sum));
}

static void forge(void)
{
	static void (*const changes[])(void) = {
		change_byte,  change_number, change_small,
		change_total, change_handle, change_handles,
		change_name,  change_fd,     change_count,
	};
	bool fd = one_in(2);

	shared = fd ? by_fd : by_name;
	fd_count = fd ? PAGES : 0;
	memcpy(fds, pages, sizeof(pages));
	for (int i = one_in(3) ? 2 : 1; i; i--)
		changes[random_below(sizeof(changes) / sizeof(*changes))]();
	if (shared.method == GPUMEM_SHARE_FD && one_in(2))
		sum_files();
	if (!one_in(16))
		forge_sum(&shared);
}

/* ---- what came of it ---- */

static bool is_same(char *at, int fd, uint64_t offset)
{
	uint64_t number = random_number(), found = 0;

	memcpy(at, &number, sizeof(number));
	return pread(fd, &found, sizeof(found), (off_t)offset) ==
		       sizeof(found) &&
	       found == number;
}

/* Is it all where it should be, from its first byte to its last? */
static bool is_right(char *ptr)
{
	char *begin = ptr - shared.offset_bytes;
	uint64_t total = shared.total_bytes, each = shared.fd_bytes;
	struct forge_name name = forge_read(&by_name);
	bool right = shared.offset_bytes + shared.bytes <= total;

	if (shared.method == GPUMEM_SHARE_IPC)
		return right && total == by_name.total_bytes &&
		       is_same(begin, name_file, name.offset + name.shift) &&
		       is_same(begin + total - 8, name_file,
			       name.offset + name.shift + total - 8);
	right = right && fd_count == shared.fd_count &&
		total == fd_count * each && each == by_fd.fd_bytes;
	for (size_t i = 0; right && i < fd_count; i++)
		right = is_same(begin + i * each, fds[i], 0) &&
			is_same(begin + (i + 1) * each - 8, fds[i], each - 8);
	return right;
}

/* NULL: all is well. */
static const char *attempt(void)
{
	char untouched, *ptr = &untouched;
	gpumem_status status =
		gpumem_import(device, &shared, fds, fd_count, (void **)&ptr);
	bool right;

	if (status != GPUMEM_OK) {
		refused++;
		other += status != GPUMEM_INVALID;
		return ptr == &untouched ? NULL : "its output is written";
	}
	taken++;
	right = is_right(ptr);
	must(gpumem_import_close(ptr));
	return right ? NULL : "it is other memory";
}

static void attack(unsigned long count, uint64_t seed, const char *name)
{
	unsigned wrong = 0;

	taken = refused = other = 0;
	for (unsigned long i = 0; i < count && wrong < 5; i++) {
		const char *what;

		random_seed(seed + i);
		forge();
		what = attempt();
		if (!what)
			continue;
		wrong++;
		diag("seed %llu: %s: method %u, %u of %llu bytes, %llu + %llu "
		     "of %llu",
		     (ull)(seed + i), what, (unsigned)shared.method,
		     (unsigned)shared.fd_count, (ull)shared.fd_bytes,
		     (ull)shared.offset_bytes, (ull)shared.bytes,
		     (ull)shared.total_bytes);
	}
	is_uint(wrong, 0, "%s: %lu are refused or right", name, count);
	ok(taken && refused > taken, "%u are right, %u refused", taken,
	   refused);
	diag("%u of them for another reason than INVALID", other);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0)
				       : (unsigned long)scaled(10000, 1000);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct peer peers[2] = {peer_start(), peer_start()};
	struct forge_name name;
	void *held[2];
	char path[64];
	int before;

	alarm(argc > 1 ? 0 : 300);
	peer_prepare(&peers[0], "host:0", GPUMEM_SHARE_FD, 5 * MIB, 11);
	peer_prepare(&peers[1], "host:0", GPUMEM_SHARE_IPC, 5 * MIB, 22);
	by_fd = peer_shared(&peers[0]);
	memcpy(pages, peers[0].fds, sizeof(pages));
	by_name = peer_shared(&peers[1]);
	is_uint(by_fd.fd_count, PAGES, "5 MiB are in three pages");
	name = forge_read(&by_name);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", name.pid, name.fd);
	name_file = open(path, O_RDONLY | O_CLOEXEC);
	make_strangers();
	device_start("1GiB", true);
	before = peer_open_fds();
	attack(count, seed, "nothing is imported");
	is_int(peer_open_fds(), before, "no descriptor is left");
	must(gpumem_import(device, &by_fd, pages, PAGES, &held[0]));
	must(gpumem_import(device, &by_name, NULL, 0, &held[1]));
	attack(count, seed + count, "the originals are imported");
	for (int i = 0; i < 2; i++)
		must(gpumem_import_close(held[i]));
	is_int(peer_open_fds(), before, "no descriptor is left");
	ok(device_end(), "nothing is left");
	peer_end(&peers[0]);
	peer_end(&peers[1]);
	return done_testing();
}
