/* Device-side modification of tensor maps (PTX ISA 9.7.9.28 and 9.7.13.17.2); here a map is a
   struct tensor_map. */
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include "ptx/tensor_map.h"

#include <string.h>

/* Host pointer to the map at a lane's address; NULL with a fault. */
static uint8_t *find_map(struct warp *warp, const struct instruction *instruction,
                         const struct access *access, uint32_t place, int lane, bool is_store) {
    enum { HALF = TENSOR_MAP_BYTES / 2 }; /* maps are aligned to 64 bytes */
    int hint = -1;
    uint64_t address = operand_address(warp, access, place, lane);
    uint8_t *at =
        translate_address(warp, instruction, access->space, lane, address, HALF, is_store, &hint);
    if (!at || !translate_address(warp, instruction, access->space, lane, address + HALF, HALF,
                                  is_store, &hint))
        return NULL;
    if (warp->block->racecheck)
        instrument_async_access(warp, instruction, access->space, address, TENSOR_MAP_BYTES,
                                is_store);
    return at;
}

/* Element types, by their number in PTX. */
static bool set_format(struct tensor_map *tensormap, uint64_t value) {
    static const struct {
        uint8_t bytes, format;
    } formats[] = {{1, TENSOR_UNSIGNED}, {2, TENSOR_UNSIGNED}, {4, TENSOR_UNSIGNED},
                   {4, TENSOR_SIGNED},   {8, TENSOR_UNSIGNED}, {8, TENSOR_SIGNED},
                   {2, TENSOR_FLOAT},    {4, TENSOR_FLOAT},    {4, TENSOR_FLOAT},
                   {8, TENSOR_FLOAT},    {2, TENSOR_BFLOAT},   {4, TENSOR_FLOAT},
                   {4, TENSOR_FLOAT}};
    if (value >= sizeof formats / sizeof *formats)
        return false;
    tensormap->element_bytes = formats[value].bytes;
    tensormap->format = formats[value].format;
    return true;
}

/* Sets a field; false if the emulated copy engine does not support the value. */
static bool set_field(struct tensor_map *tensormap, const struct tensormap_form *form,
                      uint64_t value) {
    switch (form->field) {
    case TENSORMAP_ADDRESS:
        tensormap->address = value;
        return true;
    case TENSORMAP_RANK: /* PTX encodes rank - 1 */
        tensormap->rank = (uint8_t)(value + 1);
        return value < TENSOR_MAP_RANK_MAX;
    case TENSORMAP_BOX:
        tensormap->box[form->axis] = (uint32_t)value;
        return true;
    case TENSORMAP_EXTENT: /* 0 encodes 2^32 */
        tensormap->extents[form->axis] = value ? value : 1ull << 32;
        return true;
    case TENSORMAP_STRIDE:
        tensormap->strides[form->axis] = value;
        return true;
    case TENSORMAP_ELEMENT_STRIDE:
        return value == 1;
    case TENSORMAP_FORMAT:
        return set_format(tensormap, value);
    case TENSORMAP_SWIZZLE:
        tensormap->swizzle = (uint8_t)value;
        return value < SWIZZLE_COUNT;
    default:
        return value == 0;
    }
}

/* operands: base, value */
EXECUTE(tensormap_replace) {
    static const char *const names[TENSORMAP_FIELD_COUNT] = {
        "address",        "rank",         "box extent",        "tensor extent", "stride",
        "element stride", "element type", "interleave layout", "swizzle mode",  "fill mode"};
    const struct tensormap_form *form = &instruction->as.tensormap;
    const uint8_t *values = operand_pointer(warp, instruction->operands[1]);
    FOR_EACH_LANE(lane, mask) {
        struct tensor_map tensormap;
        uint64_t value = 0;
        uint8_t *at =
            find_map(warp, instruction, &form->where, instruction->operands[0], (int)lane, true);
        if (!at)
            return ACTION_FAULT;
        memcpy(&value, values + lane * instruction->width, instruction->width);
        memcpy(&tensormap, at, sizeof tensormap);
        if (!set_field(&tensormap, form, value))
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "set the %s of a tensor map to %llu, which is not supported",
                            names[form->field], (unsigned long long)value);
        memcpy(at, &tensormap, sizeof tensormap);
    }
    return ACTION_NEXT;
}

/* operands: bases of the map in global and in shared memory. The whole warp makes one copy. */
EXECUTE(tensormap_copy) {
    const struct tensormap_form *form = &instruction->as.tensormap;
    int lane = __builtin_ctz(mask);
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    const uint8_t *from =
        find_map(warp, instruction, &form->where, instruction->operands[1], lane, false);
    uint8_t *to =
        from ? find_map(warp, instruction, &form->to, instruction->operands[0], lane, true) : NULL;
    if (!to)
        return ACTION_FAULT;
    memcpy(to, from, TENSOR_MAP_BYTES);
    if (warp->block->racecheck)
        instrument_fence(warp, SCOPE_DEVICE);
    return ACTION_NEXT;
}
