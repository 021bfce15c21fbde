/*
 * emulated_device: what the files of the emulated backend share: emulated.c has its memory and
 * modules and runs kernels; emulated_predict.c says how long a call would take. Private to device/.
 */
#ifndef EVOTILE_DEVICE_EMULATED_DEVICE_H
#define EVOTILE_DEVICE_EMULATED_DEVICE_H

#include "device/emulated.h"
#include "device/ptx/ptx.h"

/* What a kernel executed when it last ran with some geometry and arguments: the basis of
 * predictions. */
struct observation {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes;
    int scalar_count;
    uint32_t
        scalars[DEVICE_ARGUMENTS_MAX]; /* arguments of 4 bytes; pointers differ and do not matter */
    struct ptx_counts counts;
};

enum { OBSERVATIONS_MAX = 64 };

struct device_module {
    struct ptx_module *ptx;
    char *log, *name;
    int observation_count;
    struct observation observations[OBSERVATIONS_MAX]; /* the latest last */
};

struct emulated {
    struct device device; /* first: a device * is an emulated * */
    struct ptx_memory *memory;
    struct ptx_microscope *microscope; /* NULL: none */
    const char *symbol;                /* of modules to look at; NULL: all */
    struct ptx_pace pace;
    uint64_t sample; /* of the clusters of a launch; 0: all */
    int threads;     /* as of a launch */
    uint64_t instructions;
};

struct device_graph {
    double latency_us;
};

static inline struct emulated *emulated_of(struct device *device) {
    return (struct emulated *)device;
}

/* emulated.c */
int emulated_resources(struct device *device, struct device_module *module, const char *kernel,
                       int threads, unsigned smem_bytes, struct resources *resources,
                       struct error *error);
enum verdict emulated_run(struct device *device, const struct device_sequence *sequence,
                          double deadline_s, char *reason);

/* emulated_predict.c */
enum verdict emulated_graph_new(struct device *device, const struct device_sequence *sets,
                                int set_count, const struct device_timing *timing,
                                struct device_graph **graph, char *reason);
enum verdict emulated_graph_sample(struct device *device, struct device_graph *graph, int count,
                                   double *samples_us, char *reason);
void emulated_graph_free(struct device *device, struct device_graph *graph);

#endif
