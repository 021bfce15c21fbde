/* Allocates memory flush against unmapped addresses on both sides, with the driver's virtual memory
   API: any read or write beyond it is CUDA_ERROR_ILLEGAL_ADDRESS, whereas a red zone detects only
   writes. */
#include "device/cuda_device.h"

/* The alignment of the widest load: a tensor that promises less starts at no multiple of twice its
   own, which a wider load would need. */
enum { WIDEST = 16 };

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* Reserves three address ranges and backs the middle one with memory. */
static CUresult map_memory(struct cuda_device *self, struct gpu_allocation *allocation,
                           size_t bytes) {
    const struct driver *driver = &self->driver;
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = self->handle}};
    const CUmemAccessDesc access = {.location = properties.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t page = 0;
    CUresult status =
        driver->cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (status != CUDA_SUCCESS)
        return status;
    allocation->mapped = round_up(bytes, page);
    allocation->page = page;
    status = driver->cuMemAddressReserve(&allocation->base, allocation->mapped + 2 * page, 0, 0, 0);
    if (status != CUDA_SUCCESS)
        return status;
    status = driver->cuMemCreate(&allocation->handle, allocation->mapped, &properties, 0);
    if (status == CUDA_SUCCESS) {
        status =
            driver->cuMemMap(allocation->base + page, allocation->mapped, 0, allocation->handle, 0);
        if (status == CUDA_SUCCESS)
            status =
                driver->cuMemSetAccess(allocation->base + page, allocation->mapped, &access, 1);
        if (status == CUDA_SUCCESS)
            return CUDA_SUCCESS;
        driver->cuMemUnmap(allocation->base + page, allocation->mapped);
        driver->cuMemRelease(allocation->handle);
    }
    driver->cuMemAddressFree(allocation->base, allocation->mapped + 2 * page);
    return status;
}

/* The bytes from a tensor's first to the end of its pages. */
static size_t bytes_to_end(size_t bytes, size_t alignment) {
    const size_t least = round_up(bytes, alignment);
    const bool aligns_more = alignment < WIDEST && least % (2 * alignment) == 0;
    return least + (aligns_more ? alignment : 0);
}

int cuda_memory_new_flush(struct device *device, const char *name, size_t bytes,
                          size_t end_alignment, uint64_t *address, struct error *error) {
    struct cuda_device *self = cuda(device);
    struct gpu_allocation allocation = {.name = name, .bytes = bytes};
    cuda_reserve_slot(self);
    const size_t from_end = end_alignment > 0 ? bytes_to_end(bytes, end_alignment) : 0;
    CUresult status = map_memory(self, &allocation, from_end > bytes ? from_end : bytes);
    if (status != CUDA_SUCCESS)
        return error_set(error, "cannot map %zu bytes of GPU memory for %s: %s", bytes, name,
                         driver_error_name(&self->driver, status));
    allocation.address =
        allocation.base + allocation.page + (end_alignment > 0 ? allocation.mapped - from_end : 0);
    self->allocations[self->allocation_count++] = allocation;
    *address = allocation.address;
    return 0;
}

/* A store to read-only memory is CUDA_ERROR_ILLEGAL_ADDRESS. A driver that does not support
   read-only mappings reports that here. */
int cuda_protect(struct device *device, uint64_t address, bool read_only, struct error *error) {
    struct cuda_device *self = cuda(device);
    const struct gpu_allocation *allocation = cuda_find_allocation(self, address);
    if (allocation->mapped == 0)
        return 0;
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = self->handle},
        .flags = read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    /* earlier work must finish with the old access rights */
    CUresult status = self->driver.cuStreamSynchronize(self->stream);
    if (status == CUDA_SUCCESS)
        status = self->driver.cuMemSetAccess(allocation->base + allocation->page,
                                             allocation->mapped, &access, 1);
    if (status == CUDA_SUCCESS)
        return 1;
    if (read_only && (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED))
        return 0;
    return error_set(error, "cannot change the access rights of %s's memory: %s", allocation->name,
                     driver_error_name(&self->driver, status));
}

void cuda_flush_free(struct cuda_device *self, const struct gpu_allocation *allocation) {
    self->driver.cuMemUnmap(allocation->base + allocation->page, allocation->mapped);
    self->driver.cuMemRelease(allocation->handle);
    self->driver.cuMemAddressFree(allocation->base, allocation->mapped + 2 * allocation->page);
}
