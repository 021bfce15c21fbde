/* Selects the shapes that an export's check.c verifies, and finds what was verified. */
#include "base/memory.h"
#include "export/dispatch.h"

#include <math.h>
#include <string.h>

/* A solution's template for its own probe cases, small shapes that its trials verified; and for
   those of all solutions, of which the launcher may give it any. The probe cases of a solution have
   the values that it specialises. NULL: the problem has none. */
struct probes {
    struct template *own, *all;
};

static void release_probes(const struct export *export, struct probes *probes) {
    for (int s = 0; s < export->solution_count; s++) {
        if (probes[s].all != probes[s].own)
            template_free(probes[s].all);
        template_free(probes[s].own);
    }
}

static struct template_setting solution_setting(const struct export *export, int solution) {
    struct template_setting setting = *export->request->setting;
    if (export->solutions[solution]->solution[0] != '\0')
        setting.solution = export->solutions[solution]->solution;
    return setting;
}

/* Adds the shapes that are not among them yet. */
static void join_shapes(const struct template *from, struct shape *shapes, int *count) {
    const size_t bytes = (size_t)from->dimension_count * sizeof *from->cases[0].values;
    for (int c = 0; c < from->case_count; c++) {
        int i = 0;
        while (i < *count && memcmp(shapes[i].values, from->cases[c].values, bytes) != 0)
            i++;
        if (i == *count && i < CASES_MAX)
            shapes[(*count)++] = from->cases[c];
    }
}

/* Fills an element for each solution; they are released also after a failure. */
static int load_probes(const struct export *export, struct probes *probes, struct error *error) {
    struct shape shapes[CASES_MAX];
    int count = 0;
    for (int s = 0; s < export->solution_count; s++) {
        struct error why = {0};
        const struct template_setting setting = solution_setting(export, s);
        probes[s].own = template_load_probes(export->solutions[s], &setting, &why);
        if (probes[s].own == NULL && why.kind != ERROR_NONE) {
            *error = why;
            return -1;
        }
        if (probes[s].own != NULL)
            join_shapes(probes[s].own, shapes, &count);
    }
    for (int s = 0; s < export->solution_count && count > 0; s++) {
        struct template_setting setting = solution_setting(export, s);
        setting.cases = shapes;
        setting.case_count = count;
        probes[s].all = export->solution_count == 1
                            ? probes[s].own
                            : template_load(export->template->folder, &setting, error);
        if (probes[s].all == NULL)
            return -1;
    }
    return 0;
}

/* Those of a variant's solution. */
static const struct probes *variant_probes(const struct export *export, const struct probes *probes,
                                           int variant) {
    int s = 0;
    while (export->solutions[s] != variant_template(export, variant))
        s++;
    return &probes[s];
}

/* ---- what a shape is verified with ---- */

static bool same_specialised(const struct template *template, const struct shape *a,
                             const struct shape *b) {
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised && a->values[d] != b->values[d])
            return false;
    return true;
}

/* Whether a variant of a solution with these probes supports one; plans its launches. */
static bool plan_probe(const struct export *export, const struct probes *solutions, int variant,
                       int probe, struct launch_plan *plan) {
    const struct export_variant *exported = &export->request->variants[variant];
    const struct template *probes = variant_probes(export, solutions, variant)->all;
    return same_specialised(probes, &probes->cases[probe],
                            &export->template->cases[exported->case_index]) &&
           template_genome_is_valid(probes, exported->genome, probe) &&
           template_launch_plan(probes, exported->genome, probe, plan, &(struct error){0}) == 0;
}

/* The variant that the tree gives a probe, or -1. */
static int choose_by_tree(const struct export *export, const struct probes *solutions, int probe,
                          struct launch_plan *plan) {
    const struct tree *tree = export->request->dispatch->tree;
    int64_t inputs[TREE_INPUTS_MAX];
    export_tree_inputs(tree, export->template, &solutions[0].all->cases[probe], inputs);
    const unsigned char *order = tree_order(tree, inputs);
    for (int i = 0; i < tree->kernel_count; i++)
        if (plan_probe(export, solutions, order[i], probe, plan))
            return order[i];
    return -1;
}

/* The variant that the launcher (launcher.c.in) will choose for a probe, or -1. */
static int choose_variant(const struct export *export, const struct probes *solutions, int probe,
                          struct launch_plan *plan) {
    const struct export_request *request = export->request;
    int best = -1;
    double best_distance = INFINITY;
    if (dispatch_is_exported(export))
        return choose_by_tree(export, solutions, probe, plan);
    for (int c = 0; c < export->template->case_count; c++) {
        int variant = request->cases[c].variant;
        const struct template *probes = variant_probes(export, solutions, variant)->all;
        struct launch_plan planned;
        if (!plan_probe(export, solutions, variant, probe, &planned))
            continue;
        bool exact = memcmp(probes->cases[probe].values, export->template->cases[c].values,
                            (size_t)probes->dimension_count * sizeof(int64_t)) == 0;
        double ratio = (double)planned.operations / (double)export->checked[c].plan.operations;
        double distance = exact ? 0 : ratio < 1 ? 1 / ratio : ratio;
        if (distance < best_distance) {
            best = variant;
            best_distance = distance;
            *plan = planned;
        }
    }
    return best;
}

/* The tensor of `to` that is tensor `index` of `from`, another solution of the same problem.
   Solutions declare workspaces alone, which stand between the problem's tensors. */
static int same_tensor(const struct template *from, int index, const struct template *to) {
    int rank = 0;
    for (int t = 0; t < index; t++)
        rank += from->tensors[t].role != ROLE_WORKSPACE;
    for (int t = 0; t < to->tensor_count; t++)
        if (to->tensors[t].role != ROLE_WORKSPACE && rank-- == 0)
            return t;
    BUG("the solutions of %s have other tensors", to->name);
}

/* Gives the plan's tensors the numbers that they have in the problem's template. */
static void renumber_tensors(const struct export *export, int variant, struct launch_plan *plan) {
    const struct template *from = variant_template(export, variant), *to = export->template;
    struct planned_tensor tensors[TENSORS_MAX] = {0};
    if (from == to)
        return;
    for (int t = 0; t < from->tensor_count; t++) {
        if (from->tensors[t].role == ROLE_WORKSPACE)
            continue;
        struct planned_tensor *tensor = &tensors[same_tensor(from, t, to)];
        *tensor = plan->tensors[t];
        if (tensor->tolerance.magnitude >= 0)
            tensor->tolerance.magnitude = same_tensor(from, tensor->tolerance.magnitude, to);
    }
    memcpy(plan->tensors, tensors, sizeof tensors);
}

/* The error bound of a shape without a measured one: twice the rounding error of the output, since
   a kernel may round intermediate results too, plus some float roundings. The bound of a row is
   looser: it averages over few elements. */
static struct errors default_bound(const struct template *template,
                                   const struct launch_plan *plan) {
    double rounding = 0;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_OUTPUT && plan->tensors[t].present)
            rounding = fmax(rounding, dtype_rounding(plan->tensors[t].precision));
    if (rounding == 0) /* whole numbers are equal where the plain kernel's are */
        return (struct errors){.relative_l2 = EXACT_BOUND, .row_relative_l2 = EXACT_BOUND};
    return (struct errors){.relative_l2 = 2 * rounding + 1e-6,
                           .row_relative_l2 = 4 * rounding + 1e-6};
}

/* Whether a kernel may serve both shapes. */
static bool may_share_kernel(const struct export *export, const struct shape *a,
                             const struct shape *b) {
    for (int d = 0; d < export->template->dimension_count; d++)
        if (is_specialised(export, d) && a->values[d] != b->values[d])
            return false;
    return true;
}

/* A case has its measured bound; another shape has the largest bound of the cases with the same
   specialised dimensions. */
static void set_bounds(struct export *export) {
    for (int i = 0; i < export->checked_count; i++) {
        struct checked_shape *checked = &export->checked[i];
        checked->bound = default_bound(export->template, &checked->plan);
        if (checked->record != NULL && checked->record->bound.relative_l2 > 0) {
            checked->bound = checked->record->bound;
            continue;
        }
        for (int c = 0; c < export->template->case_count; c++) {
            const struct errors *measured = &export->request->cases[c].outcome->bound;
            if (!may_share_kernel(export, &checked->shape, &export->template->cases[c]))
                continue;
            checked->bound.relative_l2 = fmax(checked->bound.relative_l2, measured->relative_l2);
            checked->bound.row_relative_l2 =
                fmax(checked->bound.row_relative_l2, measured->row_relative_l2);
        }
    }
}

static void widen_range(const struct template *template, struct verified_range *range,
                        const struct shape *shape) {
    for (int d = 0; d < template->dimension_count; d++) {
        const bool real = template->dimensions[d].real;
        int64_t value = shape->values[d], *least = &range->least.values[d],
                *most = &range->most.values[d];
        if (range->shapes == 0 ||
            (real ? dimension_real(value) < dimension_real(*least) : value < *least))
            *least = value;
        if (range->shapes == 0 ||
            (real ? dimension_real(value) > dimension_real(*most) : value > *most))
            *most = value;
    }
    range->shapes++;
}

/* The shapes of `others`, probes or held-out cases, were verified for a variant that allows them.
 */
static void add_verified(struct export *export, int variant, const struct template *others) {
    const struct export_variant *exported = &export->request->variants[variant];
    for (int i = 0; i < others->case_count; i++)
        if (same_specialised(others, &others->cases[i],
                             &export->template->cases[exported->case_index]) &&
            template_genome_is_valid(others, exported->genome, i))
            widen_range(others, &export->verified[variant], &others->cases[i]);
}

static void add_range_end(const struct dimension *dimension, int64_t value, struct strbuf *text) {
    char real[NAME_SIZE];
    if (dimension->real)
        dimension_print_real(dimension_real(value), real);
    else
        snprintf(real, sizeof real, "%lld", (long long)value);
    strbuf_print(text, "%s", real);
}

/* Of the dimensions that `template` does not specialise. */
static void add_range(const struct template *template, const struct verified_range *range,
                      struct strbuf *text) {
    const char *comma = "";
    strbuf_print(text, "%s", range->shapes == 0 ? "none" : "");
    for (int d = 0; d < template->dimension_count && range->shapes > 0; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        if (dimension->specialised)
            continue;
        strbuf_print(text, "%s%s ", comma, dimension->name);
        add_range_end(dimension, range->least.values[d], text);
        strbuf_print(text, " to ");
        add_range_end(dimension, range->most.values[d], text);
        comma = ", ";
    }
}

void variant_verified(const struct export *export, int variant, struct strbuf *text) {
    add_range(variant_template(export, variant), &export->verified[variant], text);
}

/* Whether two variants serve the same values of the same specialised dimensions. */
static bool serve_the_same(const struct export *export, int v, int w) {
    const struct template *template = variant_template(export, v);
    const struct template *other = variant_template(export, w);
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised != other->dimensions[d].specialised)
            return false;
    return same_specialised(template, &template->cases[export->request->variants[v].case_index],
                            &template->cases[export->request->variants[w].case_index]);
}

void add_served_ranges(const struct export *export, struct strbuf *text) {
    const struct export_request *request = export->request;
    const char *separator = "";
    for (int v = 0; v < request->variant_count; v++) {
        const struct template *template = variant_template(export, v);
        struct verified_range range = {0};
        bool listed = false;
        for (int w = 0; w < request->variant_count; w++) {
            const struct verified_range *other = &export->verified[w];
            if (!serve_the_same(export, v, w))
                continue;
            listed = listed || w < v;
            if (other->shapes > 0) {
                widen_range(template, &range, &other->least);
                widen_range(template, &range, &other->most);
            }
        }
        if (listed)
            continue;
        struct strbuf specialised = {0};
        variant_specialised(export, v, &specialised);
        strbuf_print(text, "%s%s%s(verified: ", separator, specialised.bytes,
                     specialised.used > 0 ? " " : "");
        add_range(template, &range, text);
        strbuf_print(text, ")");
        strbuf_release(&specialised);
        separator = "; ";
    }
}

/* ---- the whole ---- */

/* Plans the shape of one of the cases of `template`, which is of the problem's first solution. */
static int plan_setup(struct checked_shape *checked, const struct template *template, int index,
                      struct error *error) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    int status = template_setup_launch_plan(template, index, plan, error);
    memcpy(checked->own, plan->tensors, sizeof checked->own);
    free(plan);
    return status;
}

static int add_probes(struct export *export, const struct probes *solutions, struct error *error) {
    const struct template *probes = solutions[0].all;
    for (int p = 0; p < probes->case_count; p++) {
        struct checked_shape *checked = &export->checked[export->checked_count];
        *checked = (struct checked_shape){.shape = probes->cases[p]};
        int variant = choose_variant(export, solutions, p, &checked->plan);
        if (variant < 0 || !template_reference_applies(probes, p))
            continue;
        renumber_tensors(export, variant, &checked->plan);
        if (plan_setup(checked, probes, p, error) < 0)
            return -1;
        template_print_shape(probes, &checked->shape, checked->name);
        export->checked_count++;
    }
    return 0;
}

static int add_cases(struct export *export, struct error *error) {
    const struct template *template = export->template;
    for (int c = 0; c < template->case_count; c++) {
        struct checked_shape *checked = &export->checked[export->checked_count++];
        const int variant = export->request->cases[c].variant;
        checked->shape = template->cases[c];
        checked->record = export->request->cases[c].outcome;
        template_print_shape(template, &checked->shape, checked->name);
        if (checked->record->bound.relative_l2 > 0) /* an emulated device leaves out large ones */
            widen_range(template, &export->verified[variant], &checked->shape);
        if (template_launch_plan(variant_template(export, variant),
                                 export->request->variants[variant].genome, c, &checked->plan,
                                 error) < 0 ||
            plan_setup(checked, template, c, error) < 0)
            return -1;
        renumber_tensors(export, variant, &checked->plan);
    }
    return 0;
}

/* The shapes at which variants were timed, if they were verified before that. */
static void add_timed_shapes(struct export *export) {
    const struct export_dispatch *dispatch = export->request->dispatch;
    const int count = export->request->variant_count;
    for (int s = 0; dispatch != NULL && s < dispatch->shape_count; s++)
        for (int v = 0; v < count; v++)
            if (dispatch->verified[s * count + v])
                widen_range(export->template, &export->verified[v], &dispatch->shapes[s]);
}

/* What each variant's trial verified beside its cases. */
static void add_verified_others(struct export *export, const struct probes *solutions) {
    add_timed_shapes(export);
    for (int v = 0; v < export->request->variant_count; v++) {
        const struct template *probes = variant_probes(export, solutions, v)->own;
        if (probes != NULL)
            add_verified(export, v, probes);
        if (export->request->variants[v].held_out != NULL)
            add_verified(export, v, export->request->variants[v].held_out);
    }
}

int find_checked_shapes(struct export *export, struct error *error) {
    struct probes solutions[SOLUTIONS_MAX] = {0};
    int room = export->template->case_count;
    int result = load_probes(export, solutions, error);
    if (result == 0 && solutions[0].all != NULL)
        room += solutions[0].all->case_count;
    export->checked = xcalloc((size_t)room, sizeof *export->checked);
    export->verified = xcalloc((size_t) export->request->variant_count, sizeof *export->verified);
    if (result == 0)
        result = add_cases(export, error);
    if (result == 0 && solutions[0].all != NULL)
        result = add_probes(export, solutions, error);
    if (result == 0) {
        add_verified_others(export, solutions);
        set_bounds(export);
    }
    release_probes(export, solutions);
    return result;
}
