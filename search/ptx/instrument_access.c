/* Checks an access against shadow memory: whether the bytes are initialised, whether an
   asynchronous copy of them is pending, and whether it races with earlier accesses. */
#include "ptx/instrument.h"

#include <stdio.h>
#include <string.h>

/* UPDATE: atomics. USE_OF_MBARRIER: every operation of an mbarrier but its initialisation and
   waits, which change nothing: WAIT_AT_MBARRIER. ASYNC_WRITE, ASYNC_REDUCE: asynchronous writes,
   which complete at a wait. */
enum access_kind {
    LOAD,
    WAIT_AT_MBARRIER,
    STORE,
    UPDATE,
    USE_OF_MBARRIER,
    ASYNC_WRITE,
    ASYNC_REDUCE
};

static const char *const verbs[] = {"loaded",
                                    "waited at the mbarrier of",
                                    "stored",
                                    "atomically updated",
                                    "used the mbarrier of",
                                    "asynchronously copied",
                                    "asynchronously reduced"};

/* One lane's access of contiguous bytes. */
struct access_check {
    struct finding_report report; /* template for findings */
    enum access_kind kind;
    bool by_async_proxy;
    uint8_t strong; /* as in struct access_epoch */
    int actor;
    uint32_t bytes;
    struct shadow *shadow;
    uint64_t offset; /* in the shadow */
    const uint8_t *data;
    bool is_shared;
    /* Of a plain load or store; of a store also the location of its values. */
    const struct access *access;
    const void *base;
};

static bool is_write(const struct access_check *check) {
    return check->kind >= STORE;
}

/* ---- address resolution ---- */

static bool locate_shared(struct access_check *check, const struct block *block,
                          const struct block *owner, uint64_t offset) {
    check->shadow = cluster_shadow_of(block)->shared[owner->rank];
    check->offset = check->report.address = offset;
    check->data = owner->shared + offset;
    check->report.tensor = "shared memory";
    check->is_shared = true;
    return offset + check->bytes <= check->shadow->bytes;
}

static bool locate_global(struct access_check *check, const struct block *block, uint64_t address) {
    struct memory_location location;
    if (!memory_locate(block->memory, address, &location) || location.read_only ||
        !location.shadow || location.offset + check->bytes > location.bytes)
        return false;
    check->shadow = location.shadow;
    check->offset = location.offset;
    check->report.address = address;
    check->report.tensor = location.name;
    check->data = location.data + location.offset;
    check->is_shared = false;
    return true;
}

/* Resolves a lane's address; false if it has no shadow. */
static bool locate_access(struct access_check *check, struct block *block, enum state_space space,
                          uint64_t address) {
    if (space == SPACE_GENERIC)
        space = resolve_generic_address(&address);
    if (space == SPACE_SHARED || space == SPACE_CLUSTER) {
        const struct block *owner = find_shared_block(block, &address, NULL, 0);
        return owner && locate_shared(check, block, owner, address);
    }
    return space != SPACE_LOCAL && space != SPACE_PARAM && locate_global(check, block, address);
}

/* ---- messages ---- */

static void format_location(const struct access_check *check, char *text, size_t bytes) {
    if (check->is_shared)
        snprintf(text, bytes, "shared memory 0x%llx", (unsigned long long)check->report.address);
    else
        snprintf(text, bytes, "byte %llu of '%s'", (unsigned long long)check->offset,
                 check->report.tensor);
}

/* "thread (3,0,0) of block (0,0,0) at kernel.cu:14". */
static void format_other_access(const struct access_check *check, const struct access_epoch *other,
                                char *text, size_t bytes) {
    const struct block *block = check->report.warp->block;
    const struct ptx_racecheck *racecheck = block->racecheck;
    const struct kernel *kernel = racecheck->kernel;
    struct ptx_fault unused = {0};
    char place[256];
    format_source_location(kernel, &kernel->code[other->code], &unused, place, sizeof place);
    if (other->actor == vector_clock_engine(&racecheck->clocks)) {
        snprintf(text, bytes, "the copy engine%s", place);
        return;
    }
    const unsigned *first = racecheck->unit_positions[other->unit - racecheck->clocks.first_unit];
    const unsigned *size = block->cluster->size;
    unsigned rank = other->actor / (unsigned)block->warp_count, thread[3];
    thread_position(block, other->actor % block->warp_count,
                    other->lane == LANE_SEVERAL ? 0 : other->lane, thread);
    snprintf(text, bytes, "%s (%u,%u,%u) of block (%u,%u,%u)%s",
             other->lane == LANE_SEVERAL ? "the warp of thread" : "thread", thread[0], thread[1],
             thread[2], first[0] + rank % size[0], first[1] + rank / size[0] % size[1],
             first[2] + rank / size[0] / size[1], place);
}

static void report_state(struct access_check *check, enum ptx_finding_kind kind, const char *what) {
    char where[128];
    check->report.kind = kind;
    if (racecheck_count_repeat(&check->report))
        return;
    format_location(check, where, sizeof where);
    racecheck_report(&check->report, "%s %u bytes at %s, %s", verbs[check->kind], check->bytes,
                     where, what);
}

static const char *remedy_for(const struct access_check *check, const struct access_epoch *other,
                              bool same_block, bool by_engine) {
    uint32_t code = (uint32_t)(check->report.instruction - check->report.warp->kernel->code);
    if (by_engine)
        return "wait for the copy before the access";
    if (check->kind == USE_OF_MBARRIER || check->kind == WAIT_AT_MBARRIER)
        return same_block ? "add __syncthreads() between the initialisation and the first use"
                          : "add fence.mbarrier_init and a cluster barrier between the two";
    if (check->strong && other->strong)
        return check->kind == LOAD ? "volatile orders nothing: add a barrier between the two"
                                   : "give both the scope of the device";
    if (is_write(check) && other->code == code)
        return "use an atomic, or let one thread store it";
    if (same_block)
        return other->actor == check->actor ? "add __syncwarp() between the two"
                                            : "add a barrier between the two";
    return "order the two with a cluster or grid barrier, or with a fence and an atomic";
}

/* `other_operation`: "read", "write" or "atomic update". */
static void report_race(struct access_check *check, const struct access_epoch *other,
                        const char *other_operation) {
    const struct block *block = check->report.warp->block;
    if (other->unit < block->racecheck->clocks.first_unit) {
        report_state(check, PTX_FINDING_BEFORE_WAIT,
                     "also accessed by the previous kernel: call griddepcontrol.wait first");
        return;
    }
    bool same_unit = other->unit == block->racecheck->clocks.current->number;
    bool by_engine = same_unit && other->actor == vector_clock_engine(&block->racecheck->clocks);
    bool same_block = same_unit && other->actor / block->warp_count == (int)block->rank;
    char where[128], who[320];
    check->report.kind = by_engine && check->kind == LOAD ? PTX_FINDING_BEFORE_WAIT
                         : by_engine || same_block        ? PTX_FINDING_RACE_IN_BLOCK
                                                          : PTX_FINDING_RACE_BETWEEN_BLOCKS;
    check->report.other = other->code;
    if (!racecheck_count_repeat(&check->report)) {
        format_location(check, where, sizeof where);
        format_other_access(check, other, who, sizeof who);
        racecheck_report(&check->report, "%s %u bytes at %s: data race with the %s by %s; %s",
                         verbs[check->kind], check->bytes, where, other_operation, who,
                         remedy_for(check, other, same_block, by_engine));
    }
    check->report.other = NO_PC;
}

/* ---- races ---- */

/* The byte that a lane stores at `address`; -1 if none. */
static int stored_byte(const struct access_check *check, uint32_t lane, uint64_t address) {
    const struct instruction *instruction = check->report.instruction;
    uint64_t at = address - lane_address(check->access, check->base, lane);
    int element = check->access->element_bytes, width = element < 2 ? 2 : element;
    if (at >= (uint64_t)(element * check->access->vector))
        return -1;
    const uint8_t *values =
        operand_pointer(check->report.warp, instruction->operands[1 + (int)at / element]);
    return values[(int)lane * width + (int)at % element];
}

/* Whether a plain store writes the value already there, or the value that the other lane of the
   same instruction writes. */
static bool is_same_value(const struct access_check *check, const struct access_epoch *other,
                          uint32_t byte) {
    uint32_t lane = (uint32_t)check->report.lane;
    if (check->kind != STORE || !check->access)
        return false;
    uint64_t address = lane_address(check->access, check->base, lane) + byte;
    int value = stored_byte(check, lane, address);
    if (other->time == check->report.warp->block->racecheck->clocks.now)
        return other->lane < LANES && value == stored_byte(check, other->lane, address);
    return value == check->data[byte];
}

/* Whether two strong accesses synchronise: the scope of each includes the other's thread. */
static bool are_morally_strong(const struct access_check *check, const struct access_epoch *other) {
    const struct block *block = check->report.warp->block;
    uint8_t needed = 1 + SCOPE_DEVICE;
    if (other->unit == block->racecheck->clocks.current->number)
        needed = other->actor / block->warp_count == (int)block->rank ? 1 + SCOPE_BLOCK
                                                                      : 1 + SCOPE_CLUSTER;
    return check->strong >= needed && other->strong >= needed;
}

/* A volatile load of what another thread's volatile store wrote exchanges a value and does not wait
   for it: nothing says that the store comes first. */
static bool exchanges_volatile(const struct access_check *check, const struct access_epoch *other) {
    const struct kernel *kernel = check->report.warp->kernel;
    const struct instruction *store = &kernel->code[other->code];
    return check->kind == LOAD && check->access && check->access->is_volatile &&
           store->execute == execute_store && store->as.access.is_volatile &&
           !instrument_is_waiting_loop(kernel, check->report.instruction);
}

static bool is_race(const struct access_check *check, const struct access_epoch *other) {
    const struct vector_clocks *clocks = &check->report.warp->block->racecheck->clocks;
    if (!other->time ||
        (check->strong && other->strong && are_morally_strong(check, other) &&
         (other->unit < clocks->first_unit || !exchanges_volatile(check, other))) ||
        (check->is_shared && other->unit != clocks->current->number))
        return false;
    return !vector_clock_happens_before(clocks, check->actor, (uint32_t)check->report.lane, other);
}

/* Whether the async proxy reads a thread's store with no fence.proxy.async since, neither in the
   storing nor in the reading warp. */
static bool lacks_proxy_fence(const struct access_check *check, const struct access_epoch *write) {
    const struct warp *warp = check->report.warp;
    const struct unit_clocks *current = warp->block->racecheck->clocks.current;
    if (!check->by_async_proxy || !write->time || write->unit != current->number ||
        write->actor == vector_clock_engine(&warp->block->racecheck->clocks))
        return false;
    execute_function by = warp->kernel->code[write->code].execute;
    return (by == execute_store || by == execute_stmatrix) &&
           current->proxy_fences[write->actor] < write->time &&
           current->proxy_fences[check->actor] < write->time;
}

/* A read replaces one that happened before it; of more than two concurrent reads, some are lost. */
static void record_read(const struct access_check *check, struct shadow_cell *cell,
                        const struct access_epoch *now) {
    const struct vector_clocks *clocks = &check->report.warp->block->racecheck->clocks;
    struct access_epoch *slot = &cell->reads[1];
    uint8_t lane = now->lane;
    for (int i = 1; i >= 0; i--) {
        struct access_epoch *read = &cell->reads[i];
        bool same_warp = read->unit == now->unit && read->actor == now->actor;
        bool is_ordered =
            !read->time || vector_clock_happens_before(clocks, check->actor, now->lane, read);
        if (is_ordered || same_warp)
            slot = read;
        if (!is_ordered && same_warp)
            lane = LANE_SEVERAL;
    }
    *slot = *now;
    slot->lane = lane;
}

/* Findings of an access over all of its bytes. */
struct found {
    bool is_uninitialized, is_pending, is_source_pending, is_race_found, is_unfenced, is_stale;
    bool is_suspected; /* a potential race, unless the values are equal, which must be checked per
                        * byte
                        */
};

static void check_byte(struct access_check *check, uint32_t byte, const struct access_epoch *now,
                       struct found *found) {
    uint8_t *state = &check->shadow->states[check->offset + byte];
    struct shadow_cell *cell = &check->shadow->cells[check->offset + byte];
    bool asynchronous = check->kind == ASYNC_WRITE || check->kind == ASYNC_REDUCE;
    bool overwrites_source = (*state & BYTE_PENDING_READ) && is_write(check);
    bool is_pending_access = ((*state & BYTE_PENDING_WRITE) && !asynchronous) || overwrites_source;
    found->is_pending |= is_pending_access;
    found->is_source_pending |= overwrites_source;
    found->is_uninitialized |= !(*state & (BYTE_WRITTEN | BYTE_PENDING_WRITE)) &&
                               check->kind != STORE && check->kind != ASYNC_WRITE;
    if (!is_pending_access && !found->is_race_found && is_race(check, &cell->write)) {
        found->is_suspected = true;
        if (!is_same_value(check, &cell->write, byte)) {
            report_race(check, &cell->write, cell->write.strong ? "atomic update" : "write");
            found->is_race_found = true;
        }
    }
    if (!is_pending_access && !found->is_race_found && is_race(check, &cell->last_weak_write)) {
        report_race(check, &cell->last_weak_write, "write");
        found->is_race_found = true;
    }
    found->is_unfenced |=
        !is_pending_access && !found->is_race_found && lacks_proxy_fence(check, &cell->write);
    found->is_stale |= check->access && check->access->non_coherent && cell->write.time &&
                       !found->is_race_found &&
                       cell->write.unit >= check->report.warp->block->racecheck->clocks.first_unit;
    for (int r = 0; r < 2 && is_write(check) && !found->is_race_found; r++)
        if (is_race(check, &cell->reads[r])) {
            report_race(check, &cell->reads[r], "read");
            found->is_race_found = true;
        }
    if (!is_write(check)) {
        if (!is_pending_access) /* else already reported */
            record_read(check, cell, now);
        return;
    }
    if (!check->strong)
        cell->last_weak_write.time = 0;
    else if (!cell->write.strong)
        cell->last_weak_write = cell->write;
    cell->write = *now;
    cell->reads[0].time = cell->reads[1].time = 0;
    *state |= asynchronous ? BYTE_PENDING_WRITE : BYTE_WRITTEN;
}

/* Adjacent bytes mostly have equal shadow state: a byte with the same state as the previous one
 * takes over its result. */
static void check_bytes(struct access_check *check) {
    const struct vector_clocks *clocks = &check->report.warp->block->racecheck->clocks;
    const struct access_epoch now = {
        .time = clocks->now,
        .unit = clocks->current->number,
        .code = (uint32_t)(check->report.instruction - check->report.warp->kernel->code),
        .actor = (uint16_t)check->actor,
        .lane = (uint8_t)check->report.lane,
        .strong = check->strong};
    struct found found = {0};
    uint8_t *states = check->shadow->states + check->offset, state = 0;
    struct shadow_cell *cells = check->shadow->cells + check->offset, cell;
    for (uint32_t i = 0; i < check->bytes; i++) {
        if (i > 0 && !found.is_suspected && states[i] == state &&
            memcmp(&cells[i], &cell, sizeof cell) == 0) {
            states[i] = states[i - 1];
            cells[i] = cells[i - 1];
            continue;
        }
        state = states[i];
        cell = cells[i];
        check_byte(check, i, &now, &found);
    }
    if (found.is_pending)
        report_state(check, PTX_FINDING_BEFORE_WAIT,
                     found.is_source_pending
                         ? "still being read by an asynchronous copy: wait for it first"
                         : "still being written by an asynchronous copy: wait for it first");
    else if (found.is_uninitialized)
        report_state(check, PTX_FINDING_UNWRITTEN, "which is uninitialized");
    else if (found.is_unfenced)
        report_state(check, PTX_FINDING_MISSING_PROXY_FENCE,
                     "stored without a fence.proxy.async since");
    else if (found.is_stale)
        report_state(check, PTX_FINDING_MISUSE,
                     "which this launch wrote, through the read-only path (ld.global.nc): load it "
                     "without __ldg, and without const and __restrict__");
}

static struct access_check access_check_of(struct warp *warp, const struct instruction *instruction,
                                           enum access_kind kind, int lane, uint32_t bytes) {
    return (struct access_check){
        .report = {.warp = warp, .instruction = instruction, .lane = lane, .other = NO_PC},
        .kind = kind,
        .actor = actor_of(warp),
        .bytes = bytes};
}

/* ---- hooks ---- */

/* An atomic or strong access acquires and releases through its word, which is a sync object. */
static void synchronise_atomic(const struct access_check *check, const struct access *access) {
    const struct block *block = check->report.warp->block;
    struct vector_clocks *clocks = &block->racecheck->clocks;
    uint64_t key =
        check->is_shared ? sync_key_shared(block->rank, check->offset) : check->report.address;
    bool reaches_units = access->scope == SCOPE_DEVICE;
    if (check->kind != STORE)
        vector_clock_acquire(clocks, check->actor, 1u << check->report.lane, key, reaches_units);
    if (check->kind != LOAD)
        vector_clock_publish(clocks, check->actor, key, access->fenced, reaches_units);
}

void instrument_access(struct warp *warp, const struct instruction *instruction,
                       const struct access *access, uint32_t base_place, uint32_t mask, int bytes) {
    struct block *block = warp->block;
    execute_function execute = instruction->execute;
    const void *base = access->base_bytes ? operand_pointer(warp, base_place) : NULL;
    bool atomic = execute == execute_atomic || execute == execute_atomic_wide;
    enum access_kind kind = atomic                                                    ? UPDATE
                            : execute == execute_cp_async                             ? ASYNC_WRITE
                            : execute == execute_store || execute == execute_stmatrix ? STORE
                                                                                      : LOAD;
    block->racecheck->clocks.now++;
    FOR_EACH_LANE(lane, mask) {
        struct access_check check =
            access_check_of(warp, instruction, kind, (int)lane, (uint32_t)bytes);
        check.strong = atomic || access->strong ? (uint8_t)(1 + access->scope) : 0;
        if (execute == execute_store || execute == execute_load) {
            check.access = access;
            check.base = base;
        }
        uint64_t address = lane_address(access, base, lane), offset = address;
        if (check.access &&
            (access->space == SPACE_LOCAL ||
             (access->space == SPACE_GENERIC && resolve_generic_address(&offset) == SPACE_LOCAL)))
            instrument_local(warp, instruction, access, (int)lane, offset, kind == STORE);
        if (!locate_access(&check, block, access->space, address))
            continue;
        if (check.strong)
            synchronise_atomic(&check, access);
        check_bytes(&check);
    }
}

void instrument_cp_async_reads(struct warp *warp, const struct instruction *instruction,
                               const uint64_t addresses[LANES], const uint32_t bytes[LANES],
                               uint32_t mask) {
    FOR_EACH_LANE(lane, mask) {
        struct access_check check =
            access_check_of(warp, instruction, LOAD, (int)lane, bytes[lane]);
        if (locate_access(&check, warp->block, instruction->as.copy.from.space, addresses[lane]))
            check_bytes(&check);
    }
    instrument_sectors(warp, instruction, addresses, mask, instruction->as.copy.bytes);
}

void instrument_async_shared(struct warp *warp, const struct instruction *instruction, int lane,
                             const struct block *owner, uint32_t offset, uint32_t bytes,
                             bool is_store) {
    struct access_check check =
        access_check_of(warp, instruction, is_store ? STORE : LOAD, lane, bytes);
    check.by_async_proxy = !is_store;
    warp->block->racecheck->clocks.now++;
    if (locate_shared(&check, warp->block, owner, offset))
        check_bytes(&check);
}

void instrument_async_access(struct warp *warp, const struct instruction *instruction,
                             enum state_space space, uint64_t address, uint32_t bytes,
                             bool is_store) {
    struct access_check check =
        access_check_of(warp, instruction, is_store ? STORE : LOAD, 0, bytes);
    warp->block->racecheck->clocks.now++;
    if (locate_access(&check, warp->block, space, address))
        check_bytes(&check);
}

void instrument_async_global(struct warp *warp, const struct instruction *instruction, int lane,
                             uint64_t address, uint32_t bytes, enum global_operation kind) {
    static const enum access_kind kinds[] = {LOAD, STORE, UPDATE};
    struct access_check check = access_check_of(warp, instruction, kinds[kind], lane, bytes);
    check.strong = kind == GLOBAL_ATOMIC ? 1 + SCOPE_DEVICE : 0;
    warp->block->racecheck->clocks.now++;
    if (locate_global(&check, warp->block, address))
        check_bytes(&check);
}

uint32_t instrument_bulk_issue(struct warp *warp, const struct instruction *instruction, int lane,
                               const struct block *owner, uint32_t offset, uint32_t bytes,
                               bool reduces) {
    struct vector_clocks *clocks = &warp->block->racecheck->clocks;
    struct access_check check =
        access_check_of(warp, instruction, reduces ? ASYNC_REDUCE : ASYNC_WRITE, lane, bytes);
    check.strong = reduces ? 1 + SCOPE_DEVICE : 0;
    clocks->now++;
    if (!locate_shared(&check, warp->block, owner, offset))
        return clocks->now;
    check_bytes(&check);
    for (uint32_t i = 0; i < bytes; i++)
        check.shadow->cells[offset + i].write.actor = (uint16_t)vector_clock_engine(clocks);
    return clocks->now;
}

void instrument_mbarrier(struct warp *warp, const struct instruction *instruction, int lane,
                         const struct block *owner, uint32_t offset,
                         enum mbarrier_operation operation) {
    bool is_weak = operation == MBARRIER_INIT || operation == MBARRIER_INVALIDATE;
    bool waits = instruction->execute == execute_mbarrier_wait;
    struct access_check check = access_check_of(warp, instruction,
                                                is_weak ? STORE
                                                : waits ? WAIT_AT_MBARRIER
                                                        : USE_OF_MBARRIER,
                                                lane, 8);
    check.strong = is_weak ? 0 : 1 + SCOPE_DEVICE;
    warp->block->racecheck->clocks.now++;
    if (locate_shared(&check, warp->block, owner, offset))
        check_bytes(&check);
}
