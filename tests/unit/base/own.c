/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A file under a name that a user gave: it has the name when it is whole, what
 * had it before is there until then, and what is no ordinary file of one's own
 * is never touched: links, pipes, devices, folders, files of others. Nothing is
 * left beside it, whatever happens.
 */
#include "base/own.h"
#include "../../tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/gpumem-own-XXXXXX";
static char name[64], other[64];

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail("%s cannot be written", path);
	close(fd);
}

static const char *get(const char *path)
{
	static char text[64];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got < 0 ? "(none)" : text;
}

static unsigned names(void)
{
	DIR *entries = opendir(folder);
	unsigned count = 0;

	if (!entries)
		bail("no folder");
	while (readdir(entries))
		count++;
	closedir(entries);
	return count - 2;
}

static mode_t mode_of(const char *path)
{
	struct stat about;

	return stat(path, &about) ? 0 : about.st_mode & 0777;
}

/* ---- what is written ---- */

static void test_new(void)
{
	struct gm_own own;

	ok(gm_own_begin(&own, name, 0666), "a new file: %s", own.why);
	ok(access(name, F_OK), "has no name yet");
	ok(write(own.fd, "new", 3) == 3, "is written");
	ok(gm_own_keep(&own), "gets its name: %s", own.why);
	close(own.fd);
	is_str(get(name), "new", "with what was written");
	is_uint(mode_of(name), 0644, "and the mode less the umask");
	is_uint(names(), 1, "nothing else is left");
}

static void test_old(void)
{
	struct gm_own own;

	put(name, "old");
	chmod(name, 0640);
	ok(gm_own_begin(&own, name, 0666) && write(own.fd, "n", 1) == 1,
	   "a file that is there");
	is_str(get(name), "old", "is as it was");
	gm_own_drop(&own);
	is_str(get(name), "old", "also when nothing comes of it");
	ok(own.fd < 0 && names() == 1, "and nothing is left");
	ok(gm_own_begin(&own, name, 0600) && write(own.fd, "new", 3) == 3 &&
		   gm_own_keep(&own),
	   "it is replaced");
	close(own.fd);
	is_str(get(name), "new", "whole");
	is_uint(mode_of(name), 0640, "and keeps its mode");
	ok(gm_own_try(&own, name) && names() == 1, "a try leaves nothing");
	is_str(get(name), "new", "and changes nothing");
	unlink(name);
}

/* ---- what is not ---- */

/* With `path` as it is; `other` has "other" all the time. */
static void refused(const char *path, const char *why, const char *what)
{
	unsigned before = names();
	struct gm_own own;
	int fd;

	ok(!gm_own_begin(&own, path, 0600) && strstr(own.why, why), "%s: %s",
	   what, own.why);
	ok(own.fd < 0 && own.folder < 0 && own.old < 0, "nothing is open");
	ok(!gm_own_try(&own, path) && strstr(own.why, why), "tried");
	fd = gm_own_append(&own, path, true);
	ok(fd < 0 && strstr(own.why, why), "at the end: %s", own.why);
	is_uint(names(), before, "nothing is left");
	is_str(get(other), "other", "the other file is as it was");
}

static void test_no_file(void)
{
	put(other, "other");
	if (symlink(other, name))
		bail("no link");
	refused(name, "symbolic link", "a link");
	unlink(name);
	if (symlink("/tmp/gpumem-own-nothing", name))
		bail("no link");
	refused(name, "symbolic link", "a link to nothing");
	ok(access("/tmp/gpumem-own-nothing", F_OK), "which is not made");
	unlink(name);
	if (mkfifo(name, 0600))
		bail("no pipe");
	refused(name, "no ordinary file", "a pipe");
	unlink(name);
	if (mkdir(name, 0700))
		bail("no folder");
	refused(name, "", "a folder");
	rmdir(name);
	if (!geteuid())
		refused("/dev/full", "no ordinary file", "a device");
	else
		skip("only root may write into /dev", 6);
	refused("/nonexistent/file", "No such file", "no such folder");
	refused("", "", "no name");
	unlink(other);
}

/* Between begin and keep. */
static void test_changed(void)
{
	struct gm_own own;

	put(other, "other");
	ok(gm_own_begin(&own, name, 0600), "a new file");
	if (symlink(other, name))
		bail("no link");
	ok(!gm_own_keep(&own) && strstr(own.why, "symbolic link"),
	   "a link came meanwhile: %s", own.why);
	ok(own.fd < 0 && names() == 2, "nothing is left");
	unlink(name);
	ok(gm_own_begin(&own, name, 0600), "a new file");
	put(name, "theirs");
	ok(gm_own_keep(&own), "a file of our own came meanwhile");
	close(own.fd);
	is_str(get(name), "", "and is replaced");
	ok(gm_own_begin(&own, name, 0600) && !rename(other, name) &&
		   gm_own_keep(&own),
	   "another has the name");
	close(own.fd);
	is_uint(names(), 1, "nothing is left");
	unlink(name);
}

static void test_busy(void)
{
	struct gm_own own, second;
	int fd;

	put(name, "old");
	fd = open(name, O_RDONLY);
	if (flock(fd, LOCK_EX))
		bail("no lock");
	ok(!gm_own_begin(&own, name, 0600) && own.busy,
	   "a file that is locked: %s", own.why);
	close(fd);
	unlink(name);
	ok(gm_own_begin(&own, name, 0600) && gm_own_begin(&second, name, 0600),
	   "two at once");
	ok(gm_own_keep(&own), "the first has it");
	ok(!gm_own_keep(&second) && second.busy, "the second has not: %s",
	   second.why);
	close(own.fd);
	is_uint(names(), 1, "nothing is left");
	unlink(name);
}

/* ---- others ---- */

/* As a user who is nobody, in a process of its own. */
static bool as_nobody(bool (*fn)(void))
{
	int status = 1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(setgroups(0, NULL) || setgid(65534) || setuid(65534) ||
		      !fn());
	waitpid(child, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool is_refused(void)
{
	struct gm_own own;

	return !gm_own_try(&own, name) && gm_own_append(&own, name, true) < 0;
}

static void test_others(void)
{
	if (geteuid()) {
		skip("only root can make files of others", 9);
		return;
	}
	put(name, "theirs");
	if (chown(name, 12345, 12345) || chmod(name, 0666))
		bail("no chown");
	put(other, "other");
	refused(name, "another user", "another user's file");
	is_str(get(name), "theirs", "which is as it was");
	if (chmod(folder, 01777))
		bail("no chmod");
	ok(as_nobody(is_refused), "nor by who may not, in a folder for all");
	unlink(name);
	if (chmod(folder, 0755))
		bail("no chmod");
	ok(as_nobody(is_refused), "a folder that may not be written");
	unlink(other);
}

int main(void)
{
	umask(022);
	if (!mkdtemp(folder))
		bail("no folder");
	snprintf(name, sizeof(name), "%s/name", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	test_new();
	test_old();
	test_no_file();
	test_changed();
	test_busy();
	test_others();
	is_uint(names(), 0, "nothing is left");
	rmdir(folder);
	return done_testing();
}
