/* Cost of memory requests: wavefronts of shared memory, sectors of global memory. */
#include "ptx/instrument.h"
#include "ptx/sectors.h"

/* The minimum number of wavefronts: one per group of lanes that is served together (see
   count_wavefronts). */
static uint64_t min_wavefronts(uint32_t mask, int bytes) {
    uint32_t lanes = bytes > 4 ? (uint32_t)(128 / bytes) : LANES;
    uint64_t count = 0;
    for (uint32_t from = 0; from < LANES; from += lanes)
        count += (mask >> from & (lanes == LANES ? ALL_LANES : (1u << lanes) - 1)) != 0;
    return count;
}

static bool add_new(uint64_t *values, int *count, uint64_t value) {
    for (int i = *count - 1; i >= 0; i--)
        if (values[i] == value)
            return false;
    values[(*count)++] = value;
    return true;
}

/* The number of sectors that the lanes touch; `*ideal`: the number that their distinct addresses
   would fill. */
static uint64_t count_sectors(const uint64_t addresses[LANES], uint32_t mask, int bytes,
                              uint64_t *ideal) {
    uint64_t found[2 * LANES], different[LANES];
    int count = 0, different_count = 0;
    FOR_EACH_LANE(lane, mask) {
        add_new(different, &different_count, addresses[lane]);
        add_new(found, &count, addresses[lane] / SECTOR_BYTES);
        add_new(found, &count, (addresses[lane] + (uint64_t)bytes - 1) / SECTOR_BYTES);
    }
    *ideal = (uint64_t)(different_count * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    return (uint64_t)count;
}

static void add_access_cost(struct warp *warp, const struct instruction *instruction,
                            bool is_global, uint32_t mask, uint64_t transactions, uint64_t ideal) {
    struct ptx_racecheck *racecheck = warp->block->racecheck;
    struct access_cost *cost =
        &racecheck->access_costs[2 * (instruction - warp->kernel->code) + is_global];
    if (!cost->requests++) {
        cost->first_actor = (uint32_t)actor_of(warp);
        cost->first_lane = (uint32_t)__builtin_ctz(mask);
    }
    cost->transactions += transactions;
    cost->ideal += ideal;
    cost->worst = transactions > cost->worst ? transactions : cost->worst;
}

void instrument_bank_conflicts(struct warp *warp, const struct instruction *instruction,
                               uint8_t *const pointers[LANES], uint32_t mask, int bytes) {
    add_access_cost(warp, instruction, false, mask,
                    (uint64_t)count_wavefronts(warp, pointers, mask, bytes),
                    min_wavefronts(mask, bytes));
}

void instrument_sectors(struct warp *warp, const struct instruction *instruction,
                        const uint64_t addresses[LANES], uint32_t mask, int bytes) {
    uint64_t ideal, transactions = count_sectors(addresses, mask, bytes, &ideal);
    add_access_cost(warp, instruction, true, mask, transactions, ideal);
}
