/*
 * race_check: the last of a champion's final checks. The candidate's PTX runs its small cases on an
 * emulated device under the race checker (ptx/racecheck.h), whatever device it was timed on: a data
 * race, a read of unwritten memory or a fault there refuses the candidate although its results are
 * right, because they are right by the order in which this device happened to run it.
 *
 * The small cases are the template's probe cases, or the goal's own cases with every dimension
 * made small. They run in ascending order of size until an instruction limit is reached, so a
 * verdict does not depend on the host's speed. What the emulated device cannot execute is not
 * checked, and condemns nothing.
 */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/emulated.h"

#include <stdlib.h>
#include <string.h>

/* INSTRUCTIONS_MAX: warp instructions in all, a tenth of a second (docs/measurements/emulator.md).
   RACE_SEEDS: see the ranges of input seeds in correctness.c. */
enum { INSTRUCTIONS_MAX = 100000, RACE_SEEDS = 800 };

static const char gate[] = "race checker";

struct race_check {
    struct evaluation *evaluation;
    const struct template *template; /* of the small cases */
    struct template *derived;        /* the same, if this check made it; else NULL */
    struct device *device;           /* emulated */
    struct ptx_racecheck *racecheck;
    struct device_module *modules[CASES_MAX]; /* by variant of the goal */
    double start;
    int cases; /* checked so far */
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
    int index, variant;
    double size; /* a byte costs about as much as sixteen operations (correctness.c) */
};

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
            (struct small_case){.index = c,
                                .variant = variant,
                                .size = (double)plan->operations + 16 * (double)plan->bytes};
    }
    free(plan);
    qsort(cases, (size_t)count, sizeof *cases, compare_cases);
    return count;
}

static int choose_cases(struct race_check *check, struct small_case cases[CASES_MAX]) {
    const struct evaluation *evaluation = check->evaluation;
    check->template = evaluation->evaluator->probes[evaluation->request->goal];
    int count = list_cases(check, check->template, cases);
    if (count > 0)
        return count;
    check->template = check->derived = derive_small_cases(evaluation);
    count = list_cases(check, check->template, cases);
    if (count > 0)
        return count;
    check->template = evaluation->template;
    return list_cases(check, check->template, cases);
}

/* ---- running a case ---- */

/* Copies what the device of the trial fills a case's inputs with: the emulated device has no
   kernels to fill them. */
static int copy_inputs(const struct race_check *check, int case_index, struct buffers *emulated,
                       struct error *error) {
    const struct evaluation *evaluation = check->evaluation;
    struct device *device = evaluation->evaluator->device;
    struct buffers *filled = xmalloc(sizeof *filled);
    int status = buffers_init(filled, evaluation->evaluator->comparator, device, check->template,
                              emulated->plan, 1, error);
    if (status == 0)
        status =
            buffers_fill(filled, 0, evaluation_seed(evaluation, RACE_SEEDS + case_index, 0), error);
    for (int t = 0; t < check->template->tensor_count && status == 0; t++) {
        size_t bytes = (size_t)emulated->plan->tensors[t].bytes;
        if (filled->tensors[0][t] == 0 || check->template->tensors[t].role != ROLE_INPUT)
            continue;
        void *host = xmalloc(bytes + 1);
        status = device->backend->read(device, filled->tensors[0][t], host, bytes, error);
        if (status == 0)
            status = check->device->backend->write(check->device, emulated->tensors[0][t], host,
                                                   bytes, error);
        free(host);
    }
    buffers_release(filled);
    free(filled);
    return status;
}

/* Findings that refuse a champion. A value that a shuffle takes from an inactive lane may be
   discarded; a loop may be endless only for the emulated device, which runs blocks one by one. */
static bool refuses(enum ptx_finding_kind kind) {
    return !ptx_finding_is_cost(kind) && kind != PTX_FINDING_INACTIVE_LANE &&
           kind != PTX_FINDING_ENDLESS_LOOP && kind != PTX_FINDING_UNKNOWN_OPCODE &&
           kind != PTX_FINDING_LAUNCH;
}

/* Fills the failure from the first finding that refuses; `verdict` is that of the call. */
static bool find_failure(const struct race_check *check, enum verdict verdict,
                         struct failure *failure) {
    for (int i = 0; i < ptx_racecheck_finding_count(check->racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(check->racecheck, i);
        if (!refuses(finding->kind))
            continue;
        bool is_fault = finding->kind == PTX_FINDING_OUT_OF_BOUNDS ||
                        finding->kind == PTX_FINDING_READ_ONLY ||
                        finding->kind == PTX_FINDING_MISALIGNED ||
                        finding->kind == PTX_FINDING_DEADLOCK || finding->kind == PTX_FINDING_TRAP;
        failure->verdict = is_fault && verdict != VERDICT_OK ? verdict : VERDICT_RACY;
        snprintf(failure->reason, sizeof failure->reason, "race checker: %s: %.440s",
                 ptx_finding_name(finding->kind), finding->text);
        return true;
    }
    return false;
}

/* As a gate; returns 2 if the emulated device cannot go on, with why in `reason`. */
static int run_case(struct race_check *check, const struct small_case *small, char *reason) {
    struct evaluation *evaluation = check->evaluation;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct buffers *buffers = xcalloc(1, sizeof *buffers);
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    struct failure failure;
    enum verdict verdict = VERDICT_OK;
    int status = template_launch_plan(check->template, &evaluation->request->genome, small->index,
                                      plan, evaluation->error);
    if (status == 0)
        status =
            buffers_init(buffers, NULL, check->device, check->template, plan, 1, evaluation->error);
    if (status == 0)
        status = copy_inputs(check, small->index, buffers, evaluation->error);
    if (status == 0 && buffers_protect(buffers, 0, true, evaluation->error) < 0)
        status = -1;
    if (status == 0) {
        buffers_sequence(buffers, 0, check->modules[small->variant], sequence);
        verdict = check->device->backend->run(check->device, sequence, 0, reason);
        if (find_failure(check, verdict, &failure))
            status = evaluation_fail(evaluation, gate, check->template, small->index, check->start,
                                     &failure);
        else if (verdict != VERDICT_OK)
            status = 2;
        check->cases += status == 0;
    }
    if (buffers->device != NULL)
        buffers_release(buffers);
    free(sequence);
    free(buffers);
    free(plan);
    return status;
}

/* Loads the variant of a case; returns as run_case. */
static int load_variant(struct race_check *check, int variant, char *reason) {
    const struct device_image *image = &check->evaluation->images[variant];
    struct error error = {0};
    if (check->modules[variant] != NULL)
        return 0;
    if (image->ptx != NULL && *image->ptx != '\0' &&
        check->device->backend->module_load(check->device, image, &check->modules[variant],
                                            &error) == 0)
        return 0;
    snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1,
             error.kind != ERROR_NONE ? error.text : "it has no PTX");
    return 2;
}

static int run_cases(struct race_check *check) {
    struct small_case cases[CASES_MAX];
    char reason[REASON_SIZE] = "";
    int count = choose_cases(check, cases), status = 0;
    for (int i = 0; i < count && status == 0 && !emulated_is_exhausted(check->device); i++) {
        status = load_variant(check, cases[i].variant, reason);
        if (status == 0)
            status = run_case(check, &cases[i], reason);
    }
    if (status != 0 && status != 2)
        return status;

    bool is_limited = status == 2 && emulated_is_exhausted(check->device);
    double seconds = clock_seconds() - check->start;
    if (status == 2 && !is_limited)
        trial_add_gate(check->evaluation->result, gate, true, seconds,
                       "%d of %d small cases without findings; not checked further: %.80s",
                       check->cases, count, reason);
    else
        trial_add_gate(check->evaluation->result, gate, true, seconds,
                       "%d of %d small cases without findings%s", check->cases, count,
                       is_limited ? ", and a part of one more" : "");
    return 0;
}

int evaluation_check_races(struct evaluation *evaluation) {
    struct race_check check = {.evaluation = evaluation, .start = clock_seconds()};
    check.device = emulated_open_with(&evaluation->evaluator->device->info, evaluation->error);
    if (check.device == NULL)
        return -1;
    check.racecheck = emulated_attach_racecheck(check.device, NULL);
    emulated_limit_instructions(check.device, INSTRUCTIONS_MAX);
    int status = run_cases(&check);
    for (int v = 0; v < CASES_MAX; v++)
        check.device->backend->module_unload(check.device, check.modules[v]);
    device_close(check.device);
    template_free(check.derived);
    return status;
}
