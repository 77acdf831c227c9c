/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Who imports a name opens a file that the sender has chosen, with rights that
 * the sender may not have. So a name leads to the memory of a simulated device
 * of the same user's and to nothing else, whatever it says; and what is shared
 * cannot be cut off behind a mapping. Run as root, the peers are of another
 * user too.
 */
#include "fixture.h"
#include "forge.h"
#include "peer.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { NOBODY = 65534, FILE_BYTES = 64 << 20 };

static struct gpumem_shared good;
static char folder[64] = "/tmp/gpumem-deputy-XXXXXX";

static gpumem_status import(const struct gpumem_shared *shared)
{
	void *ptr = NULL;
	gpumem_status status = gpumem_import(device, shared, NULL, 0, &ptr);

	if (status == GPUMEM_OK) {
		memset(ptr, 0xee, shared->bytes);
		must(gpumem_import_close(ptr));
	}
	return status;
}

/* `good`, of another file: what it says is all right but for that. */
static struct gpumem_shared forge(int pid, int fd, uint64_t inode)
{
	struct gpumem_shared shared = good;
	struct forge_name name = forge_read(&good);
	uint64_t key[2] = {0};

	(void)forge_key(pid, fd, key);
	name.pid = pid;
	name.fd = fd;
	name.inode = inode;
	name.offset = 0;
	forge_write(&shared, &name, key);
	return shared;
}

static void test_forger(void)
{
	static const unsigned char bytes[15] = {0, 1, 2,  3,  4,  5,  6, 7,
						8, 9, 10, 11, 12, 13, 14};
	const uint64_t key[2] = {UINT64_C(0x0706050403020100),
				 UINT64_C(0x0f0e0d0c0b0a0908)};
	struct gpumem_shared same = good;
	struct forge_name name = forge_read(&good);
	uint64_t own[2] = {0};

	is_uint(forge_hash(bytes, 15, key), UINT64_C(0xa129ca6149be45e5),
		"the hash is that of the paper");
	ok(forge_key(name.pid, name.fd, own), "a key can be read");
	forge_write(&same, &name, own);
	ok(!memcmp(&same, &good, sizeof(same)), "with it the forger can forge");
	is_status(import(&good), GPUMEM_OK, "and a good name is taken");
}

static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, FILE_BYTES))
		bail("no %s", path);
	close(fd);
}

/* Nothing was ever written to it. */
static bool is_empty(const char *path)
{
	struct stat file;

	return !stat(path, &file) && file.st_size == FILE_BYTES &&
	       file.st_blocks == 0;
}

static void test_file(struct peer *holder, const char *who)
{
	struct peer_message message = {0};
	struct gpumem_shared shared;
	struct stat file;

	snprintf(message.text, sizeof(message.text), "%s/file", folder);
	make_file(message.text);
	if (stat(message.text, &file))
		bail("no file");
	if (peer_ask(holder, PEER_HOLD, &message, NULL))
		bail("it cannot be read");
	shared = forge(holder->pid, message.value, file.st_ino);
	is_status(import(&shared), GPUMEM_INVALID,
		  "a file of ours that %s can read", who);
	diag("%s", last_text());
	snprintf(message.text, sizeof(message.text), "%s/file", folder);
	ok(is_empty(message.text), "is as it was");
}

/* To open it for writing would wake whoever waits for a writer. */
static void test_pipe(struct peer *holder)
{
	struct peer_message message = {0};
	struct gpumem_shared shared;
	struct stat file;
	char byte;
	int fd;

	snprintf(message.text, sizeof(message.text), "%s/pipe", folder);
	if (mkfifo(message.text, 0600) || stat(message.text, &file))
		bail("no pipe");
	fd = open(message.text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (peer_ask(holder, PEER_HOLD, &message, NULL))
		bail("it cannot be read");
	shared = forge(holder->pid, message.value, file.st_ino);
	is_status(import(&shared), GPUMEM_INVALID, "a pipe is refused");
	is_int((long)read(fd, &byte, 1), 0, "and nobody has written to it");
	close(fd);
}

/* A child has it too, whose file it could be as well. */
static void memory_file(const char *name, int seals, gpumem_status want)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct gpumem_shared shared;
	struct stat file;
	pid_t child;

	if (fd < 0 || ftruncate(fd, FILE_BYTES) ||
	    (seals && fcntl(fd, F_ADD_SEALS, seals)) || fstat(fd, &file))
		bail("no memfd");
	child = fork();
	if (child == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	shared = forge(child, fd, file.st_ino);
	is_status(import(&shared), want, "memory file %s, sealed 0x%x", name,
		  (unsigned)seals);
	kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	close(fd);
}

static void test_memory_files(void)
{
	static const char name[] =
		"gpumem-host-0123456789abcdef0123456789abcdef";
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK;

	memory_file(name, seals, GPUMEM_OK);
	memory_file(name, 0, GPUMEM_INVALID);
	memory_file(name, F_SEAL_SHRINK, GPUMEM_INVALID);
	memory_file(name, F_SEAL_SEAL, GPUMEM_INVALID);
	memory_file(name, seals | F_SEAL_GROW, GPUMEM_INVALID);
	memory_file("gpumem-host-page-0", seals, GPUMEM_INVALID);
	memory_file("somebody else's", seals, GPUMEM_INVALID);
	memory_file("gpumem-host-123", seals, GPUMEM_INVALID);
}

static void test_other_user(struct peer *other)
{
	struct peer_message message = {.value = NOBODY};
	struct gpumem_shared shared;

	if (geteuid() != 0) {
		skip("only root can have peers of another user", 5);
		return;
	}
	if (peer_ask(other, PEER_BECOME, &message, NULL))
		bail("user %d cannot be had", NOBODY);
	test_file(other, "another user");
	peer_prepare(other, "host:0", GPUMEM_SHARE_IPC, 5 * MIB, 33);
	shared = peer_shared(other);
	is_status(import(&shared), GPUMEM_INVALID, "another user's memory");
	ok(strstr(last_text(), "another user"), "says %s", last_text());
	is_int(peer_read_value(other), 33, "is as it was");
}

/* Neither end can take the memory away while the other has it mapped. */
static void test_cut(struct peer *exporter, struct peer *pages)
{
	struct forge_name name = forge_read(&good);
	struct gpumem_shared shared;
	char path[64];
	int fd;

	shared = peer_shared(pages);
	for (uint32_t i = 0; i < shared.fd_count; i++) {
		ok(ftruncate(pages->fds[i], 0) < 0 && errno == EPERM,
		   "a shared page cannot be cut");
		ok(ftruncate(pages->fds[i], 64 * (off_t)MIB) < 0 &&
			   errno == EPERM,
		   "nor grow");
	}
	is_int(peer_read_value(pages), 44, "it is whole");
	peer_close_fds(pages->fds, shared.fd_count);
	is_status(peer_do(pages, PEER_FREE), GPUMEM_OK,
		  "its memory can be given back");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", name.pid, name.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ok(fd >= 0 && ftruncate(fd, 0) < 0 && errno == EPERM,
	   "nor can a device's memory be cut");
	ok(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0, "or sealed");
	close(fd);
	is_int(peer_read_value(exporter), 22, "it is whole");
}

/* What is imported already is not handed out for other sizes, nor for other
 * descriptors. */
static void test_known(struct peer *pages)
{
	struct gpumem_shared forged = good, shared = peer_shared(pages);
	void *by_name = NULL, *by_fd = NULL, *again = NULL;
	int fds[PEER_FDS];

	must(gpumem_import(device, &good, NULL, 0, &by_name));
	must(gpumem_import(device, &shared, pages->fds, shared.fd_count,
			   &by_fd));
	forged.total_bytes = UINT64_C(1) << 40;
	forge_sum(&forged);
	is_status(import(&forged), GPUMEM_INVALID, "a name for a TiB");
	memcpy(fds, pages->fds, sizeof(fds));
	fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	is_status(gpumem_import(device, &shared, fds, shared.fd_count, &again),
		  GPUMEM_INVALID, "another descriptor");
	ok(strstr(last_text(), "not those"), "says %s", last_text());
	close(fds[0]);
	is_ptr(again, NULL, "and no pointer");
	fds[0] = pages->fds[1];
	fds[1] = pages->fds[0];
	is_status(gpumem_import(device, &shared, fds, shared.fd_count, &again),
		  GPUMEM_INVALID, "in another order");
	must(gpumem_import_close(by_name));
	must(gpumem_import_close(by_fd));
	peer_close_fds(pages->fds, shared.fd_count);
}

static void clean(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/file", folder);
	(void)unlink(path);
	snprintf(path, sizeof(path), "%s/pipe", folder);
	(void)unlink(path);
	(void)rmdir(folder);
}

int main(void)
{
	struct peer peers[4];

	alarm(120);
	for (int i = 0; i < 4; i++)
		peers[i] = peer_start();
	if (!mkdtemp(folder) || chmod(folder, 0755))
		bail("no folder");
	peer_prepare(&peers[0], "host:0", GPUMEM_SHARE_IPC, 5 * MIB, 22);
	good = peer_shared(&peers[0]);
	device_start("1GiB", true);
	test_forger();
	must(peer_write_value(&peers[0], 22));
	peer_prepare(&peers[1], "host:0", GPUMEM_SHARE_FD, 5 * MIB, 44);
	test_known(&peers[1]);
	test_cut(&peers[0], &peers[1]);
	test_file(&peers[2], "another process");
	test_pipe(&peers[2]);
	test_memory_files();
	test_other_user(&peers[3]);
	ok(device_end(), "nothing is left");
	for (int i = 0; i < 4; i++)
		peer_end(&peers[i]);
	clean();
	return done_testing();
}
