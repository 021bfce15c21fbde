/*
 * device: what runs a candidate. One table of functions, two backends and a stand-in:
 *   cuda:N         the N-th NVIDIA GPU, through the driver API (opened at run time)
 *   emulated:sm_XX an interpreter of PTX; latency is a prediction
 *   recorded       a table of somebody's measurements, which is looked up and runs nothing: it can
 *                  be described, not opened (device/recorded.h)
 *
 *     struct device *device = device_open("emulated:sm_89", &error);
 *     device->backend->module_load(device, &image, &module, &error);
 *     device->backend->memory_new(device, "q", bytes, &address, &error);
 *     device->backend->launch(device, &launch, deadline_s, reason);
 *     device_close(device);
 *
 * Addresses are the device's own 64-bit addresses, never host pointers. Times are in microseconds
 * unless the name says otherwise. One device is used by one thread.
 */
#ifndef EVOTILE_DEVICE_DEVICE_H
#define EVOTILE_DEVICE_DEVICE_H

#include "base/error.h"
#include "device/tensor_map.h"
#include "outcome/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_MODEL = 12 };

/* What is known of a device before anything runs on it. For the emulated device these are the
   published figures of configs/devices/NAME.json. */
struct device_info {
    char spec[64];  /* cuda:0, emulated:sm_89 */
    char name[128]; /* NVIDIA H200 */
    char uuid[64];  /* empty where there is none */
    char driver[64];
    int compute_capability; /* 89 for sm_89 */
    int sm_count;
    int smem_per_block;       /* bytes without opting in: 49152 */
    int smem_per_block_optin; /* bytes a block may ask for */
    int smem_per_sm;          /* bytes */
    int registers_per_sm;
    int threads_per_sm;
    int blocks_per_sm;
    int64_t memory_bytes;
    int l2_bytes;
    double clock_mhz;
    bool predicts; /* latency is a prediction, not a measurement */

    /* Ceilings; 0 where not known. */
    double dram_gb_per_s, l2_gb_per_s;
    double tensor_tflops; /* fp16 inputs, fp32 accumulation, dense */
    double fp32_tflops;
    double launch_us; /* an empty kernel inside a graph */
    double event_us;  /* between two events with an empty graph between them */
    /* What predictions for it were fitted with (device/predict.h); 0: nothing was. */
    double model[DEVICE_MODEL];
    double duel_margin; /* what a ratio must pass to count: 0.005; 0: not calibrated */
};

/* A compiled candidate, or one of our own kernels: both forms of one NVRTC compilation. */
struct device_image {
    const char *name; /* for messages */
    const void *cubin;
    size_t cubin_bytes;
    const char *ptx; /* NUL-terminated */
    const char *log; /* the compiler's, with ptxas -v: registers and spills a kernel */
};

struct device_module;

struct device_argument {
    unsigned char bytes[8];
    int size; /* 4, 8, or TENSOR_MAP_BYTES of `map`, which outlives the launch and a graph of it;
                 where its rank is 0 the kernel gets zeros */
    const struct tensor_map *map;
};

enum { DEVICE_ARGUMENTS_MAX = 32 };

/* One step of a candidate: a kernel, or (kernel == NULL) a clearing of memory to zero bytes. */
struct device_launch {
    struct device_module *module;
    const char *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes; /* dynamic */
    bool cooperative;    /* all blocks live together: kernels may wait for the whole grid */
    bool early; /* may begin while the kernel before it still runs, for which it waits itself */
    int argument_count;
    struct device_argument arguments[DEVICE_ARGUMENTS_MAX];
    uint64_t clear_address; /* where kernel is NULL */
    size_t clear_bytes;
};

/* The steps of one call of the candidate, in order on one stream. */
enum { DEVICE_LAUNCHES_MAX = 8 };
struct device_sequence {
    int count;
    struct device_launch launches[DEVICE_LAUNCHES_MAX];
};

/* What a graph to be timed holds: `launches` calls, which take the input sets in rotation. */
struct device_timing {
    int launches;
    bool cold;         /* before each replay L2 is flushed by writing twice its size; else replays
                          follow one another */
    double deadline_s; /* for any one replay */
    int64_t operations, bytes; /* of one call: what a prediction is made from */
};

/* Calls captured for timing. */
struct device_graph;

struct device_backend {
    const char *scheme; /* cuda */
    struct device *(*open)(const char *spec, struct error *error);
    void (*close)(struct device *device);

    /* Device memory, surrounded by whatever guard the backend has. `name` (kept by the caller as
       long as the memory) appears in messages. */
    int (*memory_new)(struct device *device, const char *name, size_t bytes, uint64_t *address,
                      struct error *error);
    /* The same without a guard, but flush against addresses that nothing is mapped to: its first
       byte, or (at_end) its last, rounded up to 16 bytes. An access beyond it is VERDICT_CRASHED.
       NULL where every stray access is trapped anyway. */
    int (*memory_new_flush)(struct device *device, const char *name, size_t bytes, bool at_end,
                            uint64_t *address, struct error *error);
    void (*memory_free)(struct device *device, uint64_t address);
    /* Forbids kernels to write to an allocation, or allows it again; `write` and `fill32` are not
       to be used meanwhile. 1: so it is, 0: this memory stays writable (on a GPU only flush memory
       can be forbidden, and only where the driver knows how), -1 with the error. A kernel that
       writes there all the same gets VERDICT_CHANGED_INPUT from a device that can tell, else
       VERDICT_CRASHED. */
    int (*protect)(struct device *device, uint64_t address, bool read_only, struct error *error);
    int (*write)(struct device *device, uint64_t address, const void *from, size_t bytes,
                 struct error *error);
    int (*read)(struct device *device, uint64_t address, void *to, size_t bytes,
                struct error *error);
    int (*fill32)(struct device *device, uint64_t address, uint32_t word, size_t words,
                  struct error *error);

    /* Whether anything was written beside the allocations since the last call: VERDICT_OK or
       VERDICT_WROTE_OUTSIDE with a reason. `freed_too`: also beside what was freed and is kept for
       another memory_new. NULL where every stray access is trapped anyway. */
    enum verdict (*guards)(struct device *device, bool freed_too, char *reason);

    int (*module_load)(struct device *device, const struct device_image *image,
                       struct device_module **module, struct error *error);
    void (*module_unload)(struct device *device, struct device_module *module);
    /* Registers, shared and local memory of a kernel as the device has it; occupancy for a block of
       `threads` and `smem_bytes` of dynamic shared memory. */
    int (*resources)(struct device *device, struct device_module *module, const char *kernel,
                     int threads, unsigned smem_bytes, struct resources *resources,
                     struct error *error);
    /* Reads a module-scope variable of 8 bytes. */
    int (*global_u64)(struct device *device, struct device_module *module, const char *name,
                      uint64_t *value, struct error *error);

    /* Runs the sequence once and waits. On failure says why in `reason`, of REASON_SIZE bytes.
       After VERDICT_CRASHED or VERDICT_TIMEOUT on a real device the process must exit: its context
       is lost. */
    enum verdict (*run)(struct device *device, const struct device_sequence *sequence,
                        double deadline_s, char *reason);

    /* Captures calls for timing. What the sequences point to outlives the graph. A sequence of no
       launches makes an empty graph: timed cold, it tells what events cost. */
    enum verdict (*graph_new)(struct device *device, const struct device_sequence *sets,
                              int set_count, const struct device_timing *timing,
                              struct device_graph **graph, char *reason);
    /* Replays it `count` times and fills samples_us with microseconds a call. Warm, one replay that
       is not timed goes before them, so that a graph finds its own data in the caches. */
    enum verdict (*graph_sample)(struct device *device, struct device_graph *graph, int count,
                                 double *samples_us, char *reason);
    void (*graph_free)(struct device *device, struct device_graph *graph);
};

struct device {
    const struct device_backend *backend;
    struct device_info info;
    bool fresh_memory; /* memory_new hands out nothing that was freed before, as it may otherwise */
};

/* spec: cuda:N, emulated:sm_XX, or auto (the first GPU, else emulated:sm_89). */
struct device *device_open(const char *spec, struct error *error);
void device_close(struct device *device);

/* What a spec means, without opening it. For GPUs, and for auto, a child process asks the driver,
   so that a process which starts workers never initialises it. */
int device_describe(const char *spec, struct device_info *info, struct error *error);

/* Several devices by name: "cuda:0,cuda:2"; "cuda:all" is every GPU that the driver here shows.
   Emulated ones may be named more than once. */
enum { DEVICES_MAX = 64 };
struct device_list {
    int count;
    char specs[DEVICES_MAX][64]; /* as device_open takes them */
};

/* At least one. Opens nothing; for GPUs a child process asks the driver how many there are. */
int device_list_read(struct device_list *list, const char *text, struct error *error);

/* Whether figures of the two may stand side by side. */
bool device_same_model(const struct device_info *a, const struct device_info *b);

#endif
