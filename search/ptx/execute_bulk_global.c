/* The global-memory side of bulk copies: contiguous bytes, and boxes of tensors. */
#include "ptx/bulk.h"
#include "ptx/caches.h"
#include "ptx/critical_path.h"
#include "ptx/instrument.h"

#include <math.h>
#include <string.h>

/* ---- boxes ---- */

/* The swizzled position of the 16 bytes at this offset of shared memory. */
static uint32_t swizzled_offset(uint32_t offset, uint8_t swizzle) {
    static const uint32_t masks[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = 0, [SWIZZLE_32B] = 1, [SWIZZLE_64B] = 3, [SWIZZLE_128B] = 7};
    return offset ^ (offset >> 7 & masks[swizzle]) << 4;
}

/* The bytes [from, to) of a row of the box that are inside the tensor. */
static void row_inside_tensor(const struct bulk_copy *copy, int64_t *from, int64_t *to) {
    int64_t first = copy->coordinates[0], bytes = copy->map.element_bytes;
    int64_t end = (int64_t)copy->map.extents[0] - first;
    *from = first < 0 ? -first * bytes : 0;
    *to = (end < copy->map.box[0] ? end : copy->map.box[0]) * bytes;
}

/* Reports to the race checker that bytes of the tensor or run are read or written, or are a pending
   write. */
static void instrument_run(const struct bulk_copy *copy, uint64_t offset, uint32_t bytes) {
    const struct bulk_form *form = &copy->instruction->as.bulk;
    if (!copy->warp->block->racecheck || !bytes)
        return;
    if (form->path == BULK_STORE)
        instrument_pending_write(copy->warp->block, copy->address + offset, bytes, !copy->was_read);
    if (form->path == BULK_LOAD || copy->was_read)
        instrument_async_global(copy->warp, copy->instruction, copy->lane, copy->address + offset,
                                bytes,
                                form->reduces              ? GLOBAL_ATOMIC
                                : form->path == BULK_STORE ? GLOBAL_STORE
                                                           : GLOBAL_LOAD);
}

/* Counts bytes of the tensor or run that a load reads, for predictions. */
static void count_run(struct bulk_copy *copy, uint64_t offset, uint64_t bytes) {
    struct warp *warp = copy->warp;
    if (critical_path_pace(warp) && copy->instruction->as.bulk.path == BULK_LOAD && bytes > 0)
        copy->latency = fmax(copy->latency, count_global_run(warp, copy->address + offset, bytes));
}

/* Copies or reduces bytes that are contiguous on both sides. */
static void copy_bytes(const struct bulk_copy *copy, uint8_t *global, uint8_t *data, size_t bytes) {
    const struct bulk_form *form = &copy->instruction->as.bulk;
    if (form->path == BULK_LOAD)
        memcpy(data, global, bytes);
    else if (!copy->was_read)
        return;
    else if (form->reduces)
        reduce_bytes(copy->warp, &copy->reduction_access, global, data, bytes);
    else
        memcpy(global, data, bytes);
}

/* Copies one row between the tensor at `global` + offset and `data`, in 16-byte chunks. */
static void copy_row(struct bulk_copy *copy, uint32_t row_at, int64_t offset, int64_t from,
                     int64_t to) {
    uint32_t row_bytes = copy->map.box[0] * copy->map.element_bytes;
    instrument_run(copy, (uint64_t)(offset + from), (uint32_t)(to > from ? to - from : 0));
    count_run(copy, (uint64_t)(offset + from), (uint64_t)(to > from ? to - from : 0));
    for (uint32_t chunk = 0; chunk < row_bytes; chunk += 16) {
        uint8_t *data = copy->data +
                        swizzled_offset(copy->shared + row_at + chunk, copy->map.swizzle) -
                        copy->shared;
        int64_t low = from > chunk ? from - chunk : 0, high = to - chunk < 16 ? to - chunk : 16;
        if (low < high)
            copy_bytes(copy, copy->global + offset + chunk + low, data + low, (size_t)(high - low));
    }
}

/* Copies all rows of the box; elements outside the tensor are left unchanged. */
static void copy_box(struct bulk_copy *copy) {
    const struct tensor_map *map = &copy->map;
    uint32_t row_bytes = map->box[0] * map->element_bytes, rows = copy->bytes / row_bytes;
    int64_t from, to;
    row_inside_tensor(copy, &from, &to);
    for (uint32_t row = 0; row < rows; row++) {
        int64_t offset = (int64_t)copy->coordinates[0] * map->element_bytes;
        bool within = true; /* becomes false before an out-of-range position could overflow the
                               offset */
        uint32_t rest = row;
        for (int i = 1; i < map->rank; i++) {
            int64_t position = (int64_t)copy->coordinates[i] + rest % map->box[i];
            within = within && position >= 0 && position < (int64_t)map->extents[i];
            if (within)
                offset += position * (int64_t)map->strides[i - 1];
            rest /= map->box[i];
        }
        if (within)
            copy_row(copy, row * row_bytes, offset, from, to);
    }
}

void bulk_copy_global(struct bulk_copy *copy) {
    if (copy->map.rank) {
        copy_box(copy);
        return;
    }
    instrument_run(copy, 0, copy->bytes);
    count_run(copy, 0, copy->bytes);
    copy_bytes(copy, copy->global, copy->data, copy->bytes);
}

/* ---- address resolution ---- */

/* Resolves a global address; the whole tensor or run must be allocated. */
static int resolve_global(struct bulk_copy *copy, uint64_t address, size_t bytes) {
    struct ptx_memory *memory = copy->warp->block->memory;
    bool is_store = copy->instruction->as.bulk.path == BULK_STORE;
    int hint = -1;
    char where[160];
    copy->global = memory_translate(memory, address, bytes, is_store, &hint);
    copy->address = address;
    if (copy->global)
        return 0;
    ptx_memory_describe(memory, address, where, sizeof where);
    enum ptx_fault_kind kind = !is_store                                       ? PTX_FAULT_LOAD
                               : ptx_memory_host_bytes(memory, address, bytes) ? PTX_FAULT_READ_ONLY
                                                                               : PTX_FAULT_STORE;
    return fault_at(copy->warp, copy->instruction, copy->lane, kind, address,
                    "copied %zu bytes %s global memory at 0x%llx: %s", bytes,
                    is_store ? "to" : "from", (unsigned long long)address, where);
}

/* Sets the operation of a reduction; the element type comes from the tensor map. */
static int set_element_type(struct bulk_copy *copy) {
    static const enum type types[TENSOR_FORMAT_COUNT][4] = {
        [TENSOR_UNSIGNED] = {TYPE_U8, TYPE_U16, TYPE_U32, TYPE_U64},
        [TENSOR_SIGNED] = {TYPE_S8, TYPE_S16, TYPE_S32, TYPE_S64},
        [TENSOR_FLOAT] = {TYPE_NONE, TYPE_F16, TYPE_F32, TYPE_F64},
        [TENSOR_BFLOAT] = {TYPE_NONE, TYPE_BF16, TYPE_NONE, TYPE_NONE},
    };
    int bytes = copy->map.element_bytes;
    enum reduction reduction = copy->instruction->as.bulk.global.reduction;
    enum type type = types[copy->map.format][__builtin_ctz((unsigned)bytes)];
    copy->reduction_access = (struct access){.reduction = reduction,
                                             .type = type,
                                             .element_bytes = (uint8_t)bytes,
                                             .is_signed = type_is_signed(type)};
    bool of_bits = reduction == REDUCE_AND || reduction == REDUCE_OR || reduction == REDUCE_XOR;
    if (bulk_reduction_supported(reduction,
                                 of_bits && bytes == 4 ? TYPE_B32
                                 : of_bits             ? TYPE_B64
                                                       : type,
                                 false))
        return 0;
    return fault_at(
        copy->warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, 0,
        "used a reduction that the tensor map's format (%d-byte elements) does not support", bytes);
}

/* Reads the tensor map behind a generic address and resolves its tensor. */
int bulk_find_tensor(struct bulk_copy *copy, uint64_t address) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    struct error error = {0};
    int hint = -1;
    const uint8_t *bytes = translate_address(warp, copy->instruction, form->global.space,
                                             copy->lane, address, 64, false, &hint);
    if (!bytes || !translate_address(warp, copy->instruction, form->global.space, copy->lane,
                                     address + 64, 64, false, &hint))
        return -1;
    memcpy(&copy->map, bytes, sizeof copy->map);
    if (copy->map.rank != form->rank || tensor_map_check(&copy->map, &error) < 0)
        return fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, address,
                        "passed an address that does not hold a tensor map of %d dimensions",
                        form->rank);
    unsigned __int128 span = copy->map.element_bytes * copy->map.extents[0];
    for (int i = 1; i < copy->map.rank; i++)
        span += (unsigned __int128)copy->map.strides[i - 1] * (copy->map.extents[i] - 1);
    if (resolve_global(copy, copy->map.address, span > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)span) <
        0)
        return -1;
    copy->bytes = (uint32_t)tensor_map_box_bytes(&copy->map);
    return form->reduces ? set_element_type(copy) : 0;
}

/* Checks the box's start coordinates. For stores the CUDA Programming Guide forbids negative ones
   ("Negative indices and out of bounds"); the 16-byte alignment of the first coordinate is
   undocumented. A violation of either is CUDA_ERROR_ILLEGAL_INSTRUCTION on an H200. */
int bulk_check_coordinates(const struct bulk_copy *copy) {
    int64_t first = (int64_t)copy->coordinates[0] * copy->map.element_bytes;
    for (int i = 0; i < copy->map.rank && copy->instruction->as.bulk.path == BULK_STORE; i++)
        if (copy->coordinates[i] < 0)
            return fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, 0,
                            "stored a box at coordinate %d: only loads may start before the tensor",
                            copy->coordinates[i]);
    if (first % 16 == 0)
        return 0;
    return fault_at(
        copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, 0,
        "copied a box that starts %lld bytes into the row, which is not a multiple of 16",
        (long long)first);
}

int bulk_find_run(struct bulk_copy *copy, uint64_t address, uint32_t bytes) {
    copy->bytes = bytes;
    copy->reduction_access = copy->instruction->as.bulk.global;
    if (bytes % 16 == 0 && bytes > 0 && address % 16 == 0)
        return resolve_global(copy, address, bytes);
    return fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, address,
                    "copied %u bytes at 0x%llx: size and address must be multiples of 16", bytes,
                    (unsigned long long)address);
}
