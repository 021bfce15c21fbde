/* Checks an access against shadow memory: whether the bytes are initialised, whether an
   asynchronous copy of them is pending, and whether it races with earlier accesses. */
#include "device/ptx/observe.h"

#include <stdio.h>
#include <string.h>

/* UPDATES: atomics. FILLS, REDUCES: asynchronous writes, which complete at a wait. */
enum how { LOADS, STORES, UPDATES, FILLS, REDUCES };

static const char *const verbs[] = {"loaded", "stored", "atomically updated",
                                    "asynchronously copied", "asynchronously reduced"};

/* One lane's access of contiguous bytes. */
struct touch {
    struct report report; /* template for findings */
    enum how how;
    bool strong, by_proxy;
    int actor;
    uint32_t bytes;
    struct shadow *shadow;
    uint64_t offset; /* in the shadow */
    const uint8_t *data;
    bool is_shared;
    /* Of a plain store: the location of its values. */
    const struct access *access;
    const void *base;
};

static bool writes(const struct touch *touch) {
    return touch->how != LOADS;
}

/* ---- address resolution ---- */

static bool place_shared(struct touch *touch, const struct block *block, const struct block *owner,
                         uint64_t offset) {
    touch->shadow = view_of(block)->shared[owner->rank];
    touch->offset = touch->report.address = offset;
    touch->data = owner->shared + offset;
    touch->report.tensor = "shared memory";
    touch->is_shared = true;
    return offset + touch->bytes <= touch->shadow->bytes;
}

static bool place_global(struct touch *touch, const struct block *block, uint64_t address) {
    struct memory_spot spot;
    if (!memory_spot(block->memory, address, &spot) || spot.read_only || !spot.shadow ||
        spot.offset + touch->bytes > spot.bytes)
        return false;
    touch->shadow = spot.shadow;
    touch->offset = spot.offset;
    touch->report.address = address;
    touch->report.tensor = spot.name;
    touch->data = spot.data + spot.offset;
    touch->is_shared = false;
    return true;
}

/* Resolves a lane's address; false if it has no shadow. */
static bool find_place(struct touch *touch, struct block *block, enum space space,
                       uint64_t address) {
    if (space == SPACE_GENERIC)
        space = narrow_space(&address);
    if (space == SPACE_SHARED || space == SPACE_CLUSTER) {
        const struct block *owner = shared_block(block, &address, NULL, 0);
        return owner && place_shared(touch, block, owner, address);
    }
    return space != SPACE_LOCAL && space != SPACE_PARAM && place_global(touch, block, address);
}

/* ---- messages ---- */

static void describe_where(const struct touch *touch, char *text, size_t bytes) {
    if (touch->is_shared)
        snprintf(text, bytes, "shared memory 0x%llx", (unsigned long long)touch->report.address);
    else
        snprintf(text, bytes, "byte %llu of '%s'", (unsigned long long)touch->offset,
                 touch->report.tensor);
}

/* "thread (3,0,0) of block (0,0,0) at kernel.cu:14". */
static void describe_other(const struct touch *touch, const struct trace *other, char *text,
                           size_t bytes) {
    const struct block *block = touch->report.warp->block;
    const struct ptx_microscope *microscope = block->microscope;
    const struct kernel *kernel = microscope->kernel;
    struct ptx_fault unused = {0};
    char place[256];
    describe_place(kernel, &kernel->code[other->code], &unused, place, sizeof place);
    if (other->actor == order_engine(&microscope->order)) {
        snprintf(text, bytes, "the copy engine%s", place);
        return;
    }
    const unsigned *first = microscope->places[other->unit - microscope->order.first_unit];
    const unsigned *size = block->cluster->size;
    unsigned rank = other->actor / (unsigned)block->warp_count, thread[3];
    block_thread(block, other->actor % block->warp_count,
                 other->lane == LANE_MANY ? 0 : other->lane, thread);
    snprintf(text, bytes, "%s (%u,%u,%u) of block (%u,%u,%u)%s",
             other->lane == LANE_MANY ? "the warp of thread" : "thread", thread[0], thread[1],
             thread[2], first[0] + rank % size[0], first[1] + rank / size[0] % size[1],
             first[2] + rank / size[0] / size[1], place);
}

static void report_state(struct touch *touch, enum ptx_finding_kind kind, const char *what) {
    char where[128];
    touch->report.kind = kind;
    if (microscope_knows(&touch->report))
        return;
    describe_where(touch, where, sizeof where);
    microscope_report(&touch->report, "%s %u bytes at %s, %s", verbs[touch->how], touch->bytes,
                      where, what);
}

static const char *remedy_for(const struct touch *touch, const struct trace *other, bool same_block,
                              bool by_engine) {
    uint32_t code = (uint32_t)(touch->report.instruction - touch->report.warp->kernel->code);
    if (by_engine)
        return "wait for the copy before the access";
    if (writes(touch) && other->code == code)
        return "use an atomic, or let one thread store it";
    if (same_block)
        return other->actor == touch->actor ? "add __syncwarp() between the two"
                                            : "add a barrier between the two";
    return "order the two with a cluster or grid barrier, or with a fence and an atomic";
}

/* `other_operation`: "read", "write" or "atomic update". */
static void report_race(struct touch *touch, const struct trace *other, const char *did) {
    const struct block *block = touch->report.warp->block;
    if (other->unit < block->microscope->order.first_unit) {
        report_state(touch, PTX_FINDING_BEFORE_WAIT,
                     "also accessed by the previous kernel: call griddepcontrol.wait first");
        return;
    }
    bool same_unit = other->unit == block->microscope->order.own->number;
    bool by_engine = same_unit && other->actor == order_engine(&block->microscope->order);
    bool same_block = same_unit && other->actor / block->warp_count == (int)block->rank;
    char where[128], who[320];
    touch->report.kind = by_engine && touch->how == LOADS ? PTX_FINDING_BEFORE_WAIT
                         : by_engine || same_block        ? PTX_FINDING_BLOCK_RACE
                                                          : PTX_FINDING_GRID_RACE;
    touch->report.other = other->code;
    if (!microscope_knows(&touch->report)) {
        describe_where(touch, where, sizeof where);
        describe_other(touch, other, who, sizeof who);
        microscope_report(&touch->report, "%s %u bytes at %s: data race with the %s by %s; %s",
                          verbs[touch->how], touch->bytes, where, did, who,
                          remedy_for(touch, other, same_block, by_engine));
    }
    touch->report.other = NO_PC;
}

/* ---- races ---- */

/* The byte that a lane stores at `address`; -1 if none. */
static int stored_byte(const struct touch *touch, uint32_t lane, uint64_t address) {
    const struct instruction *instruction = touch->report.instruction;
    uint64_t at = address - lane_address(touch->access, touch->base, lane);
    int element = touch->access->element_bytes, width = element < 2 ? 2 : element;
    if (at >= (uint64_t)(element * touch->access->vector))
        return -1;
    const uint8_t *values =
        place_of(touch->report.warp, instruction->operands[1 + (int)at / element]);
    return values[(int)lane * width + (int)at % element];
}

/* Whether a plain store writes the value already there, or the value that the other lane of the
   same instruction writes. */
static bool is_same_value(const struct touch *touch, const struct trace *other, uint32_t byte) {
    uint32_t lane = (uint32_t)touch->report.lane;
    if (touch->how != STORES || !touch->access)
        return false;
    uint64_t address = lane_address(touch->access, touch->base, lane) + byte;
    int value = stored_byte(touch, lane, address);
    if (other->time == touch->report.warp->block->microscope->order.now)
        return other->lane < LANES && value == stored_byte(touch, other->lane, address);
    return value == touch->data[byte];
}

static bool is_race(const struct touch *touch, const struct trace *other) {
    const struct order *order = &touch->report.warp->block->microscope->order;
    if (!other->time || (touch->strong && other->strong) ||
        (touch->is_shared && other->unit != order->own->number))
        return false;
    return !order_knows(order, touch->actor, (uint32_t)touch->report.lane, other);
}

/* Whether the async proxy reads a thread's store with no fence.proxy.async since, neither in the
   storing nor in the reading warp. */
static bool lacks_fence(const struct touch *touch, const struct trace *write) {
    const struct warp *warp = touch->report.warp;
    const struct order_unit *own = warp->block->microscope->order.own;
    if (!touch->by_proxy || !write->time || write->unit != own->number ||
        write->actor == order_engine(&warp->block->microscope->order))
        return false;
    execute_function by = warp->kernel->code[write->code].execute;
    return (by == execute_store || by == execute_store_matrix) &&
           own->proxied[write->actor] < write->time && own->proxied[touch->actor] < write->time;
}

/* A read replaces one that happened before it; of more than two concurrent reads, some are lost. */
static void remember_read(const struct touch *touch, struct cell *cell, const struct trace *now) {
    const struct order *order = &touch->report.warp->block->microscope->order;
    struct trace *slot = &cell->reads[1];
    uint8_t lane = now->lane;
    for (int i = 1; i >= 0; i--) {
        struct trace *read = &cell->reads[i];
        bool same_warp = read->unit == now->unit && read->actor == now->actor;
        bool known = !read->time || order_knows(order, touch->actor, now->lane, read);
        if (known || same_warp)
            slot = read;
        if (!known && same_warp)
            lane = LANE_MANY;
    }
    *slot = *now;
    slot->lane = lane;
}

/* Findings of an access over all of its bytes. */
struct found {
    bool unwritten, awaited, lent, raced, unfenced;
    bool suspected; /* a potential race, unless the values are equal, which must be checked per byte
                     */
};

static void touch_byte(struct touch *touch, uint32_t byte, const struct trace *now,
                       struct found *found) {
    uint8_t *state = &touch->shadow->states[touch->offset + byte];
    struct cell *cell = &touch->shadow->cells[touch->offset + byte];
    bool asynchronous = touch->how == FILLS || touch->how == REDUCES;
    bool takes = (*state & BYTE_LENT) && writes(touch);
    bool waits = ((*state & BYTE_AWAITED) && !asynchronous) || takes;
    found->awaited |= waits;
    found->lent |= takes;
    found->unwritten |=
        !(*state & (BYTE_WRITTEN | BYTE_AWAITED)) && touch->how != STORES && touch->how != FILLS;
    if (!waits && !found->raced && is_race(touch, &cell->write)) {
        found->suspected = true;
        if (!is_same_value(touch, &cell->write, byte)) {
            report_race(touch, &cell->write, cell->write.strong ? "atomic update" : "write");
            found->raced = true;
        }
    }
    if (!waits && !found->raced && is_race(touch, &cell->plain)) {
        report_race(touch, &cell->plain, "write");
        found->raced = true;
    }
    found->unfenced |= !waits && !found->raced && lacks_fence(touch, &cell->write);
    for (int r = 0; r < 2 && writes(touch) && !found->raced; r++)
        if (is_race(touch, &cell->reads[r])) {
            report_race(touch, &cell->reads[r], "read");
            found->raced = true;
        }
    if (touch->how == LOADS) {
        if (!waits) /* else already reported */
            remember_read(touch, cell, now);
        return;
    }
    if (!touch->strong)
        cell->plain.time = 0;
    else if (!cell->write.strong)
        cell->plain = cell->write;
    cell->write = *now;
    cell->reads[0].time = cell->reads[1].time = 0;
    *state |= asynchronous ? BYTE_AWAITED : BYTE_WRITTEN;
}

/* Adjacent bytes mostly have equal shadow state: a byte with the same state as the previous one
 * takes over its result. */
static void touch_bytes(struct touch *touch) {
    const struct order *order = &touch->report.warp->block->microscope->order;
    const struct trace now = {
        .time = order->now,
        .unit = order->own->number,
        .code = (uint32_t)(touch->report.instruction - touch->report.warp->kernel->code),
        .actor = (uint16_t)touch->actor,
        .lane = (uint8_t)touch->report.lane,
        .strong = touch->strong};
    struct found found = {0};
    uint8_t *states = touch->shadow->states + touch->offset, state = 0;
    struct cell *cells = touch->shadow->cells + touch->offset, cell;
    for (uint32_t i = 0; i < touch->bytes; i++) {
        if (i > 0 && !found.suspected && states[i] == state &&
            memcmp(&cells[i], &cell, sizeof cell) == 0) {
            states[i] = states[i - 1];
            cells[i] = cells[i - 1];
            continue;
        }
        state = states[i];
        cell = cells[i];
        touch_byte(touch, i, &now, &found);
    }
    if (found.awaited)
        report_state(touch, PTX_FINDING_BEFORE_WAIT,
                     found.lent ? "still being read by an asynchronous copy: wait for it first"
                                : "still being written by an asynchronous copy: wait for it first");
    else if (found.unwritten)
        report_state(touch, PTX_FINDING_UNWRITTEN, "which is uninitialized");
    else if (found.unfenced)
        report_state(touch, PTX_FINDING_PROXY, "stored without a fence.proxy.async since");
}

static struct touch touch_of(struct warp *warp, const struct instruction *instruction, enum how how,
                             int lane, uint32_t bytes) {
    return (struct touch){
        .report = {.warp = warp, .instruction = instruction, .lane = lane, .other = NO_PC},
        .how = how,
        .actor = actor_of(warp),
        .bytes = bytes};
}

/* ---- hooks ---- */

/* An atomic or strong access acquires and releases through its word, which is a sync object. */
static void synchronise(const struct touch *touch, const struct access *access) {
    const struct block *block = touch->report.warp->block;
    struct order *order = &block->microscope->order;
    uint64_t key =
        touch->is_shared ? order_key_shared(block->rank, touch->offset) : touch->report.address;
    if (touch->how != STORES)
        order_acquire(order, touch->actor, 1u << touch->report.lane, key);
    if (touch->how != LOADS)
        order_publish(order, touch->actor, key, access->fenced);
}

void observe_access(struct warp *warp, const struct instruction *instruction,
                    const struct access *access, uint32_t base_place, uint32_t mask, int bytes) {
    struct block *block = warp->block;
    execute_function execute = instruction->execute;
    const void *base = access->base_bytes ? place_of(warp, base_place) : NULL;
    bool atomic = execute == execute_atomic || execute == execute_atomic_wide;
    enum how how = atomic                                                        ? UPDATES
                   : execute == execute_copy_async                               ? FILLS
                   : execute == execute_store || execute == execute_store_matrix ? STORES
                                                                                 : LOADS;
    block->microscope->order.now++;
    FOR_EACH_LANE(lane, mask) {
        struct touch touch = touch_of(warp, instruction, how, (int)lane, (uint32_t)bytes);
        touch.strong = atomic || access->strong;
        if (execute == execute_store) {
            touch.access = access;
            touch.base = base;
        }
        if (!find_place(&touch, block, access->space, lane_address(access, base, lane)))
            continue;
        if (touch.strong)
            synchronise(&touch, access);
        touch_bytes(&touch);
    }
}

void observe_sources(struct warp *warp, const struct instruction *instruction,
                     const uint64_t addresses[LANES], const uint32_t bytes[LANES], uint32_t mask) {
    FOR_EACH_LANE(lane, mask) {
        struct touch touch = touch_of(warp, instruction, LOADS, (int)lane, bytes[lane]);
        if (find_place(&touch, warp->block, instruction->as.copy.from.space, addresses[lane]))
            touch_bytes(&touch);
    }
    observe_sectors(warp, instruction, addresses, mask, instruction->as.copy.bytes);
}

void observe_shared(struct warp *warp, const struct instruction *instruction, int lane,
                    const struct block *owner, uint32_t offset, uint32_t bytes, bool is_store) {
    struct touch touch = touch_of(warp, instruction, is_store ? STORES : LOADS, lane, bytes);
    touch.by_proxy = !is_store;
    warp->block->microscope->order.now++;
    if (place_shared(&touch, warp->block, owner, offset))
        touch_bytes(&touch);
}

void observe_place(struct warp *warp, const struct instruction *instruction, enum space space,
                   uint64_t address, uint32_t bytes, bool is_store) {
    struct touch touch = touch_of(warp, instruction, is_store ? STORES : LOADS, 0, bytes);
    warp->block->microscope->order.now++;
    if (find_place(&touch, warp->block, space, address))
        touch_bytes(&touch);
}

void observe_global(struct warp *warp, const struct instruction *instruction, int lane,
                    uint64_t address, uint32_t bytes, enum observed how) {
    static const enum how hows[] = {LOADS, STORES, UPDATES};
    struct touch touch = touch_of(warp, instruction, hows[how], lane, bytes);
    touch.strong = how == OBSERVED_UPDATE;
    warp->block->microscope->order.now++;
    if (place_global(&touch, warp->block, address))
        touch_bytes(&touch);
}

/* ---- asynchronous copies ---- */

void observe_landing(struct warp *warp, uint32_t offset, uint32_t bytes) {
    const struct block *block = warp->block;
    struct shadow *shadow = view_of(block)->shared[block->rank];
    memset(shadow->states + offset, BYTE_WRITTEN, bytes);
    for (uint32_t i = 0; i < bytes; i++) {
        struct trace *write = &shadow->cells[offset + i].write;
        write->time = block->microscope->order.now;
        write->actor = (uint16_t)actor_of(warp);
    }
}

uint32_t observe_copy_tracked(struct warp *warp, uint32_t offset, uint32_t bytes) {
    const struct block *block = warp->block;
    struct order *order = &block->microscope->order;
    struct shadow *shadow = view_of(block)->shared[block->rank];
    order->now++;
    for (uint32_t i = 0; i < bytes; i++) {
        struct trace *write = &shadow->cells[offset + i].write;
        write->time = order->now;
        write->actor = (uint16_t)order_engine(order);
    }
    return order->now;
}

uint32_t observe_bulk_issue(struct warp *warp, const struct instruction *instruction, int lane,
                            const struct block *owner, uint32_t offset, uint32_t bytes,
                            bool reduces) {
    struct order *order = &warp->block->microscope->order;
    struct touch touch = touch_of(warp, instruction, reduces ? REDUCES : FILLS, lane, bytes);
    touch.strong = reduces;
    order->now++;
    if (!place_shared(&touch, warp->block, owner, offset))
        return order->now;
    touch_bytes(&touch);
    for (uint32_t i = 0; i < bytes; i++)
        touch.shadow->cells[offset + i].write.actor = (uint16_t)order_engine(order);
    return order->now;
}

/* Bytes that a later copy also writes stay pending. */
void observe_bulk_landing(const struct block *owner, uint32_t offset, uint32_t bytes,
                          uint32_t barrier, uint32_t issued) {
    struct ptx_microscope *microscope = owner->microscope;
    struct shadow *shadow = view_of(owner)->shared[owner->rank];
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t *state = &shadow->states[offset + i];
        *state |= BYTE_WRITTEN;
        if (shadow->cells[offset + i].write.time == issued)
            *state &= (uint8_t)~BYTE_AWAITED;
    }
    order_deliver(&microscope->order, order_key_shared(owner->rank, barrier), issued);
}

static void mark(uint8_t *states, uint32_t bytes, int flag, bool set) {
    for (uint32_t i = 0; i < bytes; i++)
        states[i] = (uint8_t)(set ? states[i] | flag : states[i] & ~flag);
}

void observe_lent(const struct block *owner, uint32_t offset, uint32_t bytes, bool lent) {
    mark(view_of(owner)->shared[owner->rank]->states + offset, bytes, BYTE_LENT, lent);
}

void observe_awaited(const struct block *block, uint64_t address, uint32_t bytes, bool awaited) {
    struct memory_spot spot;
    if (memory_spot(block->memory, address, &spot) && spot.shadow &&
        bytes <= spot.bytes - spot.offset)
        mark(spot.shadow->states + spot.offset, bytes, BYTE_AWAITED, awaited);
}
