/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The library's descriptors and the program's: ours are none of the standard
 * streams', ones that we keep are away from where programs open theirs, and
 * when the program closes them under us, a file of its own that then has their
 * number is left alone. Each case is a process of its own, which uses the
 * library for the first time, and ends with the first thing that is wrong.
 */
#include "child.h"
#include "peer.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FILE_BYTES = 8 << 20 };

/* Calls fn for each open descriptor but the report's; true: it was one of the
 * memory's. Returns how many were. */
static unsigned each(void (*fn)(int fd, bool memory))
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	need(folder, "no /proc/self/fd");
	while ((entry = readdir(folder))) {
		char target[256] = "";
		int fd = atoi(entry->d_name);
		bool memory;

		if (entry->d_name[0] == '.' || fd == dirfd(folder) ||
		    fd == report)
			continue;
		(void)readlinkat(dirfd(folder), entry->d_name, target,
				 sizeof(target) - 1);
		memory = strstr(target, "memfd:gpumem-host") != NULL;
		count += memory;
		fn(fd, memory);
	}
	closedir(folder);
	return count;
}

static void open_with(const char *name, const char *vm)
{
	works(gpumem_option_set("vm", vm));
	works(gpumem_option_set("host.capacity", "1GiB"));
	works(gpumem_device_open(name, &device));
}

static gpumem_pool *shareable(uint32_t method)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.shareable = method;
	works(gpumem_pool_create(device, &config, &pool));
	return pool;
}

/* ---- numbers ---- */

static bool closed; /* the standard streams */
static int least;   /* of the memory's descriptors */

static void is_above(int fd, bool memory)
{
	need(!closed || fd > 2, "descriptor %d was opened", fd);
	need(!memory || fd >= least, "descriptor %d is below %d", fd, least);
}

static bool holds(const void *ptr, size_t bytes, int value)
{
	unsigned char *copy = malloc(bytes);
	bool same = true;

	need(copy, "no memory");
	works(gpumem_copy(device, copy, ptr, bytes, NULL));
	works(gpumem_stream_sync(device, NULL));
	for (size_t i = 0; i < bytes; i++)
		same = same && copy[i] == value;
	free(copy);
	return same;
}

struct user {
	const char *device, *name;
	uint32_t share;
};

static void close_streams(void)
{
	close(0);
	close(1);
	close(2);
	closed = true;
}

static void closed_streams(const void *arg)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	const struct user *user = arg;
	bool host = user->device[0] == 'h';
	int fds[PEER_FDS] = {0};
	gpumem_pool *pool;
	void *ptr;

	/* A driver's own descriptors are its business. */
	if (host)
		close_streams();
	open_with(user->device, "on");
	pool = shareable(user->share);
	works(gpumem_alloc(pool, 5 * MIB, NULL, &ptr));
	works(gpumem_fill(device, ptr, 7, 5 * MIB, NULL));
	works(gpumem_stream_sync(device, NULL));
	close_streams();
	works(gpumem_export(ptr, &shared, fds, PEER_FDS));
	least = 3;
	if (host) {
		need(each(is_above) > 0, "there is no memory");
		need(write(1, "text", 4) < 0, "a print goes into our file");
	}
	need(holds(ptr, 5 * MIB, 7), "the memory has changed");
	for (uint32_t i = 0; i < shared.fd_count; i++)
		need(fds[i] > 2, "descriptor %d is handed out", fds[i]);
}

/* Text: the limit, and how many numbers below it the program has taken. */
struct room {
	int limit, taken, least;
	const char *name;
};

static void numbers(const void *arg)
{
	const struct room *room = arg;
	struct rlimit limit;
	void *ptr;

	need(!getrlimit(RLIMIT_NOFILE, &limit), "no limit");
	limit.rlim_cur = (rlim_t)room->limit;
	need(!setrlimit(RLIMIT_NOFILE, &limit), "cannot set the limit");
	for (int i = 1; i <= room->taken; i++)
		(void)fcntl(report, F_DUPFD_CLOEXEC, room->limit - i);
	open_with("host:0", "on");
	works(gpumem_alloc(shareable(GPUMEM_SHARE_FD), 5 * MIB, NULL, &ptr));
	least = room->least;
	need(each(is_above) >= 4, "a file for each page and the device");
}

static void test_numbers(void)
{
	static const struct room rooms[] = {
		{4096, 0, 512, "kept ones are high"},
		{1024, 0, 512, "so they are with the usual limit"},
		{64, 0, 32, "and with a low one"},
		{64, 24, 3, "where no high one is free, lower ones do"},
	};
	static const struct user users[] = {
		{"host:0", "standard streams, descriptors", GPUMEM_SHARE_FD},
		{"host:0", "standard streams, names", GPUMEM_SHARE_IPC},
		{"cuda:0", "standard streams, the driver's", GPUMEM_SHARE_FD},
	};
	struct rlimit limit;

	for (size_t i = 0; i < 3; i++) {
		if (users[i].device[0] == 'c' && !peer_has_cuda())
			skip("configured without cuda", 1);
		else
			in_child(closed_streams, &users[i], users[i].name);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit))
		bail("no limit");
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		if (limit.rlim_max < (rlim_t)rooms[i].limit)
			skip("ulimit -Hn is too low", 1);
		else
			in_child(numbers, &rooms[i], rooms[i].name);
	}
}

/* ---- closed under us ---- */

static int own_file; /* 0xa5 all over; -1: numbers are only closed */

/* The program's file takes the number of a file of ours. */
static void take_over(int fd, bool memory)
{
	if (!memory)
		return;
	if (own_file < 0)
		close(fd);
	else
		need(dup2(own_file, fd) == fd, "dup2");
}

static void make_own_file(void)
{
	unsigned char *bytes;

	own_file = memfd_create("the program's", 0);
	need(own_file >= 0 && !ftruncate(own_file, FILE_BYTES), "no file");
	bytes = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		     own_file, 0);
	need(bytes != MAP_FAILED, "no mapping");
	memset(bytes, 0xa5, FILE_BYTES);
	munmap(bytes, FILE_BYTES);
}

static void check_own_file(const char *when)
{
	unsigned char *bytes;
	struct stat file;

	if (own_file < 0)
		return;
	need(!fstat(own_file, &file) && file.st_size == FILE_BYTES,
	     "%s: the program's file has another size", when);
	bytes = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, own_file, 0);
	need(bytes != MAP_FAILED, "no mapping");
	for (size_t i = 0; i < FILE_BYTES; i++)
		need(bytes[i] == 0xa5, "%s: byte %zu of the program's file",
		     when, i);
	munmap(bytes, FILE_BYTES);
}

static unsigned left;

static void count_own(int fd, bool memory)
{
	struct stat one, other;

	(void)memory;
	if (own_file >= 0 && !fstat(fd, &one) && !fstat(own_file, &other))
		left += one.st_ino == other.st_ino;
}

struct way {
	const char *name, *vm;
	uint32_t share;
	bool replaced;
	enum { TRIM, ALLOC, EXPORT, END } then;
};

static gpumem_status do_then(const struct way *way, gpumem_pool *pool,
			     void **blocks)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	int fds[PEER_FDS];
	gpumem_status status;
	void *ptr;

	switch (way->then) {
	case TRIM:
		works(gpumem_free(blocks[0], NULL));
		status = gpumem_pool_trim(pool, 0, NULL);
		break;
	case ALLOC:
		status = gpumem_alloc(pool, 5 * MIB, NULL, &ptr);
		if (status == GPUMEM_OK)
			memset(ptr, 1, 5 * MIB);
		break;
	case EXPORT:
		status = gpumem_export(blocks[0], &shared, fds, PEER_FDS);
		break;
	default:
		return GPUMEM_LOST;
	}
	return status;
}

static void is_over(gpumem_status status, const char *what)
{
	need(status == GPUMEM_OK || status == GPUMEM_LOST, "%s: %s: %s", what,
	     gpumem_status_name(status), last_text());
}

static void closed_under_us(const void *arg)
{
	const struct way *way = arg;
	unsigned count;
	gpumem_pool *pool;
	void *blocks[2];

	own_file = -1;
	if (way->replaced)
		make_own_file();
	open_with("host:0", way->vm);
	pool = shareable(way->share);
	for (int i = 0; i < 2; i++)
		works(gpumem_alloc(pool, 5 * MIB, NULL, &blocks[i]));
	works(gpumem_fill(device, blocks[1], 3, 5 * MIB, NULL));
	works(gpumem_stream_sync(device, NULL));
	count = each(take_over);
	need(count, "there is no memory");
	if (do_then(way, pool, blocks) != GPUMEM_LOST)
		wrong("%s: not LOST", way->name);
	need(way->then == END || strstr(last_text(), "closed by the program"),
	     "says: %s", last_text());
	check_own_file("then");
	is_over(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE),
		"the pool's end");
	is_over(gpumem_device_close(device), "the device's end");
	check_own_file("at the end");
	left = 0;
	(void)each(count_own);
	need(!way->replaced || left == count + 1,
	     "%u of %u numbers of the program are left", left, count + 1);
}

static void test_closed(void)
{
	static const struct way ways[] = {
		{"replaced, then a trim", "on", 0, true, TRIM},
		{"replaced, then an allocation", "on", 0, true, ALLOC},
		{"replaced, then the end", "on", 0, true, END},
		{"without pages: a trim", "off", 0, true, TRIM},
		{"without pages: an allocation", "off", 0, true, ALLOC},
		{"without pages: the end", "off", 0, true, END},
		{"shared pages: a trim", "on", GPUMEM_SHARE_FD, true, TRIM},
		{"shared pages: an export", "on", GPUMEM_SHARE_FD, true,
		 EXPORT},
		{"shared pages: the end", "on", GPUMEM_SHARE_FD, true, END},
		{"names: an export", "on", GPUMEM_SHARE_IPC, true, EXPORT},
		{"closed, then a trim", "on", 0, false, TRIM},
		{"closed, then an allocation", "on", 0, false, ALLOC},
		{"closed, then the end", "on", 0, false, END},
		{"closed shared pages: the end", "on", GPUMEM_SHARE_FD, false,
		 END},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		in_child(closed_under_us, &ways[i], ways[i].name);
}

int main(void)
{
	alarm(300);
	test_numbers();
	test_closed();
	return done_testing();
}
