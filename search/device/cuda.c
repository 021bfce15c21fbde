#include "device/cuda.h"

#include "base/memory.h"

#include "device/cuda_device.h"
#include "device/kernel_names.h"
#include "device/numa.h"

#include <string.h>

static const unsigned red_zone_word = 0xa5c3f00du;

/* Converts a driver status to 0, or -1 with an error that names it. */
static int check_status(struct cuda_device *cuda, CUresult status, const char *operation,
                        struct error *error) {
    return status == CUDA_SUCCESS
               ? 0
               : error_set(error, "%s: %s", operation, driver_error_name(&cuda->driver, status));
}

/* Waits for an operation that was queued with `status`. */
static int synchronize(struct cuda_device *self, CUresult status, const char *operation,
                       struct error *error) {
    if (status == CUDA_SUCCESS)
        status = self->driver.cuStreamSynchronize(self->stream);
    return check_status(self, status, operation, error);
}

static int device_attribute(struct cuda_device *cuda, CUdevice handle, CUdevice_attribute which) {
    int value = 0;
    cuda->driver.cuDeviceGetAttribute(&value, which, handle);
    return value;
}

/* Works without a context. */
static void fill_info(struct cuda_device *cuda, CUdevice handle, int index) {
    struct device_info *info = &cuda->device.info;
    size_t total = 0;
    CUuuid uuid;
    int version = 0;
    snprintf(info->spec, sizeof info->spec, "cuda:%d", index);
    cuda->driver.cuDeviceGetName(info->name, sizeof info->name, handle);
    if (cuda->driver.cuDeviceGetUuid(&uuid, handle) == CUDA_SUCCESS)
        for (int i = 0; i < 16; i++)
            snprintf(info->uuid + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
    cuda->driver.cuDriverGetVersion(&version);
    snprintf(info->driver, sizeof info->driver, "%d.%d", version / 1000, version % 1000 / 10);
    info->compute_capability =
        10 * device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info->sm_count = device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->smem_per_block =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->smem_per_block_optin =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info->smem_per_sm =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    info->registers_per_sm =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    info->threads_per_sm =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    info->blocks_per_sm =
        device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    info->l2_bytes = device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info->clock_mhz = device_attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000.0;
    if (cuda->driver.cuDeviceTotalMem(&total, handle) == CUDA_SUCCESS)
        info->memory_bytes = (int64_t)total;
}

static void release_allocation(struct cuda_device *self, const struct gpu_allocation *allocation);

static void cuda_close(struct device *device) {
    struct cuda_device *self = cuda(device);
    for (int i = 0; i < self->allocation_count; i++)
        release_allocation(self, &self->allocations[i]);
    if (self->red_zones != NULL)
        self->driver.cuMemFreeHost(self->red_zones);
    if (self->flush != 0)
        self->driver.cuMemFree(self->flush);
    for (int i = 0; i < EVENTS_MAX && self->events[i] != NULL; i++)
        self->driver.cuEventDestroy(self->events[i]);
    if (self->stream != NULL)
        self->driver.cuStreamDestroy(self->stream);
    if (self->handle >= 0)
        self->driver.cuDevicePrimaryCtxRelease(self->handle);
    driver_close(&self->driver);
    free(self);
}

static int create_events(struct cuda_device *self, struct error *error) {
    for (int i = 0; i < EVENTS_MAX; i++)
        if (check_status(self, self->driver.cuEventCreate(&self->events[i], CU_EVENT_DEFAULT),
                         "making an event", error) < 0)
            return -1;
    return 0;
}

/* Sets the L2 persisting limit to 0, so that no line survives a flush. This replaces
   cuCtxResetPersistingL2Cache: after some ten calls of that and flushes, an H200 (driver
   580.159.04) ran kernels of 5 and 9 us some 4 % slower until the process ended. A GPU without the
   limit has no persisting lines. */
static int disable_l2_persistence(struct cuda_device *self, struct error *error) {
    CUresult status = self->driver.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
    if (status == CUDA_SUCCESS) {
        self->persisting_bytes_max = (size_t)device_attribute(
            self, self->handle, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
        self->window_bytes_max = (size_t)device_attribute(
            self, self->handle, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    }
    return status == CUDA_ERROR_UNSUPPORTED_LIMIT
               ? 0
               : check_status(self, status, "disabling persisting L2 lines", error);
}

/* Opens the driver and finds the GPU that a spec names. */
static int find_gpu(struct cuda_device *self, const char *spec, CUdevice *handle, int *index,
                    struct error *error) {
    char *end;
    long number = strtol(spec + strlen("cuda:"), &end, 10);
    int count = 0;
    if (strncmp(spec, "cuda:", 5) != 0 || *end != '\0' || end == spec + 5 || number < 0)
        return error_input(error, "\"%s\" is not a GPU: use cuda:0, cuda:1 ...", spec);
    if (driver_open(&self->driver, error) < 0 ||
        check_status(self, self->driver.cuInit(0), "the CUDA driver does not start", error) < 0 ||
        check_status(self, self->driver.cuDeviceGetCount(&count), "counting GPUs", error) < 0)
        return -1;
    if (number >= count)
        return error_set(error, "there is no %s: this machine has %d GPU%s", spec, count,
                         count == 1 ? "" : "s");
    *index = (int)number;
    return check_status(self, self->driver.cuDeviceGet(handle, *index), "opening the GPU", error);
}

static struct cuda_device *new_cuda_device(void) {
    struct cuda_device *self = xcalloc(1, sizeof *self);
    self->device.backend = &cuda_backend;
    self->handle = -1;
    return self;
}

static struct device *cuda_open(const char *spec, struct error *error) {
    struct cuda_device *self = new_cuda_device();
    CUcontext context;
    CUdevice handle;
    char bus_id[32];
    int index;
    if (find_gpu(self, spec, &handle, &index, error) < 0)
        goto failed;
    if (self->driver.cuDeviceGetPCIBusId(bus_id, sizeof bus_id, handle) == CUDA_SUCCESS)
        numa_pin("/sys", bus_id);
    if (check_status(self, self->driver.cuDevicePrimaryCtxRetain(&context, handle),
                     "opening the GPU", error) < 0)
        goto failed;
    self->handle = handle;
    if (check_status(self, self->driver.cuCtxSetCurrent(context), "opening the GPU", error) < 0 ||
        check_status(self, self->driver.cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING),
                     "making a stream", error) < 0 ||
        create_events(self, error) < 0 ||
        check_status(self,
                     self->driver.cuMemAllocHost((void **)&self->red_zones,
                                                 (size_t)2 * RED_ZONE_BYTES * ALLOCATIONS_MAX),
                     "pinning memory", error) < 0 ||
        disable_l2_persistence(self, error) < 0)
        goto failed;
    fill_info(self, handle, index);
    cuda_count_clusters(self);
    return &self->device;
failed:
    cuda_close(&self->device);
    return NULL;
}

int cuda_describe(const char *spec, struct device_info *info, struct error *error) {
    struct cuda_device *self = new_cuda_device();
    CUdevice handle;
    int index;
    int status = find_gpu(self, spec, &handle, &index, error);
    if (status == 0) {
        fill_info(self, handle, index);
        *info = self->device.info;
    }
    cuda_close(&self->device);
    return status;
}

int cuda_built_with(void) {
    return CUDA_VERSION;
}

int cuda_driver_version(void) {
    struct driver driver;
    struct error ignored = {0};
    int version = 0;
    if (driver_open(&driver, &ignored) < 0)
        return 0;
    if (driver.cuDriverGetVersion(&version) != CUDA_SUCCESS)
        version = 0;
    driver_close(&driver);
    return version;
}

int cuda_device_count(struct error *error) {
    struct driver driver;
    int count = 0;
    if (driver_open(&driver, error) < 0)
        return 0;
    CUresult status = driver.cuInit(0);
    if (status == CUDA_SUCCESS)
        status = driver.cuDeviceGetCount(&count);
    if (status != CUDA_SUCCESS)
        error_set(error, "the CUDA driver does not start: %s", driver_error_name(&driver, status));
    driver_close(&driver);
    return count;
}

/* ---- memory ---- */

static size_t padded_bytes(size_t bytes) {
    return (bytes + 255) & ~(size_t)255;
}

/* Fills the red zones with the pattern. The back zone starts at the byte after the last one
   requested. */
static void write_red_zones(struct cuda_device *self, const struct gpu_allocation *allocation) {
    if (allocation->mapped > 0)
        return;
    size_t whole = (allocation->bytes + 3) & ~(size_t)3;
    self->driver.cuMemsetD32Async(allocation->address - RED_ZONE_BYTES, red_zone_word,
                                  RED_ZONE_BYTES / 4, self->stream);
    self->driver.cuMemsetD32Async(allocation->address + whole, red_zone_word,
                                  (padded_bytes(allocation->bytes) - whole + RED_ZONE_BYTES) / 4,
                                  self->stream);
    for (size_t i = allocation->bytes; i < whole; i++)
        self->driver.cuMemsetD8Async(allocation->address + i,
                                     ((const unsigned char *)&red_zone_word)[i & 3], 1,
                                     self->stream);
}

static void release_allocation(struct cuda_device *self, const struct gpu_allocation *allocation) {
    if (self->hung)
        return;
    if (allocation->mapped > 0)
        cuda_flush_free(self, allocation);
    else
        self->driver.cuMemFree(allocation->base);
}

/* Freed memory is cached for the next allocation of its size: the driver takes longer to map and
   unmap a tensor of a megabyte than most candidates run, and it synchronises with the GPU each
   time. */
static struct gpu_allocation *find_cached(struct cuda_device *self, size_t bytes) {
    for (int i = 0; i < self->allocation_count; i++)
        if (self->allocations[i].cached &&
            padded_bytes(self->allocations[i].bytes) == padded_bytes(bytes))
            return &self->allocations[i];
    return NULL;
}

static bool fits_in_cache(const struct cuda_device *self, size_t bytes) {
    size_t sum = bytes;
    for (int i = 0; i < self->allocation_count; i++)
        sum += self->allocations[i].cached ? self->allocations[i].bytes : 0;
    return sum <= (size_t)self->device.info.memory_bytes / CACHE_FRACTION;
}

static int release_cached(struct cuda_device *self) {
    int released = 0;
    for (int i = self->allocation_count - 1; i >= 0; i--)
        if (self->allocations[i].cached) {
            release_allocation(self, &self->allocations[i]);
            self->allocations[i] = self->allocations[--self->allocation_count];
            released++;
        }
    return released;
}

void cuda_reserve_slot(struct cuda_device *self) {
    if (self->allocation_count == ALLOCATIONS_MAX && release_cached(self) == 0)
        BUG("more than %d allocations", ALLOCATIONS_MAX);
}

static int cuda_memory_new(struct device *device, const char *name, size_t bytes, uint64_t *address,
                           struct error *error) {
    struct cuda_device *self = cuda(device);
    struct gpu_allocation *allocation = device->fresh_memory ? NULL : find_cached(self, bytes);
    if (allocation == NULL) {
        CUdeviceptr base;
        size_t front_bytes = bytes > PAGE_BYTES / 2 ? PAGE_BYTES : RED_ZONE_BYTES;
        size_t whole = front_bytes + padded_bytes(bytes) + RED_ZONE_BYTES;
        cuda_reserve_slot(self);
        CUresult status = self->driver.cuMemAlloc(&base, whole);
        if (status == CUDA_ERROR_OUT_OF_MEMORY && release_cached(self) > 0)
            status = self->driver.cuMemAlloc(&base, whole);
        if (status != CUDA_SUCCESS)
            return error_set(error, "cannot allocate %zu bytes of GPU memory for %s: %s", bytes,
                             name, driver_error_name(&self->driver, status));
        allocation = &self->allocations[self->allocation_count++];
        *allocation = (struct gpu_allocation){.base = base, .address = base + front_bytes};
    }
    allocation->name = name;
    allocation->bytes = bytes;
    allocation->cached = false;
    write_red_zones(self, allocation);
    *address = allocation->address;
    return 0;
}

struct gpu_allocation *cuda_find_allocation(struct cuda_device *self, uint64_t address) {
    for (int i = 0; i < self->allocation_count; i++)
        if (self->allocations[i].address == address && !self->allocations[i].cached)
            return &self->allocations[i];
    BUG("no allocation starts at this address");
}

static void cuda_memory_free(struct device *device, uint64_t address) {
    struct cuda_device *self = cuda(device);
    struct gpu_allocation *allocation = cuda_find_allocation(self, address);
    if (allocation->mapped == 0 && !device->fresh_memory &&
        fits_in_cache(self, allocation->bytes)) {
        allocation->cached = true;
        return;
    }
    release_allocation(self, allocation);
    *allocation = self->allocations[--self->allocation_count];
}

static int cuda_write(struct device *device, uint64_t address, const void *from, size_t bytes,
                      struct error *error) {
    struct cuda_device *self = cuda(device);
    return synchronize(self, self->driver.cuMemcpyHtoDAsync(address, from, bytes, self->stream),
                       "writing to the GPU", error);
}

static int cuda_read(struct device *device, uint64_t address, void *to, size_t bytes,
                     struct error *error) {
    struct cuda_device *self = cuda(device);
    return synchronize(self, self->driver.cuMemcpyDtoHAsync(to, address, bytes, self->stream),
                       "reading from the GPU", error);
}

static int cuda_fill32(struct device *device, uint64_t address, uint32_t word, size_t words,
                       struct error *error) {
    struct cuda_device *self = cuda(device);
    return check_status(self, self->driver.cuMemsetD32Async(address, word, words, self->stream),
                        "filling GPU memory", error);
}

/* Returns whether a zone holds the pattern; it starts on a word boundary. Zones are checked after
   every call of a candidate, so memcmp is used rather than a byte loop. */
static bool is_intact(const unsigned char *zone, size_t bytes) {
    return memcmp(zone, &red_zone_word, sizeof red_zone_word) == 0 &&
           memcmp(zone, zone + sizeof red_zone_word, bytes - sizeof red_zone_word) == 0;
}

static bool has_red_zones(const struct gpu_allocation *allocation, bool freed_too) {
    return allocation->mapped == 0 && (freed_too || !allocation->cached);
}

/* Reads all red zones back with one synchronisation and compares them. */
static enum verdict cuda_check_red_zones(struct device *device, bool freed_too, char *reason) {
    struct cuda_device *self = cuda(device);
    for (int i = 0; i < self->allocation_count; i++) {
        const struct gpu_allocation *allocation = &self->allocations[i];
        char *to = (char *)self->red_zones + (size_t)2 * RED_ZONE_BYTES * (size_t)i;
        size_t whole = allocation->bytes & ~(size_t)3;
        if (!has_red_zones(allocation, freed_too))
            continue;
        self->driver.cuMemcpyDtoHAsync(to, allocation->address - RED_ZONE_BYTES, RED_ZONE_BYTES,
                                       self->stream);
        self->driver.cuMemcpyDtoHAsync(to + RED_ZONE_BYTES, allocation->address + whole,
                                       RED_ZONE_BYTES, self->stream);
    }
    if (self->driver.cuStreamSynchronize(self->stream) != CUDA_SUCCESS) {
        snprintf(reason, REASON_SIZE, "the red zones could not be read back");
        return VERDICT_CRASHED;
    }
    const unsigned char *pattern = (const unsigned char *)&red_zone_word;
    for (int i = 0; i < self->allocation_count; i++) {
        const unsigned char *zone =
            (unsigned char *)self->red_zones + (size_t)2 * RED_ZONE_BYTES * (size_t)i;
        size_t tail = self->allocations[i].bytes & 3; /* bytes of the tensor in its last word */
        if (!has_red_zones(&self->allocations[i], freed_too) ||
            (tail == 0 && is_intact(zone, 2 * RED_ZONE_BYTES)))
            continue;
        for (size_t k = 0; k < (size_t)2 * RED_ZONE_BYTES; k++) {
            if (zone[k] == pattern[k & 3] || (k >= RED_ZONE_BYTES && k - RED_ZONE_BYTES < tail))
                continue;
            bool front_bytes = k < RED_ZONE_BYTES;
            snprintf(reason, REASON_SIZE, "wrote %zu bytes %s tensor %s",
                     front_bytes ? RED_ZONE_BYTES - k : k - RED_ZONE_BYTES - tail + 1,
                     front_bytes ? "before" : "past the end of",
                     self->allocations[i].cached ? "that was freed" : self->allocations[i].name);
            for (int k = 0; k < self->allocation_count; k++)
                write_red_zones(
                    self,
                    &self->allocations[k]); /* repaired, so that the next candidate is not blamed */
            return VERDICT_WROTE_OUTSIDE;
        }
    }
    return VERDICT_OK;
}

/* ---- modules ---- */

static int cuda_module_load(struct device *device, const struct device_image *image,
                            struct device_module **module, struct error *error) {
    struct cuda_device *self = cuda(device);
    CUmodule handle;
    CUresult status = self->driver.cuModuleLoadData(&handle, image->cubin);
    if (status != CUDA_SUCCESS)
        return error_set(error, "the driver refuses the cubin: %s",
                         driver_error_name(&self->driver, status));
    *module = xcalloc(1, sizeof **module);
    (*module)->module = handle;
    (*module)->kernels = kernel_names_copy(image->kernels);
    return 0;
}

static void cuda_module_unload(struct device *device, struct device_module *module) {
    cuda(device)->driver.cuModuleUnload(module->module);
    free(module->kernels);
    free(module);
}

CUresult cuda_find_function(struct cuda_device *self, const struct device_module *module,
                            const char *kernel, CUfunction *function) {
    return self->driver.cuModuleGetFunction(function, module->module,
                                            kernel_names_find(module->kernels, kernel));
}

static int cuda_resources(struct device *device, struct device_module *module, const char *kernel,
                          int threads, unsigned smem_bytes, struct resources *resources,
                          struct error *error) {
    struct cuda_device *self = cuda(device);
    CUfunction function;
    int shared = 0;
    CUresult status = cuda_find_function(self, module, kernel, &function);
    if (status == CUDA_ERROR_NOT_FOUND)
        return error_input(
            error, "the source has no kernel '%s': declare it extern \"C\" __global__", kernel);
    if (status != CUDA_SUCCESS)
        return error_set(error, "there is no kernel '%s': declare it extern \"C\" __global__ (%s)",
                         kernel, driver_error_name(&self->driver, status));
    self->driver.cuFuncGetAttribute(&resources->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    self->driver.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    self->driver.cuFuncGetAttribute(&resources->local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                                    function);
    if (smem_bytes > 48 << 10)
        self->driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        (int)smem_bytes);
    self->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&resources->ctas_per_sm, function,
                                                             threads, smem_bytes);
    resources->smem_bytes = shared + (int)smem_bytes;
    resources->occupancy =
        (double)resources->ctas_per_sm * ((threads + 31) / 32 * 32) / device->info.threads_per_sm;
    return 0;
}

static int cuda_global(struct device *device, struct device_module *module, const char *name,
                       uint64_t *address, size_t *bytes) {
    CUdeviceptr found = 0;
    CUresult status = cuda(device)->driver.cuModuleGetGlobal(&found, bytes, module->module, name);
    *address = (uint64_t)found;
    return status == CUDA_SUCCESS;
}

static int cuda_global_u64(struct device *device, struct device_module *module, const char *name,
                           uint64_t *value, struct error *error) {
    uint64_t address;
    size_t bytes;
    if (!cuda_global(device, module, name, &address, &bytes) || bytes != sizeof *value)
        return error_set(error, "the module has no variable %s of 8 bytes", name);
    return cuda_read(device, address, value, sizeof *value, error);
}

const struct device_backend cuda_backend = {
    .scheme = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .memory_new = cuda_memory_new,
    .memory_new_flush = cuda_memory_new_flush,
    .memory_free = cuda_memory_free,
    .protect = cuda_protect,
    .write = cuda_write,
    .read = cuda_read,
    .fill32 = cuda_fill32,
    .check_red_zones = cuda_check_red_zones,
    .module_load = cuda_module_load,
    .module_unload = cuda_module_unload,
    .resources = cuda_resources,
    .global = cuda_global,
    .global_u64 = cuda_global_u64,
    .run = cuda_run,
    .graph_new = cuda_graph_new,
    .graph_sample = cuda_graph_sample,
    .graph_free = cuda_graph_free,
};
