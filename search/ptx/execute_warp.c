/* Warp-level primitives (PTX ISA 9.7.9.6, 9.7.13.7 to 9.7.13.13) and block barriers (9.7.13.1). */
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <string.h>

/* The lanes of `mask` with the same member mask as lane `first`, which act together. 0 with a fault
   if the member masks overlap. */
static uint32_t member_group(struct warp *warp, const struct instruction *instruction,
                             uint32_t mask, const uint32_t *members, uint32_t first) {
    uint32_t group = 0;
    FOR_EACH_LANE(lane, mask) group |= (uint32_t)(members[lane] == members[first]) << lane;
    uint32_t outsiders = group & ~members[first], conflicting = members[first] & mask & ~group;
    if (outsiders)
        fault_at(warp, instruction, __builtin_ctz(outsiders), PTX_FAULT_LANES_DISAGREE, 0,
                 "passed the member mask 0x%08x, which does not include its lane", members[first]);
    else if (conflicting)
        fault_at(warp, instruction, __builtin_ctz(conflicting), PTX_FAULT_LANES_DISAGREE, 0,
                 "passed the member mask 0x%08x, but lane %d passed 0x%08x",
                 members[__builtin_ctz(conflicting)], (int)first, members[first]);
    return outsiders || conflicting ? 0 : group;
}

/* Reduces `*mask` to the lanes of one complete member mask; other groups execute this instruction
   afterwards. If none is complete, parks all until one is. */
static enum action gather_members(struct warp *warp, const struct instruction *instruction,
                                  uint32_t *mask, uint32_t place) {
    uint32_t masks[LANES], all = *mask, chosen = 0, common = ALL_LANES;
    memcpy(masks, operand_pointer(warp, place), sizeof masks);
    for (int lane = 0; lane < LANES; lane++)
        common &= masks[lane];
    if (common == ALL_LANES && all == ALL_LANES) /* the common case */
        return ACTION_NEXT;
    for (uint32_t rest = all, group; rest; rest &= ~group) {
        uint32_t first = (uint32_t)__builtin_ctz(rest);
        group = member_group(warp, instruction, all, masks, first);
        if (!group)
            return ACTION_FAULT;
        if (!chosen && !(masks[first] & warp->live & ~group))
            chosen = group;
    }
    for (uint32_t rest = all & ~chosen; rest && chosen != all;) {
        uint32_t first = (uint32_t)__builtin_ctz(rest), group = 0;
        FOR_EACH_LANE(lane, rest) group |= (uint32_t)(masks[lane] == masks[first]) << lane;
        warp_park(warp, group, chosen ? GROUP_READY : GROUP_AWAITS_LANES, masks[first]);
        warp->stop_pc = 0; /* reschedule, so that they run next */
        rest &= ~group;
    }
    *mask = chosen ? chosen : all;
    return chosen || warp->active ? ACTION_NEXT : ACTION_WAIT;
}

/* After gather_members: whether all lanes were parked. */
static bool all_parked(const struct warp *warp, uint32_t mask) {
    return !(warp->active & mask);
}

/* The lane that each lane reads, and whether it is in range; otherwise a lane reads itself. Inlined
   for each mode. */
static inline __attribute__((always_inline)) uint32_t
shuffle_in(enum shuffle mode, const uint32_t *a, const uint32_t *b, const uint32_t *c,
           uint32_t mask, uint32_t result[LANES]) {
    uint32_t in_range = 0;
    for (int lane = 0; lane < LANES; lane++) {
        int by = (int)(b[lane] & 31), clamp = (int)(c[lane] & 31);
        int segment = (int)(c[lane] >> 8 & 31), most = (lane & segment) | (clamp & ~segment);
        int from = mode == SHUFFLE_UP     ? lane - by
                   : mode == SHUFFLE_DOWN ? lane + by
                   : mode == SHUFFLE_BFLY ? lane ^ by
                                          : (lane & segment) | (by & ~segment);
        bool valid = mode == SHUFFLE_UP ? from >= most : from <= most;
        from = valid ? from : lane;
        result[lane] = mask >> from & 1 ? a[from] : ~0u;
        in_range |= (uint32_t)valid << lane;
    }
    return in_range;
}

static uint32_t shuffle_lanes(enum shuffle mode, const uint32_t *a, const uint32_t *b,
                              const uint32_t *c, uint32_t mask, uint32_t result[LANES]) {
    switch (mode) {
    case SHUFFLE_UP:
        return shuffle_in(SHUFFLE_UP, a, b, c, mask, result);
    case SHUFFLE_DOWN:
        return shuffle_in(SHUFFLE_DOWN, a, b, c, mask, result);
    case SHUFFLE_BFLY:
        return shuffle_in(SHUFFLE_BFLY, a, b, c, mask, result);
    default:
        return shuffle_in(SHUFFLE_IDX, a, b, c, mask, result);
    }
}

/* The lanes that each lane reads, without those out of range: lane numbers shuffled. */
static void check_shuffle(struct warp *warp, const struct instruction *instruction, uint32_t mask) {
    const uint32_t *operands = instruction->operands;
    const uint32_t *b = operand_pointer(warp, operands[3]), *c = operand_pointer(warp, operands[4]);
    uint32_t lanes[LANES], from[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++)
        lanes[lane] = lane;
    shuffle_lanes(instruction->as.shuffle.mode, lanes, b, c, ALL_LANES, from);
    instrument_shuffle(warp, instruction, from, mask);
}

/* A lane that does not participate, or has exited, provides bytes of 0xff: PTX leaves it undefined.
   operands: d, p, a, b, c, members. */
EXECUTE(shuffle) {
    const uint32_t *operands = instruction->operands;
    enum action action = gather_members(warp, instruction, &mask, operands[5]);
    if (action == ACTION_FAULT || all_parked(warp, mask))
        return action;
    const uint32_t *a = operand_pointer(warp, operands[2]), *b = operand_pointer(warp, operands[3]);
    const uint32_t *c = operand_pointer(warp, operands[4]);
    if (warp->block->racecheck)
        check_shuffle(warp, instruction, mask);
    uint32_t result[LANES],
        in_range = shuffle_lanes(instruction->as.shuffle.mode, a, b, c, mask, result);
    merge_lanes(operand_pointer(warp, operands[0]), result, 4, mask);
    if (instruction->as.shuffle.has_predicate)
        merge_lanes(operand_pointer(warp, operands[1]), &in_range, 0, mask);
    if (critical_path_pace(warp)) /* through the pipeline of shared memory */
        critical_path_latency(warp, critical_path_pace(warp)->shared);
    return action;
}

/* operands: d, p, members */
EXECUTE(vote) {
    const uint32_t *operands = instruction->operands;
    enum action action = gather_members(warp, instruction, &mask, operands[2]);
    if (action == ACTION_FAULT || all_parked(warp, mask))
        return action;
    uint32_t votes = *(uint32_t *)operand_pointer(warp, operands[1]);
    if (instruction->as.vote.negated)
        votes = ~votes;
    votes &= mask;
    if (instruction->as.vote.mode == VOTE_BALLOT) {
        uint32_t *out = operand_pointer(warp, operands[0]);
        FOR_EACH_LANE(lane, mask) out[lane] = votes;
        return action;
    }
    bool all = votes == mask, any = votes != 0;
    bool decided = instruction->as.vote.mode == VOTE_ALL   ? all
                   : instruction->as.vote.mode == VOTE_ANY ? any
                                                           : all || !any;
    uint32_t result = decided ? ALL_LANES : 0;
    merge_lanes(operand_pointer(warp, operands[0]), &result, 0, mask);
    return action;
}

EXECUTE(active_mask) {
    uint32_t *out = operand_pointer(warp, instruction->operands[0]);
    FOR_EACH_LANE(lane, mask) out[lane] = mask;
    return ACTION_NEXT;
}

static uint64_t value_of_lane(const void *lanes, int width, uint32_t lane) {
    return width == 8 ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
}

/* operands: d, p, a, members. match.any: the lanes with the same value; match.all: all lanes or
   none. */
EXECUTE(match) {
    const uint32_t *operands = instruction->operands;
    uint32_t out[LANES], all_equal = ALL_LANES;
    enum action action = gather_members(warp, instruction, &mask, operands[3]);
    if (action == ACTION_FAULT || all_parked(warp, mask))
        return action;
    const void *values = operand_pointer(warp, operands[2]);
    int width = instruction->width;
    FOR_EACH_LANE(lane, mask) {
        out[lane] = 0;
        FOR_EACH_LANE(other, mask)
        out[lane] |=
            (uint32_t)(value_of_lane(values, width, lane) == value_of_lane(values, width, other))
            << other;
        if (out[lane] != mask)
            all_equal = 0;
    }
    if (instruction->as.vote.mode == VOTE_ALL) {
        FOR_EACH_LANE(lane, mask) out[lane] = all_equal & mask;
        if (instruction->as.vote.has_members)
            merge_lanes(operand_pointer(warp, operands[1]), &all_equal, 0, mask);
    }
    merge_lanes(operand_pointer(warp, operands[0]), out, 4, mask);
    return action;
}

static uint32_t reduce_u32(enum reduction reduction, bool is_signed, uint32_t a, uint32_t b) {
    switch (reduction) {
    case REDUCE_ADD:
        return a + b;
    case REDUCE_AND:
        return a & b;
    case REDUCE_OR:
        return a | b;
    case REDUCE_XOR:
        return a ^ b;
    case REDUCE_MIN:
        return is_signed ? ((int32_t)a < (int32_t)b ? a : b) : (a < b ? a : b);
    default:
        return is_signed ? ((int32_t)a > (int32_t)b ? a : b) : (a > b ? a : b);
    }
}

/* operands: d, a, members */
EXECUTE(redux) {
    const uint32_t *operands = instruction->operands;
    enum action action = gather_members(warp, instruction, &mask, operands[2]);
    if (action == ACTION_FAULT || all_parked(warp, mask))
        return action;
    const uint32_t *a = operand_pointer(warp, operands[1]);
    uint32_t *out = operand_pointer(warp, operands[0]), first = (uint32_t)__builtin_ctz(mask);
    uint32_t result = a[first];
    FOR_EACH_LANE(lane, mask & ~(1u << first))
    result = reduce_u32(instruction->as.access.reduction, instruction->as.access.is_signed, result,
                        a[lane]);
    FOR_EACH_LANE(lane, mask) out[lane] = result;
    return action;
}

/* operands: d, p, members. The lowest lane is elected. */
EXECUTE(elect) {
    const uint32_t *operands = instruction->operands;
    enum action action = gather_members(warp, instruction, &mask, operands[2]);
    if (action == ACTION_FAULT || all_parked(warp, mask))
        return action;
    uint32_t *out = operand_pointer(warp, operands[0]), leader = mask & -mask;
    FOR_EACH_LANE(lane, mask) out[lane] = (uint32_t)__builtin_ctz(mask);
    merge_lanes(operand_pointer(warp, operands[1]), &leader, 0, mask);
    return action;
}

EXECUTE(bar_warp_sync) {
    const uint32_t *members = operand_pointer(warp, instruction->operands[0]);
    enum action action = gather_members(warp, instruction, &mask, instruction->operands[0]);
    if (warp->block->racecheck && action != ACTION_FAULT && !all_parked(warp, mask))
        instrument_warp_sync(warp, members[__builtin_ctz(mask)]);
    critical_path_branch(warp); /* memory accesses do not move across it */
    return action;
}

/* ---- Barriers of the block. operands: d, barrier, count, predicate. ---- */

EXECUTE(barrier) {
    const uint32_t *operands = instruction->operands;
    const struct barrier_form *form = &instruction->as.barrier;
    struct block *block = warp->block;
    int first = __builtin_ctz(mask);
    uint32_t index = ((uint32_t *)operand_pointer(warp, operands[1]))[first];
    if (index >= BARRIERS_MAX)
        return fault_at(warp, instruction, first, PTX_FAULT_UNDEFINED, 0,
                        "used barrier %u: there are only %d", index, BARRIERS_MAX);
    struct block_barrier *barrier = &block->barriers[index];
    uint32_t expected = 0;
    if (form->has_count) {
        expected = ((uint32_t *)operand_pointer(warp, operands[2]))[first];
        if (expected == 0 || expected % LANES != 0)
            return fault_at(
                warp, instruction, first, PTX_FAULT_UNDEFINED, 0,
                "passed barrier %u a count of %u threads, which is not a multiple of the warp size",
                index, expected);
    }
    if (!barrier->in_use) {
        memset(barrier, 0, sizeof *barrier);
        barrier->in_use = true;
        barrier->expected = expected;
        barrier->all = ALL_LANES;
    } else if (barrier->expected != expected)
        return fault_at(warp, instruction, first, PTX_FAULT_UNDEFINED, 0,
                        "passed barrier %u a count of %u threads, but others passed %u", index,
                        expected, barrier->expected);
    if (barrier->arrived[warp->index] & mask)
        return fault_at(warp, instruction, first, PTX_FAULT_UNDEFINED, 0,
                        "arrived at barrier %u twice before it completed", index);
    barrier->arrived[warp->index] |= mask;
    if (form->reduces) {
        uint32_t votes = *(uint32_t *)operand_pointer(warp, operands[3]);
        votes = (form->predicate_negated ? ~votes : votes) & mask;
        barrier->sum += (uint32_t)__builtin_popcount(votes);
        barrier->all &= votes == mask ? ALL_LANES : 0;
        barrier->any |= votes ? ALL_LANES : 0;
    }
    block->counts->barriers++;
    if (block->racecheck) {
        instrument_check_uniform(warp, instruction, operand_pointer(warp, operands[1]), 4, mask,
                                 "a barrier");
        instrument_barrier_arrive(warp, instruction, index, mask);
    }
    if (critical_path_pace(warp) && critical_path_now(warp) > barrier->arrived_at)
        barrier->arrived_at = critical_path_now(warp);
    if (!form->waits)
        return ACTION_NEXT;
    warp_park(warp, mask, GROUP_AT_BARRIER, index);
    return warp->active ? ACTION_NEXT : ACTION_WAIT;
}

void finish_barrier_reduction(struct warp *warp, const struct instruction *instruction,
                              uint32_t mask, const struct block_barrier *barrier) {
    const struct barrier_form *form = &instruction->as.barrier;
    if (!form->reduces)
        return;
    void *out = operand_pointer(warp, instruction->operands[0]);
    if (form->reduction == REDUCE_ADD) {
        FOR_EACH_LANE(lane, mask)((uint32_t *)out)[lane] = barrier->sum;
    } else {
        merge_lanes(out, form->reduction == REDUCE_AND ? &barrier->all : &barrier->any, 0, mask);
    }
}
