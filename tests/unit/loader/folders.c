/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * In which folders plugins are looked for, as GPUMEM_PLUGIN_PATH says. This
 * program has the code in itself, so that its installed folder is the one that
 * configure was told; what lies beside a library is tested in packages.sh.
 */
#include "loader/loader_parts.h"
#include "../../tap.h"
#include <unistd.h>

static char found[8 * PATH_MAX];

/* All folders, each followed by a ';'. */
static const char *folders_of(const char *list)
{
	struct gm_folders folders;

	if (list)
		setenv("GPUMEM_PLUGIN_PATH", list, 1);
	else
		unsetenv("GPUMEM_PLUGIN_PATH");
	found[0] = '\0';
	folders = gm_folders_first();
	while (gm_folders_next(&folders)) {
		strcat(found, folders.path);
		strcat(found, ";");
	}
	return found;
}

static void test_lists(void)
{
	is_str(folders_of(NULL), GPUMEM_PLUGIN_DIR ";", "not set: installed");
	is_str(folders_of(""), GPUMEM_PLUGIN_DIR ";", "empty: the same");
	is_str(folders_of("/a"), "/a;", "a list names all folders there are");
	is_str(folders_of("/a:b/c"), "/a;b/c;", "in its order");
	is_str(folders_of("/a:"), "/a;" GPUMEM_PLUGIN_DIR ";",
	       "an empty entry at the end is the installed folder");
	is_str(folders_of(":/a"), GPUMEM_PLUGIN_DIR ";/a;", "at the start too");
	is_str(folders_of("/a::/b"), "/a;" GPUMEM_PLUGIN_DIR ";/b;",
	       "and in the middle");
}

static void test_long(void)
{
	static char list[2 * PATH_MAX];

	memset(list, 'x', PATH_MAX - 1);
	folders_of(list);
	is_int((long long)strlen(found), PATH_MAX,
	       "a path may be as long as paths are");
	strcpy(list + PATH_MAX - 1, "x:/a");
	is_str(folders_of(list), "/a;", "one that is longer is passed over");
	list[PATH_MAX] = '\0';
	is_str(folders_of(list), "", "also at the end");
}

int main(void)
{
	alarm(60);
	test_lists();
	test_long();
	return done_testing();
}
