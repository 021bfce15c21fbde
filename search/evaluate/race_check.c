/*
 * race_check: the last of a champion's final checks. The candidate's PTX runs its small cases on an
 * emulated device under the race checker (ptx/racecheck.h), whatever device it was timed on: a data
 * race, a read of unwritten memory or a fault there refuses the candidate although its results are
 * right, because they are right by the order in which this device happened to run it.
 *
 * The small cases are the template's probe cases, or the goal's own cases with every dimension
 * made small. Of at most two of the own cases, a few blocks run as well: some races exist only at
 * larger sizes. Each case has a limit of instructions of its own, so that a verdict does not depend
 * on the host's speed, and idle work in one case hides nothing in another. Blocks run in a random
 * order, so that the limit does not always spare the same ones. What the emulated device cannot
 * execute is not checked, and condemns nothing.
 */
#include "evaluate/gate_run.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/emulated.h"
#include "evaluate/prepare_call.h"

#include <stdlib.h>
#include <string.h>

/* Warp instructions, of which 100,000 take a tenth of a second (docs/measurements/emulator.md): the
   smallest case runs to its end unless it exceeds SMALLEST_MAX, the other small ones share
   SMALL_MAX, each sampled one may execute SAMPLED_MAX. */
enum { SMALLEST_MAX = 200000, SMALL_MAX = 50000, SAMPLED_MAX = 20000, SAMPLED_BLOCKS = 2 };
static const double sampled_bytes_max = 64 << 20;

static const char gate[] = "race checker";

struct race_check {
    struct evaluation *evaluation;
    struct template *derived; /* the template of the small cases, if this check made it; else NULL
                               */
    struct device *device;    /* emulated */
    struct ptx_racecheck *racecheck;
    struct device_module *modules[CASES_MAX]; /* by variant of the goal */
    double start;
    int cases, partial;       /* checked so far: to their end; up to the limit */
    bool is_inexact;          /* executed what the emulated device lacks */
    char reason[REASON_SIZE]; /* why one could not be checked; else empty */
};

/* ---- the small cases ---- */

/* The largest value of a dimension that is at most `least` or, if all are larger, its smallest. */
static int64_t small_value(const struct dimension *dimension, int64_t least) {
    int64_t value = least < dimension->minimum ? dimension->minimum : least;
    if (dimension->value_count == 0)
        return value;
    value = dimension->values[0];
    for (int i = 1; i < dimension->value_count; i++)
        if (dimension->values[i] <= least ? dimension->values[i] > value || value > least
                                          : dimension->values[i] < value)
            value = dimension->values[i];
    return value;
}

/* Loads the template for the cases of its own with every run-time dimension made small; NULL if it
   has no such cases. */
static struct template *derive_small_cases(const struct evaluation *evaluation) {
    static const int64_t sizes[] = {5, 33, 70}; /* ragged for every power of two */
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const struct evaluator *evaluator = evaluation->evaluator;
    const struct template *template = evaluation->template;
    struct template_setting setting = evaluation_setting(
        &evaluator->settings->goals[evaluation->request->goal], &evaluator->device->info);
    struct shape shapes[CASES_MAX];
    struct error ignored = {0};
    setting.cases = shapes;
    setting.case_count = 0;
    for (int c = 0; c < template->case_count; c++)
        for (int i = 0;
             i < SIZES && template_variant(template, c) == c && setting.case_count < CASES_MAX;
             i++) {
            struct shape *shape = &shapes[setting.case_count++];
            *shape = template->cases[c];
            for (int d = 0; d < template->dimension_count; d++) {
                const struct dimension *dimension = &template->dimensions[d];
                int64_t small = small_value(dimension, sizes[i]);
                if (!dimension->specialised && !dimension->real && shape->values[d] > small)
                    shape->values[d] = small;
            }
        }
    return template_load(template->folder, &setting, &ignored);
}

struct small_case {
    const struct template *template;
    int index, variant;
    double size; /* a byte costs about as much as sixteen operations (gate_run.c) */
    double bytes;
    bool sampled; /* only SAMPLED_BLOCKS clusters of each launch run */
};
enum { SMALL_CASES_MAX = CASES_MAX + 2 };

static int compare_cases(const void *left, const void *right) {
    const struct small_case *a = left, *b = right;
    return a->size != b->size ? (a->size > b->size) - (a->size < b->size) : a->index - b->index;
}

/* Those that the genome is valid for, smallest first. Returns their number. */
static int list_cases(const struct race_check *check, const struct template *template,
                      struct small_case cases[CASES_MAX]) {
    const struct evaluation *evaluation = check->evaluation;
    const struct genome *genome = &evaluation->request->genome;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    int count = 0;
    for (int c = 0; template != NULL && c < template->case_count; c++) {
        int variant = evaluation_matching_variant(evaluation->template, template, c);
        if (variant < 0 || !template_genome_is_valid(template, genome, c) ||
            template_launch_plan(template, genome, c, plan, &(struct error){0}) < 0)
            continue;
        cases[count++] =
            (struct small_case){.template = template,
                                .index = c,
                                .variant = variant,
                                .size = (double)plan->operations + 16 * (double)plan->bytes,
                                .bytes = (double)plan->bytes};
    }
    free(plan);
    qsort(cases, (size_t)count, sizeof *cases, compare_cases);
    return count;
}

/* Adds samples of the largest own case that fits, and of another one at random. */
static int add_samples(const struct race_check *check, struct small_case cases[SMALL_CASES_MAX],
                       int count) {
    struct small_case own[CASES_MAX];
    int fitting = list_cases(check, check->evaluation->template, own);
    while (fitting > 0 && own[fitting - 1].bytes > sampled_bytes_max)
        fitting--;
    for (int n = 0; n < 2 && n < fitting; n++) {
        uint64_t random = evaluation_seed(check->evaluation, RACE_SEEDS, 1) * 0x9e3779b97f4a7c15ull;
        int at = n == 0 ? fitting - 1 : (int)((random >> 33) % (uint64_t)(fitting - 1));
        cases[count] = own[at];
        cases[count++].sampled = true;
    }
    return count;
}

static int choose_cases(struct race_check *check, struct small_case cases[SMALL_CASES_MAX]) {
    const struct evaluation *evaluation = check->evaluation;
    int count = list_cases(check, evaluation->evaluator->probes[evaluation->request->goal], cases);
    if (count == 0) {
        check->derived = derive_small_cases(evaluation);
        count = list_cases(check, check->derived, cases);
    }
    return count > 0 ? add_samples(check, cases, count)
                     : list_cases(check, evaluation->template, cases);
}

/* ---- running a case ---- */

/* Copies what the device of the trial fills a case's inputs with: the emulated device has no
   kernels to fill them. The other tensors of a sampled case become zeros, because the blocks that
   write them may not run. */
static int fill_tensors(const struct race_check *check, const struct small_case *small,
                        struct buffers *emulated, struct error *error) {
    const struct evaluation *evaluation = check->evaluation;
    struct device *device = evaluation->evaluator->device;
    struct buffers *filled = xmalloc(sizeof *filled);
    int status = buffers_init(filled, evaluation->evaluator->comparator, device, small->template,
                              emulated->plan, 1, error);
    if (status == 0)
        status = buffers_fill(filled, 0, evaluation_seed(evaluation, RACE_SEEDS + small->index, 0),
                              error);
    for (int t = 0; t < small->template->tensor_count && status == 0; t++) {
        size_t bytes = (size_t)emulated->plan->tensors[t].bytes;
        bool is_input = small->template->tensors[t].role == ROLE_INPUT;
        if (filled->tensors[0][t] == 0 || (!is_input && !small->sampled))
            continue;
        void *host = xcalloc(bytes + 1, 1);
        if (is_input)
            status = device->backend->read(device, filled->tensors[0][t], host, bytes, error);
        if (status == 0)
            status = check->device->backend->write(check->device, emulated->tensors[0][t], host,
                                                   bytes, error);
        free(host);
    }
    memcpy(emulated->scalars[0], filled->scalars[0], sizeof emulated->scalars[0]);
    buffers_release(filled);
    free(filled);
    return status;
}

static bool is_race(enum ptx_finding_kind kind) {
    return kind == PTX_FINDING_RACE_IN_BLOCK || kind == PTX_FINDING_RACE_BETWEEN_BLOCKS ||
           kind == PTX_FINDING_BEFORE_WAIT;
}

/* Findings that refuse a champion. A value that a shuffle takes from an inactive lane may be
   discarded; a loop may be endless only for the emulated device, which runs blocks one by one; a
   trap in a sampled case may be due to what the other blocks did not write. Behind an unsupported
   instruction, values and their consequences are wrong: there only races count. */
static bool refuses(const struct small_case *small, enum ptx_finding_kind kind, bool is_inexact) {
    if (is_inexact || ptx_finding_is_cost(kind))
        return is_race(kind);
    return kind != PTX_FINDING_INACTIVE_LANE && kind != PTX_FINDING_ENDLESS_LOOP &&
           kind != PTX_FINDING_UNKNOWN_OPCODE && kind != PTX_FINDING_LAUNCH &&
           !(small->sampled && kind == PTX_FINDING_TRAP);
}

static void add_fault(const struct race_check *check, const struct ptx_finding *finding) {
    struct diagnostic_fault fault = {.line = finding->line, .other_line = finding->other_line};
    snprintf(fault.kind, sizeof fault.kind, "%s", ptx_finding_name(finding->kind));
    snprintf(fault.file, sizeof fault.file, "%s", finding->file);
    snprintf(fault.text, sizeof fault.text, "%.500s", finding->text);
    diagnostics_add_fault(check->evaluation->result->diagnostics, &fault);
}

/* The most expensive accesses, which come first. What follows an unsupported instruction has
   addresses that may be wrong. */
static void add_costs(const struct race_check *check) {
    const int count = check->is_inexact ? 0 : ptx_racecheck_finding_count(check->racecheck);
    for (int i = 0; i < count; i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(check->racecheck, i);
        if (!ptx_finding_is_cost(finding->kind))
            continue;
        struct diagnostic_cost cost = {
            .line = finding->line, .count = (int64_t)finding->count, .degree = finding->degree};
        snprintf(cost.kind, sizeof cost.kind, "%s", ptx_finding_name(finding->kind));
        snprintf(cost.file, sizeof cost.file, "%s", finding->file);
        snprintf(cost.text, sizeof cost.text, "%.500s", finding->text);
        diagnostics_add_cost(check->evaluation->result->diagnostics, &cost);
    }
}

/* Fills the failure from the first finding that refuses; `verdict` is that of the call. */
static bool find_failure(struct race_check *check, const struct small_case *small,
                         enum verdict verdict, struct failure *failure) {
    int count = ptx_racecheck_finding_count(check->racecheck);
    bool found = false;
    for (int i = 0; i < count; i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(check->racecheck, i);
        if (finding->kind != PTX_FINDING_UNKNOWN_OPCODE)
            continue;
        check->is_inexact = true;
        snprintf(check->reason, sizeof check->reason, "%.400s", finding->text);
    }
    for (int i = 0; i < count; i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(check->racecheck, i);
        if (!refuses(small, finding->kind, check->is_inexact))
            continue;
        add_fault(check, finding);
        if (found)
            continue;
        bool is_fault = finding->kind == PTX_FINDING_OUT_OF_BOUNDS ||
                        finding->kind == PTX_FINDING_READ_ONLY ||
                        finding->kind == PTX_FINDING_MISALIGNED ||
                        finding->kind == PTX_FINDING_DEADLOCK || finding->kind == PTX_FINDING_TRAP;
        failure->verdict = is_fault && verdict != VERDICT_OK ? verdict : VERDICT_RACY;
        snprintf(failure->reason, sizeof failure->reason, "race checker: %s: %.440s",
                 ptx_finding_name(finding->kind), finding->text);
        found = true;
    }
    return found;
}

/* Runs a case whose module is loaded; as a gate. */
static int run_case(struct race_check *check, const struct small_case *small) {
    struct evaluation *evaluation = check->evaluation;
    struct device *device = check->device;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct buffers *buffers = xcalloc(1, sizeof *buffers);
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    struct failure failure;
    char reason[REASON_SIZE];
    int status = template_launch_plan(small->template, &evaluation->request->genome, small->index,
                                      plan, evaluation->error);
    if (status == 0)
        status = buffers_init(buffers, NULL, device, small->template, plan, 1, evaluation->error);
    if (status == 0)
        status = fill_tensors(check, small, buffers, evaluation->error);
    if (status == 0 && buffers_protect(buffers, 0, true, evaluation->error) < 0)
        status = -1;
    if (status == 0)
        status = buffers_prepare_call(buffers, 0, check->modules[small->variant], reason,
                                      evaluation->error);
    if (status == 1) { /* the case's own gate refuses it */
        memcpy(check->reason, reason, sizeof reason);
        status = 0;
    } else if (status == 0) {
        buffers_sequence(buffers, 0, check->modules[small->variant], sequence);
        emulated_sample_clusters(device, small->sampled ? SAMPLED_BLOCKS : 0);
        enum verdict verdict = device->backend->run(device, sequence, 0, reason);
        if (find_failure(check, small, verdict, &failure))
            status = evaluation_fail(evaluation, gate, small->template, small->index, check->start,
                                     &failure);
        else if (emulated_is_exhausted(device))
            check->partial++;
        else if (verdict != VERDICT_OK)
            memcpy(check->reason, reason, sizeof reason);
        else
            check->cases++;
    }
    if (buffers->device != NULL)
        buffers_release(buffers);
    free(sequence);
    free(buffers);
    free(plan);
    return status;
}

/* Loads the variant of a case, or says why not in `reason`. */
static bool load_variant(struct race_check *check, int variant) {
    const struct device_image *image = &check->evaluation->images[variant];
    struct error error = {0};
    if (check->modules[variant] != NULL ||
        check->device->backend->module_load(check->device, image, &check->modules[variant],
                                            &error) == 0)
        return true;
    snprintf(check->reason, sizeof check->reason, "%.*s", REASON_SIZE - 1, error.text);
    return false;
}

/* After a call that was cut short a global variable, such as a ticket, has a value that the next
   call does not expect. */
static void unload_variant(struct race_check *check, int variant) {
    check->device->backend->module_unload(check->device, check->modules[variant]);
    check->modules[variant] = NULL;
}

static void report_cases(const struct race_check *check, int count) {
    char parts[32] = "", unchecked[128] = "";
    if (check->partial > 0)
        snprintf(parts, sizeof parts, " and parts of %d", check->partial);
    if (check->reason[0] != '\0')
        snprintf(unchecked, sizeof unchecked, "; not checked: %.100s", check->reason);
    if (check->cases + check->partial == 0)
        trial_add_gate(check->evaluation->result, gate, true, clock_seconds() - check->start,
                       "not checked: %.80s", count == 0 ? "no case" : check->reason);
    else
        trial_add_gate(check->evaluation->result, gate, true, clock_seconds() - check->start,
                       "%s%d of %d cases%s without findings%s",
                       check->is_inexact ? "races only: " : "", check->cases, count, parts,
                       unchecked);
}

static int run_cases(struct race_check *check) {
    struct small_case cases[SMALL_CASES_MAX];
    int count = choose_cases(check, cases), small_count = 0, status = 0;
    uint64_t left = SMALL_MAX;
    while (small_count < count && !cases[small_count].sampled)
        small_count++;
    for (int i = 0; i < count && status == 0; i++) {
        uint64_t before = emulated_instructions(check->device);
        uint64_t limit = i == 0            ? SMALLEST_MAX
                         : i < small_count ? left / (uint64_t)(small_count - i)
                                           : SAMPLED_MAX;
        emulated_limit_instructions(check->device, limit);
        check->device->order_seed = evaluation_seed(check->evaluation, RACE_SEEDS + i, 2) | 1;
        if (load_variant(check, cases[i].variant))
            status = run_case(check, &cases[i]);
        if (cases[i].sampled || emulated_is_exhausted(check->device))
            unload_variant(check, cases[i].variant);
        if (i > 0 && i < small_count)
            left -= emulated_instructions(check->device) - before;
    }
    if (status == 0)
        report_cases(check, count);
    return status;
}

int evaluation_check_races(struct evaluation *evaluation) {
    struct race_check check = {.evaluation = evaluation, .start = clock_seconds()};
    check.device = emulated_open_with(&evaluation->evaluator->device->info, evaluation->error);
    if (check.device == NULL)
        return -1;
    check.racecheck = emulated_attach_racecheck(check.device, NULL);
    ptx_racecheck_skip_unsupported(check.racecheck);
    int status = run_cases(&check);
    add_costs(&check);
    for (int v = 0; v < CASES_MAX; v++)
        unload_variant(&check, v);
    device_close(check.device);
    template_free(check.derived);
    return status;
}
