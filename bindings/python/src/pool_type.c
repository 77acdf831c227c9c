/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.Pool as Python sees it: its methods and attributes. How one begins and
 * ends is in pool.c, what it reports in pool_report.c, its limits are in
 * pool_limit.c, its callbacks in pressure.c, its peers in pool_peer.c, its
 * sleep in pool_sleep.c, its blocks in buffer.c. Under the GIL.
 */
#include "core.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *pool_type;

static PyObject *pool_check(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);

	(void)unused;
	return handle ? none_or_raise(gpumem_pool_check(handle)) : NULL;
}

static PyObject *pool_drop_stream(PyObject *object, PyObject *args,
				  PyObject *names)
{
	static char *keys[] = {"stream", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_stream stream;

	if (!handle ||
	    !parse(args, names, "O&:drop_stream", keys, stream_from, &stream))
		return NULL;
	return none_or_raise(gpumem_pool_drop_stream(handle, stream));
}

static PyObject *pool_name(PyObject *object, void *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);

	(void)unused;
	return handle ? PyUnicode_FromString(gpumem_pool_name(handle)) : NULL;
}

static PyObject *pool_device(PyObject *object, void *unused)
{
	PyObject *device = (PyObject *)((struct pool *)object)->device;

	(void)unused;
	Py_INCREF(device);
	return device;
}

static PyMethodDef methods[] = {
	{"alloc", KEYWORDS(pool_alloc), NAMED,
	 "alloc($self, nbytes, stream=None, *, alignment=0, zero=False, "
	 "wait=True, grow=True)\n--\n\nA Buffer for work queued on the stream "
	 "from now on. zero: filled with zeros\nin the order of the stream. "
	 "wait=False: waits for no device. grow=False:\nonly from what the "
	 "pool "
	 "has reserved. OutOfMemoryError if there is none."},
	{"malloc", KEYWORDS(pool_malloc), NAMED,
	 "malloc($self, nbytes, stream=None)\n--\n\nA block by its address, "
	 "which gpumem.free() ends. For adapters."},
	{"functions", KEYWORDS(pool_functions), NAMED,
	 "functions($self, stream=None)\n--\n\nThe addresses of C functions "
	 "over the pool and this stream, for programs\nthat take an allocator "
	 "so: void *alloc(size_t), which returns NULL when it\nfails, void "
	 "free(void *), void empty_cache(void); and the stream's handle.\nThey "
	 "and the pool last until the process ends."},
	{"stats", pool_stats, METH_NOARGS,
	 "stats($self)\n--\n\nThe statistics of gpumem_stats(3), as a dict."},
	{"calls", pool_calls, METH_NOARGS,
	 "calls($self)\n--\n\nDriver calls by their name: count, failed, ns."},
	{"snapshot", pool_snapshot, METH_NOARGS,
	 "snapshot($self)\n--\n\nEvery block in the order of addresses, free "
	 "ones and holes too."},
	{"report", KEYWORDS(pool_report), NAMED,
	 "report($self, all=False)\n--\n\nIts statistics as lines for people: "
	 "those that are not 0, or all."},
	{"tags", pool_tags, METH_NOARGS,
	 "tags($self)\n--\n\nWhat its blocks have by tag; path \"\" is those "
	 "without one."},
	{"set_tag_limit", KEYWORDS(pool_set_tag_limit), NAMED,
	 "set_tag_limit($self, path, limit_bytes)\n--\n\nA limit on the "
	 "requested bytes of the blocks with this tag, or one\ninside it; 0: "
	 "none."},
	{"track", KEYWORDS(pool_track), NAMED,
	 "track($self, frames=0)\n--\n\nFrom now on it is known of each block "
	 "when it was allocated, by which\nthread, and so many frames of the C "
	 "stack; slower."},
	{"untrack", pool_untrack, METH_NOARGS,
	 "untrack($self)\n--\n\nForgets that."},
	{"leaks", KEYWORDS(pool_leaks), NAMED,
	 "leaks($self, since=0, until=0)\n--\n\nThe live blocks, the largest "
	 "groups of one tag and stack first: all, or\nthose that were "
	 "allocated between two marks of leak_mark()."},
	{"reset_stats", KEYWORDS(pool_reset_stats), NAMED,
	 "reset_stats($self, totals=False)\n--\n\nPeaks become current; totals "
	 "and counters 0 too."},
	{"trim", KEYWORDS(pool_trim), NAMED,
	 "trim($self, keep_bytes=0)\n--\n\nGives unused memory back to the "
	 "driver until at most keep_bytes are\nreserved; waits for no stream. "
	 "Returns the bytes given back."},
	{"set_limit", KEYWORDS(pool_set_limit), NAMED,
	 "set_limit($self, limit_bytes=0, soft_limit_bytes=0)\n--\n\nBounds on "
	 "reserved bytes; 0: none. Lowering the hard one trims at once.\nA "
	 "soft one that is not below the hard one makes no difference; it is\n"
	 "kept, and counts once the hard one is raised."},
	{"capacity", KEYWORDS(pool_capacity), NAMED,
	 "capacity($self, stream=None)\n--\n\nHow large a block can be, at "
	 "most "
	 "and now."},
	{"pressure_add", KEYWORDS(pool_pressure_add), NAMED,
	 "pressure_add($self, callback)\n--\n\ncallback(pressure: dict) -> "
	 "bool "
	 "is called when an allocation is about to\nexceed the soft limit or "
	 "to "
	 "fail: free what you can, and return True to\nhave it tried again."},
	{"pressure_remove", KEYWORDS(pool_pressure_remove), NAMED,
	 "pressure_remove($self, callback)\n--\n\nRemoves what was added "
	 "first."},
	{"add_peer", KEYWORDS(pool_add_peer), NAMED,
	 "add_peer($self, device)\n--\n\nKernels of that device may use the "
	 "pool's blocks from now on, live ones too;\nit stays open as long as "
	 "the pool."},
	{"ranges", pool_ranges, METH_NOARGS,
	 "ranges($self)\n--\n\n[(address, nbytes)] of what has memory now, "
	 "whole pages or segments."},
	{"pin", KEYWORDS(pool_pin), NAMED,
	 "pin($self, address, nbytes, name='python')\n--\n\nThese bytes keep "
	 "their memory until unpin(), also when the block there is\nfreed: for "
	 "whoever registers them elsewhere (NCCL, UCX, NIXL, cuFile)."},
	{"unpin", KEYWORDS(pool_unpin), NAMED,
	 "unpin($self, address, nbytes, name='python')\n--\n\nUndoes one pin() "
	 "with the same arguments."},
	{"sleep", KEYWORDS(pool_sleep), NAMED,
	 "sleep($self, tag=None, *, content='pinned', folder=None, "
	 "timeout_ns=0, host_limit_bytes=0)\n--\n\nGives the memory of live "
	 "blocks to the driver: all, or those of a tag. They keep\ntheir "
	 "addresses, and what they "
	 "hold goes to \"pinned\" memory of the host, to\nmemory that is "
	 "\"retained\" for the next sleep, to \"pageable\" memory, or to a\n"
	 "file in the folder. Nothing may use them until wake() has "
	 "returned. Waits for\ntheir streams for timeout_ns; 0: as long as it "
	 "takes. An OutOfMemoryError if the\npool's sleeps would hold more of "
	 "the host's memory than host_limit_bytes; 0: no limit."},
	{"wake", KEYWORDS(pool_wake), NAMED,
	 "wake($self, tag=None)\n--\n\nBrings them back, to the same "
	 "addresses."},
	{"drop_stream", KEYWORDS(pool_drop_stream), NAMED,
	 "drop_stream($self, stream)\n--\n\nA stream that the program destroys "
	 "itself is about to go."},
	{"check", pool_check, METH_NOARGS,
	 "check($self)\n--\n\nCompares everything with every counter and "
	 "invariant."},
	{"close", pool_close, METH_NOARGS,
	 "close($self)\n--\n\nEnds the pool; Error while blocks are live. Of a "
	 "default pool: forgets it."},
	{"__enter__", pool_enter, METH_NOARGS,
	 "__enter__($self)\n--\n\nIt itself."},
	{"__exit__", pool_exit, METH_VARARGS,
	 "__exit__($self, kind, value, trace, /)\n--\n\nAs close(); after an "
	 "exception, a pool with live blocks stays."},
	{"_repr_html_", pool_html, METH_NOARGS,
	 "_repr_html_($self)\n--\n\nFor notebooks."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"name", pool_name, NULL, "Its name.", NULL},
	{"device", pool_device, NULL, "Its device.", NULL},
	{"limit_bytes", pool_limit, pool_limit_set,
	 "The hard limit of what it reserves; 0: none.", NULL},
	{"soft_limit_bytes", pool_limit, pool_limit_set,
	 "The soft limit of what it reserves; 0: none. One that is not below\n"
	 "the hard one makes no difference.",
	 "soft_limit_bytes"},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
	{"__weaklistoffset__", T_PYSSIZET, offsetof(struct pool, weak),
	 READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc,
	 "Pool(device=None, *, name=None, limit_bytes=0, "
	 "soft_limit_bytes=0, page_bytes=0, kind=\"device\", "
	 "shareable=\"none\")\n--\n\n"
	 "A pool of a Device, or of one by its name. kind: "
	 "\"device\", \"pinned\" or\n\"managed\" memory. shareable: how "
	 "Buffer.share() describes its blocks: \"fd\", \"ipc\",\nor \"any\" "
	 "of them. It lives as "
	 "long as it, or one of its buffers, does,\nuntil close(), or to the "
	 "end of `with`."},
	{Py_tp_new, pool_new},
	{Py_tp_dealloc, pool_dealloc},
	{Py_tp_traverse, pool_traverse},
	{Py_tp_clear, pool_clear},
	{Py_tp_repr, pool_repr},
	{Py_tp_methods, methods},
	{Py_tp_getset, attributes},
	{Py_tp_members, members},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "gpumem.Pool",
	.basicsize = sizeof(struct pool),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

bool pool_add(PyObject *module)
{
	return type_add(module, &spec, &pool_type);
}
