#include "base/memory.h"
#include "ptx/machine.h"
#include "ptx/shadow.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x10000000000ull
#define GAP_BYTES     (1ull << 20)
enum { ADDRESS_ALIGNMENT = 512 };

struct allocation {
    uint64_t address;
    size_t bytes;
    uint8_t *data;
    bool read_only; /* for kernels */
    char name[64];
    struct shadow *shadow; /* NULL: no race checking */
};

struct ptx_memory {
    struct allocation *allocations; /* sorted by address */
    int count;
    uint64_t next_address;
    bool has_shadow;
};

struct ptx_memory *ptx_memory_new(void) {
    struct ptx_memory *memory = xcalloc(1, sizeof *memory);
    memory->next_address = FIRST_ADDRESS;
    return memory;
}

void ptx_memory_free(struct ptx_memory *memory) {
    if (!memory)
        return;
    for (int i = 0; i < memory->count; i++) {
        free(memory->allocations[i].data);
        shadow_free(memory->allocations[i].shadow);
    }
    free(memory->allocations);
    free(memory);
}

uint64_t ptx_memory_allocate(struct ptx_memory *memory, const char *name, size_t bytes) {
    return ptx_memory_allocate_at(memory, name, bytes, 0);
}

uint64_t ptx_memory_allocate_at(struct ptx_memory *memory, const char *name, size_t bytes,
                                size_t offset) {
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (!data)
        return 0;
    memory->allocations = xgrow(memory->allocations, memory->count, sizeof *memory->allocations);
    memset(data, 0xff, bytes);
    struct allocation *allocation = &memory->allocations[memory->count++];
    *allocation =
        (struct allocation){.address = memory->next_address + offset, .bytes = bytes, .data = data};
    if (memory->has_shadow)
        allocation->shadow = shadow_new(bytes);
    snprintf(allocation->name, sizeof allocation->name, "%s", name);
    memory->next_address += (offset + bytes + GAP_BYTES + ADDRESS_ALIGNMENT - 1) /
                            ADDRESS_ALIGNMENT * ADDRESS_ALIGNMENT;
    return allocation->address;
}

/* The last allocation that starts at or below the address, or -1. */
static int find_below(const struct ptx_memory *memory, uint64_t address) {
    int low = 0, high = memory->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (memory->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

void ptx_memory_release(struct ptx_memory *memory, uint64_t address) {
    int index = find_below(memory, address);
    if (index < 0 || memory->allocations[index].address != address)
        BUG("release of an address that was never allocated");
    free(memory->allocations[index].data);
    shadow_free(memory->allocations[index].shadow);
    memory->count--;
    memmove(&memory->allocations[index], &memory->allocations[index + 1],
            (size_t)(memory->count - index) * sizeof *memory->allocations);
}

void ptx_memory_set_read_only(struct ptx_memory *memory, uint64_t address, bool read_only) {
    int index = find_below(memory, address);
    if (index < 0 || memory->allocations[index].address != address)
        BUG("protection of an address that was never allocated");
    memory->allocations[index].read_only = read_only;
}

static uint8_t *pointer_within(const struct allocation *allocation, uint64_t address, size_t bytes,
                               bool is_store) {
    uint64_t offset = address - allocation->address;
    return offset <= allocation->bytes && bytes <= allocation->bytes - offset &&
                   !(is_store && allocation->read_only)
               ? allocation->data + offset
               : NULL;
}

uint8_t *memory_translate(struct ptx_memory *memory, uint64_t address, size_t bytes, bool is_store,
                          int *hint) {
    if (*hint >= 0) {
        uint8_t *found = pointer_within(&memory->allocations[*hint], address, bytes, is_store);
        if (found)
            return found;
    }
    int index = find_below(memory, address);
    if (index < 0)
        return NULL;
    *hint = index;
    return pointer_within(&memory->allocations[index], address, bytes, is_store);
}

bool memory_find_region(const struct ptx_memory *memory, uint64_t address, bool is_store,
                        struct memory_region *region) {
    int index = find_below(memory, address);
    if (index < 0 || (is_store && memory->allocations[index].read_only))
        return false;
    const struct allocation *allocation = &memory->allocations[index];
    *region = (struct memory_region){allocation->address, allocation->bytes, allocation->data};
    return true;
}

void *ptx_memory_host_bytes(struct ptx_memory *memory, uint64_t address, size_t bytes) {
    int hint = -1;
    return memory_translate(memory, address, bytes, false, &hint);
}

void memory_enable_shadow(struct ptx_memory *memory) {
    memory->has_shadow = true;
}

bool memory_locate(const struct ptx_memory *memory, uint64_t address,
                   struct memory_location *location) {
    int index = find_below(memory, address);
    if (index < 0)
        return false;
    const struct allocation *allocation = &memory->allocations[index];
    *location = (struct memory_location){.shadow = allocation->shadow,
                                         .offset = address - allocation->address,
                                         .bytes = allocation->bytes,
                                         .data = allocation->data,
                                         .name = allocation->name,
                                         .read_only = allocation->read_only};
    return location->offset < allocation->bytes;
}

void ptx_memory_mark_written(struct ptx_memory *memory, uint64_t address, size_t bytes) {
    struct memory_location location;
    if (memory->has_shadow && memory_locate(memory, address, &location) && location.shadow &&
        bytes <= location.bytes - location.offset)
        memset(location.shadow->states + location.offset, BYTE_WRITTEN, bytes);
}

void ptx_memory_describe(const struct ptx_memory *memory, uint64_t address, char *text,
                         size_t text_bytes) {
    int index = find_below(memory, address);
    const struct allocation *below = index >= 0 ? &memory->allocations[index] : NULL;
    const struct allocation *above =
        index + 1 < memory->count ? below ? below + 1 : memory->allocations : NULL;
    uint64_t past = below ? address - below->address - below->bytes : UINT64_MAX;
    uint64_t before = above ? above->address - address : UINT64_MAX;
    if (below && address - below->address < below->bytes)
        snprintf(text, text_bytes, "%llu bytes before the end of '%s' (%zu bytes)",
                 (unsigned long long)-past, below->name, below->bytes);
    else if (below && past <= before && past < GAP_BYTES)
        snprintf(text, text_bytes, "%llu bytes past the end of '%s' (%zu bytes)",
                 (unsigned long long)past, below->name, below->bytes);
    else if (above && before < GAP_BYTES)
        snprintf(text, text_bytes, "%llu bytes before the start of '%s' (%zu bytes)",
                 (unsigned long long)before, above->name, above->bytes);
    else
        snprintf(text, text_bytes, "not in any allocation");
}
