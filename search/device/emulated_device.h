/*
 * emulated_device: internal interface of the emulated backend: emulated.c manages memory and
 * modules and runs kernels; emulated_predict.c predicts latencies. Private to device/.
 *
 *     struct emulated *emulated = emulated_of(device);
 *     uint64_t address = ptx_memory_allocate(emulated->memory, "q", bytes);
 */
#ifndef EVOTILE_DEVICE_EMULATED_DEVICE_H
#define EVOTILE_DEVICE_EMULATED_DEVICE_H

#include "device/emulated.h"
#include "ptx/ptx.h"

/* The counters of a kernel's run with some geometry and arguments: the input of predictions. */
struct observation {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes;
    int scalar_count;
    uint32_t scalars[DEVICE_ARGUMENTS_MAX]; /* the 4-byte arguments; pointers do not affect the
                                               counters */
    struct ptx_counts counts;
};

enum { OBSERVATIONS_MAX = 64 };

struct device_module {
    struct ptx_module *ptx;
    char *log, *name;
    char *kernels; /* as kernel_names_copy gives them */
    int observation_count;
    struct observation observations[OBSERVATIONS_MAX]; /* the most recent last */
};

struct emulated {
    struct device device; /* first member: a device * is an emulated * */
    struct ptx_memory *memory;
    struct ptx_racecheck *racecheck; /* NULL: none */
    const char *symbol;              /* only modules with this variable are checked; NULL: all */
    struct ptx_latencies pace;
    uint64_t sample;        /* number of clusters of a launch to run; 0: all */
    double sample_position; /* of these, as in struct ptx_launch */
    /* Of a call whose launches leave an observation, for predictions; NULL: they leave none. */
    const struct prediction_work *observed;
    int threads; /* as in struct ptx_launch */
    uint64_t instructions;
    uint64_t instruction_limit; /* of `instructions`; 0: none */
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

/* emulated_predict.c: the latencies and caches of a device, with which a launch of a call is
   observed. */
struct ptx_latencies emulated_latencies(const struct device_info *info);
struct ptx_caches emulated_caches(const struct device_info *info,
                                  const struct device_launch *launch,
                                  const struct resources *resources,
                                  const struct prediction_work *work);
enum verdict emulated_graph_new(struct device *device, const struct device_sequence *sets,
                                int set_count, const struct device_timing *timing,
                                struct device_graph **graph, char *reason);
enum verdict emulated_graph_sample(struct device *device, struct device_graph *graph, int count,
                                   double *samples_us, char *reason);
void emulated_graph_free(struct device *device, struct device_graph *graph);

#endif
