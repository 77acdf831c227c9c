/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table by which an OpenCL loader, a layer and an implementation call each
 * other, as of OpenCL 3.0: see cl.h. A place whose function is not declared
 * there is only a place. Later versions have more at the end, so headers may
 * have another size.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_ICD_H
#define GPUMEM_VENDOR_OPENCL_CL_ICD_H

#include <CL/cl_ext.h>

typedef struct _cl_icd_dispatch {

	/* OpenCL 1.0 */
	__typeof__(clGetPlatformIDs) *clGetPlatformIDs;
	__typeof__(clGetPlatformInfo) *clGetPlatformInfo;
	__typeof__(clGetDeviceIDs) *clGetDeviceIDs;
	__typeof__(clGetDeviceInfo) *clGetDeviceInfo;
	__typeof__(clCreateContext) *clCreateContext;
	void *clCreateContextFromType;
	__typeof__(clRetainContext) *clRetainContext;
	__typeof__(clReleaseContext) *clReleaseContext;
	__typeof__(clGetContextInfo) *clGetContextInfo;
	__typeof__(clCreateCommandQueue) *clCreateCommandQueue;
	__typeof__(clRetainCommandQueue) *clRetainCommandQueue;
	__typeof__(clReleaseCommandQueue) *clReleaseCommandQueue;
	__typeof__(clGetCommandQueueInfo) *clGetCommandQueueInfo;
	void *clSetCommandQueueProperty;
	__typeof__(clCreateBuffer) *clCreateBuffer;
	__typeof__(clCreateImage2D) *clCreateImage2D;
	__typeof__(clCreateImage3D) *clCreateImage3D;
	__typeof__(clRetainMemObject) *clRetainMemObject;
	__typeof__(clReleaseMemObject) *clReleaseMemObject;
	void *clGetSupportedImageFormats;
	__typeof__(clGetMemObjectInfo) *clGetMemObjectInfo;
	void *clGetImageInfo;
	void *clCreateSampler;
	void *clRetainSampler;
	void *clReleaseSampler;
	void *clGetSamplerInfo;
	void *clCreateProgramWithSource;
	void *clCreateProgramWithBinary;
	void *clRetainProgram;
	void *clReleaseProgram;
	void *clBuildProgram;
	void *clUnloadCompiler;
	void *clGetProgramInfo;
	void *clGetProgramBuildInfo;
	void *clCreateKernel;
	void *clCreateKernelsInProgram;
	void *clRetainKernel;
	void *clReleaseKernel;
	void *clSetKernelArg;
	void *clGetKernelInfo;
	void *clGetKernelWorkGroupInfo;
	__typeof__(clWaitForEvents) *clWaitForEvents;
	__typeof__(clGetEventInfo) *clGetEventInfo;
	__typeof__(clRetainEvent) *clRetainEvent;
	__typeof__(clReleaseEvent) *clReleaseEvent;
	void *clGetEventProfilingInfo;
	__typeof__(clFlush) *clFlush;
	__typeof__(clFinish) *clFinish;
	__typeof__(clEnqueueReadBuffer) *clEnqueueReadBuffer;
	__typeof__(clEnqueueWriteBuffer) *clEnqueueWriteBuffer;
	__typeof__(clEnqueueCopyBuffer) *clEnqueueCopyBuffer;
	void *clEnqueueReadImage;
	void *clEnqueueWriteImage;
	void *clEnqueueCopyImage;
	void *clEnqueueCopyImageToBuffer;
	void *clEnqueueCopyBufferToImage;
	void *clEnqueueMapBuffer;
	void *clEnqueueMapImage;
	void *clEnqueueUnmapMemObject;
	void *clEnqueueNDRangeKernel;
	void *clEnqueueTask;
	void *clEnqueueNativeKernel;
	__typeof__(clEnqueueMarker) *clEnqueueMarker;
	__typeof__(clEnqueueWaitForEvents) *clEnqueueWaitForEvents;
	__typeof__(clEnqueueBarrier) *clEnqueueBarrier;
	__typeof__(clGetExtensionFunctionAddress)
		*clGetExtensionFunctionAddress;

	/* cl_khr_gl_sharing */
	void *clCreateFromGLBuffer;
	void *clCreateFromGLTexture2D;
	void *clCreateFromGLTexture3D;
	void *clCreateFromGLRenderbuffer;
	void *clGetGLObjectInfo;
	void *clGetGLTextureInfo;
	void *clEnqueueAcquireGLObjects;
	void *clEnqueueReleaseGLObjects;
	void *clGetGLContextInfoKHR;

	/* cl_khr_d3d10_sharing */
	void *clGetDeviceIDsFromD3D10KHR;
	void *clCreateFromD3D10BufferKHR;
	void *clCreateFromD3D10Texture2DKHR;
	void *clCreateFromD3D10Texture3DKHR;
	void *clEnqueueAcquireD3D10ObjectsKHR;
	void *clEnqueueReleaseD3D10ObjectsKHR;

	/* OpenCL 1.1 */
	void *clSetEventCallback;
	__typeof__(clCreateSubBuffer) *clCreateSubBuffer;
	__typeof__(clSetMemObjectDestructorCallback)
		*clSetMemObjectDestructorCallback;
	__typeof__(clCreateUserEvent) *clCreateUserEvent;
	__typeof__(clSetUserEventStatus) *clSetUserEventStatus;
	void *clEnqueueReadBufferRect;
	void *clEnqueueWriteBufferRect;
	void *clEnqueueCopyBufferRect;

	/* cl_ext_device_fission */
	void *clCreateSubDevicesEXT;
	void *clRetainDeviceEXT;
	void *clReleaseDeviceEXT;

	/* cl_khr_gl_event */
	void *clCreateEventFromGLsyncKHR;

	/* OpenCL 1.2 */
	__typeof__(clCreateSubDevices) *clCreateSubDevices;
	void *clRetainDevice;
	void *clReleaseDevice;
	__typeof__(clCreateImage) *clCreateImage;
	void *clCreateProgramWithBuiltInKernels;
	void *clCompileProgram;
	void *clLinkProgram;
	void *clUnloadPlatformCompiler;
	void *clGetKernelArgInfo;
	__typeof__(clEnqueueFillBuffer) *clEnqueueFillBuffer;
	void *clEnqueueFillImage;
	__typeof__(clEnqueueMigrateMemObjects) *clEnqueueMigrateMemObjects;
	__typeof__(clEnqueueMarkerWithWaitList) *clEnqueueMarkerWithWaitList;
	__typeof__(clEnqueueBarrierWithWaitList) *clEnqueueBarrierWithWaitList;
	__typeof__(clGetExtensionFunctionAddressForPlatform)
		*clGetExtensionFunctionAddressForPlatform;
	void *clCreateFromGLTexture;

	/* cl_khr_d3d11_sharing, cl_khr_dx9_media_sharing */
	void *clGetDeviceIDsFromD3D11KHR;
	void *clCreateFromD3D11BufferKHR;
	void *clCreateFromD3D11Texture2DKHR;
	void *clCreateFromD3D11Texture3DKHR;
	void *clCreateFromDX9MediaSurfaceKHR;
	void *clEnqueueAcquireD3D11ObjectsKHR;
	void *clEnqueueReleaseD3D11ObjectsKHR;
	void *clGetDeviceIDsFromDX9MediaAdapterKHR;
	void *clEnqueueAcquireDX9MediaSurfacesKHR;
	void *clEnqueueReleaseDX9MediaSurfacesKHR;

	/* cl_khr_egl_image, cl_khr_egl_event */
	void *clCreateFromEGLImageKHR;
	void *clEnqueueAcquireEGLObjectsKHR;
	void *clEnqueueReleaseEGLObjectsKHR;
	void *clCreateEventFromEGLSyncKHR;

	/* OpenCL 2.0 */
	void *clCreateCommandQueueWithProperties;
	__typeof__(clCreatePipe) *clCreatePipe;
	void *clGetPipeInfo;
	__typeof__(clSVMAlloc) *clSVMAlloc;
	__typeof__(clSVMFree) *clSVMFree;
	__typeof__(clEnqueueSVMFree) *clEnqueueSVMFree;
	__typeof__(clEnqueueSVMMemcpy) *clEnqueueSVMMemcpy;
	__typeof__(clEnqueueSVMMemFill) *clEnqueueSVMMemFill;
	void *clEnqueueSVMMap;
	void *clEnqueueSVMUnmap;
	void *clCreateSamplerWithProperties;
	void *clSetKernelArgSVMPointer;
	void *clSetKernelExecInfo;

	/* cl_khr_subgroups */
	void *clGetKernelSubGroupInfoKHR;

	/* OpenCL 2.1 */
	void *clCloneKernel;
	void *clCreateProgramWithIL;
	void *clEnqueueSVMMigrateMem;
	void *clGetDeviceAndHostTimer;
	void *clGetHostTimer;
	void *clGetKernelSubGroupInfo;
	void *clSetDefaultDeviceCommandQueue;

	/* OpenCL 2.2 */
	void *clSetProgramReleaseCallback;
	void *clSetProgramSpecializationConstant;

	/* OpenCL 3.0 */
	__typeof__(clCreateBufferWithProperties) *clCreateBufferWithProperties;
	__typeof__(clCreateImageWithProperties) *clCreateImageWithProperties;
	void *clSetContextDestructorCallback;
} cl_icd_dispatch; /* if 0 */

#endif
