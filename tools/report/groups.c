/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See groups.h.
 */
#include "groups.h"

#include "common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX /* no enum has room for it */

struct reading {
	struct summary summary;
	struct groups *groups;
	uint32_t *group_of, *device_of; /* by pool; NONE */
};

static const char *or_none(const char *text)
{
	return text && *text ? text : "-";
}

/* ---- which there are ---- */

static char *device_text(const struct model *model, uint16_t pool)
{
	struct recording_pool known = trace_pool(model->source, pool);
	char text[32];

	if (!model->source->is_torch || pool > TORCH_DEVICES)
		return strdup(or_none(known.device));
	snprintf(text, sizeof(text), "device %u",
		 trace_device(model->source, pool));
	return strdup(text);
}

static bool add_pools(struct reading *reading, const struct model *model)
{
	struct groups *groups = reading->groups;

	for (unsigned i = 0; i < SUMMARY_POOLS; i++) {
		struct recording_pool known = trace_pool(model->source, i);
		struct group *group = &groups->list[groups->count];

		if (!model->summary.pools[i].events)
			continue;
		*group = (struct group){.device =
						device_text(model, (uint16_t)i),
					.name = or_none(known.name),
					.kind = or_none(known.kind),
					.pool = (uint16_t)i};
		reading->group_of[i] = (uint32_t)groups->count++;
		if (!group->device)
			return false;
	}
	groups->pools = groups->count;
	return true;
}

static uint32_t find_device(const struct groups *groups, const char *device)
{
	for (size_t i = groups->pools; i < groups->count; i++)
		if (!strcmp(groups->list[i].device, device))
			return (uint32_t)i;
	return NONE;
}

/* One device alone is all together. */
static bool add_devices(struct reading *reading)
{
	struct groups *groups = reading->groups;

	for (size_t i = 0; i < groups->pools; i++) {
		const struct group *pool = &groups->list[i];
		uint32_t found = find_device(groups, pool->device);

		if (found == NONE) {
			found = (uint32_t)groups->count;
			groups->list[groups->count++] =
				(struct group){.device = strdup(pool->device),
					       .name = "-",
					       .kind = "-",
					       .pool = pool->pool,
					       .is_device = true};
			if (!groups->list[found].device)
				return false;
		}
		groups->list[found].pools++;
		reading->device_of[pool->pool] = found;
	}
	return true;
}

/* ---- what they had ---- */

static void count(struct group *group, const struct recording_event *event,
		  const struct summary_usage *before,
		  const struct summary_usage *after, uint64_t number)
{
	group->requested += after->requested_bytes - before->requested_bytes;
	group->reserved += after->reserved_bytes - before->reserved_bytes;
	group->blocks += after->blocks - before->blocks;
	if (group->reserved > group->peak_reserved)
		group->peak_reserved = group->reserved;
	if (group->requested > group->peak.requested)
		group->peak =
			(struct model_moment){.event = number,
					      .ns = event->time_ns,
					      .requested = group->requested,
					      .blocks = group->blocks};
}

static bool add(const struct recording_event *event,
		const struct history_block *block, void *user)
{
	struct reading *reading = user;
	struct summary *summary = &reading->summary;
	struct summary_usage before = summary->pools[event->pool];
	const struct summary_usage *after = &summary->pools[event->pool];
	uint32_t at[2] = {reading->group_of[event->pool],
			  reading->device_of[event->pool]};

	if (!summary_add(event, block, summary))
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (at[i] != NONE)
			count(&reading->groups->list[at[i]], event, &before,
			      after, summary->all.events);
	return true;
}

static size_t pools_of(const struct model *model)
{
	size_t pools = 0;

	for (unsigned i = 0; i < SUMMARY_POOLS; i++)
		pools += model->summary.pools[i].events > 0;
	return pools;
}

static bool read_groups(struct reading *reading, const struct model *model,
			size_t pools)
{
	struct groups *groups = reading->groups;
	size_t bytes = SUMMARY_POOLS * sizeof(uint32_t);

	reading->group_of = malloc(bytes);
	reading->device_of = malloc(bytes);
	groups->list = calloc(2 * pools, sizeof(*groups->list));
	if (!summary_init(&reading->summary) || !reading->group_of ||
	    !reading->device_of || !groups->list)
		return false;
	memset(reading->group_of, 0xff, bytes);
	memset(reading->device_of, 0xff, bytes);
	return add_pools(reading, model) && add_devices(reading) &&
	       trace_each(model->source, add, NULL, reading) &&
	       !reading->summary.failed;
}

bool groups_read(struct groups *groups, const struct model *model)
{
	struct reading reading = {.groups = groups};
	size_t pools = pools_of(model);
	bool ok;

	*groups = (struct groups){0};
	if (pools < 2)
		return true;
	ok = read_groups(&reading, model, pools);
	summary_free(&reading.summary);
	free(reading.group_of);
	free(reading.device_of);
	if (!ok)
		tool_error("%s: out of host memory",
			   model->source->config->file);
	else if (groups->count == groups->pools + 1)
		free(groups->list[--groups->count].device);
	return ok;
}

void groups_free(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free(groups->list[i].device);
	free(groups->list);
	*groups = (struct groups){0};
}

/* ---- of one ---- */

char *group_title(const struct group *group)
{
	char *title;
	int length;

	if (group->is_device)
		length = asprintf(&title, "all of %s", group->device);
	else if (strcmp(group->name, "-"))
		length = asprintf(&title, "pool %u, %s on %s", group->pool,
				  group->name, group->device);
	else
		length = asprintf(&title, "pool %u on %s", group->pool,
				  group->device);
	return length < 0 ? NULL : title;
}

enum { NAMED = 8 }; /* pools in the heading of a device */

static void put_name(FILE *out, const struct group *pool)
{
	fprintf(out, "pool %u", pool->pool);
	if (strcmp(pool->name, "-"))
		fprintf(out, ", %s", pool->name);
}

char *group_heading(const struct groups *groups, const struct group *device)
{
	const char *between = ": ";
	char *heading = NULL;
	size_t bytes, named = 0;
	FILE *out = open_memstream(&heading, &bytes);

	if (!out)
		return NULL;
	fputs(strcmp(device->device, "-") ? device->device : "unknown device",
	      out);
	for (size_t i = 0; i < groups->pools && named < NAMED; i++) {
		if (strcmp(groups->list[i].device, device->device))
			continue;
		fputs(between, out);
		put_name(out, &groups->list[i]);
		between = "; ";
		named++;
	}
	if (named < device->pools)
		fprintf(out, "; and %zu more", device->pools - named);
	if (!fclose(out))
		return heading;
	free(heading);
	return NULL;
}

bool *group_pools(const struct groups *groups, const struct group *group)
{
	bool *only = calloc(SUMMARY_POOLS, sizeof(*only));

	for (size_t i = 0; i < groups->pools && only; i++) {
		const struct group *pool = &groups->list[i];

		only[pool->pool] =
			group->is_device ? !strcmp(pool->device, group->device)
					 : pool->pool == group->pool;
	}
	return only;
}

struct model_tag *group_tags(const struct model *model,
			     const struct groups *groups,
			     const struct group *group, size_t *count_out)
{
	bool *only = group_pools(groups, group);
	struct model_tag *tags = NULL;

	if (only)
		tags = model_tags_of(model, group->peak.event, only, count_out);
	free(only);
	return tags;
}
