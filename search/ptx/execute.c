#include "ptx/execute.h"

#include "ptx/half.h"
#include "ptx/instrument.h"

#include <fenv.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void float_mode_set(uint8_t mode) {
#if defined(__x86_64__)
    static const unsigned rounding[] = {0, 3, 1, 2}; /* MXCSR rounding bits: nearest, down, up,
                                                        zero */
    unsigned flush_denormals =
        mode & FLOAT_FLUSH ? 0x8040 : 0; /* flush results and operands (FTZ, DAZ) */
    _mm_setcsr(0x1f80 | rounding[mode & FLOAT_ROUNDING] << 13 | flush_denormals);
#else
    static const int rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(rounding[mode & FLOAT_ROUNDING]);
#if defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = mode & FLOAT_FLUSH ? control | 1u << 24 : control & ~(1ull << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
#endif
}

#define MERGE(type)                                                                                \
    if (mask == ALL_LANES)                                                                         \
        memcpy(out, from, LANES * sizeof(type));                                                   \
    else                                                                                           \
        FOR_EACH_LANE(lane, mask)((type *)out)[lane] = ((const type *)from)[lane];                 \
    break

void merge_lanes(void *out, const void *from, int width, uint32_t mask) {
    switch (width) {
    case 0:
        *(uint32_t *)out = (*(uint32_t *)out & ~mask) | (*(const uint32_t *)from & mask);
        break;
    case 2:
        MERGE(uint16_t);
    case 4:
        MERGE(uint32_t);
    default:
        MERGE(uint64_t);
    }
}

/* .sat of floats: clamps to [0, 1]; NaN becomes 0. */
static void saturate_lanes(void *out, enum type type) {
    for (int i = 0; i < LANES; i++) {
        if (type == TYPE_F32) {
            float *lane = (float *)out + i;
            *lane = *lane > 0 ? (*lane < 1 ? *lane : 1) : 0;
        } else if (type == TYPE_F64) {
            double *lane = (double *)out + i;
            *lane = *lane > 0 ? (*lane < 1 ? *lane : 1) : 0;
        } else {
            int halves = type == TYPE_F16X2 ? 2 : 1;
            for (int half = 0; half < halves; half++) {
                uint16_t *lane = (uint16_t *)out + halves * i + half;
                float value = half_to_float(*lane);
                *lane = value > 0 ? (value < 1 ? *lane : 0x3c00) : 0;
            }
        }
    }
}

/* .ftz of operations that only select or copy an fp32. */
static void flush_denormals(uint32_t *out) {
    for (int i = 0; i < LANES; i++)
        if (!(out[i] & 0x7f800000u))
            out[i] &= 0x80000000u;
}

static void apply_modifiers(const struct instruction *instruction, void *out) {
    if (instruction->saturate)
        saturate_lanes(out, (enum type)instruction->type);
    if (instruction->flush)
        flush_denormals(out);
}

EXECUTE(arithmetic) {
    uint64_t scratch[LANES];
    const uint32_t *operands = instruction->operands;
    void *out = operand_pointer(warp, operands[0]);
    void *target = mask == ALL_LANES ? out : scratch;
    const void *in[LANE_INPUTS_MAX];
    for (int i = 0; i < instruction->input_count; i++)
        in[i] = operand_pointer(warp, operands[1 + i]);
    enter_float_mode(warp, instruction->float_mode);
    instruction->lanes(target, in);
    if (instruction->saturate || instruction->flush)
        apply_modifiers(instruction, target);
    if (target != out)
        merge_lanes(out, target, instruction->width, mask);
    if (instruction->is_special_function) {
        warp->block->counts->special_functions++;
        if (critical_path_pace(warp))
            critical_path_advance(warp, critical_path_pace(warp)->special_function);
    }
    return ACTION_NEXT;
}

EXECUTE(conversion) {
    uint64_t result[LANES];
    const void *in[2] = {operand_pointer(warp, instruction->operands[1]),
                         operand_pointer(warp, instruction->operands[2])};
    enter_float_mode(warp, instruction->float_mode);
    warp->kernel->module->lanes.convert(&instruction->as.conversion, result, in);
    apply_modifiers(instruction, result);
    merge_lanes(operand_pointer(warp, instruction->operands[0]), result, instruction->width, mask);
    return ACTION_NEXT;
}

static uint32_t combine_predicate(const struct warp *warp, const struct instruction *instruction,
                                  uint32_t result, uint32_t place) {
    if (!instruction->as.compare.combination)
        return result;
    uint32_t other = *(uint32_t *)operand_pointer(warp, place);
    if (instruction->as.compare.combined_is_negated)
        other = ~other;
    switch (instruction->as.compare.combination) {
    case COMBINE_AND:
        return result & other;
    case COMBINE_OR:
        return result | other;
    default:
        return result ^ other;
    }
}

/* operands: p, q, a, b, c. For packed types p and q are the results of the two halves; otherwise q
   is not p. */
EXECUTE(setp) {
    const uint32_t *operands = instruction->operands;
    const void *in[2] = {operand_pointer(warp, operands[2]), operand_pointer(warp, operands[3])};
    uint32_t result[2];
    enter_float_mode(warp, instruction->float_mode);
    instruction->lanes(result, in);
    if (instruction->type != TYPE_F16X2 && instruction->type != TYPE_BF16X2)
        result[1] = ~result[0];
    uint32_t first = combine_predicate(warp, instruction, result[0], operands[4]);
    uint32_t second = combine_predicate(warp, instruction, result[1], operands[4]);
    merge_lanes(operand_pointer(warp, operands[0]), &first, 0, mask);
    if (instruction->as.compare.has_second)
        merge_lanes(operand_pointer(warp, operands[1]), &second, 0, mask);
    return ACTION_NEXT;
}

/* operands: d, a, b, c. True is 1.0 in floating types and all ones in others. */
EXECUTE(set) {
    const uint32_t *operands = instruction->operands;
    const void *in[2] = {operand_pointer(warp, operands[1]), operand_pointer(warp, operands[2])};
    uint32_t result[2] = {0}, out[LANES];
    enter_float_mode(warp, instruction->float_mode);
    instruction->lanes(result, in);
    for (int half = 0; half < 2; half++)
        result[half] = combine_predicate(warp, instruction, result[half], operands[3]);
    enum type type = instruction->as.compare.result;
    for (int i = 0; i < LANES; i++) {
        bool low = result[0] >> i & 1, high = result[1] >> i & 1;
        if (type == TYPE_F16X2)
            out[i] = (low ? 0x3c00u : 0) | (high ? 0x3c000000u : 0);
        else if (type == TYPE_BF16X2)
            out[i] = (low ? 0x3f80u : 0) | (high ? 0x3f800000u : 0);
        else if (type == TYPE_F16 || type == TYPE_BF16)
            ((uint16_t *)out)[i] = low ? (type == TYPE_F16 ? 0x3c00 : 0x3f80) : 0;
        else if (instruction->type == TYPE_F16X2 || instruction->type == TYPE_BF16X2)
            out[i] = (low ? 0xffffu : 0) | (high ? 0xffff0000u : 0);
        else if (instruction->width == 2)
            ((uint16_t *)out)[i] = low ? 0xffff : 0;
        else
            out[i] = low ? (type == TYPE_F32 ? 0x3f800000u : ~0u) : 0;
    }
    merge_lanes(operand_pointer(warp, operands[0]), out, instruction->width, mask);
    return ACTION_NEXT;
}

/* Moves element `element` of each lane's `count` elements of 1, 2 or 4 bytes between its own
   register (16 bits wide for a single byte) and a register of packed vectors. Element sizes are
   compile-time constants, so each copy is one move instruction. */
#define MOVE_ELEMENT(type, own_type)                                                               \
    for (int lane = 0; lane < LANES; lane++) {                                                     \
        type value;                                                                                \
        own_type own;                                                                              \
        if (pack) {                                                                                \
            memcpy(&own, elements + lane * sizeof own, sizeof own);                                \
            value = (type)own;                                                                     \
            memcpy(vectors + (lane * count + element) * sizeof value, &value, sizeof value);       \
        } else {                                                                                   \
            memcpy(&value, vectors + (lane * count + element) * sizeof value, sizeof value);       \
            own = value;                                                                           \
            memcpy(elements + lane * sizeof own, &own, sizeof own);                                \
        }                                                                                          \
    }

static inline void move_element(bool pack, int bytes, int count, int element, uint8_t *elements,
                                uint8_t *vectors) {
    if (bytes == 1)
        MOVE_ELEMENT(uint8_t, uint16_t)
    else if (bytes == 2)
        MOVE_ELEMENT(uint16_t, uint16_t)
    else
        MOVE_ELEMENT(uint32_t, uint32_t)
}

EXECUTE(pack) {
    uint64_t result[LANES];
    int bytes = instruction->as.pack.element_bytes, count = instruction->as.pack.count;
    for (int element = 0; element < count; element++)
        move_element(true, bytes, count, element,
                     operand_pointer(warp, instruction->operands[1 + element]), (uint8_t *)result);
    merge_lanes(operand_pointer(warp, instruction->operands[0]), result, bytes * count, mask);
    return ACTION_NEXT;
}

EXECUTE(unpack) {
    int bytes = instruction->as.pack.element_bytes, count = instruction->as.pack.count;
    uint64_t source[LANES]; /* a copy: an element may be written before the next is read */
    uint64_t result[LANES];
    memcpy(source, operand_pointer(warp, instruction->operands[count]),
           (size_t)(bytes * count) * LANES);
    for (int element = 0; element < count; element++) {
        move_element(false, bytes, count, element, (uint8_t *)result, (uint8_t *)source);
        merge_lanes(operand_pointer(warp, instruction->operands[element]), result,
                    bytes < 2 ? 2 : bytes, mask);
    }
    return ACTION_NEXT;
}

EXECUTE(cvta) {
    uint64_t result[LANES];
    const uint64_t *from = operand_pointer(warp, instruction->operands[1]);
    for (int lane = 0; lane < LANES; lane++)
        result[lane] = from[lane] + instruction->as.shift;
    merge_lanes(operand_pointer(warp, instruction->operands[0]), result, 8, mask);
    return ACTION_NEXT;
}

static bool is_const_address(const struct ptx_module *module, uint64_t address) {
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].is_const &&
            address - module->variables[i].address < module->variables[i].bytes)
            return true;
    return false;
}

/* A block's own shared memory also belongs to the cluster's window. */
static bool is_in_space(const struct ptx_module *module, uint64_t address, enum state_space space,
                        unsigned rank) {
    uint64_t block = (address - SHARED_WINDOW) / RANK_STRIDE;
    if (space == SPACE_CLUSTER || space == SPACE_SHARED)
        return address - SHARED_WINDOW < WINDOW_BYTES &&
               (space == SPACE_CLUSTER || block == 0 || block == rank + 1);
    if (space == SPACE_LOCAL || space == SPACE_PARAM)
        return address - (space == SPACE_LOCAL ? LOCAL_WINDOW : PARAM_WINDOW) < WINDOW_BYTES;
    bool is_global = address < SHARED_WINDOW || address >= PARAM_WINDOW + WINDOW_BYTES;
    return is_global && is_const_address(module, address) == (space == SPACE_CONST);
}

EXECUTE(isspace) {
    uint32_t result = 0;
    const uint64_t *from = operand_pointer(warp, instruction->operands[1]);
    for (int lane = 0; lane < LANES; lane++)
        result |= (uint32_t)is_in_space(warp->kernel->module, from[lane],
                                        instruction->as.isspace.space, warp->block->rank)
                  << lane;
    merge_lanes(operand_pointer(warp, instruction->operands[0]), &result, 0, mask);
    return ACTION_NEXT;
}

/* Clocks count the launch's instructions: they increase and are reproducible. With a seed they do
   not give the emulated device away: they start late, and the steps between instructions vary. */
EXECUTE(special_register) {
    uint64_t now = warp->block->counts->warp_instructions + warp->tick, result[LANES];
    uint64_t seed = warp->block->launch->block_seed;
    if (seed) {
        now = 16 * now + ((now ^ seed) * 0x9e3779b97f4a7c15ull >> 60) +
              (seed * 0x9e3779b97f4a7c15ull >> 24);
        if (instruction->input_count == SPECIAL_GLOBALTIMER) /* ns since 1970, in steps of 32 */
            now = ((uint64_t)1760000000 * 1000000000 + now) & ~31ull;
    }
    for (int lane = 0; lane < LANES; lane++) {
        if (instruction->width == 8)
            result[lane] = now;
        else
            ((uint32_t *)result)[lane] =
                (uint32_t)(instruction->input_count == SPECIAL_CLOCK_HI ? now >> 32 : now);
    }
    merge_lanes(operand_pointer(warp, instruction->operands[0]), result, instruction->width, mask);
    return ACTION_NEXT;
}

EXECUTE(nop) {
    (void)warp, (void)instruction, (void)mask;
    return ACTION_NEXT;
}

EXECUTE(yield) {
    (void)warp, (void)instruction, (void)mask;
    return ACTION_YIELD;
}

/* Nothing to execute: one warp runs at a time. */
EXECUTE(fence) {
    (void)mask;
    if (!warp->block->racecheck)
        return ACTION_NEXT;
    instrument_fence(warp, instruction->as.fence.scope);
    if (instruction->as.fence.proxy)
        instrument_proxy_fence(warp);
    return ACTION_NEXT;
}

/* griddepcontrol.wait: launches run one after the other. */
EXECUTE(griddepcontrol_wait) {
    (void)instruction, (void)mask;
    if (warp->block->racecheck)
        instrument_griddep_wait(warp);
    return ACTION_NEXT;
}

EXECUTE(branch) {
    return warp_branch(warp, mask, instruction->as.branch.target);
}

/* The lanes with the first lane's target jump there; the others execute this instruction again. */
EXECUTE(branch_table) {
    const uint32_t *indices = operand_pointer(warp, instruction->operands[0]);
    int first = __builtin_ctz(mask);
    uint32_t index = indices[first], taken = 0;
    if (index >= instruction->as.branch.target_count)
        return fault_at(warp, instruction, first, PTX_FAULT_UNDEFINED, 0,
                        "jumped to entry %u of a branch table of %u", index,
                        instruction->as.branch.target_count);
    FOR_EACH_LANE(lane, mask)
    taken |= (uint32_t)(indices[lane] == index) << lane;
    uint32_t target = warp->kernel->targets[instruction->as.branch.target + index];
    return warp_branch_subset(warp, mask, taken, target);
}

EXECUTE(exit) {
    (void)instruction;
    return warp_exit(warp, mask);
}

EXECUTE(trap) {
    return fault_at(warp, instruction, __builtin_ctz(mask), PTX_FAULT_TRAP, 0, "%s",
                    instruction->as.text);
}

EXECUTE(unsupported) {
    int lane = __builtin_ctz(mask);
    if (!warp->block->racecheck || !instrument_unsupported(warp, instruction, lane))
        return fault_at(warp, instruction, lane, PTX_FAULT_UNKNOWN_OPCODE, 0,
                        "executed what the emulated device lacks: %s", instruction->as.text);
    return ACTION_NEXT;
}
