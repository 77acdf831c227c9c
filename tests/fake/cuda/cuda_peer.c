/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which other devices' blocks a context may reach.
 */
#include "cuda_fake.h"

static CUresult enable_peer(CUcontext name, unsigned flags)
{
	struct fake_context *peer = fake_object_find(FAKE_CONTEXT, name);
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	/* Seen: 217, also of the context itself, where cuda.h says 201. */
	if (!fake.peers || peer->device == context->device)
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (context->peers >> peer->device & 1)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	context->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}

static CUresult disable_peer(CUcontext name)
{
	struct fake_context *peer = fake_object_find(FAKE_CONTEXT, name);
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(context->peers >> peer->device & 1))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	context->peers &= ~(1u << peer->device);
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	FAKE_CALL(cuCtxEnablePeerAccess, enable_peer(peer, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	FAKE_CALL(cuCtxDisablePeerAccess, disable_peer(peer));
}
