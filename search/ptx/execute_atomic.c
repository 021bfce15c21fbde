/* Atomics, and the reduction step of asynchronous reductions: PTX ISA 9.7.13.4 to 9.7.13.6. */
#include "ptx/execute.h"
#include "ptx/half.h"

#include <math.h>
#include <string.h>

static uint32_t add_halves(enum type type, uint32_t a, uint32_t b) {
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        uint16_t x = (uint16_t)(a >> shift), y = (uint16_t)(b >> shift);
        uint16_t sum = type == TYPE_F16X2 || type == TYPE_F16
                           ? float_to_half(half_to_float(x) + half_to_float(y))
                           : float_to_bfloat(bfloat_to_float(x) + bfloat_to_float(y));
        result |= (uint32_t)sum << shift;
    }
    return result;
}

/* Flushes a denormal to zero. */
static uint32_t flush_denormal(uint32_t bits) {
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static uint64_t add_atomically(enum type type, uint64_t old, uint64_t b, bool flushes) {
    switch (type) {
    case TYPE_F32:
        return flushes ? flush_denormal(float_bits(bits_float(flush_denormal((uint32_t)old)) +
                                                   bits_float(flush_denormal((uint32_t)b))))
                       : float_bits(bits_float((uint32_t)old) + bits_float((uint32_t)b));
    case TYPE_F64:
        return double_bits(bits_double(old) + bits_double(b));
    case TYPE_F16X2:
    case TYPE_BF16X2:
    case TYPE_F16:
    case TYPE_BF16:
        return add_halves(type, (uint32_t)old, (uint32_t)b);
    default:
        return old + b;
    }
}

/* If one operand is a NaN, the other; of two zeros the negative one is less. */
static uint64_t float_min_or_max(const struct access *access, uint64_t a, uint64_t b) {
    float x, y;
    if (access->type == TYPE_F16) {
        x = half_to_float((uint16_t)a);
        y = half_to_float((uint16_t)b);
    } else {
        x = bfloat_to_float((uint16_t)a);
        y = bfloat_to_float((uint16_t)b);
    }
    bool less = x < y || (x == y && signbit(x));
    if (isnan(x) || isnan(y))
        return isnan(x) ? b : a;
    return less == (access->reduction == REDUCE_MIN) ? a : b;
}

static uint64_t reduce_atomically(const struct access *access, bool flushes, uint64_t old,
                                  uint64_t b, uint64_t c) {
    bool less = access->is_signed ? access->element_bytes == 4 ? (int32_t)old < (int32_t)b
                                                               : (int64_t)old < (int64_t)b
                                  : old < b;
    if (type_is_float(access->type) && access->reduction != REDUCE_ADD)
        return float_min_or_max(access, old, b);
    switch (access->reduction) {
    case REDUCE_ADD:
        return add_atomically(access->type, old, b, flushes);
    case REDUCE_MIN:
        return less ? old : b;
    case REDUCE_MAX:
        return less ? b : old;
    case REDUCE_AND:
        return old & b;
    case REDUCE_OR:
        return old | b;
    case REDUCE_XOR:
        return old ^ b;
    case REDUCE_INC:
        return old >= b ? 0 : old + 1;
    case REDUCE_DEC:
        return old == 0 || old > b ? b : old - 1;
    case REDUCE_CAS:
        return old == b ? c : old;
    default:
        return b;
    }
}

void reduce_bytes(const struct warp *warp, const struct access *access, uint8_t *to,
                  const uint8_t *from, size_t bytes) {
    size_t width = access->element_bytes;
    enter_float_mode(warp, FLOAT_NEAREST);
    for (size_t at = 0; at < bytes; at += width) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, to + at, width);
        memcpy(&operand, from + at, width);
        uint64_t value = reduce_atomically(access, false, old, operand, 0);
        memcpy(to + at, &value, width);
    }
}

/* On the critical path a warp waits for what an atomic returns. */
static void await_result(struct warp *warp, const struct access *access) {
    if (critical_path_pace(warp) && access->returns)
        critical_path_wait(warp, warp->path.start + warp->path.latency);
}

/* operands: base; d, b, c of each element. Lanes are processed in ascending order. */
EXECUTE(atomic) {
    const struct access *access = &instruction->as.access;
    int bytes = access->element_bytes, all = bytes * access->vector;
    uint8_t *pointers[LANES];
    if (translate_lanes(warp, instruction, access, instruction->operands[0], mask, all, true,
                        pointers) == ACTION_FAULT)
        return ACTION_FAULT;
    enter_float_mode(warp, FLOAT_NEAREST);
    /* Global memory adds fp32 as with .ftz; shared memory does not flush. */
    bool flushes = !access_is_shared(warp, access, pointers[__builtin_ctz(mask)]);
    for (int i = 0; i < access->vector; i++) {
        const uint32_t *operands = instruction->operands + 1 + 3 * i;
        uint8_t *out = operand_pointer(warp, operands[0]);
        const uint8_t *b = operand_pointer(warp, operands[1]),
                      *c = operand_pointer(warp, operands[2]);
        FOR_EACH_LANE(lane, mask) {
            uint64_t old = 0, operand = 0, swap = 0;
            uint8_t *at = pointers[lane] + i * bytes;
            memcpy(&old, at, (size_t)bytes);
            memcpy(&operand, b + (int)lane * bytes, (size_t)bytes);
            memcpy(&swap, c + (int)lane * bytes, (size_t)bytes);
            uint64_t value = reduce_atomically(access, flushes, old, operand, swap);
            memcpy(at, &value, (size_t)bytes);
            if (access->returns)
                memcpy(out + (int)lane * bytes, &old, (size_t)bytes);
        }
    }
    count_access(warp, access, true, pointers, mask, all);
    await_result(warp, access);
    return ACTION_NEXT;
}

static void read_halves(const struct warp *warp, const uint32_t places[2], uint32_t lane,
                        uint64_t halves[2]) {
    for (int i = 0; i < 2; i++)
        halves[i] = ((const uint64_t *)operand_pointer(warp, places[i]))[lane];
}

/* operands: base; d, b, c, each in two halves. */
EXECUTE(atomic_wide) {
    const struct access *access = &instruction->as.access;
    const uint32_t *operands = instruction->operands;
    uint8_t *pointers[LANES];
    if (translate_lanes(warp, instruction, access, operands[0], mask, 16, true, pointers) ==
        ACTION_FAULT)
        return ACTION_FAULT;
    FOR_EACH_LANE(lane, mask) {
        uint64_t old[2], b[2], c[2];
        read_halves(warp, operands + 3, lane, b);
        read_halves(warp, operands + 5, lane, c);
        memcpy(old, pointers[lane], sizeof old);
        bool swaps = access->reduction == REDUCE_EXCHANGE || !memcmp(old, b, sizeof old);
        if (swaps)
            memcpy(pointers[lane], access->reduction == REDUCE_CAS ? c : b, sizeof old);
        for (int i = 0; i < 2; i++)
            ((uint64_t *)operand_pointer(warp, operands[1 + i]))[lane] = old[i];
    }
    count_access(warp, access, true, pointers, mask, 16);
    await_result(warp, access);
    return ACTION_NEXT;
}
