/* Collects the findings of the race checker, and handles the beginning and end of launches. */
#include "ptx/racecheck.h"

#include "base/memory.h"
#include "ptx/arena.h"
#include "ptx/instrument.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_cost;
} finding_kinds[PTX_FINDING_KINDS] = {
    [PTX_FINDING_OUT_OF_BOUNDS] = {"out-of-bounds", false},
    [PTX_FINDING_READ_ONLY] = {"wrote-input", false},
    [PTX_FINDING_MISALIGNED] = {"misaligned", false},
    [PTX_FINDING_UNWRITTEN] = {"unwritten", false},
    [PTX_FINDING_RACE_IN_BLOCK] = {"race-in-block", false},
    [PTX_FINDING_RACE_BETWEEN_BLOCKS] = {"race-between-blocks", false},
    [PTX_FINDING_DIVERGENT_BARRIER] = {"divergent-barrier", false},
    [PTX_FINDING_BEFORE_WAIT] = {"before-wait", false},
    [PTX_FINDING_MISSING_PROXY_FENCE] = {"missing-proxy-fence", false},
    [PTX_FINDING_LANES_DISAGREE] = {"lanes-disagree", false},
    [PTX_FINDING_INACTIVE_LANE] = {"inactive-lane", false},
    [PTX_FINDING_ENDLESS_LOOP] = {"endless-loop", false},
    [PTX_FINDING_DEADLOCK] = {"deadlock", false},
    [PTX_FINDING_TRAP] = {"trap", false},
    [PTX_FINDING_MISUSE] = {"misuse", false},
    [PTX_FINDING_UNKNOWN_OPCODE] = {"unknown-opcode", false},
    [PTX_FINDING_LAUNCH] = {"launch", false},
    [PTX_FINDING_BANK_CONFLICT] = {"bank-conflict", true},
    [PTX_FINDING_UNCOALESCED] = {"uncoalesced", true},
    [PTX_FINDING_SERIALISED] = {"serialised", true},
};

static const enum ptx_finding_kind kind_of_fault[] = {
    [PTX_FAULT_LAUNCH] = PTX_FINDING_LAUNCH,
    [PTX_FAULT_UNKNOWN_OPCODE] = PTX_FINDING_UNKNOWN_OPCODE,
    [PTX_FAULT_LOAD] = PTX_FINDING_OUT_OF_BOUNDS,
    [PTX_FAULT_STORE] = PTX_FINDING_OUT_OF_BOUNDS,
    [PTX_FAULT_READ_ONLY] = PTX_FINDING_READ_ONLY,
    [PTX_FAULT_MISALIGNED] = PTX_FINDING_MISALIGNED,
    [PTX_FAULT_TRAP] = PTX_FINDING_TRAP,
    [PTX_FAULT_LANES_DISAGREE] = PTX_FINDING_LANES_DISAGREE,
    [PTX_FAULT_UNDEFINED] = PTX_FINDING_MISUSE,
    [PTX_FAULT_DEADLOCK] = PTX_FINDING_DEADLOCK,
    [PTX_FAULT_TIMEOUT] = PTX_FINDING_ENDLESS_LOOP,
};

/* A finding and its deduplication key. */
struct finding_entry {
    struct ptx_finding finding;
    int number; /* in the order of detection */
    uint64_t transactions, ideal, worst;
    char place[256], other[256];
    bool is_fault;     /* ended its launch */
    bool is_explained; /* a consequence of another finding */
};

/* Shortcut to an entry, for a race in a loop. */
struct reported_finding {
    enum ptx_finding_kind kind;
    uint32_t code, other;
    int number;
};

const char *ptx_finding_name(enum ptx_finding_kind kind) {
    return finding_kinds[kind].name;
}

bool ptx_finding_is_cost(enum ptx_finding_kind kind) {
    return finding_kinds[kind].is_cost;
}

struct ptx_racecheck *ptx_racecheck_new(struct ptx_memory *memory) {
    struct ptx_racecheck *racecheck = xcalloc(1, sizeof *racecheck);
    racecheck->memory = memory;
    memory_enable_shadow(memory);
    return racecheck;
}

void ptx_racecheck_skip_unsupported(struct ptx_racecheck *racecheck) {
    racecheck->skips_unsupported = true;
}

static void release_launch(struct ptx_racecheck *racecheck) {
    for (int i = 0; i < racecheck->cluster_shadow_count; i++) {
        for (int rank = 0; rank < CLUSTER_MAX; rank++)
            shadow_free(racecheck->cluster_shadows[i].shared[rank]);
        free(racecheck->cluster_shadows[i].barrier_visits);
        free(racecheck->cluster_shadows[i].barrier_phases);
        free(racecheck->cluster_shadows[i].mbarriers);
        free(racecheck->cluster_shadows[i].waits);
        free(racecheck->cluster_shadows[i].local_written);
    }
    free(racecheck->cluster_shadows);
    free(racecheck->access_costs);
    racecheck->access_costs = NULL;
    racecheck->cluster_shadows = NULL;
    racecheck->cluster_shadow_count = 0;
    racecheck->reported_count = racecheck->unit_position_count = 0;
}

void ptx_racecheck_free(struct ptx_racecheck *racecheck) {
    if (!racecheck)
        return;
    release_launch(racecheck);
    vector_clock_free(&racecheck->clocks);
    free(racecheck->unit_positions);
    free(racecheck->reported);
    free(racecheck->entries);
    free(racecheck);
}

/* ---- findings ---- */

static bool is_race(enum ptx_finding_kind kind) {
    return kind == PTX_FINDING_RACE_IN_BLOCK || kind == PTX_FINDING_RACE_BETWEEN_BLOCKS;
}

/* A race explains what else is wrong with the same accesses: an uninitialised read, a missing proxy
   fence, or operands of a wgmma that change. An access before a wait explains that the copy, or
   whatever waits for the access, does not end. */
static bool explains(const struct finding_entry *cause, const struct finding_entry *entry) {
    enum ptx_finding_kind kind = entry->finding.kind;
    if (strcmp(entry->finding.kernel, cause->finding.kernel) != 0)
        return false;
    if (cause->finding.kind == PTX_FINDING_BEFORE_WAIT)
        return entry->is_fault && (kind == PTX_FINDING_DEADLOCK || kind == PTX_FINDING_MISUSE);
    return is_race(cause->finding.kind) &&
           (kind == PTX_FINDING_UNWRITTEN || kind == PTX_FINDING_MISSING_PROXY_FENCE ||
            (kind == PTX_FINDING_MISUSE && entry->is_fault)) &&
           (!strcmp(entry->place, cause->place) || !strcmp(entry->place, cause->other));
}

int ptx_racecheck_finding_count(const struct ptx_racecheck *racecheck) {
    int count = 0;
    for (int i = 0; i < racecheck->entry_count; i++)
        count += !racecheck->entries[i].is_explained;
    return count;
}

static int compare_entries(const void *left, const void *right) {
    const struct finding_entry *a = left, *b = right;
    int access_costs =
        finding_kinds[a->finding.kind].is_cost - finding_kinds[b->finding.kind].is_cost;
    int is_explained = a->is_explained - b->is_explained;
    uint64_t excess_a = a->transactions - a->ideal, excess_b = b->transactions - b->ideal;
    if (is_explained || access_costs)
        return is_explained ? is_explained : access_costs;
    return excess_a != excess_b ? (excess_a < excess_b) - (excess_a > excess_b)
                                : a->number - b->number;
}

const struct ptx_finding *ptx_racecheck_finding(struct ptx_racecheck *racecheck, int index) {
    if (!racecheck->sorted)
        qsort(racecheck->entries, (size_t)racecheck->entry_count, sizeof *racecheck->entries,
              compare_entries);
    racecheck->sorted = true;
    racecheck->reported_count = 0; /* sorting has moved the entries */
    return &racecheck->entries[index].finding;
}

/* Whether two entries have the same cause. For a race, the two accesses are interchangeable. */
static bool is_same_cause(const struct finding_entry *a, const struct finding_entry *b) {
    return a->finding.kind == b->finding.kind && !strcmp(a->finding.kernel, b->finding.kernel) &&
           ((!strcmp(a->place, b->place) && !strcmp(a->other, b->other)) ||
            (is_race(a->finding.kind) && !strcmp(a->place, b->other) &&
             !strcmp(a->other, b->place)));
}

/* Returns the entry of this cause; a new one has count 0. */
static struct finding_entry *find_or_add_entry(struct ptx_racecheck *racecheck,
                                               const struct finding_entry *key) {
    for (int i = 0; i < racecheck->entry_count; i++) {
        struct finding_entry *entry = &racecheck->entries[i];
        if (is_same_cause(entry, key))
            return entry;
    }
    racecheck->entries =
        xgrow(racecheck->entries, racecheck->entry_count, sizeof *racecheck->entries);
    struct finding_entry *entry = &racecheck->entries[racecheck->entry_count];
    *entry = *key;
    entry->number = racecheck->entry_count++;
    racecheck->sorted = false;
    for (int i = 0; i < racecheck->entry_count; i++) {
        entry->is_explained |= explains(&racecheck->entries[i], entry);
        racecheck->entries[i].is_explained |= explains(entry, &racecheck->entries[i]);
    }
    return entry;
}

static void fill_finding(struct finding_entry *entry, const struct kernel *kernel,
                         const struct ptx_fault *fault) {
    struct ptx_finding *finding = &entry->finding;
    snprintf(finding->kernel, sizeof finding->kernel, "%s", kernel->info.name);
    snprintf(finding->file, sizeof finding->file, "%s", fault->file);
    finding->line = fault->line;
    memcpy(finding->block, fault->block, sizeof finding->block);
    memcpy(finding->thread, fault->thread, sizeof finding->thread);
    finding->address = fault->address;
    snprintf(finding->text, sizeof finding->text, "%s", fault->text);
}

bool racecheck_count_repeat(const struct finding_report *report) {
    struct ptx_racecheck *racecheck = report->warp->block->racecheck;
    uint32_t code = (uint32_t)(report->instruction - racecheck->kernel->code);
    for (int i = 0; i < racecheck->reported_count; i++) {
        const struct reported_finding *reported = &racecheck->reported[i];
        if (reported->kind == report->kind && reported->code == code &&
            reported->other == report->other) {
            racecheck->entries[reported->number].finding.count++;
            return true;
        }
    }
    return false;
}

void racecheck_report(const struct finding_report *report, const char *format, ...) {
    struct ptx_racecheck *racecheck = report->warp->block->racecheck;
    const struct kernel *kernel = racecheck->kernel;
    struct finding_entry key = {.finding.kind = report->kind};
    struct ptx_fault fault;
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_fill(&fault, report->warp, report->instruction, report->lane, PTX_FAULT_NONE,
               report->address, text);
    fill_finding(&key, kernel, &fault);
    snprintf(key.finding.tensor, sizeof key.finding.tensor, "%s",
             report->tensor ? report->tensor : "");
    format_source_location(kernel, report->instruction, &fault, key.place, sizeof key.place);
    if (report->other != NO_PC)
        format_source_location(kernel, &kernel->code[report->other], &fault, key.other,
                               sizeof key.other);
    key.finding.other_line = report->other != NO_PC ? fault.line : 0;
    struct finding_entry *entry = find_or_add_entry(racecheck, &key);
    entry->finding.count++;
    racecheck->reported =
        xgrow(racecheck->reported, racecheck->reported_count, sizeof *racecheck->reported);
    racecheck->reported[racecheck->reported_count++] =
        (struct reported_finding){report->kind, (uint32_t)(report->instruction - kernel->code),
                                  report->other, (int)(entry - racecheck->entries)};
}

void instrument_fault(struct ptx_racecheck *racecheck, const struct kernel *kernel,
                      const struct ptx_fault *fault) {
    struct finding_entry key = {.finding.kind = kind_of_fault[fault->kind], .is_fault = true};
    struct memory_location location;
    fill_finding(&key, kernel, fault);
    if (fault->address && fault->address < SHARED_WINDOW &&
        memory_locate(racecheck->memory, fault->address, &location))
        snprintf(key.finding.tensor, sizeof key.finding.tensor, "%s", location.name);
    /* The text begins with the kernel's name and the place. */
    const char *place = fault->text + strlen(kernel->info.name), *end = strstr(place, ": ");
    if (end)
        snprintf(key.place, sizeof key.place, "%.*s", (int)(end - place), place);
    find_or_add_entry(racecheck, &key)->finding.count++;
}

bool instrument_unsupported(struct warp *warp, const struct instruction *instruction, int lane) {
    const struct finding_report report = {.kind = PTX_FINDING_UNKNOWN_OPCODE,
                                          .warp = warp,
                                          .instruction = instruction,
                                          .lane = lane,
                                          .other = NO_PC};
    bool skips = warp->block->racecheck->skips_unsupported;
    if (skips && !racecheck_count_repeat(&report))
        racecheck_report(&report, "executed what the emulated device lacks: %s",
                         instruction->as.text);
    return skips;
}

static void add_cost_finding(struct ptx_racecheck *racecheck, const struct cluster *cluster,
                             uint32_t code, bool is_global) {
    const struct access_cost *cost = &racecheck->access_costs[2 * code + is_global];
    const struct kernel *kernel = racecheck->kernel;
    struct finding_entry key = {.finding.kind = is_global ? PTX_FINDING_UNCOALESCED
                                                          : PTX_FINDING_BANK_CONFLICT};
    struct ptx_fault fault = {0};
    const struct block *block =
        &cluster->blocks[cost->first_actor / (uint32_t)cluster->blocks->warp_count];
    struct warp *warp = &block->warps[cost->first_actor % (uint32_t)block->warp_count];
    fault_fill(&fault, warp, &kernel->code[code], (int)cost->first_lane, PTX_FAULT_NONE, 0, "");
    fill_finding(&key, kernel, &fault);
    format_source_location(kernel, &kernel->code[code], &fault, key.place, sizeof key.place);
    struct finding_entry *entry = find_or_add_entry(racecheck, &key);
    entry->transactions += cost->transactions;
    entry->ideal += cost->ideal;
    entry->worst = cost->worst > entry->worst ? cost->worst : entry->worst;
    entry->finding.count += cost->requests;
    entry->finding.degree = (double)entry->transactions / (double)entry->ideal;
    snprintf(entry->finding.text, sizeof entry->finding.text,
             is_global ? "%s%s: uncoalesced: %llu sectors of 32 bytes in %llu requests, minimum "
                         "%llu; worst request %llu"
                       : "%s%s: bank conflicts: %llu shared memory wavefronts in %llu requests, "
                         "minimum %llu; worst request %llu",
             kernel->info.name, key.place, (unsigned long long)entry->transactions,
             (unsigned long long)entry->finding.count, (unsigned long long)entry->ideal,
             (unsigned long long)entry->worst);
}

/* At the kernel's first wgmma: ptxas does not say which use is too early. */
static void add_serialised_finding(struct ptx_racecheck *racecheck, const struct cluster *cluster) {
    const struct kernel *kernel = racecheck->kernel;
    struct finding_entry key = {.finding.kind = PTX_FINDING_SERIALISED};
    struct ptx_fault fault = {0};
    uint32_t first = 0;
    while (first < kernel->code_count && kernel->code[first].execute != execute_wgmma)
        first++;
    if (first == kernel->code_count)
        return;
    fault_fill(&fault, cluster->blocks->warps, &kernel->code[first], 0, PTX_FAULT_NONE, 0, "");
    fill_finding(&key, kernel, &fault);
    format_source_location(kernel, &kernel->code[first], &fault, key.place, sizeof key.place);
    snprintf(key.finding.text, sizeof key.finding.text,
             "%s%s: serialised: ptxas waits after each wgmma: use sums and register operands only "
             "behind their wgmma.wait_group, and fewer registers",
             kernel->info.name, key.place);
    find_or_add_entry(racecheck, &key)->finding.count++;
}

/* ---- launches ---- */

/* Whether only stores write local memory: not calls, which pass values in it, nor printf. */
static bool checks_local_memory(const struct kernel *kernel) {
    bool stores_only = kernel->info.local_bytes > 0 && kernel->routine_count == 0;
    for (uint32_t i = 0; i < kernel->code_count && stores_only; i++)
        stores_only = kernel->code[i].execute != execute_print;
    return stores_only;
}

static size_t local_bytes_of(const struct cluster *cluster) {
    const struct block *block = cluster->blocks;
    return (size_t)block->local_bytes * (size_t)(block->warp_count * cluster->count) * LANES;
}

void instrument_launch_begin(struct ptx_racecheck *racecheck, const struct cluster *cluster,
                             int slots) {
    const struct block *block = cluster->blocks;
    int warps = cluster->count * block->warp_count;
    racecheck->kernel = block->kernel;
    vector_clock_launch_begin(&racecheck->clocks, warps + 1, slots, block->launch->early);
    racecheck->access_costs =
        xcalloc(2 * (size_t)block->kernel->code_count + 1, sizeof *racecheck->access_costs);
    racecheck->cluster_shadows = xcalloc((size_t)slots, sizeof *racecheck->cluster_shadows);
    racecheck->cluster_shadow_count = slots;
    for (int i = 0; i < slots; i++) {
        struct cluster_shadow *cluster_shadow = &racecheck->cluster_shadows[i];
        cluster_shadow->barrier_visits =
            xcalloc((size_t)warps * BARRIERS_MAX, sizeof *cluster_shadow->barrier_visits);
        cluster_shadow->barrier_phases =
            xcalloc((size_t)cluster->count * BARRIERS_MAX, sizeof *cluster_shadow->barrier_phases);
        cluster_shadow->mbarriers =
            xcalloc((size_t)cluster->count, sizeof *cluster_shadow->mbarriers);
        cluster_shadow->waits = xcalloc((size_t)warps, sizeof *cluster_shadow->waits);
        if (checks_local_memory(block->kernel))
            cluster_shadow->local_written = xmalloc(local_bytes_of(cluster));
        for (int rank = 0; rank < cluster->count; rank++)
            if (!(cluster_shadow->shared[rank] = shadow_new(block->shared_bytes)))
                BUG("out of memory for the race checker");
    }
}

/* The last warp of a block may have fewer threads than lanes. */
static void note_missing_lanes(struct vector_clocks *clocks, const struct cluster *cluster) {
    const struct block *block = cluster->blocks;
    uint32_t threads = block->thread_count % LANES;
    for (int rank = 0; rank < cluster->count && threads > 0; rank++)
        vector_clock_lanes_missing(clocks, (rank + 1) * block->warp_count - 1,
                                   UINT32_MAX << threads);
}

void instrument_cluster_begin(struct cluster *cluster) {
    struct ptx_racecheck *racecheck = cluster->blocks->racecheck;
    int warps = cluster->count * cluster->blocks->warp_count;
    struct cluster_shadow *cluster_shadow = cluster_shadow_of(cluster->blocks);
    vector_clock_unit_begin(&racecheck->clocks, cluster->slot);
    note_missing_lanes(&racecheck->clocks, cluster);
    memset(cluster_shadow->barrier_visits, 0,
           (size_t)warps * BARRIERS_MAX * sizeof *cluster_shadow->barrier_visits);
    memset(cluster_shadow->barrier_phases, 0,
           (size_t)cluster->count * BARRIERS_MAX * sizeof *cluster_shadow->barrier_phases);
    memset(cluster_shadow->mbarriers, 0,
           (size_t)cluster->count * sizeof *cluster_shadow->mbarriers);
    memset(cluster_shadow->waits, 0, (size_t)warps * sizeof *cluster_shadow->waits);
    if (cluster_shadow->local_written)
        memset(cluster_shadow->local_written, 0, local_bytes_of(cluster));
    for (int i = 0; i < cluster->count; i++) {
        const struct block *block = &cluster->blocks[i];
        memset(cluster_shadow->shared[i]->states, 0, cluster_shadow->shared[i]->bytes);
        memset(cluster_shadow->shared[i]->states + reserved_smem_offset(block), BYTE_WRITTEN,
               block->kernel->reserved_smem_bytes);
    }
    racecheck->unit_positions = xgrow(racecheck->unit_positions, racecheck->unit_position_count,
                                      sizeof *racecheck->unit_positions);
    memcpy(racecheck->unit_positions[racecheck->unit_position_count++], cluster->blocks->position,
           sizeof *racecheck->unit_positions);
}

void instrument_cluster_resume(const struct cluster *cluster) {
    vector_clock_unit_resume(&cluster->blocks->racecheck->clocks, cluster->slot);
}

void instrument_launch_end(struct ptx_racecheck *racecheck, const struct cluster *cluster) {
    const struct kernel *kernel = racecheck->kernel;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct access_cost *cost = &racecheck->access_costs[2 * i];
        if (cost[0].transactions > cost[0].ideal)
            add_cost_finding(racecheck, cluster, i, false);
        if (cost[1].requests && cost[1].transactions >= 2 * cost[1].ideal)
            add_cost_finding(racecheck, cluster, i, true);
    }
    if (cluster->blocks->launch->serial_wgmma)
        add_serialised_finding(racecheck, cluster);
    release_launch(racecheck);
}
