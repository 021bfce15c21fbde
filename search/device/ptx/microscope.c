/* Collects the findings of the race checker, and handles the beginning and end of launches. */
#include "device/ptx/microscope.h"

#include "device/ptx/arena.h"
#include "device/ptx/observe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_cost;
} kinds[PTX_FINDING_KINDS] = {
    [PTX_FINDING_OUT_OF_BOUNDS] = {"out-of-bounds", false},
    [PTX_FINDING_READ_ONLY] = {"wrote-input", false},
    [PTX_FINDING_MISALIGNED] = {"misaligned", false},
    [PTX_FINDING_UNWRITTEN] = {"unwritten", false},
    [PTX_FINDING_BLOCK_RACE] = {"race-in-block", false},
    [PTX_FINDING_GRID_RACE] = {"race-between-blocks", false},
    [PTX_FINDING_BARRIER] = {"divergent-barrier", false},
    [PTX_FINDING_BEFORE_WAIT] = {"before-wait", false},
    [PTX_FINDING_PROXY] = {"missing-proxy-fence", false},
    [PTX_FINDING_LANES] = {"lanes-disagree", false},
    [PTX_FINDING_ENDLESS] = {"endless-loop", false},
    [PTX_FINDING_DEADLOCK] = {"deadlock", false},
    [PTX_FINDING_TRAP] = {"trap", false},
    [PTX_FINDING_MISUSE] = {"misuse", false},
    [PTX_FINDING_UNKNOWN] = {"unknown-opcode", false},
    [PTX_FINDING_LAUNCH] = {"launch", false},
    [PTX_FINDING_BANKS] = {"bank-conflict", true},
    [PTX_FINDING_SECTORS] = {"uncoalesced", true},
};

static const enum ptx_finding_kind kind_of_fault[] = {
    [PTX_FAULT_LAUNCH] = PTX_FINDING_LAUNCH,       [PTX_FAULT_UNKNOWN] = PTX_FINDING_UNKNOWN,
    [PTX_FAULT_LOAD] = PTX_FINDING_OUT_OF_BOUNDS,  [PTX_FAULT_STORE] = PTX_FINDING_OUT_OF_BOUNDS,
    [PTX_FAULT_READ_ONLY] = PTX_FINDING_READ_ONLY, [PTX_FAULT_MISALIGNED] = PTX_FINDING_MISALIGNED,
    [PTX_FAULT_TRAP] = PTX_FINDING_TRAP,           [PTX_FAULT_LANES] = PTX_FINDING_LANES,
    [PTX_FAULT_MISUSE] = PTX_FINDING_MISUSE,       [PTX_FAULT_DEADLOCK] = PTX_FINDING_DEADLOCK,
    [PTX_FAULT_TIMEOUT] = PTX_FINDING_ENDLESS,
};

/* A finding and its deduplication key. */
struct entry {
    struct ptx_finding finding;
    int number; /* in the order of detection */
    uint64_t passes, least, most;
    char place[256], other[256];
    bool explained; /* a race already explains this unwritten read */
};

/* Shortcut to an entry, for a race in a loop. */
struct seen {
    enum ptx_finding_kind kind;
    uint32_t code, other;
    int number;
};

const char *ptx_finding_name(enum ptx_finding_kind kind) {
    return kinds[kind].name;
}

bool ptx_finding_is_cost(enum ptx_finding_kind kind) {
    return kinds[kind].is_cost;
}

struct ptx_microscope *ptx_microscope_new(struct ptx_memory *memory) {
    struct ptx_microscope *microscope = calloc(1, sizeof *microscope);
    if (!microscope)
        BUG("out of memory");
    microscope->memory = memory;
    memory_observe(memory);
    return microscope;
}

static void end_launch(struct ptx_microscope *microscope) {
    for (int i = 0; i < microscope->view_count; i++) {
        for (int rank = 0; rank < CLUSTER_MAX; rank++)
            shadow_free(microscope->views[i].shared[rank]);
        free(microscope->views[i].meetings);
    }
    free(microscope->views);
    free(microscope->costs);
    microscope->costs = NULL;
    microscope->views = NULL;
    microscope->view_count = 0;
    microscope->seen_count = microscope->place_count = 0;
}

void ptx_microscope_free(struct ptx_microscope *microscope) {
    if (!microscope)
        return;
    end_launch(microscope);
    order_release_memory(&microscope->order);
    free(microscope->places);
    free(microscope->seen);
    free(microscope->entries);
    free(microscope);
}

/* ---- findings ---- */

static bool is_race(enum ptx_finding_kind kind) {
    return kind == PTX_FINDING_BLOCK_RACE || kind == PTX_FINDING_GRID_RACE;
}

/* A read that races with the write of the same location is not also reported as an uninitialised
   read. */
static bool explains(const struct entry *race, const struct entry *entry) {
    return entry->finding.kind == PTX_FINDING_UNWRITTEN && is_race(race->finding.kind) &&
           !strcmp(entry->finding.kernel, race->finding.kernel) &&
           (!strcmp(entry->place, race->place) || !strcmp(entry->place, race->other));
}

int ptx_microscope_count(const struct ptx_microscope *microscope) {
    int count = 0;
    for (int i = 0; i < microscope->entry_count; i++)
        count += !microscope->entries[i].explained;
    return count;
}

static int compare(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    int costs = kinds[a->finding.kind].is_cost - kinds[b->finding.kind].is_cost;
    int explained = a->explained - b->explained;
    uint64_t excess_a = a->passes - a->least, excess_b = b->passes - b->least;
    if (explained || costs)
        return explained ? explained : costs;
    return excess_a != excess_b ? (excess_a < excess_b) - (excess_a > excess_b)
                                : a->number - b->number;
}

const struct ptx_finding *ptx_microscope_finding(struct ptx_microscope *microscope, int index) {
    if (!microscope->sorted)
        qsort(microscope->entries, (size_t)microscope->entry_count, sizeof *microscope->entries,
              compare);
    microscope->sorted = true;
    microscope->seen_count = 0; /* sorting has moved the entries */
    return &microscope->entries[index].finding;
}

/* Whether two entries have the same cause. For a race, the two accesses are interchangeable. */
static bool is_same(const struct entry *a, const struct entry *b) {
    return a->finding.kind == b->finding.kind && !strcmp(a->finding.kernel, b->finding.kernel) &&
           ((!strcmp(a->place, b->place) && !strcmp(a->other, b->other)) ||
            (is_race(a->finding.kind) && !strcmp(a->place, b->other) &&
             !strcmp(a->other, b->place)));
}

/* Returns the entry of this cause; a new one has count 0. */
static struct entry *entry_of(struct ptx_microscope *microscope, const struct entry *wanted) {
    for (int i = 0; i < microscope->entry_count; i++) {
        struct entry *entry = &microscope->entries[i];
        if (is_same(entry, wanted))
            return entry;
    }
    microscope->entries = array_grow(microscope->entries, microscope->entry_count,
                                     &microscope->entry_capacity, sizeof *microscope->entries);
    struct entry *entry = &microscope->entries[microscope->entry_count];
    *entry = *wanted;
    entry->number = microscope->entry_count++;
    microscope->sorted = false;
    for (int i = 0; i < microscope->entry_count; i++) {
        entry->explained |= explains(&microscope->entries[i], entry);
        microscope->entries[i].explained |= explains(entry, &microscope->entries[i]);
    }
    return entry;
}

static void fill(struct entry *entry, const struct kernel *kernel, const struct ptx_fault *fault) {
    struct ptx_finding *finding = &entry->finding;
    snprintf(finding->kernel, sizeof finding->kernel, "%s", kernel->visible.name);
    snprintf(finding->file, sizeof finding->file, "%s", fault->file);
    finding->line = fault->line;
    memcpy(finding->block, fault->block, sizeof finding->block);
    memcpy(finding->thread, fault->thread, sizeof finding->thread);
    finding->address = fault->address;
    snprintf(finding->text, sizeof finding->text, "%s", fault->text);
}

bool microscope_knows(const struct report *report) {
    struct ptx_microscope *microscope = report->warp->block->microscope;
    uint32_t code = (uint32_t)(report->instruction - microscope->kernel->code);
    for (int i = 0; i < microscope->seen_count; i++) {
        const struct seen *seen = &microscope->seen[i];
        if (seen->kind == report->kind && seen->code == code && seen->other == report->other) {
            microscope->entries[seen->number].finding.count++;
            return true;
        }
    }
    return false;
}

void microscope_report(const struct report *report, const char *format, ...) {
    struct ptx_microscope *microscope = report->warp->block->microscope;
    const struct kernel *kernel = microscope->kernel;
    struct entry wanted = {.finding.kind = report->kind};
    struct ptx_fault fault;
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_fill(&fault, report->warp, report->instruction, report->lane, PTX_FAULT_NONE,
               report->address, text);
    fill(&wanted, kernel, &fault);
    snprintf(wanted.finding.tensor, sizeof wanted.finding.tensor, "%s",
             report->tensor ? report->tensor : "");
    describe_place(kernel, report->instruction, &fault, wanted.place, sizeof wanted.place);
    if (report->other != NO_PC)
        describe_place(kernel, &kernel->code[report->other], &fault, wanted.other,
                       sizeof wanted.other);
    wanted.finding.other_line = report->other != NO_PC ? fault.line : 0;
    struct entry *entry = entry_of(microscope, &wanted);
    entry->finding.count++;
    microscope->seen = array_grow(microscope->seen, microscope->seen_count,
                                  &microscope->seen_capacity, sizeof *microscope->seen);
    microscope->seen[microscope->seen_count++] =
        (struct seen){report->kind, (uint32_t)(report->instruction - kernel->code), report->other,
                      (int)(entry - microscope->entries)};
}

void observe_fault(struct ptx_microscope *microscope, const struct kernel *kernel,
                   const struct ptx_fault *fault) {
    struct entry wanted = {.finding.kind = kind_of_fault[fault->kind]};
    struct memory_spot spot;
    fill(&wanted, kernel, fault);
    if (fault->address && fault->address < SHARED_WINDOW &&
        memory_spot(microscope->memory, fault->address, &spot))
        snprintf(wanted.finding.tensor, sizeof wanted.finding.tensor, "%s", spot.name);
    snprintf(wanted.place, sizeof wanted.place, "%s:%d", fault->file, fault->line);
    entry_of(microscope, &wanted)->finding.count++;
}

static void add_cost(struct ptx_microscope *microscope, const struct cluster *cluster,
                     uint32_t code, bool is_global) {
    const struct cost *cost = &microscope->costs[2 * code + is_global];
    const struct kernel *kernel = microscope->kernel;
    struct entry wanted = {.finding.kind = is_global ? PTX_FINDING_SECTORS : PTX_FINDING_BANKS};
    struct ptx_fault fault = {0};
    const struct block *block =
        &cluster->blocks[cost->first_actor / (uint32_t)cluster->blocks->warp_count];
    struct warp *warp = &block->warps[cost->first_actor % (uint32_t)block->warp_count];
    fault_fill(&fault, warp, &kernel->code[code], (int)cost->first_lane, PTX_FAULT_NONE, 0, "");
    fill(&wanted, kernel, &fault);
    describe_place(kernel, &kernel->code[code], &fault, wanted.place, sizeof wanted.place);
    struct entry *entry = entry_of(microscope, &wanted);
    entry->passes += cost->passes;
    entry->least += cost->least;
    entry->most = cost->most > entry->most ? cost->most : entry->most;
    entry->finding.count += cost->requests;
    entry->finding.degree = (double)entry->passes / (double)entry->least;
    snprintf(entry->finding.text, sizeof entry->finding.text,
             is_global ? "%s%s: uncoalesced: %llu sectors of 32 bytes in %llu requests, minimum "
                         "%llu; worst request %llu"
                       : "%s%s: bank conflicts: %llu shared memory wavefronts in %llu requests, "
                         "minimum %llu; worst request %llu",
             kernel->visible.name, wanted.place, (unsigned long long)entry->passes,
             (unsigned long long)entry->finding.count, (unsigned long long)entry->least,
             (unsigned long long)entry->most);
}

/* ---- launches ---- */

void observe_launch(struct ptx_microscope *microscope, const struct cluster *cluster, int slots) {
    const struct block *block = cluster->blocks;
    int warps = cluster->count * block->warp_count;
    microscope->kernel = block->kernel;
    order_launch(&microscope->order, warps + 1, slots, block->launch->early);
    microscope->costs =
        calloc(2 * (size_t)block->kernel->code_count + 1, sizeof *microscope->costs);
    microscope->views = calloc((size_t)slots, sizeof *microscope->views);
    microscope->view_count = slots;
    if (!microscope->costs || !microscope->views)
        BUG("out of memory for the race checker");
    for (int i = 0; i < slots; i++) {
        struct view *view = &microscope->views[i];
        view->meetings = calloc((size_t)warps * BARRIERS, sizeof *view->meetings);
        if (!view->meetings)
            BUG("out of memory for the race checker");
        for (int rank = 0; rank < cluster->count; rank++)
            if (!(view->shared[rank] = shadow_new(block->shared_bytes)))
                BUG("out of memory for the race checker");
    }
}

void observe_unit(struct cluster *cluster) {
    struct ptx_microscope *microscope = cluster->blocks->microscope;
    int warps = cluster->count * cluster->blocks->warp_count;
    struct view *view = view_of(cluster->blocks);
    order_unit(&microscope->order, cluster->slot);
    memset(view->meetings, 0, (size_t)warps * BARRIERS * sizeof *view->meetings);
    for (int i = 0; i < cluster->count; i++) {
        const struct block *block = &cluster->blocks[i];
        memset(view->shared[i]->states, 0, view->shared[i]->bytes);
        memset(view->shared[i]->states + block_reserved(block), BYTE_WRITTEN,
               block->kernel->reserved_smem_bytes);
    }
    microscope->places = array_grow(microscope->places, microscope->place_count,
                                    &microscope->place_capacity, sizeof *microscope->places);
    memcpy(microscope->places[microscope->place_count++], cluster->blocks->position,
           sizeof *microscope->places);
}

void observe_turn(const struct cluster *cluster) {
    order_turn(&cluster->blocks->microscope->order, cluster->slot);
}

void observe_end(struct ptx_microscope *microscope, const struct cluster *cluster) {
    const struct kernel *kernel = microscope->kernel;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct cost *cost = &microscope->costs[2 * i];
        if (cost[0].passes > cost[0].least)
            add_cost(microscope, cluster, i, false);
        if (cost[1].requests && cost[1].passes >= 2 * cost[1].least)
            add_cost(microscope, cluster, i, true);
    }
    end_launch(microscope);
}
