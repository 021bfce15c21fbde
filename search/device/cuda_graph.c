/* Runs and times calls on a GPU: single calls, and CUDA graphs between events. */
#include "base/clock.h"

#include "base/memory.h"
#include "device/cuda_device.h"

#include <string.h>
#include <time.h>

/* A graph of fewer calls than there are input sets is several: each goes on with the sets after
   those of the one before. */
enum { GRAPHS_MAX = 64 };

struct device_graph {
    CUgraphExec graphs[GRAPHS_MAX];
    CUgraphExec before[GRAPHS_MAX]; /* what comes before a replay of each, untimed; NULL: nothing */
    int count, next;                /* the graphs, and which of them the next replay launches */
    int launches;
    bool cold, persists; /* a launch has a window: lines persist in L2 while samples are taken */
    double deadline_s;
};

static enum verdict set_reason(struct cuda_device *self, enum verdict verdict, CUresult status,
                               const char *what, char *reason) {
    snprintf(reason, REASON_SIZE, "%s: %s", what, driver_error_name(&self->driver, status));
    return verdict;
}

/* ---- tensor maps ---- */

static const CUtensorMapDataType map_types[] = {
    /* by element size: a copy that fills with zeros depends on nothing else */
    [1] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    [2] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
    [4] = CU_TENSOR_MAP_DATA_TYPE_UINT32,
    [8] = CU_TENSOR_MAP_DATA_TYPE_UINT64,
};
static const CUtensorMapSwizzle map_swizzles[SWIZZLE_COUNT] = {
    [SWIZZLE_NONE] = CU_TENSOR_MAP_SWIZZLE_NONE,
    [SWIZZLE_32B] = CU_TENSOR_MAP_SWIZZLE_32B,
    [SWIZZLE_64B] = CU_TENSOR_MAP_SWIZZLE_64B,
    [SWIZZLE_128B] = CU_TENSOR_MAP_SWIZZLE_128B,
};
_Static_assert(sizeof(CUtensorMap) == TENSOR_MAP_BYTES, "a kernel takes it by value");

static CUresult encode_tensor_map(struct cuda_device *self, const struct tensor_map *map,
                                  CUtensorMap *encoded) {
    static const cuuint32_t element_strides[TENSOR_MAP_RANK_MAX] = {1, 1, 1, 1, 1};
    if (map->rank == 0) {
        *encoded = (CUtensorMap){0};
        return CUDA_SUCCESS;
    }
    cuuint64_t extents[TENSOR_MAP_RANK_MAX];
    cuuint64_t strides[TENSOR_MAP_RANK_MAX];
    for (int i = 0; i < map->rank; i++) {
        extents[i] = map->extents[i];
        strides[i] = i + 1 < map->rank ? map->strides[i] : 0;
    }
    return self->driver.cuTensorMapEncodeTiled(
        encoded, map_types[map->element_bytes], map->rank, (void *)map->address, extents, strides,
        map->box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, map_swizzles[map->swizzle],
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* ---- calls ---- */

/* Raises the kernel's dynamic shared memory limit if a launch needs more than 48 KB in total. */
static CUresult raise_smem_limit(struct cuda_device *self, CUfunction function, int dynamic_bytes) {
    int declared_bytes = 0;
    CUresult status = self->driver.cuFuncGetAttribute(
        &declared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    if (status != CUDA_SUCCESS || declared_bytes + dynamic_bytes <= 48 << 10)
        return status;
    return self->driver.cuFuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic_bytes);
}

/* The part of a launch's memory that persists in L2. The driver refuses a longer window than its
   largest. */
static CUlaunchAttribute l2_window(const struct cuda_device *self,
                                   const struct device_launch *launch) {
    const size_t most = self->window_bytes_max;
    return (CUlaunchAttribute){
        .id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        .value.accessPolicyWindow = {
            .base_ptr = (void *)(uintptr_t)launch->window_address, /* NOLINT */
            .num_bytes = launch->window_bytes < most ? launch->window_bytes : most,
            .hitRatio = (float)launch->window_percent / 100,
            .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
            .missProp = CU_ACCESS_PROPERTY_STREAMING}};
}

static bool has_window(const struct device_sequence *sequence) {
    for (int i = 0; i < sequence->count; i++)
        if (device_step(sequence, i)->window_percent > 0)
            return true;
    return false;
}

/* Lets lines persist in L2, or ends that: a limit of 0 gives the whole cache back (cuda.c says why
   it is no reset). Other kernels must find it so, or they would run slower, or hit lines that they
   did not load. */
static enum verdict limit_persisting(struct cuda_device *self, bool needed, bool begins,
                                     char *reason) {
    if (!needed || self->window_bytes_max == 0)
        return VERDICT_OK;
    CUresult status = self->driver.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
                                                 begins ? self->persisting_bytes_max : 0);
    return status == CUDA_SUCCESS ? VERDICT_OK
                                  : set_reason(self, VERDICT_CRASHED, status,
                                               "setting the persisting part of L2", reason);
}

/* Launches a kernel with the attributes for programmatic dependent launch and cooperative launch if
   requested; works in graph capture, too. */
static CUresult launch_kernel(struct cuda_device *self, const struct device_launch *launch,
                              CUfunction function, void **arguments) {
    static const CUlaunchAttribute early = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};
    static const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                                  .value.cooperative = 1};
    CUlaunchAttribute attributes[3];
    unsigned count = 0;
    if (launch->early)
        attributes[count++] = early;
    if (launch->cooperative)
        attributes[count++] = cooperative;
    if (launch->window_percent > 0 && self->window_bytes_max > 0)
        attributes[count++] = l2_window(self, launch);
    CUlaunchConfig config = {.gridDimX = launch->grid[0],
                             .gridDimY = launch->grid[1],
                             .gridDimZ = launch->grid[2],
                             .blockDimX = launch->block[0],
                             .blockDimY = launch->block[1],
                             .blockDimZ = launch->block[2],
                             .sharedMemBytes = launch->smem_bytes,
                             .hStream = self->stream,
                             .attrs = attributes,
                             .numAttrs = count};
    return self->driver.cuLaunchKernelEx(&config, function, arguments, NULL);
}

/* Enqueues one call on the stream. */
static enum verdict enqueue_call(struct cuda_device *self, const struct device_sequence *sequence,
                                 char *reason) {
    for (int i = 0; i < sequence->count; i++) {
        const struct device_launch *launch = device_step(sequence, i);
        if (launch->kernel == NULL) {
            CUresult status =
                launch->copy_from != 0
                    ? self->driver.cuMemcpyDtoDAsync(launch->clear_address, launch->copy_from,
                                                     launch->clear_bytes, self->stream)
                    : self->driver.cuMemsetD8Async(launch->clear_address, 0, launch->clear_bytes,
                                                   self->stream);
            if (status != CUDA_SUCCESS)
                return set_reason(
                    self, VERDICT_LAUNCH_FAILED, status,
                    launch->copy_from != 0 ? "restoring a tensor" : "clearing a tensor", reason);
            continue;
        }
        CUfunction function;
        void *pointers[DEVICE_ARGUMENTS_MAX];
        CUtensorMap maps[DEVICE_ARGUMENTS_MAX];
        CUresult status = CUDA_SUCCESS;
        for (int k = 0; k < launch->argument_count && status == CUDA_SUCCESS; k++) {
            const struct device_argument *argument = &launch->arguments[k];
            pointers[k] = argument->map != NULL ? &maps[k] : (void *)argument->bytes;
            if (argument->map != NULL)
                status = encode_tensor_map(self, argument->map, &maps[k]);
        }
        if (status != CUDA_SUCCESS)
            return set_reason(self, VERDICT_LAUNCH_FAILED, status, "encoding a tensor map", reason);
        status = cuda_find_function(self, launch->module, launch->kernel, &function);
        if (status == CUDA_SUCCESS)
            status = raise_smem_limit(self, function, (int)launch->smem_bytes);
        if (status == CUDA_SUCCESS)
            status = launch_kernel(self, launch, function, pointers);
        if (status != CUDA_SUCCESS)
            return set_reason(self, VERDICT_LAUNCH_FAILED, status, launch->kernel, reason);
    }
    return VERDICT_OK;
}

/* Waits for the event: spins at first, because most launches take microseconds, then sleeps between
   polls. */
static enum verdict wait_for_event(struct cuda_device *self, CUevent event, double deadline_s,
                                   char *reason) {
    double launch_kernel = clock_seconds();
    for (;;) {
        CUresult status = self->driver.cuEventQuery(event);
        if (status == CUDA_SUCCESS)
            return VERDICT_OK;
        if (status != CUDA_ERROR_NOT_READY)
            return set_reason(self, VERDICT_CRASHED, status, "while the kernel ran", reason);
        double waited = clock_seconds() - launch_kernel;
        if (waited > deadline_s) {
            self->hung = true;
            snprintf(reason, REASON_SIZE, "still running after %.3g s", deadline_s);
            return VERDICT_TIMEOUT;
        }
        if (waited > 0.002)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static enum verdict run_call(struct cuda_device *self, const struct device_sequence *sequence,
                             double deadline_s, char *reason) {
    enum verdict verdict = enqueue_call(self, sequence, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    CUresult status = self->driver.cuEventRecord(self->events[0], self->stream);
    if (status != CUDA_SUCCESS)
        return set_reason(self, VERDICT_CRASHED, status, "recording an event", reason);
    return wait_for_event(self, self->events[0], deadline_s, reason);
}

enum verdict cuda_run(struct device *device, const struct device_sequence *sequence,
                      double deadline_s, char *reason) {
    struct cuda_device *self = cuda(device);
    const bool persists = has_window(sequence);
    enum verdict verdict = limit_persisting(self, persists, true, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    verdict = run_call(self, sequence, deadline_s, reason);
    if (verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT)
        return verdict; /* the context is lost, and the limit with it */
    char unused[REASON_SIZE];
    const enum verdict ended =
        limit_persisting(self, persists, false, verdict == VERDICT_OK ? reason : unused);
    return verdict == VERDICT_OK ? ended : verdict;
}

/* ---- graphs ---- */

/* Captures a graph of `launches` calls that rotate through the input sets, from set `first`. */
static enum verdict capture_graph(struct cuda_device *self, const struct device_sequence *sets,
                                  int set_count, int first, int launches, CUgraphExec *graph,
                                  char *reason) {
    CUgraph captured = NULL;
    CUresult status =
        self->driver.cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (status != CUDA_SUCCESS)
        return set_reason(self, VERDICT_CRASHED, status, "starting a graph", reason);
    enum verdict verdict = VERDICT_OK;
    for (int i = 0; i < launches && verdict == VERDICT_OK; i++)
        verdict = enqueue_call(self, &sets[(first + i) % set_count], reason);
    status = self->driver.cuStreamEndCapture(self->stream, &captured);
    if (verdict == VERDICT_OK && status != CUDA_SUCCESS)
        verdict = set_reason(self, VERDICT_LAUNCH_FAILED, status, "capturing the graph", reason);
    if (verdict == VERDICT_OK) {
        status = self->driver.cuGraphInstantiateWithFlags(graph, captured, 0);
        if (status != CUDA_SUCCESS)
            verdict = set_reason(self, VERDICT_LAUNCH_FAILED, status, "making the graph", reason);
    }
    if (captured != NULL)
        self->driver.cuGraphDestroy(captured);
    return verdict;
}

/* How many graphs of `launches` calls it takes until one would begin with the first set again. */
static int graphs_of(int set_count, int launches) {
    int count = 1;
    while (launches < set_count && count * launches % set_count != 0)
        count++;
    return count;
}

enum verdict cuda_graph_new(struct device *device, const struct device_sequence *sets,
                            int set_count, const struct device_timing *timing,
                            struct device_graph **graph, char *reason) {
    struct cuda_device *self = cuda(device);
    int launches = timing->launches, count = graphs_of(set_count, launches);
    if (count > GRAPHS_MAX)
        BUG("%d graphs", count);
    if (timing->cold && self->flush == 0) {
        CUresult status = self->driver.cuMemAlloc(&self->flush, 2 * (size_t)device->info.l2_bytes);
        if (status != CUDA_SUCCESS)
            return set_reason(self, VERDICT_CRASHED, status, "allocating the L2 flush buffer",
                              reason);
    }
    struct device_graph *it = xcalloc(1, sizeof *it);
    enum verdict verdict = VERDICT_OK;
    it->launches = launches;
    it->cold = timing->cold;
    it->deadline_s = timing->deadline_s;
    for (int i = 0; i < set_count; i++)
        it->persists = it->persists || has_window(&sets[i]);
    while (it->count < count && verdict == VERDICT_OK) {
        const int first = it->count * launches, index = it->count++;
        verdict = capture_graph(self, sets, set_count, first, launches, &it->graphs[index], reason);
        if (verdict == VERDICT_OK && timing->before != NULL)
            verdict = capture_graph(self, timing->before, set_count, first, launches,
                                    &it->before[index], reason);
    }
    if (verdict == VERDICT_OK)
        *graph = it;
    else
        cuda_graph_free(device, it);
    return verdict;
}

void cuda_graph_free(struct device *device, struct device_graph *graph) {
    if (graph == NULL)
        return;
    for (int i = 0; i < graph->count && !cuda(device)->hung; i++) {
        if (graph->graphs[i] != NULL)
            cuda(device)->driver.cuGraphExecDestroy(graph->graphs[i]);
        if (graph->before[i] != NULL)
            cuda(device)->driver.cuGraphExecDestroy(graph->before[i]);
    }
    free(graph);
}

/* Enqueues what comes before the next replay. */
static CUresult prepare_next(struct cuda_device *self, const struct device_graph *graph) {
    CUgraphExec before = graph->before[graph->next];
    return before == NULL ? CUDA_SUCCESS : self->driver.cuGraphLaunch(before, self->stream);
}

static CUresult launch_next(struct cuda_device *self, struct device_graph *graph) {
    CUgraphExec next = graph->graphs[graph->next];
    graph->next = (graph->next + 1) % graph->count;
    return self->driver.cuGraphLaunch(next, self->stream);
}

/* Enqueues one replay between two events. */
static CUresult enqueue_replay(struct cuda_device *self, struct device_graph *graph,
                               int first_event) {
    CUresult status = self->driver.cuEventRecord(self->events[first_event], self->stream);
    if (status == CUDA_SUCCESS)
        status = launch_next(self, graph);
    if (status == CUDA_SUCCESS)
        status = self->driver.cuEventRecord(self->events[first_event + 1], self->stream);
    return status;
}

/* Enqueues one untimed replay and then all timed ones without waiting: the GPU is never idle at a
   starting event, so no sample includes host time. */
static CUresult enqueue_warm_replays(struct cuda_device *self, struct device_graph *graph,
                                     int count) {
    CUresult status = prepare_next(self, graph);
    if (status == CUDA_SUCCESS)
        status = launch_next(self, graph);
    for (int i = 0; i < count && status == CUDA_SUCCESS; i++) {
        status = prepare_next(self, graph);
        if (status == CUDA_SUCCESS)
            status = enqueue_replay(self, graph, 2 * i);
    }
    return status;
}

/* Enqueues the replay while the GPU writes the flush buffer: nothing runs between the flush and the
   starting event, and the sample includes no host time. */
static CUresult enqueue_cold_replay(struct cuda_device *self, struct device_graph *graph) {
    CUresult status = prepare_next(self, graph);
    if (status == CUDA_SUCCESS)
        status = self->driver.cuMemsetD32Async(
            self->flush, 0x0f1f2f3fu, 2 * (size_t)self->device.info.l2_bytes / 4, self->stream);
    return status == CUDA_SUCCESS ? enqueue_replay(self, graph, 0) : status;
}

static enum verdict read_samples(struct cuda_device *self, const struct device_graph *graph,
                                 int count, double *samples_us, char *reason) {
    double deadline_s = graph->deadline_s * (count + 1);
    enum verdict verdict = wait_for_event(self, self->events[2 * count - 1], deadline_s, reason);
    for (int i = 0; i < count && verdict == VERDICT_OK; i++) {
        float milliseconds = 0;
        CUresult status = self->driver.cuEventElapsedTime(&milliseconds, self->events[2 * i],
                                                          self->events[2 * i + 1]);
        if (status != CUDA_SUCCESS)
            return set_reason(self, VERDICT_CRASHED, status, "reading the time", reason);
        samples_us[i] = 1000.0 * milliseconds / graph->launches;
    }
    return verdict;
}

enum verdict cuda_graph_sample(struct device *device, struct device_graph *graph, int count,
                               double *samples_us, char *reason) {
    struct cuda_device *self = cuda(device);
    /* What persists in L2 is given back after each sample. */
    const int batch_max = graph->cold || graph->persists ? 1 : SAMPLES_PER_BATCH;
    for (int done = 0; done < count;) {
        int batch = count - done < batch_max ? count - done : batch_max;
        enum verdict verdict = limit_persisting(self, graph->persists, true, reason);
        if (verdict != VERDICT_OK)
            return verdict;
        CUresult status = graph->cold ? enqueue_cold_replay(self, graph)
                                      : enqueue_warm_replays(self, graph, batch);
        if (status != CUDA_SUCCESS)
            return set_reason(self, VERDICT_CRASHED, status, "launching the graph", reason);
        verdict = read_samples(self, graph, batch, samples_us + done, reason);
        if (verdict == VERDICT_OK)
            verdict = limit_persisting(self, graph->persists, false, reason);
        if (verdict != VERDICT_OK)
            return verdict; /* the context is lost, and the limit with it */
        done += batch;
    }
    return VERDICT_OK;
}
