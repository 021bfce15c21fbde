/* mbarriers (PTX ISA 9.7.13.15). */
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <string.h>

enum { COUNT_BITS = 20, COUNT_MAX = (1 << COUNT_BITS) - 1, TAG = 1 };

/* The contents of the 8 bytes, which PTX leaves opaque. The tag distinguishes an mbarrier from
   uninitialised memory. */
struct mbarrier {
    uint32_t expected, pending; /* arrivals per phase; arrivals still pending */
    int32_t bytes;              /* tx-count: expected minus arrived bytes; may be negative */
    uint32_t phase;             /* parity */
};

static uint64_t pack_mbarrier(const struct mbarrier *barrier) {
    return (uint64_t)TAG << 62 | (uint64_t)barrier->phase << 61 |
           (uint64_t)((uint32_t)barrier->bytes & (2 * COUNT_MAX + 1)) << 2 * COUNT_BITS |
           (uint64_t)barrier->pending << COUNT_BITS | barrier->expected;
}

static bool unpack_mbarrier(uint64_t bits, struct mbarrier *barrier) {
    uint32_t bytes = (uint32_t)(bits >> 2 * COUNT_BITS) & (2 * COUNT_MAX + 1);
    *barrier =
        (struct mbarrier){.expected = bits & COUNT_MAX,
                          .pending = bits >> COUNT_BITS & COUNT_MAX,
                          .bytes = (int32_t)(bytes << (31 - COUNT_BITS)) >> (31 - COUNT_BITS),
                          .phase = bits >> 61 & 1};
    return bits >> 62 == TAG;
}

/* Whether only threads of the owning block may use it. */
static bool is_local(const struct mbarrier_form *form) {
    return form->waits || form->operation == MBARRIER_INIT ||
           form->operation == MBARRIER_INVALIDATE;
}

/* The race checker's key of an mbarrier. */
static uint64_t shared_key(const struct block *owner, const uint8_t *at) {
    return sync_key_shared(owner->rank, (uint64_t)(at - owner->shared));
}

/* The 8 bytes at a lane's address; NULL with a fault. */
static uint8_t *find_mbarrier(struct warp *warp, const struct instruction *instruction, int lane) {
    const struct access *where = &instruction->as.mbarrier.where;
    uint64_t address = operand_address(warp, where, instruction->operands[1], lane);
    int hint = -1;
    uint8_t *bytes = translate_address(warp, instruction, where->space, lane, address, 8,
                                       !instruction->as.mbarrier.waits, &hint);
    const struct block *owner = bytes ? owner_of_shared(warp->block, bytes) : NULL;
    if (!bytes || (owner && (owner == warp->block || !is_local(&instruction->as.mbarrier))))
        return bytes;
    fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, address,
             owner ? "waited on, initialized or invalidated an mbarrier of another block"
                   : "used an mbarrier that is not in shared memory");
    return NULL;
}

static void instrument_use(struct warp *warp, const struct instruction *instruction, int lane,
                           const uint8_t *at) {
    const struct block *owner = owner_of_shared(warp->block, at);
    const struct mbarrier_form *form = &instruction->as.mbarrier;
    instrument_mbarrier(warp, instruction, lane, owner, (uint32_t)(at - owner->shared),
                        form->waits ? MBARRIER_ARRIVE : form->operation);
}

static int load_mbarrier(struct warp *warp, const struct instruction *instruction, int lane,
                         const uint8_t *bytes, struct mbarrier *barrier) {
    uint64_t bits;
    const struct block *owner = owner_of_shared(warp->block, bytes);
    uint64_t offset = (uint64_t)(bytes - owner->shared);
    memcpy(&bits, bytes, sizeof bits);
    if (unpack_mbarrier(bits, barrier))
        return 0;
    return fault_at(
        warp, instruction, lane, PTX_FAULT_UNDEFINED, offset,
        "used an mbarrier at shared memory 0x%llx%s that is not initialized or was overwritten",
        (unsigned long long)offset, owner == warp->block ? "" : " of another block");
}

/* Writes the mbarrier back, after advancing it to the next phase if the current one is complete. */
static void store_mbarrier(struct block *block, uint8_t *bytes, struct mbarrier *barrier) {
    if (barrier->pending == 0 && barrier->bytes == 0 && barrier->expected > 0) {
        struct block *owner = owner_of_shared(block, bytes);
        barrier->phase ^= 1;
        barrier->pending = barrier->expected;
        if (block->racecheck) {
            instrument_complete(owner, shared_key(owner, bytes));
            instrument_mbarrier_phase(owner, (uint32_t)(bytes - owner->shared));
        }
        if (block->launch->pace)
            critical_path_barrier_end(owner, (uint32_t)(bytes - owner->shared));
        block_signal_event(block);
    }
    uint64_t bits = pack_mbarrier(barrier);
    memcpy(bytes, &bits, sizeof bits);
}

static int add_tx_count(struct warp *warp, const struct instruction *instruction, int lane,
                        struct mbarrier *barrier, int64_t bytes) {
    int64_t sum = barrier->bytes + bytes;
    if (sum >= -COUNT_MAX && sum <= COUNT_MAX) {
        barrier->bytes = (int32_t)sum;
        return 0;
    }
    return fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                    "changed the tx-count of an mbarrier to %lld: the maximum is %d",
                    (long long)sum, COUNT_MAX);
}

int mbarrier_complete_tx(struct warp *warp, const struct instruction *instruction, int lane,
                         struct block *to, uint32_t offset, uint32_t bytes) {
    struct mbarrier barrier;
    uint8_t *at = to->shared + offset;
    if (load_mbarrier(warp, instruction, lane, at, &barrier) < 0 ||
        add_tx_count(warp, instruction, lane, &barrier, -(int64_t)bytes) < 0)
        return -1;
    store_mbarrier(warp->block, at, &barrier);
    return 0;
}

static int arrive_mbarrier(struct warp *warp, const struct instruction *instruction, int lane,
                           struct mbarrier *barrier, uint32_t value) {
    const struct mbarrier_form *form = &instruction->as.mbarrier;
    uint32_t count = form->expects ? 1 : value;
    if (form->expects && add_tx_count(warp, instruction, lane, barrier, value) < 0)
        return -1;
    if (count > barrier->pending || count == 0)
        return fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                        "arrived %u times at an mbarrier with %u of %u arrivals pending", count,
                        barrier->pending, barrier->expected);
    barrier->pending -= count;
    barrier->expected -= form->drops ? count : 0;
    return 0;
}

int mbarrier_expect_copies(struct warp *warp, const struct instruction *instruction, int lane,
                           uint32_t *offset) {
    struct mbarrier barrier;
    uint8_t *at = find_mbarrier(warp, instruction, lane);
    if (!at || load_mbarrier(warp, instruction, lane, at, &barrier) < 0)
        return -1;
    if (owner_of_shared(warp->block, at) != warp->block)
        return fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                        "used cp.async.mbarrier.arrive on an mbarrier of another block");
    if (warp->block->racecheck)
        instrument_use(warp, instruction, lane, at);
    *offset = (uint32_t)(at - warp->block->shared);
    if (instruction->as.mbarrier.is_counted)
        return 0;
    if (barrier.pending == COUNT_MAX)
        return fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                        "raised the pending arrivals of an mbarrier above %d", COUNT_MAX);
    barrier.pending++;
    store_mbarrier(warp->block, at, &barrier);
    return 0;
}

int mbarrier_arrive_copies(struct warp *warp, const struct instruction *instruction, int lane,
                           uint32_t offset) {
    struct mbarrier barrier;
    uint8_t *at = warp->block->shared + offset;
    if (load_mbarrier(warp, instruction, lane, at, &barrier) < 0 ||
        arrive_mbarrier(warp, instruction, lane, &barrier, 1) < 0)
        return -1;
    store_mbarrier(warp->block, at, &barrier);
    return 0;
}

static void record_arrival_time(struct warp *warp, const uint8_t *at) {
    struct block *owner = owner_of_shared(warp->block, at);
    critical_path_barrier_arrive(owner, (uint32_t)(at - owner->shared), critical_path_now(warp));
}

static int init_mbarrier(struct warp *warp, const struct instruction *instruction, int lane,
                         struct mbarrier *barrier, uint32_t count) {
    *barrier = (struct mbarrier){.expected = count, .pending = count};
    if (count > 0 && count <= COUNT_MAX)
        return 0;
    return fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                    "initialized an mbarrier for %u arrivals: the range is 1 to %d", count,
                    COUNT_MAX);
}

/* operands: previous state (of an arrival), base, value. Lanes are processed in ascending order. */
EXECUTE(mbarrier) {
    const struct mbarrier_form *form = &instruction->as.mbarrier;
    uint64_t *states = operand_pointer(warp, instruction->operands[0]);
    const uint32_t *values = operand_pointer(warp, instruction->operands[2]);
    FOR_EACH_LANE(each, mask) {
        int lane = (int)each, failed = 0;
        struct mbarrier barrier;
        uint8_t *at = find_mbarrier(warp, instruction, lane);
        if (!at || (form->operation != MBARRIER_INIT &&
                    load_mbarrier(warp, instruction, lane, at, &barrier) < 0))
            return ACTION_FAULT;
        if (warp->block->racecheck)
            instrument_use(warp, instruction, lane, at);
        uint64_t before = 0;
        memcpy(&before, at, sizeof before);
        switch (form->operation) {
        case MBARRIER_INIT:
            failed = init_mbarrier(warp, instruction, lane, &barrier, values[lane]);
            break;
        case MBARRIER_INVALIDATE:
            memset(at, 0xff, sizeof before);
            continue;
        case MBARRIER_EXPECT:
            failed = add_tx_count(warp, instruction, lane, &barrier, values[lane]);
            break;
        case MBARRIER_COMPLETE:
            failed = add_tx_count(warp, instruction, lane, &barrier, -(int64_t)values[lane]);
            break;
        case MBARRIER_ARRIVE:
            if (critical_path_pace(warp))
                record_arrival_time(warp, at);
            failed = arrive_mbarrier(warp, instruction, lane, &barrier, values[lane]);
            states[lane] = before;
            break;
        }
        if (failed)
            return ACTION_FAULT;
        if (warp->block->racecheck && form->operation == MBARRIER_ARRIVE) {
            const struct block *owner = owner_of_shared(warp->block, at);
            instrument_arrive(warp, shared_key(owner, at), form->relaxed);
        }
        store_mbarrier(warp->block, at, &barrier);
    }
    return ACTION_NEXT;
}

/* operands: p, base, parity or state. Suspends the lanes if no lane's phase has completed; a wait
   that may not or need not suspend gives the other warps and the copy engine a turn. */
EXECUTE(mbarrier_wait) {
    const struct mbarrier_form *form = &instruction->as.mbarrier;
    struct block *block = warp->block;
    const void *values = operand_pointer(warp, instruction->operands[2]);
    uint32_t ended = 0;
    double ended_at = 0;
    FOR_EACH_LANE(lane, mask) {
        struct mbarrier barrier, given;
        const uint8_t *at = find_mbarrier(warp, instruction, (int)lane);
        if (!at || load_mbarrier(warp, instruction, (int)lane, at, &barrier) < 0)
            return ACTION_FAULT;
        if (block->racecheck)
            instrument_use(warp, instruction, (int)lane, at);
        uint32_t phase = ((const uint32_t *)values)[lane] & 1;
        if (!form->by_parity) {
            unpack_mbarrier(((const uint64_t *)values)[lane], &given);
            phase = given.phase;
        }
        ended |= (uint32_t)(phase != barrier.phase) << lane;
        if (block->racecheck && phase != barrier.phase) {
            instrument_leave(warp, shared_key(block, at), 1u << lane);
            instrument_mbarrier_waited(warp, instruction, (int)lane,
                                       (uint32_t)(at - block->shared));
        }
        if (critical_path_pace(warp))
            ended_at = critical_path_barrier_ended(block, (uint32_t)(at - block->shared));
    }
    if (!ended && form->may_suspend && !block->waits_time_out)
        return warp_await_event(warp, mask);
    merge_lanes(operand_pointer(warp, instruction->operands[0]), &ended, 0, mask);
    if (block->racecheck && ended)
        instrument_warp_sync(warp, ended);
    if (ended && critical_path_pace(warp))
        critical_path_wait(warp, ended_at + critical_path_pace(warp)->barrier);
    if (ended == mask)
        return ACTION_NEXT;
    return bulk_complete_oldest(block) < 0 ? ACTION_FAULT : ACTION_YIELD;
}

bool mbarrier_is_missing_bytes(struct warp *warp, const struct divergent_group *group) {
    struct mbarrier barrier;
    const struct instruction *instruction = &warp->kernel->code[group->pc];
    const uint8_t *at = find_mbarrier(warp, instruction, __builtin_ctz(group->mask));
    uint64_t bits = 0;
    if (at)
        memcpy(&bits, at, sizeof bits);
    return unpack_mbarrier(bits, &barrier) && barrier.bytes != 0;
}

void mbarrier_describe(struct warp *warp, const struct divergent_group *group, char *text,
                       size_t text_bytes) {
    const struct instruction *instruction = &warp->kernel->code[group->pc];
    struct mbarrier barrier;
    int lane = __builtin_ctz(group->mask);
    const uint8_t *at = find_mbarrier(warp, instruction, lane);
    if (!at || load_mbarrier(warp, instruction, lane, at, &barrier) < 0) {
        snprintf(text, text_bytes, "waits forever at an mbarrier that was overwritten");
        return;
    }
    snprintf(text, text_bytes,
             "waits forever at the mbarrier at shared memory 0x%llx: its phase of parity %u is "
             "missing %u of %u arrivals and %d transaction bytes",
             (unsigned long long)(at - warp->block->shared), barrier.phase, barrier.pending,
             barrier.expected, barrier.bytes);
}

/* operands: count, unused, state */
EXECUTE(mbarrier_count) {
    uint32_t *out = operand_pointer(warp, instruction->operands[0]);
    const uint64_t *states = operand_pointer(warp, instruction->operands[2]);
    FOR_EACH_LANE(lane, mask) {
        struct mbarrier barrier;
        unpack_mbarrier(states[lane], &barrier);
        out[lane] = barrier.pending;
    }
    return ACTION_NEXT;
}
