/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The gate before a driver: who goes first, and that a pause ends. */
#include "device/gate.h"
#include "../../tap.h"
#include <sched.h>
#include <unistd.h>

static const struct gpumem_backend one, two;
static struct gm_gate *gate;
static _Atomic unsigned through;

static void *give_way(void *unused)
{
	(void)unused;
	gm_gate_give_way(gate);
	atomic_fetch_add(&through, 1);
	return NULL;
}

static pthread_t start(void *(*run)(void *arg))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		bail("no thread");
	return thread;
}

static void wait_for_paused(unsigned count)
{
	while (atomic_load(&gate->paused) != count)
		sched_yield();
}

static void test_gates(void)
{
	gate = gm_gate_of(&one);
	ok(gate != NULL, "a gate");
	ok(gm_gate_of(&two) != gate, "another backend's is another");
	ok(gm_gate_of(&one) == gate, "each has one");
}

static void test_alone(void)
{
	gm_gate_give_way(gate);
	gm_gate_enter(gate);
	gm_gate_leave(gate);
	gm_gate_give_way(gate);
	ok(true, "with nobody in there is no pause");
	gm_gate_enter(gm_gate_of(&two));
	gm_gate_give_way(gate);
	gm_gate_leave(gm_gate_of(&two));
	ok(true, "nor for another driver's");
}

/* Calls within a growth. */
static void test_nested(void)
{
	pthread_t thread;

	atomic_store(&through, 0);
	gm_gate_enter(gate);
	gm_gate_enter(gate);
	thread = start(give_way);
	wait_for_paused(1);
	gm_gate_leave(gate);
	for (int i = 0; i < 8; i++) {
		gm_gate_enter(gate);
		gm_gate_leave(gate);
	}
	wait_for_paused(1);
	is_uint(atomic_load(&through), 0, "calls are over, the growth is not");
	gm_gate_leave(gate);
	pthread_join(thread, NULL);
	is_uint(atomic_load(&through), 1, "now it is");
}

/* Threads that are in until they are told to leave. */
static _Atomic unsigned in, may_leave;

static void *stay(void *unused)
{
	unsigned number;

	(void)unused;
	gm_gate_enter(gate);
	number = atomic_fetch_add(&in, 1);
	while (atomic_load(&may_leave) <= number)
		sched_yield();
	gm_gate_leave(gate);
	return NULL;
}

static pthread_t one_more(void)
{
	unsigned before = atomic_load(&in);
	pthread_t thread = start(stay);

	while (atomic_load(&in) == before)
		sched_yield();
	return thread;
}

static void one_less(pthread_t thread)
{
	atomic_fetch_add(&may_leave, 1);
	pthread_join(thread, NULL);
}

/* Two are in; one leaves, another enters: the pause ends when as many as were
 * in have left, and the next one is for who is still in. */
static void test_newcomers(void)
{
	pthread_t pause[2], stays[3];

	atomic_store(&through, 0);
	stays[0] = one_more();
	stays[1] = one_more();
	pause[0] = start(give_way);
	wait_for_paused(1);
	stays[2] = one_more();
	pause[1] = start(give_way);
	wait_for_paused(2);
	one_less(stays[0]);
	is_uint(atomic_load(&through), 0, "one of two has left");
	one_less(stays[1]);
	pthread_join(pause[0], NULL);
	is_uint(atomic_load(&through), 1,
		"who came during the pause does not prolong it");
	wait_for_paused(1);
	one_less(stays[2]);
	pthread_join(pause[1], NULL);
	is_uint(atomic_load(&through), 2, "who paused later waited for it");
}

static _Atomic bool over;

static void *come_and_go(void *unused)
{
	(void)unused;
	while (!atomic_load(&over)) {
		gm_gate_enter(gate);
		gm_gate_leave(gate);
	}
	return NULL;
}

static void *give_way_often(void *unused)
{
	long rounds = scaled(100000, 2000);

	(void)unused;
	while (rounds--)
		gm_gate_give_way(gate);
	atomic_fetch_add(&through, 1);
	return NULL;
}

/* Nobody is left behind in a pause, however they meet. */
static void test_often(void)
{
	pthread_t taker[2], giver[2];

	atomic_store(&through, 0);
	for (int i = 0; i < 2; i++) {
		taker[i] = start(come_and_go);
		giver[i] = start(give_way_often);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(giver[i], NULL);
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(taker[i], NULL);
	is_uint(atomic_load(&through), 2, "all pauses end");
	is_uint(atomic_load(&gate->paused), 0, "nobody is paused");
	is_uint(atomic_load(&gate->entered), atomic_load(&gate->left),
		"nobody is in");
}

int main(void)
{
	alarm(60);
	test_gates();
	test_alone();
	test_nested();
	test_newcomers();
	test_often();
	return done_testing();
}
