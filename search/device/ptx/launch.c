#include "device/ptx/execute.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    THREADS_MAX = 1024,
    SLICE = 20000, /* instructions that a warp may do before the next one has a turn */
};
#define STEP_LIMIT_MAX (1ull << 40)

/* Our own work, not that of others on a busy machine: an endless loop works all the time. */
static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ": main.cu:41, inlined at main.cu:80": the place of an instruction. */
static void describe_place(const struct kernel *kernel, const struct instruction *instruction,
                           struct ptx_fault *fault, char *text, size_t text_bytes) {
    const struct ast *ast = kernel->module->ast;
    size_t used = 0;
    int index = instruction ? instruction->location : -1;
    for (int depth = 0; index >= 0 && depth < 4 && used < text_bytes; depth++) {
        const struct location *location = &ast->locations[index];
        struct slice file = {"", 0};
        if (location->file < ast->file_count)
            file = ast->files[location->file];
        /* The innermost place goes to the fields; line 0 stands for code without one. */
        if (!depth) {
            snprintf(fault->file, sizeof fault->file, "%.*s", file.length, file.text);
            fault->line = location->line;
        }
        const char *slash = memrchr(file.text, '/', (size_t)file.length);
        if (slash)
            file = (struct slice){slash + 1, (int)(file.text + file.length - slash - 1)};
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%.*s:%d",
                                 depth ? ", inlined at " : " at ",
                                 file.length > 80 ? 80 : file.length, file.text, location->line);
        index = location->inlined;
    }
}

static void set_fault(struct block *block, const struct kernel *kernel,
                      const struct instruction *instruction, enum ptx_fault_kind kind,
                      const char *who, const char *what) {
    struct ptx_fault *fault = block->fault;
    char place[256] = "";
    fault->kind = kind;
    describe_place(kernel, instruction, fault, place, sizeof place);
    snprintf(fault->text, sizeof fault->text, "%s%s: %s%s", kernel->visible.name, place, who, what);
}

enum action fault_at(struct warp *warp, const struct instruction *instruction, int lane,
                     enum ptx_fault_kind kind, uint64_t address, const char *what, ...) {
    struct block *block = warp->block;
    const unsigned *size = block->launch->block;
    unsigned thread = (unsigned)(warp->index * LANES + lane);
    char text[320], who[128];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    *block->fault = (struct ptx_fault){.address = address};
    memcpy(block->fault->block, block->position, sizeof block->position);
    block->fault->thread[0] = thread % size[0];
    block->fault->thread[1] = thread / size[0] % size[1];
    block->fault->thread[2] = thread / size[0] / size[1];
    snprintf(who, sizeof who, "thread (%u,%u,%u) of block (%u,%u,%u) ", block->fault->thread[0],
             block->fault->thread[1], block->fault->thread[2], block->position[0],
             block->position[1], block->position[2]);
    set_fault(block, warp->kernel, instruction, kind, who, text);
    return ACTION_FAULT;
}

static int launch_fault(const struct ptx_launch *launch, struct ptx_fault *fault,
                        enum ptx_fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int launch_fault(const struct ptx_launch *launch, struct ptx_fault *fault,
                        enum ptx_fault_kind kind, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *fault = (struct ptx_fault){.kind = kind};
    snprintf(fault->text, sizeof fault->text, "%.80s: %s", launch->kernel->name, text);
    return -1;
}

/* ---- Warps at their start ---- */

static uint64_t special_value(const struct warp *warp, enum special_register which, uint32_t lane) {
    const struct block *block = warp->block;
    const struct ptx_launch *launch = block->launch;
    const unsigned *size = launch->block;
    uint32_t thread = (uint32_t)warp->index * LANES + lane;
    switch (which) {
    case SPECIAL_TID_X:
        return thread % size[0];
    case SPECIAL_TID_Y:
        return thread / size[0] % size[1];
    case SPECIAL_TID_Z:
        return thread / size[0] / size[1];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return size[which - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return block->position[which - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return launch->grid[which - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_WARPID:
        return (uint32_t)warp->index;
    case SPECIAL_NWARPID:
        return (uint32_t)block->warp_count;
    case SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case SPECIAL_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case SPECIAL_LANEMASK_GT:
        return (uint32_t) ~((2ull << lane) - 1);
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->smem_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return block->shared_bytes;
    case SPECIAL_DYNAMIC_SMEM:
        return block->shared_bytes - launch->smem_bytes;
    case SPECIAL_NSMID:
    case SPECIAL_ONE:
        return 1;
    default:
        return 0;
    }
}

static void start_warp(struct warp *warp) {
    const struct kernel *kernel = warp->kernel;
    uint32_t left = warp->block->thread_count - (uint32_t)warp->index * LANES;
    memset(warp->registers, 0xff, kernel->register_bytes);
    for (int i = 0; i < kernel->special_count; i++) {
        const struct special_slot *slot = &kernel->specials[i];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t value = special_value(warp, slot->which, lane);
            memcpy(warp->registers + slot->place + lane * (uint32_t)slot->bytes, &value,
                   (size_t)slot->bytes);
        }
    }
    warp->live = warp->active = left >= LANES ? ALL_LANES : (1u << left) - 1;
    warp->pc = 0;
    warp->stop_pc = NO_PC;
    warp->parked_count = warp->copy_count = 0;
    warp->tick = 0;
    warp->grace = warp->back_jumps = 0;
    memset(warp->group, 0, sizeof warp->group);
    memset(warp->bulk_group, 0, sizeof warp->bulk_group);
    warp->product_count = 0;
    warp->product_group = warp->product_paused = warp->cluster_arrivals = 0;
}

/* ---- A block ---- */

/* A warp counts as 32 threads once all of its lanes that live have come. */
static bool is_complete(const struct block *block, const struct block_barrier *barrier) {
    uint32_t arrived = 0, expected = 0;
    for (int i = 0; i < block->warp_count; i++) {
        uint32_t live = block->warps[i].live, here = barrier->arrived[i];
        bool whole = here && !(live & ~here);
        arrived += whole ? LANES : (uint32_t)__builtin_popcount(here);
        expected += live || here ? LANES : 0;
    }
    return arrived >= (barrier->expected ? barrier->expected : expected);
}

static bool settle_barriers(struct block *block) {
    bool released = false;
    for (int i = 0; i < BARRIERS; i++) {
        struct block_barrier *barrier = &block->barriers[i];
        if (!barrier->in_use || !is_complete(block, barrier))
            continue;
        for (int w = 0; w < block->warp_count; w++)
            warp_release(&block->warps[w], i);
        barrier->in_use = false;
        released = true;
    }
    return released;
}

static void describe_wait(struct warp *warp, const struct fragment *fragment, char *text,
                          size_t text_bytes) {
    execute_function execute = warp->kernel->code[fragment->pc].execute;
    if (fragment->state == FRAGMENT_AT_BARRIER)
        snprintf(text, text_bytes,
                 "waits for ever at barrier %u of the block: not all threads come",
                 fragment->members);
    else if (fragment->state == FRAGMENT_AT_WARP)
        snprintf(text, text_bytes, "waits for ever for other lanes of its warp: of the mask 0x%08x",
                 fragment->members);
    else if (execute == execute_mbarrier_wait)
        mbarrier_describe(warp, fragment, text, text_bytes);
    else if (execute == execute_product_wait)
        snprintf(text, text_bytes,
                 "waits for ever for products that not all four warps of its "
                 "warpgroup have issued");
    else
        snprintf(text, text_bytes, "waits for ever at the cluster's barrier");
}

/* How near to the cause of a deadlock a wait is: who waits for bytes that were announced and do not
   come, then who waits for an event, then who waits for threads. */
static int blame(struct warp *warp, const struct fragment *fragment) {
    if (fragment->state != FRAGMENT_AT_EVENT)
        return 1;
    return warp->kernel->code[fragment->pc].execute == execute_mbarrier_wait &&
                   mbarrier_lacks_bytes(warp, fragment)
               ? 3
               : 2;
}

/* Names one place where lanes wait. */
static int report_deadlock(struct block *block) {
    struct warp *culprit = NULL;
    const struct fragment *held = NULL;
    for (int i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        for (int j = 0; warp->live && j < warp->parked_count; j++)
            if (!held || blame(warp, &warp->parked[j]) > blame(culprit, held)) {
                culprit = warp;
                held = &warp->parked[j];
            }
    }
    if (!held)
        BUG("a block that neither goes on nor waits");
    char text[320];
    describe_wait(culprit, held, text, sizeof text);
    fault_at(culprit, &culprit->kernel->code[held->pc], __builtin_ctz(held->mask),
             PTX_FAULT_DEADLOCK, 0, "%s", text);
    return -1;
}

/* Nobody can go on by himself. Lets the copy engine work; else lets waits give up, as try_wait may,
   for a program that then does something else. 1: it helped; 0; -1: a fault. */
static int prod(struct block *block) {
    enum { GIVE_UP_MAX = 16 };
    int landed = bulk_land(block);
    if (landed != 0)
        return landed;
    bool awaits = false;
    for (int i = 0; i < block->warp_count; i++)
        for (int j = 0; j < block->warps[i].parked_count; j++)
            awaits |= block->warps[i].parked[j].state == FRAGMENT_AT_EVENT;
    block->impatient = awaits && block->given_up++ < GIVE_UP_MAX;
    return block->impatient;
}

static int out_of_time(struct block *block, const char *what) {
    char who[96];
    struct warp *warp = block->warps;
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].active)
            warp = &block->warps[i];
    *block->fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    memcpy(block->fault->block, block->position, sizeof block->position);
    snprintf(who, sizeof who, "warp %d of block (%u,%u,%u) ", warp->index, block->position[0],
             block->position[1], block->position[2]);
    set_fault(block, block->kernel, warp->active ? &block->kernel->code[warp->pc] : NULL,
              PTX_FAULT_TIMEOUT, who, what);
    return -1;
}

static int run_block(struct block *block) {
    struct ptx_counts *counts = block->counts;
    memset(block->shared, 0xff, block->shared_bytes);
    memset(block->local, 0xff, (size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    memset(block->barriers, 0, sizeof block->barriers);
    block->impatient = false;
    block->given_up = 0;
    for (int i = 0; i < block->warp_count; i++)
        start_warp(&block->warps[i]);
    for (;;) {
        bool alive = false, progress = false;
        if (block->deadline_s && now_s() > block->deadline_s)
            return out_of_time(block, "ran past its deadline: an endless loop?");
        for (int i = 0; i < block->warp_count; i++) {
            struct warp *warp = &block->warps[i];
            uint64_t left = block->step_limit - counts->warp_instructions, before = warp->tick;
            if (!warp->live)
                continue;
            if (!left)
                return out_of_time(block, "ran past the limit of instructions: an endless loop?");
            warp_wake(warp, block->impatient);
            if (warp_run(warp, left < SLICE ? (uint32_t)left : SLICE) == ACTION_FAULT)
                return -1;
            progress |= warp->tick != before;
            alive |= warp->live != 0;
            progress |= settle_barriers(block);
        }
        block->impatient = false;
        if (!alive)
            return bulk_finish(block);
        if (progress)
            continue;
        int helped = prod(block);
        if (helped <= 0)
            return helped < 0 ? -1 : report_deadlock(block);
    }
}

/* ---- A launch ---- */

static int check_launch(const struct ptx_launch *launch, struct ptx_fault *fault) {
    const struct ptx_kernel *kernel = launch->kernel;
    uint64_t threads = 1, blocks = 1;
    for (int i = 0; i < 3; i++) {
        unsigned most = i == 0 ? 0x7fffffff : 65535;
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] > most ||
            launch->block[i] > THREADS_MAX)
            return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                                "a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads is not allowed",
                                launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                                launch->block[1], launch->block[2]);
        threads *= launch->block[i];
        blocks *= launch->grid[i];
        if (kernel->required_block[0] && kernel->required_block[i] != launch->block[i])
            return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                                "wants blocks of (%u,%u,%u) threads", kernel->required_block[0],
                                kernel->required_block[1], kernel->required_block[2]);
    }
    if (threads > THREADS_MAX || (kernel->max_threads && threads > kernel->max_threads))
        return launch_fault(
            launch, fault, PTX_FAULT_LAUNCH, "a block of %llu threads is too large: the most is %u",
            (unsigned long long)threads, kernel->max_threads ? kernel->max_threads : THREADS_MAX);
    if (launch->argument_bytes != kernel->argument_bytes)
        return launch_fault(launch, fault, PTX_FAULT_LAUNCH, "got %zu bytes of arguments, takes %u",
                            launch->argument_bytes, kernel->argument_bytes);
    if (launch->smem_bytes > 1u << 20)
        return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                            "%u bytes of shared memory are too many", launch->smem_bytes);
    if (kernel->error)
        return launch_fault(launch, fault, PTX_FAULT_UNKNOWN, "%s", kernel->error);
    return 0;
}

static void *take(size_t bytes) {
    void *taken = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!taken)
        BUG("out of memory for a block of %zu bytes", bytes);
    return taken;
}

static void init_block(struct block *block, const struct ptx_launch *launch) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    uint32_t alignment = kernel->dynamic_smem_alignment;
    uint32_t dynamic = (kernel->visible.static_smem_bytes + alignment - 1) / alignment * alignment;
    block->launch = launch;
    block->kernel = kernel;
    block->memory = kernel->module->memory;
    block->arguments = launch->arguments;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (int)((block->thread_count + LANES - 1) / LANES);
    block->shared_bytes = dynamic + launch->smem_bytes;
    block->local_bytes = kernel->visible.local_bytes;
    block->shared = take(block->shared_bytes);
    block->local = take((size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    block->registers = take((size_t)kernel->register_bytes * (size_t)block->warp_count);
    block->warps = take(sizeof *block->warps * (size_t)block->warp_count);
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i] = (struct warp){.block = block,
                                        .kernel = kernel,
                                        .constants = kernel->constants,
                                        .registers = block->registers +
                                                     (size_t)kernel->register_bytes * (size_t)i,
                                        .index = i};
    block->step_limit = launch->step_limit && launch->step_limit < STEP_LIMIT_MAX
                            ? launch->step_limit
                            : STEP_LIMIT_MAX;
    block->deadline_s = launch->deadline_s > 0 ? now_s() + launch->deadline_s : 0;
}

static void release_block(struct block *block) {
    for (int i = 0; i < block->warp_count; i++) {
        free(block->warps[i].copies);
        free(block->warps[i].products);
    }
    bulk_release(block);
    free(block->warps);
    free(block->registers);
    free(block->local);
    free(block->shared);
}

/* The index-th block of an order that goes through all of them: steps of a number that shares no
   factor with their count. */
static uint64_t permuted(uint64_t index, uint64_t count, uint64_t seed) {
    if (!seed)
        return index;
    uint64_t step = (seed | 1) % count;
    for (;; step++) {
        uint64_t a = step % count, b = count;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        if (b == 1)
            break;
    }
    return (uint64_t)((unsigned __int128)index * step % count + seed % count) % count;
}

int ptx_launch(const struct ptx_launch *launch, struct ptx_counts *counts,
               struct ptx_fault *fault) {
    struct ptx_counts own;
    struct block block = {.counts = counts ? counts : &own, .fault = fault};
    *block.counts = (struct ptx_counts){0};
    *fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    if (check_launch(launch, fault) < 0)
        return -1;
    init_block(&block, launch);
    uint64_t count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int result = 0;
    float_mode_set(FLOAT_NEAREST);
    for (uint64_t i = 0; i < count && !result; i++) {
        uint64_t index = permuted(i, count, launch->block_seed);
        block.position[0] = (unsigned)(index % launch->grid[0]);
        block.position[1] = (unsigned)(index / launch->grid[0] % launch->grid[1]);
        block.position[2] = (unsigned)(index / launch->grid[0] / launch->grid[1]);
        result = run_block(&block);
    }
    float_mode_set(FLOAT_NEAREST);
    release_block(&block);
    return result;
}
