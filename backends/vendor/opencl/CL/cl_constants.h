/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The numbers of OpenCL that gpumem uses: see cl.h.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_CONSTANTS_H
#define GPUMEM_VENDOR_OPENCL_CL_CONSTANTS_H

#define CL_FALSE 0
#define CL_TRUE 1

/* ---- Results ------------------------------------------------------------- */

#define CL_SUCCESS 0
#define CL_DEVICE_NOT_FOUND (-1)
#define CL_DEVICE_NOT_AVAILABLE (-2)
#define CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)
#define CL_OUT_OF_RESOURCES (-5)
#define CL_OUT_OF_HOST_MEMORY (-6)
#define CL_MEM_COPY_OVERLAP (-8)
#define CL_MISALIGNED_SUB_BUFFER_OFFSET (-13)
#define CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)
#define CL_INVALID_VALUE (-30)
#define CL_INVALID_DEVICE (-33)
#define CL_INVALID_CONTEXT (-34)
#define CL_INVALID_COMMAND_QUEUE (-36)
#define CL_INVALID_MEM_OBJECT (-38)
#define CL_INVALID_EVENT (-58)
#define CL_INVALID_OPERATION (-59)
#define CL_INVALID_BUFFER_SIZE (-61)

/* ---- Platforms, devices, contexts --------------------------------------- */

#define CL_PLATFORM_VERSION 0x0901
#define CL_PLATFORM_NAME 0x0902

#define CL_DEVICE_TYPE_CPU (1 << 1)
#define CL_DEVICE_TYPE_ALL 0xffffffff

#define CL_DEVICE_TYPE 0x1000
#define CL_DEVICE_MAX_MEM_ALLOC_SIZE 0x1010
#define CL_DEVICE_MEM_BASE_ADDR_ALIGN 0x1019
#define CL_DEVICE_GLOBAL_MEM_SIZE 0x101f
#define CL_DEVICE_LOCAL_MEM_SIZE 0x1023
#define CL_DEVICE_NAME 0x102b
#define CL_DEVICE_VERSION 0x102f
#define CL_DEVICE_EXTENSIONS 0x1030
#define CL_DEVICE_PLATFORM 0x1031
#define CL_DEVICE_HOST_UNIFIED_MEMORY 0x1035
#define CL_DEVICE_PARENT_DEVICE 0x1042
#define CL_DEVICE_SVM_CAPABILITIES 0x1053

#define CL_DEVICE_PARTITION_EQUALLY 0x1086

#define CL_DEVICE_SVM_COARSE_GRAIN_BUFFER (1 << 0)
#define CL_DEVICE_SVM_FINE_GRAIN_BUFFER (1 << 1)

#define CL_CONTEXT_DEVICES 0x1081
#define CL_CONTEXT_PLATFORM 0x1084

/* ---- Memory objects ------------------------------------------------------ */

#define CL_MEM_READ_WRITE (1 << 0)
#define CL_MEM_WRITE_ONLY (1 << 1)
#define CL_MEM_READ_ONLY (1 << 2)
#define CL_MEM_USE_HOST_PTR (1 << 3)
#define CL_MEM_COPY_HOST_PTR (1 << 5)

#define CL_MEM_FLAGS 0x1101
#define CL_MEM_SIZE 0x1102
#define CL_MEM_REFERENCE_COUNT 0x1105
#define CL_MEM_ASSOCIATED_MEMOBJECT 0x1107

#define CL_BUFFER_CREATE_TYPE_REGION 0x1220
#define CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED (1 << 1)

#define CL_MEM_OBJECT_IMAGE2D 0x10f1
#define CL_MEM_OBJECT_IMAGE1D_BUFFER 0x10f6
#define CL_R 0x10b0
#define CL_RGBA 0x10b5
#define CL_UNSIGNED_INT8 0x10da

/* ---- Queues and events --------------------------------------------------- */

#define CL_QUEUE_CONTEXT 0x1090
#define CL_QUEUE_DEVICE 0x1091
#define CL_QUEUE_PROPERTIES 0x1093
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE (1 << 0)

#define CL_EVENT_COMMAND_QUEUE 0x11d0
#define CL_EVENT_COMMAND_EXECUTION_STATUS 0x11d3
#define CL_EVENT_CONTEXT 0x11d4
#define CL_COMPLETE 0x0

#endif
