#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# cudaHostAlloc() pins 2 to 3 GB/s, with any number of threads. The same memory made
# by hand, huge pages that several threads touch and cudaHostRegister() pins, is there
# at five times that and more, and copies are as fast from it. It is not the same
# to a child: what cudaHostAlloc() gave is shared with it (/proc/self/maps has it as
# /dev/zero), and a fork() of a process with as much registered memory copies all of
# it, for seconds, unless MADV_DONTFORK leaves it out. Nothing of gpumem is used here;
# no test and no build runs this.
#
# Behaviour seen, 2026-11-30, NVIDIA H200, driver 580.159, Linux 6.18, transparent huge
# pages by madvise(), 32 cores; 4 GiB, nvidia-cuda-runtime 13.0.96:
#
#     cudaHostAlloc  1.8 GB/s; copies 54.1 GB/s; fork()    2.5 ms, shared with the child
#     by hand       16.4               53.6             3161.4 ms, the child has its own
#                                                          2.2 ms with MADV_DONTFORK
#
# Exit 0: as written above, by ratios; 1: it differs, and this file and core/sleep
# should be looked at again; 2: it could not be had; 77: there is no GPU, or there are
# less than eight cores. Needs pip, cc, 12 GiB of memory; it downloads 4 MB to a
# temporary folder that it removes.
set -u

if ! nvidia-smi -L 2>/dev/null | grep -q GPU || [ "$(nproc)" -lt 8 ]; then
	echo "skipped: it needs an NVIDIA GPU, its driver and eight cores"
	exit 77
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2

cat >pin.c <<'END'
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)4 << 30)
#define HUGE ((size_t)2 << 20)
enum { THREADS = 8 };

static unsigned char *memory;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(int error)
{
	if (error)
		exit(2);
}

static void *touch(void *number)
{
	unsigned char *at = memory + (size_t)number * (BYTES / THREADS);

	for (size_t i = 0; i < BYTES / THREADS; i += 4096)
		at[i] = 1;
	return NULL;
}

/* Private huge pages, touched by threads. */
static void make_pages(void)
{
	pthread_t thread[THREADS];
	unsigned char *raw = mmap(NULL, BYTES + HUGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(raw == MAP_FAILED);
	memory = raw + (HUGE - (size_t)raw % HUGE) % HUGE;
	(void)madvise(memory, BYTES, MADV_HUGEPAGE);
	for (size_t i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, touch, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static double copy_rate(void *device, void *host)
{
	double begin = now_ms();

	must(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
	return (double)BYTES / 1e6 / (now_ms() - begin);
}

/* Milliseconds of a fork(). *shared: the parent sees what the child wrote. */
static double fork_ms(unsigned char *at, int writes, int *shared)
{
	double begin = now_ms(), taken;
	pid_t child;

	at[0] = 1;
	child = fork();
	if (!child) {
		if (writes)
			at[0] = 2;
		_exit(0);
	}
	taken = now_ms() - begin;
	waitpid(child, NULL, 0);
	*shared = at[0] == 2;
	return taken;
}

int main(void)
{
	double begin, alloc, pages, pin, copies[2], forks[3];
	int shared[3];
	void *device, *host;

	must(cudaMalloc(&device, BYTES));
	begin = now_ms();
	must(cudaHostAlloc(&host, BYTES, cudaHostAllocPortable));
	alloc = (double)BYTES / 1e6 / (now_ms() - begin);
	copies[0] = copy_rate(device, host);
	forks[0] = fork_ms(host, 1, &shared[0]);
	must(cudaFreeHost(host));
	begin = now_ms();
	make_pages();
	pages = now_ms() - begin;
	must(cudaHostRegister(memory, BYTES, cudaHostRegisterPortable));
	pin = (double)BYTES / 1e6 / (now_ms() - begin);
	copies[1] = copy_rate(device, memory);
	forks[1] = fork_ms(memory, 1, &shared[1]);
	(void)madvise(memory, BYTES, MADV_DONTFORK);
	forks[2] = fork_ms(memory, 0, &shared[2]);
	printf("cudaHostAlloc %.1f GB/s; copies %.1f; fork %.1f ms, %s\n",
	       alloc, copies[0], forks[0],
	       shared[0] ? "shared with the child" : "the child has its own");
	printf("by hand %.1f GB/s, %.0f ms of it for pages; copies %.1f; fork "
	       "%.1f ms, %s, %.1f ms with MADV_DONTFORK\n",
	       pin, pages, copies[1], forks[1],
	       shared[1] ? "shared with the child" : "the child has its own",
	       forks[2]);
	return !(pin > 4 * alloc && copies[1] > 0.9 * copies[0] && shared[0] &&
		 !shared[1] && forks[1] > 20 * forks[0] &&
		 forks[2] < forks[1] / 20);
}
END

python3 -m pip install -q --no-deps --target runtime \
	nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 || exit 2
library=$(find "$scratch/runtime" -name 'libcudart.so.*' | head -n 1)
# shellcheck disable=SC2046
cc -O2 -pthread $(find "$scratch/runtime" -name include -type d |
	sed 's/^/-isystem /') pin.c -o pin "$library" \
	-Wl,-rpath,"$(dirname "$library")" || exit 2
./pin
status=$?
[ $status -le 1 ] || exit 2
exit $status
