/* Loads and stores: PTX ISA 9.7.9.8 to 9.7.9.14. */
#include "ptx/caches.h"
#include "ptx/execute.h"

#include "ptx/instrument.h"

#include <string.h>

static enum action access_fault(struct warp *warp, const struct instruction *instruction, int lane,
                                uint64_t address, int bytes, bool is_store, const char *space,
                                const char *where) {
    return fault_at(warp, instruction, lane, is_store ? PTX_FAULT_STORE : PTX_FAULT_LOAD, address,
                    "%s %d bytes %s %s 0x%llx: %s", is_store ? "stored" : "loaded", bytes,
                    is_store ? "to" : "from", space, (unsigned long long)address, where);
}

enum state_space resolve_generic_address(uint64_t *address) {
    static const struct {
        uint64_t base;
        enum state_space space;
    } windows[] = {
        {SHARED_WINDOW, SPACE_CLUSTER}, {LOCAL_WINDOW, SPACE_LOCAL}, {PARAM_WINDOW, SPACE_PARAM}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (*address - windows[i].base < WINDOW_BYTES) {
            *address -= windows[i].base;
            return windows[i].space;
        }
    return SPACE_GLOBAL;
}

uint8_t *translate_address(struct warp *warp, const struct instruction *instruction,
                           enum state_space space, int lane, uint64_t address, int bytes,
                           bool is_store, int *hint) {
    struct block *block = warp->block;
    uint64_t offset = address, size = 0;
    uint8_t *base = NULL;
    const char *name = "global memory at";
    char where[160];
    if (space == SPACE_GENERIC)
        space = resolve_generic_address(&offset);
    if (address & (uint64_t)(bytes - 1)) {
        fault_at(warp, instruction, lane, PTX_FAULT_MISALIGNED, address,
                 "%s %d bytes at 0x%llx, which is not a multiple of %d",
                 is_store ? "stored" : "loaded", bytes, (unsigned long long)address, bytes);
        return NULL;
    }
    switch (space) {
    case SPACE_SHARED:
        base = block->shared;
        size = block->shared_bytes;
        name = "shared memory at";
        break;
    case SPACE_CLUSTER: {
        const struct block *owner = find_shared_block(block, &offset, where, sizeof where);
        name = owner == block ? "shared memory at" : "another block's shared memory at";
        if (!owner) {
            access_fault(warp, instruction, lane, offset, bytes, is_store, name, where);
            return NULL;
        }
        base = owner->shared;
        size = owner->shared_bytes;
        break;
    }
    case SPACE_LOCAL:
        base = block->local + (size_t)block->local_bytes * (size_t)(warp->index * LANES + lane);
        size = block->local_bytes;
        name = "local memory at";
        break;
    case SPACE_PARAM:
        base = (uint8_t *)block->arguments;
        size = is_store ? 0 : warp->kernel->info.argument_bytes;
        name = "the parameters at";
        break;
    default: {
        uint8_t *found = memory_translate(block->memory, address, (size_t)bytes, is_store, hint);
        if (found)
            return found;
        if (is_store && ptx_memory_host_bytes(block->memory, address, (size_t)bytes)) {
            ptx_memory_describe(block->memory, address, where, sizeof where);
            fault_at(warp, instruction, lane, PTX_FAULT_READ_ONLY, address,
                     "stored %d bytes to a read-only input: %s", bytes, where);
            return NULL;
        }
        ptx_memory_describe(block->memory, address, where, sizeof where);
        access_fault(warp, instruction, lane, address, bytes, is_store, name, where);
        return NULL;
    }
    }
    if (offset <= size && (uint64_t)bytes <= size - offset)
        return base + offset;
    snprintf(where, sizeof where, "out of bounds (%llu bytes)%s", (unsigned long long)size,
             space == SPACE_SHARED && offset >= RANK_STRIDE
                 ? ": an address from mapa requires .shared::cluster"
                 : "");
    access_fault(warp, instruction, lane, offset, bytes, is_store, name, where);
    return NULL;
}

uint64_t lane_address(const struct access *access, const void *base, uint32_t lane) {
    uint64_t offset = (uint64_t)access->offset;
    if (access->base_bytes == 8)
        return ((const uint64_t *)base)[lane] + offset;
    if (access->base_bytes == 4) /* 32-bit addresses in the shared, local and param spaces wrap at
                                    32 bits */
        return (uint32_t)(((const uint32_t *)base)[lane] + (uint32_t)offset);
    return offset;
}

/* Lanes outside `mask` get the address of an active lane, so that loops need not skip them. */
static void lane_addresses(const struct access *access, const void *base, uint32_t mask,
                           uint64_t addresses[LANES]) {
    uint64_t offset = (uint64_t)access->offset;
    if (access->base_bytes == 8)
        for (int lane = 0; lane < LANES; lane++)
            addresses[lane] = ((const uint64_t *)base)[lane] + offset;
    else if (access->base_bytes == 4)
        for (int lane = 0; lane < LANES; lane++)
            addresses[lane] = (uint32_t)(((const uint32_t *)base)[lane] + (uint32_t)offset);
    else
        for (int lane = 0; lane < LANES; lane++)
            addresses[lane] = offset;
    if (mask != ALL_LANES) {
        uint64_t inside = addresses[__builtin_ctz(mask)];
        for (int lane = 0; lane < LANES; lane++)
            addresses[lane] = mask >> lane & 1 ? addresses[lane] : inside;
    }
}

/* The memory region around an address that is the same for all lanes; false if there is none, or if
   each lane has its own (local memory). */
static bool find_region(struct block *block, enum state_space space, uint64_t address,
                        bool is_store, struct memory_region *region) {
    uint64_t offset = address;
    const struct block *owner = block;
    if (space == SPACE_GENERIC)
        space = resolve_generic_address(&offset);
    switch (space) {
    case SPACE_CLUSTER:
        owner = find_shared_block(block, &offset, NULL, 0);
        if (!owner)
            return false;
        /* fall through */
    case SPACE_SHARED:
        *region = (struct memory_region){.first = space == SPACE_SHARED ? 0 : address - offset,
                                         .host = owner->shared,
                                         .bytes = owner->shared_bytes};
        return true;
    case SPACE_PARAM:
        *region = (struct memory_region){.first = address - offset,
                                         .host = (uint8_t *)block->arguments,
                                         .bytes = block->kernel->info.argument_bytes};
        return !is_store;
    case SPACE_LOCAL:
        return false;
    default:
        return memory_find_region(block->memory, address, is_store, region);
    }
}

/* Whether the bytes of all lanes are in one region, aligned to `bytes`. */
static bool translate_region(struct block *block, enum state_space space,
                             const uint64_t addresses[LANES], int bytes, bool is_store,
                             uint8_t *pointers[LANES]) {
    struct memory_region region;
    if (!find_region(block, space, addresses[0], is_store, &region) ||
        region.bytes < (uint64_t)bytes)
        return false;
    uint64_t last = region.bytes - (uint64_t)bytes, odd = 0, outside = 0;
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t offset = addresses[lane] - region.first;
        odd |= addresses[lane];
        outside |= offset | (last - offset); /* sign bit set: before the first or past the last */
        pointers[lane] = (uint8_t *)((uintptr_t)region.host + offset);
    }
    return !(odd & (uint64_t)(bytes - 1)) && !(outside >> 63);
}

bool access_is_shared(const struct warp *warp, const struct access *access, const uint8_t *first) {
    return access->space == SPACE_SHARED || access->space == SPACE_CLUSTER ||
           (access->space == SPACE_GENERIC && owner_of_shared(warp->block, first));
}

enum action translate_lanes(struct warp *warp, const struct instruction *instruction,
                            const struct access *access, uint32_t base_place, uint32_t mask,
                            int bytes, bool is_store, uint8_t *pointers[LANES]) {
    const void *base = access->base_bytes ? operand_pointer(warp, base_place) : NULL;
    uint64_t addresses[LANES];
    int hint = -1;
    lane_addresses(access, base, mask, addresses);
    /* Nearly always all lanes access one allocation, so one lookup serves them. */
    bool together =
        translate_region(warp->block, access->space, addresses, bytes, is_store, pointers);
    FOR_EACH_LANE(lane, together ? 0 : mask) {
        pointers[lane] = translate_address(warp, instruction, access->space, (int)lane,
                                           addresses[lane], bytes, is_store, &hint);
        if (!pointers[lane])
            return ACTION_FAULT;
    }
    FOR_EACH_LANE(lane, together ? 0 : ~mask) pointers[lane] = pointers[__builtin_ctz(mask)];
    if (warp->block->racecheck) {
        instrument_access(warp, instruction, access, base_place, mask, bytes);
        if (access_is_shared(warp, access, pointers[__builtin_ctz(mask)]))
            instrument_bank_conflicts(warp, instruction, pointers, mask, bytes);
        else if (access->space != SPACE_LOCAL && access->space != SPACE_PARAM)
            instrument_sectors(warp, instruction, addresses, mask, bytes);
    }
    if (critical_path_pace(warp) && access->space != SPACE_LOCAL && access->space != SPACE_PARAM &&
        !access_is_shared(warp, access, pointers[__builtin_ctz(mask)]))
        count_global_sectors(warp, access, is_store ? GLOBAL_STORED : GLOBAL_LOADED, addresses,
                             mask, bytes);
    return ACTION_NEXT;
}

/* Whether all words are in the 128-byte line of the first one: then no two of them conflict. */
static bool is_one_line(const struct warp *warp, uint8_t *const pointers[], uint32_t count) {
    uintptr_t shared = (uintptr_t)warp->block->shared, first = (uintptr_t)pointers[0] - shared;
    uintptr_t differ = 0;
    for (uint32_t i = 0; i < count; i++)
        differ |= ((uintptr_t)pointers[i] - shared) ^ first;
    return differ < 128;
}

int count_wavefronts(const struct warp *warp, uint8_t *const pointers[LANES], uint32_t mask,
                     int bytes) {
    /* Accesses wider than 4 bytes are served in groups of lanes that total 128 bytes. */
    uint32_t lanes_at_once = bytes > 4 ? (uint32_t)(128 / bytes) : LANES;
    int passes = 0;
    for (uint32_t from = 0; from < LANES; from += lanes_at_once) {
        uint32_t group = mask >> from << from;
        if (from + lanes_at_once < LANES)
            group &= (1u << (from + lanes_at_once)) - 1;
        if (is_one_line(warp, pointers + from, lanes_at_once)) {
            passes += group != 0;
            continue;
        }
        uint32_t words[32][32];
        uint8_t counts[32] = {0}, most = 0;
        FOR_EACH_LANE(lane, group) {
            uint32_t word = (uint32_t)(pointers[lane] - warp->block->shared) / 4;
            for (int i = 0; i < (bytes + 3) / 4; i++, word++) {
                uint32_t bank = word % 32;
                int known = 0;
                while (known < counts[bank] && words[bank][known] != word)
                    known++;
                if (known == counts[bank])
                    words[bank][counts[bank]++] = word;
                most = counts[bank] > most ? counts[bank] : most;
            }
        }
        passes += most;
    }
    return passes;
}

void count_access(struct warp *warp, const struct access *access, bool is_store,
                  uint8_t *const pointers[LANES], uint32_t mask, int bytes) {
    struct ptx_counts *counts = warp->block->counts;
    uint64_t total = (uint64_t)(__builtin_popcount(mask) * bytes);
    const uint8_t *first = pointers[__builtin_ctz(mask)];
    if (access_is_shared(warp, access, first)) {
        bool is_own = owner_of_shared(warp->block, first) == warp->block;
        counts->shared_bytes += total;
        counts->shared_wavefronts += (uint64_t)count_wavefronts(warp, pointers, mask, bytes);
        counts->remote_bytes += is_own ? 0 : total;
        if (critical_path_pace(warp))
            critical_path_latency(warp, is_own ? critical_path_pace(warp)->shared
                                               : critical_path_pace(warp)->remote);
    } else if (access->space == SPACE_LOCAL) {
        counts->local_bytes += total;
    } else if (access->space != SPACE_PARAM) {
        *(is_store ? &counts->global_store_bytes : &counts->global_load_bytes) += total;
    }
}

/* Element sizes are compile-time constants, so each copy is one move instruction. */
#define LOAD_LANES(memory_type, register_type)                                                     \
    {                                                                                              \
        register_type values[LANES];                                                               \
        for (int lane = 0; lane < LANES; lane++) {                                                 \
            memory_type value;                                                                     \
            memcpy(&value, from[lane] + offset, sizeof value);                                     \
            values[lane] = (register_type)value;                                                   \
        }                                                                                          \
        merge_lanes(out, values, sizeof *values, mask);                                            \
    }                                                                                              \
    break

/* Loads one element per lane of `mask`, extended from its size in memory to the register's. */
static void load_element(void *out, const struct access *access, uint8_t *const from[LANES],
                         int offset, uint32_t mask) {
    switch (access->element_bytes << 8 | access->register_bytes << 1 | access->is_signed) {
    case 1 << 8 | 2 << 1:
        LOAD_LANES(uint8_t, uint16_t);
    case 1 << 8 | 2 << 1 | 1:
        LOAD_LANES(int8_t, int16_t);
    case 1 << 8 | 4 << 1:
        LOAD_LANES(uint8_t, uint32_t);
    case 1 << 8 | 4 << 1 | 1:
        LOAD_LANES(int8_t, int32_t);
    case 1 << 8 | 8 << 1:
        LOAD_LANES(uint8_t, uint64_t);
    case 1 << 8 | 8 << 1 | 1:
        LOAD_LANES(int8_t, int64_t);
    case 2 << 8 | 2 << 1:
    case 2 << 8 | 2 << 1 | 1:
        LOAD_LANES(uint16_t, uint16_t);
    case 2 << 8 | 4 << 1:
        LOAD_LANES(uint16_t, uint32_t);
    case 2 << 8 | 4 << 1 | 1:
        LOAD_LANES(int16_t, int32_t);
    case 2 << 8 | 8 << 1:
        LOAD_LANES(uint16_t, uint64_t);
    case 2 << 8 | 8 << 1 | 1:
        LOAD_LANES(int16_t, int64_t);
    case 4 << 8 | 4 << 1:
    case 4 << 8 | 4 << 1 | 1:
        LOAD_LANES(uint32_t, uint32_t);
    case 4 << 8 | 8 << 1:
        LOAD_LANES(uint32_t, uint64_t);
    case 4 << 8 | 8 << 1 | 1:
        LOAD_LANES(int32_t, int64_t);
    default:
        LOAD_LANES(uint64_t, uint64_t);
    }
}

#define STORE_LANES(memory_type, register_type)                                                    \
    FOR_EACH_LANE(lane, mask) {                                                                    \
        memory_type value = (memory_type)((const register_type *)from)[lane];                      \
        memcpy(to[lane] + offset, &value, sizeof value);                                           \
    }                                                                                              \
    break

/* Registers have the element's width, except for single bytes. */
static void store_element(const void *from, const struct access *access, uint8_t *const to[LANES],
                          int offset, uint32_t mask) {
    switch (access->element_bytes) {
    case 1:
        STORE_LANES(uint8_t, uint16_t);
    case 2:
        STORE_LANES(uint16_t, uint16_t);
    case 4:
        STORE_LANES(uint32_t, uint32_t);
    default:
        STORE_LANES(uint64_t, uint64_t);
    }
}

/* operands: elements, base */
EXECUTE(load) {
    const struct access *access = &instruction->as.access;
    uint8_t *pointers[LANES];
    int bytes = access->element_bytes * access->vector;
    if (translate_lanes(warp, instruction, access, instruction->operands[access->vector], mask,
                        bytes, false, pointers) == ACTION_FAULT)
        return ACTION_FAULT;
    for (int i = 0; i < access->vector; i++)
        load_element(operand_pointer(warp, instruction->operands[i]), access, pointers,
                     i * access->element_bytes, mask);
    count_access(warp, access, false, pointers, mask, bytes);
    return action_after_access(warp, access);
}

/* operands: base, elements */
EXECUTE(store) {
    const struct access *access = &instruction->as.access;
    uint8_t *pointers[LANES];
    int bytes = access->element_bytes * access->vector;
    if (translate_lanes(warp, instruction, access, instruction->operands[0], mask, bytes, true,
                        pointers) == ACTION_FAULT)
        return ACTION_FAULT;
    for (int i = 0; i < access->vector; i++)
        store_element(operand_pointer(warp, instruction->operands[1 + i]), access, pointers,
                      i * access->element_bytes, mask);
    count_access(warp, access, true, pointers, mask, bytes);
    return ACTION_NEXT;
}

/* What discarded bytes hold is undefined until they are written again (PTX ISA 9.7.9.20): here a
   pattern, so that a kernel which discards its results is wrong. Operand: base. */
EXECUTE(discard) {
    const struct access *access = &instruction->as.access;
    const void *base = access->base_bytes ? operand_pointer(warp, instruction->operands[0]) : NULL;
    uint64_t addresses[LANES];
    int hint = -1;
    lane_addresses(access, base, mask, addresses);
    FOR_EACH_LANE(lane, mask) {
        uint8_t *line = translate_address(warp, instruction, access->space, (int)lane,
                                          addresses[lane], DISCARDED_BYTES, true, &hint);
        if (line == NULL)
            return ACTION_FAULT;
        memset(line, 0xd5, DISCARDED_BYTES);
    }
    return ACTION_NEXT;
}
