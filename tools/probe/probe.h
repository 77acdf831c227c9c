/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of gpumem-probe: what backends and devices there are, the table
 * of options, and a short test of a device. One thread.
 */
#ifndef GPUMEM_TOOLS_PROBE_H
#define GPUMEM_TOOLS_PROBE_H

#include <gpumem/gpumem.h>

#include "common/json.h"

struct probe_config {
	const char *backend; /* NULL: all */
	const char *device;  /* NULL: all */
	bool options, test, list, json;
};

#define PROBE_CHECKS 6

enum probe_verdict { PROBE_OK, PROBE_FAILED, PROBE_SKIPPED };

/* One line of a test. */
struct probe_line {
	const char *name;
	enum probe_verdict verdict;
	double ns;	  /* what it measured; 0: nothing */
	char detail[512]; /* what was done, or what went wrong */
};

/* The processes that hold memory of a device. */
struct probe_processes {
	struct gpumem_process *list; /* the largest first */
	int count;
	char reason[512]; /* why they are not listed; "": they are */
};

struct probe_device {
	struct gpumem_device_info info;
	struct probe_processes processes; /* with memory.size only */
	struct gpumem_memory memory;	  /* size 0: not asked for */
	struct probe_line lines[PROBE_CHECKS];
	int line_count; /* 0: not tested */
};

struct probe_backend {
	struct gpumem_backend_info info;
	struct probe_device *devices;
	int device_count;
};

/* A GPU that can be seen (gpus.c), and its vendor's backend. */
struct probe_gpu {
	char node[64]; /* "/dev/nvidia0" */
	const char *backend;
	gpumem_status status; /* OK: that one uses it */
	int device_count;     /* of the backend */
	char reason[512];     /* why not, and what helps; "": OK */
};

#define PROBE_GPUS 64 /* of each vendor; further ones are not listed */

struct probe {
	const struct probe_config *config;
	struct probe_backend *backends;
	int backend_count;
	struct probe_gpu gpus[3 * PROBE_GPUS];
	int gpu_count; /* 0, too, if only one backend was asked for */
	bool failed_test;
	char default_device[32]; /* "host:0"; "": there is none */
	char no_default[1024];	 /* why there is no default; "": there is one */
};

/* Fills the probe with what the config asks for. Gives an exit code; a failure
 * has been told. */
int probe_collect(struct probe *probe);
void probe_free(struct probe *probe);

/* Once backends and their devices are known. */
void probe_find_gpus(struct probe *probe);
/* A heading and a sentence for each. */
bool probe_gpus_text(const struct probe *probe);
json_t *probe_gpus_json(const struct probe *probe, bool *ok);

/* Opens the device to ask for its free memory and, if the config says so, to
 * test it. The same. */
int probe_open(struct probe *probe, struct probe_device *device);

/* Asks an open device for its processes, and frees what was asked for. False:
 * no memory. */
bool probe_ask_processes(gpumem_device *handle,
			 struct probe_processes *processes);
void probe_free_processes(struct probe_processes *processes);

/* Runs the checks on an open device. */
void probe_test(gpumem_device *handle, struct probe_device *device);

/* False, and told, when the output could not be made. */
bool probe_print_text(const struct probe *probe);
bool probe_print_json(const struct probe *probe);
bool probe_print_list(const struct probe *probe);

/* The same for the table of options. */
bool probe_options_text(void);
bool probe_options_json(void);

/* "no driver" for GPUMEM_NO_DRIVER, and "ok". */
const char *probe_status_words(gpumem_status status, char words_out[32]);

#endif
