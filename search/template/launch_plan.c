/* Computes launch plans: the launches of a genome for a case, on the tensors of plan_tensors.c. */
#include "template/load.h"
#include "template/plan_tensors.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/* CUDA's limits on every device (Programming Guide, "Compute Capabilities"). */
static const int64_t grid_limits[3] = {INT32_MAX, 65535, 65535};
static const int64_t block_limits[3] = {1024, 1024, 64};

static int plan_extents(const struct template *template, const struct launch *launch,
                        const char *what, struct expression *const extents[3],
                        const int64_t limits[3], const int64_t *values, unsigned planned[3],
                        struct error *error) {
    for (int i = 0; i < 3; i++) {
        int64_t extent;
        if (plan_evaluate_expression(template, extents[i], values, &extent, error) < 0)
            return -1;
        if (extent < 1 || extent > limits[i])
            return error_input(error,
                               "%s: launch of %s: %s extent %d is %lld, outside 1 to %lld: "
                               "add a constraint",
                               launch->file, launch->kernel, what, i, (long long)extent,
                               (long long)limits[i]);
        planned[i] = (unsigned)extent;
    }
    return 0;
}

static int64_t double_bits(double number) {
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* A launch has one access policy window: of at most one tensor. */
static int plan_window(const struct template *template, const struct launch *launch,
                       const int64_t *values, struct planned_launch *planned, struct error *error) {
    for (int i = 0; i < launch->window_count; i++) {
        int64_t percent;
        const char *name = template->tensors[launch->windows[i].tensor].name;
        if (plan_evaluate_expression(template, launch->windows[i].percent, values, &percent,
                                     error) < 0)
            return -1;
        if (percent < 0 || percent > 100)
            return error_input(
                error, "%s: launch of %s: %lld per cent of %s cannot persist in L2: give 0 to 100",
                launch->file, launch->kernel, (long long)percent, name);
        if (percent > 0 && planned->window_tensor >= 0)
            return error_input(
                error,
                "%s: launch of %s: only one tensor can persist in L2, not %s and %s: "
                "add a constraint",
                launch->file, launch->kernel, template->tensors[planned->window_tensor].name, name);
        if (percent > 0) {
            planned->window_tensor = launch->windows[i].tensor;
            planned->window_percent = (int)percent;
        }
    }
    return 0;
}

static int plan_launch(const struct template *template, const struct launch *launch,
                       const int64_t *values, struct planned_launch *planned, struct error *error) {
    int64_t smem = 0;
    *planned = (struct planned_launch){.kernel = launch->kernel, .window_tensor = -1};
    if (plan_extents(template, launch, "grid", launch->grid, grid_limits, values, planned->grid,
                     error) < 0 ||
        plan_extents(template, launch, "block", launch->block, block_limits, values, planned->block,
                     error) < 0 ||
        (launch->smem != NULL &&
         plan_evaluate_expression(template, launch->smem, values, &smem, error) < 0))
        return -1;
    if (planned->block[0] * planned->block[1] * planned->block[2] > 1024 || smem < 0 ||
        smem > INT32_MAX)
        return error_input(error,
                           "%s: launch of %s: %u threads and %lld bytes of shared memory: "
                           "add a constraint",
                           launch->file, launch->kernel,
                           planned->block[0] * planned->block[1] * planned->block[2],
                           (long long)smem);
    if (launch->early != NULL &&
        plan_evaluate_condition(template, launch->early, values, &planned->early, error) < 0)
        return -1;
    if (launch->cooperative != NULL &&
        plan_evaluate_condition(template, launch->cooperative, values, &planned->cooperative,
                                error) < 0)
        return -1;
    if (plan_window(template, launch, values, planned, error) < 0)
        return -1;
    planned->smem_bytes = (unsigned)smem;
    planned->argument_count = launch->argument_count;
    for (int i = 0; i < launch->argument_count; i++) {
        const struct argument *argument = &launch->arguments[i];
        struct planned_argument *to = &planned->arguments[i];
        *to = (struct planned_argument){.tensor = argument->tensor,
                                        .map = argument->map,
                                        .scalar = argument->scalar,
                                        .size = argument->size};
        if (argument->expression != NULL &&
            plan_evaluate_expression(template, argument->expression, values, &to->value, error) < 0)
            return -1;
        if (to->size == 4 && !argument->real && to->value != (int32_t)to->value)
            return error_input(error,
                               "%s: launch of %s: argument %d is %lld, outside the range of i32",
                               launch->file, launch->kernel, i, (long long)to->value);
        if (to->size == 8 && argument->real)
            to->value = double_bits(dimension_real(to->value));
    }
    return 0;
}

/* ---- repeats ---- */

/* Counts the rounds backwards from the last, in which every name denotes its own tensor. */
static int swapped_tensor(const struct repeat *repeat, int rounds, int round, int tensor) {
    for (int i = 0; i < repeat->swap_count && (rounds - 1 - round) % 2 == 1; i++) {
        const struct tensor_swap *swap = &repeat->swaps[i];
        if (tensor == swap->read || tensor == swap->written)
            return tensor == swap->read ? swap->written : swap->read;
    }
    return tensor;
}

static int plan_step(const struct launch_plan *plan, int index, const int64_t *values,
                     struct planned_launch *planned, struct error *error) {
    const struct launch *launch = &plan->list->launches[plan->launches[index]];
    if (plan_launch(plan->template, launch, values, planned, error) < 0)
        return -1;
    for (int i = 0; i < planned->argument_count && launch->repeat >= 0; i++)
        planned->arguments[i].tensor = swapped_tensor(
            &plan->list->repeats[launch->repeat], plan->repeat_rounds[launch->repeat],
            plan->rounds[index], planned->arguments[i].tensor);
    return 0;
}

struct planned_launch planned_launch(const struct launch_plan *plan, int index) {
    struct planned_launch planned;
    struct error error;
    int64_t values[SLOTS_MAX];
    if (index < 0 || index >= plan->launch_count)
        BUG("a plan of %d launches has none with index %d", plan->launch_count, index);
    memcpy(values, plan->values, sizeof values);
    if (plan->template->round_slot > 0)
        values[plan->template->round_slot] = plan->rounds[index];
    if (plan_step(plan, index, values, &planned, &error) < 0)
        BUG("a launch was planned but has no value: %s", error.text);
    return planned;
}

/* Adds a launch, unless its condition does not hold in this round. */
static int add_step(struct launch_plan *plan, int launch, int round, const int64_t *values,
                    struct error *error) {
    struct planned_launch planned;
    bool launched;
    if (plan_evaluate_condition(plan->template, plan->list->launches[launch].when, values,
                                &launched, error) < 0)
        return -1;
    if (!launched)
        return 0;
    if (plan->launch_count == PLANNED_LAUNCHES_MAX)
        return error_input(error,
                           "%s: launch of %s: a call has more than %d launches: repeat less often, "
                           "or let one launch compute several rounds",
                           plan->list->launches[launch].file, plan->list->launches[launch].kernel,
                           PLANNED_LAUNCHES_MAX);
    plan->launches[plan->launch_count] = (uint8_t)launch;
    plan->rounds[plan->launch_count] = (uint16_t)round;
    if (plan_step(plan, plan->launch_count, values, &planned, error) < 0)
        return -1;
    if (plan->launch_count++ == 0 && planned.early)
        return error_input(error,
                           "%s: launch of %s: the first launch of a call cannot be early: it would "
                           "start during the previous call",
                           plan->list->launches[launch].file, planned.kernel);
    return 0;
}

/* Two tensors can only change places if a kernel cannot tell them apart. */
static int check_swaps(const struct launch_plan *plan, const struct repeat *repeat,
                       struct error *error) {
    for (int i = 0; i < repeat->swap_count; i++) {
        const struct tensor_swap *swap = &repeat->swaps[i];
        const struct planned_tensor *read = &plan->tensors[swap->read],
                                    *written = &plan->tensors[swap->written];
        if (read->present != written->present || read->dtype != written->dtype ||
            read->rank != written->rank ||
            memcmp(read->extents, written->extents, sizeof read->extents) != 0)
            return error_input(error,
                               "%s: %s and %s change places, but differ in dtype, shape or "
                               "presence: make these equal",
                               plan->list->launches[repeat->first].file,
                               plan->template->tensors[swap->read].name,
                               plan->template->tensors[swap->written].name);
    }
    return 0;
}

static int plan_repeat(struct launch_plan *plan, int index, int64_t *values, struct error *error) {
    const struct repeat *repeat = &plan->list->repeats[index];
    int64_t rounds;
    if (plan_evaluate_expression(plan->template, repeat->rounds, values, &rounds, error) < 0 ||
        check_swaps(plan, repeat, error) < 0)
        return -1;
    if (rounds < 0 || rounds > PLANNED_LAUNCHES_MAX)
        return error_input(error, "%s: repeat %s is %lld, outside 0 to %d: add a constraint",
                           plan->list->launches[repeat->first].file,
                           expression_text(repeat->rounds), (long long)rounds,
                           PLANNED_LAUNCHES_MAX);
    plan->repeat_rounds[index] = (int)rounds;
    for (int round = 0; round < rounds; round++) {
        values[plan->template->round_slot] = round;
        for (int i = 0; i < repeat->count; i++)
            if (add_step(plan, repeat->first + i, round, values, error) < 0)
                return -1;
    }
    return 0;
}

static int plan_launches(const struct template *template, const struct launch_list *list,
                         int64_t *values, struct launch_plan *plan, struct error *error) {
    plan->template = template;
    plan->list = list;
    memcpy(plan->values, values, sizeof plan->values);
    for (int i = 0; i < list->count; i++) {
        int repeat = list->launches[i].repeat;
        if ((repeat >= 0 ? plan_repeat(plan, repeat, values, error)
                         : add_step(plan, i, 0, values, error)) < 0)
            return -1;
        i += repeat >= 0 ? list->repeats[repeat].count - 1 : 0;
    }
    return 0;
}

enum { NO_ROLE = -1 };

/* A call that launches nothing computes nothing: nothing would be timed, or predicted. */
static int check_launches(const struct launch_plan *plan, struct error *error) {
    return plan->launch_count > 0
               ? 0
               : error_input(error,
                             "%s: no launch runs at case %d: let a \"when\" or a \"repeat\" "
                             "admit it, or exclude it by a constraint",
                             plan->list->launches[0].file, plan->case_index);
}

/* All sets of inputs share a module's variable, so that it is not among what a timed call finds in
   memory alone. Constant memory has this size. */
enum { SOLUTION_SYMBOL_BYTES = 64 << 10 };

static int check_symbols(const struct template *template, const struct launch_plan *plan,
                         struct error *error) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (tensor->solution_symbol && plan->tensors[t].present &&
            plan->tensors[t].bytes > SOLUTION_SYMBOL_BYTES)
            return error_input(error,
                               "%s: \"symbols\": %s has %lld bytes, and a solution may read at "
                               "most %d as a variable of its module: pass it as an argument",
                               template->launches.launches[0].file, tensor->name,
                               (long long)plan->tensors[t].bytes, SOLUTION_SYMBOL_BYTES);
    }
    return 0;
}

static int plan_stresses(const struct template *template, const int64_t *values,
                         struct launch_plan *plan, struct error *error) {
    for (int i = 0; i < template->stress_count; i++)
        if (plan_evaluate_condition(template, template->stresses[i].when, values,
                                    &plan->stressed[i], error) < 0)
            return -1;
    return 0;
}

int template_launch_plan(const struct template *template, const struct genome *genome,
                         int case_index, struct launch_plan *plan, struct error *error) {
    int64_t values[SLOTS_MAX];
    double work;
    *plan = (struct launch_plan){.case_index = case_index};
    if (space_values(template->space, genome, case_index, values, error) < 0 ||
        plan_tensors(template, values, NO_ROLE, plan, error) < 0 ||
        check_symbols(template, plan, error) < 0 || plan_maps(template, values, plan, error) < 0 ||
        plan_launches(template, &template->launches, values, plan, error) < 0 ||
        check_launches(plan, error) < 0 ||
        plan_evaluate_expression(template, template->operations, values, &plan->operations, error) <
            0 ||
        plan_evaluate_expression(template, template->bytes, values, &plan->bytes, error) < 0 ||
        template_work(template, genome, case_index, &work, error) < 0 ||
        plan_stresses(template, values, plan, error) < 0 ||
        plan_relaxed(template, values, plan, error) < 0)
        return -1;
    plan_tolerances(template, plan);
    return 0;
}

int template_case_plan(const struct template *template, const struct genome *genome, int case_index,
                       struct launch_plan *plan, struct error *error) {
    int64_t values[SLOTS_MAX];
    *plan = (struct launch_plan){.input_range = INFINITY, .case_index = case_index};
    if (space_values(template->space, genome, case_index, values, error) < 0 ||
        plan_tensors(template, values, NO_ROLE, plan, error) < 0 ||
        plan_evaluate_expression(template, template->operations, values, &plan->operations, error) <
            0 ||
        plan_evaluate_expression(template, template->bytes, values, &plan->bytes, error) < 0 ||
        plan_stresses(template, values, plan, error) < 0)
        return -1;
    plan_tolerances(template, plan);
    return 0;
}

/* Whether the reference computes the tensor. */
static bool is_judged(const struct tensor *tensor) {
    return tensor->role == ROLE_OUTPUT || tensor->role == ROLE_MAGNITUDE;
}

int template_plain_launch_plan(const struct template *template, const struct genome *genome,
                               int case_index, struct launch_plan *plan, struct error *error) {
    int64_t values[SLOTS_MAX];
    *plan = (struct launch_plan){.input_range = INFINITY, .case_index = case_index};
    if (space_values(template->space, genome, case_index, values, error) < 0 ||
        plan_tensors(template, values,
                     template->plain_kind == PLAIN_REAL ? ROLE_MAGNITUDE : NO_ROLE, plan,
                     error) < 0)
        return -1;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->plain_kind == PLAIN_REAL && is_judged(&template->tensors[t]) &&
            plan->tensors[t].dtype != DTYPE_I64)
            plan->tensors[t].written = DTYPE_F32;
    return plan_launches(template, &template->plain, values, plan, error);
}

int template_setup_launch_plan(const struct template *template, int case_index,
                               struct launch_plan *plan, struct error *error) {
    struct genome genome = genome_default(template->space);
    int64_t values[SLOTS_MAX] = {0};
    *plan = (struct launch_plan){.input_range = INFINITY, .case_index = case_index};
    if (space_values(template->space, &genome, case_index, values, error) < 0 ||
        plan_tensors(template, values, ROLE_SETUP, plan, error) < 0)
        return -1;
    return plan_launches(template, &template->setup, values, plan, error);
}

int template_reference_launch_plan(const struct template *template, int case_index,
                                   struct launch_plan *plan, struct error *error) {
    struct genome genome = genome_default(template->space);
    int64_t values[SLOTS_MAX] = {0};
    const bool own = template->reference_kind == REFERENCE_DEFAULT_GENOME;
    *plan = (struct launch_plan){.input_range = INFINITY, .case_index = case_index};
    /* The default genome may be invalid for this case; that is no problem of a reference of its
       own, because that does not depend on genes (template_reference_applies). */
    if (space_values(template->space, &genome, case_index, values, error) < 0 ||
        plan_tensors(template, values, own ? NO_ROLE : ROLE_MAGNITUDE, plan, error) < 0 ||
        (own && plan_maps(template, values, plan, error) < 0) ||
        plan_launches(template, own ? &template->launches : &template->reference, values, plan,
                      error) < 0)
        return -1;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_OUTPUT) {
            struct planned_tensor *planned = &plan->tensors[t];
            planned->dtype = planned->dtype == DTYPE_I64 ? DTYPE_I64 : DTYPE_F64;
            planned->bytes = planned->elements * dtype_bytes(planned->dtype);
            planned->written = own ? planned->written : planned->dtype;
        }
    return 0;
}

bool template_reference_applies(const struct template *template, int case_index) {
    const struct genome genome = genome_default(template->space);
    return template->reference_kind != REFERENCE_DEFAULT_GENOME ||
           template_genome_is_valid(template, &genome, case_index);
}

const char *template_passed(const struct template *template, bool several) {
    if (template->reference_kind != REFERENCE_DEFAULT_GENOME)
        return "correct";
    return several ? "agree with the default genome" : "agrees with the default genome";
}

int launch_plan_threads(const struct launch_plan *plan) {
    struct planned_launch largest = planned_launch(plan, 0);
    for (int l = 1; l < plan->launch_count; l++) {
        const struct planned_launch launch = planned_launch(plan, l);
        if (launch.smem_bytes > largest.smem_bytes)
            largest = launch;
    }
    return (int)(largest.block[0] * largest.block[1] * largest.block[2]);
}
