/*
 * cuda_device: internal interface of the cuda backend: cuda.c opens GPUs, manages their memory and
 * loads modules; cuda_clusters.c asks how many clusters run at once; cuda_flush.c allocates memory
 * between unmapped addresses; cuda_graph.c runs and times calls. Private to device/.
 *
 *     struct cuda_device *self = cuda(device);
 *     CUresult status = self->driver.cuStreamSynchronize(self->stream);
 */
#ifndef EVOTILE_DEVICE_CUDA_DEVICE_H
#define EVOTILE_DEVICE_CUDA_DEVICE_H

#include "device/device.h"
#include "device/driver.h"

enum {
    RED_ZONE_BYTES = 16 << 10,
    /* cuMemAlloc aligns allocations of more than half a page to a page. Callers of a kernel get
       their tensors that way, so tensors are timed that way: 2 MB that start 16 KB into a page
       would span two pages. */
    PAGE_BYTES = 2 << 20,
    ALLOCATIONS_MAX = 512,
    CACHE_FRACTION = 8, /* the fraction 1/8 of the GPU's memory that cached allocations may hold;
                       beyond it they are freed */
    SAMPLES_PER_BATCH = 64,
    EVENTS_MAX = 2 * SAMPLES_PER_BATCH,
};

struct gpu_allocation {
    const char *name;
    CUdeviceptr base; /* start of the driver's allocation, or of the unmapped addresses before it;
                         ends with a red zone */
    CUdeviceptr address;
    size_t bytes;
    bool cached; /* freed by the caller and cached for the next allocation of its size */
    /* For memory between unmapped addresses, which has no red zones; otherwise 0. */
    size_t page, mapped;
    CUmemGenericAllocationHandle handle;
};

struct cuda_device {
    struct device device;
    struct driver driver;
    CUdevice handle;
    CUstream stream;
    /* Of the part of L2 whose lines may persist, and of a launch's window; 0: the GPU has none. */
    size_t persisting_bytes_max, window_bytes_max;
    bool hung; /* a kernel never ends: every call that waits for it would hang, freeing memory above
                  all */
    CUevent events[EVENTS_MAX]; /* starts and ends of timed replays */
    CUdeviceptr flush;          /* a buffer of twice the size of L2, allocated on first use */
    unsigned *red_zones;        /* pinned memory into which the red zones are read */
    int allocation_count;
    struct gpu_allocation allocations[ALLOCATIONS_MAX];
};

struct device_module {
    CUmodule module;
    char *kernels; /* as kernel_names_copy gives them */
};

/* cuda.c: the function that a launch names. */
CUresult cuda_find_function(struct cuda_device *self, const struct device_module *module,
                            const char *kernel, CUfunction *function);

static inline struct cuda_device *cuda(struct device *device) {
    return (struct cuda_device *)device;
}

/* cuda.c: the allocation that starts at `address`. */
struct gpu_allocation *cuda_find_allocation(struct cuda_device *self, uint64_t address);
/* Makes room in the table for one more allocation. */
void cuda_reserve_slot(struct cuda_device *self);

/* cuda_clusters.c: fills device.info.clusters_of_*. Needs the context, and the rest of the info. */
void cuda_count_clusters(struct cuda_device *self);

/* cuda_flush.c */
int cuda_memory_new_flush(struct device *device, const char *name, size_t bytes,
                          size_t end_alignment, uint64_t *address, struct error *error);
int cuda_protect(struct device *device, uint64_t address, bool read_only, struct error *error);
void cuda_flush_free(struct cuda_device *self, const struct gpu_allocation *allocation);

enum verdict cuda_run(struct device *device, const struct device_sequence *sequence,
                      double deadline_s, char *reason);
enum verdict cuda_graph_new(struct device *device, const struct device_sequence *sets,
                            int set_count, const struct device_timing *timing,
                            struct device_graph **graph, char *reason);
enum verdict cuda_graph_sample(struct device *device, struct device_graph *graph, int count,
                               double *samples_us, char *reason);
void cuda_graph_free(struct device *device, struct device_graph *graph);

#endif
