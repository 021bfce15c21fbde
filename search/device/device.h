/*
 * device: runs candidates. One table of functions, two backends and a placeholder:
 *   cuda:N         the N-th NVIDIA GPU, through the driver API (opened at run time)
 *   emulated:sm_XX an interpreter of PTX; latency is a prediction
 *   recorded       recorded measurements, which are looked up: can be described but not opened
 *
 *     struct device *device = device_open("emulated:sm_89", &error);
 *     device->backend->module_load(device, &image, &module, &error);
 *     device->backend->memory_new(device, "q", bytes, &address, &error);
 *     enum verdict verdict = device->backend->run(device, &sequence, deadline_s, reason);
 *     device_close(device);
 *
 * Addresses are 64-bit device addresses, never host pointers. Times are in microseconds unless the
 * name says otherwise. A device is used by one thread at a time.
 */
#ifndef EVOTILE_DEVICE_DEVICE_H
#define EVOTILE_DEVICE_DEVICE_H

#include "base/error.h"
#include "outcome/outcome.h"
#include "ptx/tensor_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_MODEL_PARAMETERS = 16 };

/* A description of a device. For the emulated device these are the published figures in
   configs/devices/NAME.json. */
/* The device of a recorded space: described, never opened. */
#define RECORDED_DEVICE "recorded"

struct device_info {
    char spec[64];  /* cuda:0, emulated:sm_89 */
    char name[128]; /* NVIDIA H200 */
    char uuid[64];  /* 32 hexadecimal digits; empty if there is none */
    char driver[64];
    int compute_capability; /* 89 for sm_89 */
    int sm_count;
    int smem_per_block;       /* bytes without opting in: 49152 */
    int smem_per_block_optin; /* maximum bytes of a block with opt-in */
    int smem_per_sm;          /* bytes */
    int registers_per_sm;
    int threads_per_sm;
    int blocks_per_sm;
    /* Clusters of 2, 4 and 8 blocks that run at once if each block takes an SM. All SMs of a
       cluster are of one GPC, so they may be fewer than sm_count / 2, 4 and 8. 0: unknown. */
    int clusters_of_2, clusters_of_4, clusters_of_8;
    int64_t memory_bytes;
    int l2_bytes;
    int l2_partitions; /* each of which may hold the same bytes; 0: one */
    double clock_mhz;
    bool predicts; /* latency is a prediction, not a measurement */

    /* Peak rates; 0 if unknown. */
    double dram_gb_per_s, l2_gb_per_s;
    double tensor_tflops; /* fp16 inputs, fp32 accumulation, dense */
    double fp32_tflops;
    double launch_us; /* latency of an empty kernel inside a graph */
    /* Latency of a load of global memory, in cycles, from L1, L2 and DRAM; 0: those that cards of
       sm_80 to sm_90 have. For predictions. */
    double l1_cycles, l2_cycles, dram_cycles;
    double event_us; /* time between two events around an empty graph */
    /* Fitted parameters of the latency model (device/predict.h); 0: not fitted. */
    double model[DEVICE_MODEL_PARAMETERS];
    double duel_margin; /* minimum relative difference that counts in a duel: 0.005; 0: not
                           calibrated */
    bool counts_energy; /* the evaluator found a counter of its energy (evaluate/energy.h) */
};

/* Shared memory of a block unless a config raises the limit: the amount that a kernel gets without
   opting in on every architecture (CUDA C++ Programming Guide, "Compute Capabilities"). */
enum { SMEM_DEFAULT_LIMIT = 48 << 10 };

/* `limit`, or what the device allows a block if that is less. NULL: any device. */
int device_smem_limit(const struct device_info *device, int limit);

/* A compiled candidate or built-in kernel: both results of one NVRTC compilation. */
struct device_image {
    const char *name; /* used in messages */
    const void *cubin;
    size_t cubin_bytes;
    const char *ptx;     /* NUL-terminated */
    const char *log;     /* the compiler's log with ptxas -v: registers and spills of each kernel */
    const char *kernels; /* two lines for each C++ name expression that was compiled: itself, and
                            its kernel's name in the machine code; NULL or empty: none */
};

struct device_module;

struct device_argument {
    unsigned char bytes[8];
    int size; /* 4, 8, or TENSOR_MAP_BYTES; `map` must outlive the launch and any graph of it; if
                 its rank is 0 the kernel gets zeros */
    const struct tensor_map *map;
};

enum { DEVICE_ARGUMENTS_MAX = 36 };

/* One step of a candidate: a kernel launch, or (kernel == NULL) zeroing a range of memory, or
   copying another range there. */
struct device_launch {
    struct device_module *module;
    const char *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes; /* dynamic shared memory */
    bool cooperative; /* cooperative launch: all blocks are co-resident, so kernels may synchronise
                         the grid */
    bool early; /* programmatic dependent launch: may start before the previous kernel ends, and
                   synchronises with it itself */
    /* The memory of whose lines this share persists in L2 while the launch runs: while a call or a
       sample does, and not longer. Per cent; 0: none. Without effect on a device that
       predicts. */
    uint64_t window_address;
    size_t window_bytes;
    int window_percent;
    int argument_count;
    struct device_argument arguments[DEVICE_ARGUMENTS_MAX];
    uint64_t clear_address; /* if kernel is NULL */
    size_t clear_bytes;
    uint64_t copy_from; /* not 0: the bytes that are copied there instead of zeros */
};

/* The steps of one call of the candidate, run in order on one stream: the first in place, so that
   short calls need no memory; the others, if any, in memory that its maker owns and that must
   outlive the sequence and any graph of it. */
enum { DEVICE_LAUNCHES_MAX = 8 };
struct device_sequence {
    int count;
    struct device_launch launches[DEVICE_LAUNCHES_MAX];
    const struct device_launch *more; /* from step DEVICE_LAUNCHES_MAX on */
};

static inline const struct device_launch *device_step(const struct device_sequence *sequence,
                                                      int index) {
    return index < DEVICE_LAUNCHES_MAX ? &sequence->launches[index]
                                       : &sequence->more[index - DEVICE_LAUNCHES_MAX];
}

/* What a timing graph holds: `launches` calls that rotate through the input sets. If these are
   fewer than the sets, each replay goes on with the sets after those of the replay before. */
struct device_timing {
    int launches;
    bool cold; /* flush L2 before each replay by writing twice its size; otherwise replays run back
                  to back */
    double deadline_s;         /* for each replay */
    int64_t operations, bytes; /* of one call; the input of predictions */
    /* NULL, or one sequence for each input set: what is done for its call before a replay starts,
       outside of what is timed, and before the L2 flush. Like the sets, they must outlive the
       graph. */
    const struct device_sequence *before;
};

/* Captured calls for timing. */
struct device_graph;

struct device_backend {
    const char *scheme; /* cuda */
    struct device *(*open)(const char *spec, struct error *error);
    void (*close)(struct device *device);

    /* Allocates device memory, surrounded by the backend's red zones if it has any. `name` appears
       in messages; the caller keeps it valid as long as the memory. */
    int (*memory_new)(struct device *device, const char *name, size_t bytes, uint64_t *address,
                      struct error *error);
    /* The same at an address that is a multiple of `alignment`, a power of two below 256, and of no
       larger one, so that a wider access is VERDICT_CRASHED. NULL if the backend has no choice. */
    int (*memory_new_aligned)(struct device *device, const char *name, size_t bytes,
                              size_t alignment, uint64_t *address, struct error *error);
    /* Allocates memory without red zones, flush against unmapped addresses: at its first byte if
       `end_alignment` is 0; else at its last, as near as a multiple of `end_alignment`, a power of
       two up to 256, allows, which is of no larger one if that is below 16. An access beyond it is
       VERDICT_CRASHED. NULL if the backend traps every stray access anyway. */
    int (*memory_new_flush)(struct device *device, const char *name, size_t bytes,
                            size_t end_alignment, uint64_t *address, struct error *error);
    void (*memory_free)(struct device *device, uint64_t address);
    /* Makes an allocation read-only for kernels, or writable again; `write` and `fill32` must not
       be used on it while it is read-only. Returns 1 on success, 0 if the memory stays writable (on
       a GPU only memory_new_flush memory can be read-only, if the driver supports it), -1 with the
       error. A kernel that writes to read-only memory gets VERDICT_CHANGED_INPUT from a device that
       can tell, otherwise VERDICT_CRASHED. */
    int (*protect)(struct device *device, uint64_t address, bool read_only, struct error *error);
    int (*write)(struct device *device, uint64_t address, const void *from, size_t bytes,
                 struct error *error);
    int (*read)(struct device *device, uint64_t address, void *to, size_t bytes,
                struct error *error);
    int (*fill32)(struct device *device, uint64_t address, uint32_t word, size_t words,
                  struct error *error);

    /* Checks the red zones for writes outside the allocations since the last call: returns
       VERDICT_OK, or VERDICT_WROTE_OUTSIDE with a reason. `freed_too`: also checks freed memory
       that is cached for another memory_new. NULL if every stray access is trapped anyway. */
    enum verdict (*check_red_zones)(struct device *device, bool freed_too, char *reason);

    int (*module_load)(struct device *device, const struct device_image *image,
                       struct device_module **module, struct error *error);
    void (*module_unload)(struct device *device, struct device_module *module);
    /* The registers, shared and local memory of a kernel on this device, and its occupancy for
       blocks of `threads` and `smem_bytes` of dynamic shared memory. */
    int (*resources)(struct device *device, struct device_module *module, const char *kernel,
                     int threads, unsigned smem_bytes, struct resources *resources,
                     struct error *error);
    /* Finds a module-scope variable, in constant memory too: its address and size. Returns 1 if
       there is one of that name, else 0. */
    int (*global)(struct device *device, struct device_module *module, const char *name,
                  uint64_t *address, size_t *bytes);
    /* Reads a module-scope variable of 8 bytes. */
    int (*global_u64)(struct device *device, struct device_module *module, const char *name,
                      uint64_t *value, struct error *error);

    /* Runs the sequence once and waits. On failure writes the cause to `reason`, of REASON_SIZE
       bytes. After VERDICT_CRASHED or VERDICT_TIMEOUT on a real device the process must exit: its
       context is lost. */
    enum verdict (*run)(struct device *device, const struct device_sequence *sequence,
                        double deadline_s, char *reason);

    /* Captures calls for timing. Everything that the sequences point to must outlive the graph. A
       sequence of no launches makes an empty graph: timed cold, it measures the overhead of events.
       */
    enum verdict (*graph_new)(struct device *device, const struct device_sequence *sets,
                              int set_count, const struct device_timing *timing,
                              struct device_graph **graph, char *reason);
    /* Replays the graph `count` times and fills samples_us with microseconds a call. Warm timing
       starts with one untimed replay, so that the graph's data is in the caches. */
    enum verdict (*graph_sample)(struct device *device, struct device_graph *graph, int count,
                                 double *samples_us, char *reason);
    void (*graph_free)(struct device *device, struct device_graph *graph);
};

struct device {
    const struct device_backend *backend;
    struct device_info info;
    bool fresh_memory;   /* memory_new does not reuse freed memory */
    uint64_t order_seed; /* of an emulated device: not 0: blocks and warps run in another order */
};

/* spec: cuda:N, emulated:sm_XX, or auto (the first GPU, else emulated:sm_89). */
struct device *device_open(const char *spec, struct error *error);
void device_close(struct device *device);

/* Describes the device of a spec without opening it. For GPUs, and for auto, a child process
   queries the driver, so that a process which starts workers never initialises it. */
int device_describe(const char *spec, struct device_info *info, struct error *error);

/* A list of devices: "cuda:0,cuda:2"; "cuda:all" is every GPU that the driver sees. Emulated
   devices may be repeated. */
enum { DEVICES_MAX = 64 };
struct device_list {
    int count;
    char specs[DEVICES_MAX][64]; /* as device_open takes them */
};

/* Parses a list of at least one device. Opens nothing; for GPUs a child process queries the driver
   for their number. */
int device_list_read(struct device_list *list, const char *text, struct error *error);

/* Describes the first device, for a caller that takes several of one model only: refuses another
   model, and a GPU that is listed under two names. */
int device_list_describe(const struct device_list *list, struct device_info *first,
                         struct error *error);

/* What the devices of a list that was described are called: "cuda:0", or "4 x NVIDIA H200". */
enum { DEVICE_LIST_NAME_SIZE = 160 };
void device_list_name(const struct device_list *list, const struct device_info *first,
                      char name[DEVICE_LIST_NAME_SIZE]);

/* Adds to an error of one device of a list which one it is, if the list has several. Returns -1. */
int device_list_error(const struct device_list *list, int device, struct error *error);

/* Returns whether measurements of the two devices are comparable. */
bool device_same_model(const struct device_info *a, const struct device_info *b);

#endif
