/*
 * driver: the CUDA driver API, opened at run time, as a table of functions.
 *
 *     struct driver driver;
 *     if (driver_open(&driver, &error) < 0)
 *         return -1;
 *     CUresult status = driver.cuInit(0);
 *     driver_close(&driver);
 */
#ifndef EVOTILE_DEVICE_DRIVER_H
#define EVOTILE_DEVICE_DRIVER_H

#include "base/error.h"

#include <cuda.h>

/* cuda.h defines many functions as macros for a versioned symbol (cuMemAlloc is cuMemAlloc_v2). The
   lookup expands the name first, so the table has the version that the header declares. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetUuid)                                                                             \
    X(cuDeviceGetPCIBusId)                                                                         \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuDevicePrimaryCtxRelease)                                                                   \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSetLimit)                                                                               \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventRecord)                                                                               \
    X(cuEventQuery)                                                                                \
    X(cuEventElapsedTime)                                                                          \
    X(cuGraphInstantiateWithFlags)                                                                 \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphDestroy)                                                                              \
    X(cuGraphExecDestroy)                                                                          \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemGetAllocationGranularity)                                                               \
    X(cuMemAddressReserve)                                                                         \
    X(cuMemAddressFree)                                                                            \
    X(cuMemCreate)                                                                                 \
    X(cuMemRelease)                                                                                \
    X(cuMemMap)                                                                                    \
    X(cuMemUnmap)                                                                                  \
    X(cuMemSetAccess)                                                                              \
    X(cuMemAllocHost)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuMemcpyDtoDAsync)                                                                           \
    X(cuMemsetD8Async)                                                                             \
    X(cuMemsetD32Async)                                                                            \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)                                                                              \
    X(cuModuleGetFunction)                                                                         \
    X(cuModuleGetGlobal)                                                                           \
    X(cuFuncGetAttribute)                                                                          \
    X(cuFuncSetAttribute)                                                                          \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                 \
    X(cuOccupancyMaxActiveClusters)                                                                \
    X(cuLaunchKernelEx)                                                                            \
    X(cuTensorMapEncodeTiled)

struct driver {
    void *library;
#define X(name) __typeof__(&name) name;
    DRIVER_FUNCTIONS(X)
#undef X
};

/* Fails if there is no driver, or one older than CUDA 12.4. */
int driver_open(struct driver *driver, struct error *error);
void driver_close(struct driver *driver);
/* The name of a status, such as CUDA_ERROR_ILLEGAL_ADDRESS. */
const char *driver_error_name(const struct driver *driver, CUresult status);

#endif
