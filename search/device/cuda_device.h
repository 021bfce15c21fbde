/*
 * cuda_device: what the files of the cuda backend share: cuda.c opens GPUs, keeps their memory and
 * loads modules; cuda_flush.c has another kind of memory; cuda_graph.c runs and times calls.
 * Private to device/.
 */
#ifndef EVOTILE_DEVICE_CUDA_DEVICE_H
#define EVOTILE_DEVICE_CUDA_DEVICE_H

#include "device/device.h"
#include "device/driver.h"

enum {
    GUARD_BYTES = 16 << 10,
    /* cuMemAlloc puts more than half of a page at the beginning of one. So lie the tensors of
       whoever calls a kernel, and so they are timed: 2 MB that begin 16 KB into a page take two of
       them. */
    PAGE_BYTES = 2 << 20,
    ALLOCATIONS_MAX = 512,
    IDLE_SHARE = 8, /* of the GPU's memory; what is freed beyond it is given back */
    SAMPLES_AT_ONCE = 64,
    MARKS = 2 * SAMPLES_AT_ONCE,
};

struct allocation {
    const char *name;
    CUdeviceptr base; /* what the driver gave, or the unmapped addresses before; a guard ends it */
    CUdeviceptr address;
    size_t bytes;
    bool idle; /* freed, and kept for the next of its size */
    /* Of memory flush against unmapped addresses, which has no guards; else 0. */
    size_t page, mapped;
    CUmemGenericAllocationHandle handle;
};

struct cuda_device {
    struct device device;
    struct driver driver;
    CUdevice handle;
    CUstream stream;
    bool hung; /* a kernel runs for ever: whatever waits for it would too, freeing above all */
    CUevent marks[MARKS]; /* beginnings and ends of timed replays */
    CUdeviceptr flush;    /* twice the size of L2, made on first use */
    unsigned *guards;     /* pinned: what came back of the red zones */
    int allocation_count;
    struct allocation allocations[ALLOCATIONS_MAX];
};

struct device_module {
    CUmodule module;
};

static inline struct cuda_device *cuda(struct device *device) {
    return (struct cuda_device *)device;
}

/* cuda.c: the allocation that begins there. */
struct allocation *cuda_allocation(struct cuda_device *self, uint64_t address);
/* For one allocation more. */
void cuda_make_room(struct cuda_device *self);

/* cuda_flush.c */
int cuda_memory_new_flush(struct device *device, const char *name, size_t bytes, bool at_end,
                          uint64_t *address, struct error *error);
int cuda_protect(struct device *device, uint64_t address, bool read_only, struct error *error);
void cuda_flush_free(struct cuda_device *self, const struct allocation *allocation);

enum verdict cuda_run(struct device *device, const struct device_sequence *sequence,
                      double deadline_s, char *reason);
enum verdict cuda_graph_new(struct device *device, const struct device_sequence *sets,
                            int set_count, const struct device_timing *timing,
                            struct device_graph **graph, char *reason);
enum verdict cuda_graph_sample(struct device *device, struct device_graph *graph, int count,
                               double *samples_us, char *reason);
void cuda_graph_free(struct device *device, struct device_graph *graph);

#endif
