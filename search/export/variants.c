/* Assigns an export's cases to variants, and selects the shapes that its check.c verifies. */
#include "base/memory.h"
#include "export/internal.h"

#include <math.h>
#include <string.h>

int export_assign_variants(const struct template *template, const struct genome *const *genomes,
                           struct export_variant *variants, struct export_case *cases) {
    int count = 0;
    for (int c = 0; c < template->case_count; c++) {
        int variant = 0;
        while (variant < count && !(genome_equal(variants[variant].genome, genomes[c]) &&
                                    template_variant(template, variants[variant].case_index) ==
                                        template_variant(template, c)))
            variant++;
        if (variant == count)
            variants[count++] = (struct export_variant){
                .genome = genomes[c], .case_index = c, .checks = "not recorded", .uses = ""};
        cases[c].variant = variant;
    }
    return count;
}

int export_add_references(const struct template *template, const struct genome *genome,
                          struct export_variant *variants) {
    int count = 0;
    for (int c = 0; c < template->case_count; c++)
        if (template_variant(template, c) == c)
            variants[count++] = (struct export_variant){
                .genome = genome, .case_index = c, .checks = "", .uses = ""};
    return count;
}

int count_all_variants(const struct export *export) {
    return export->request->variant_count + export->request->reference_count;
}

bool has_default_reference(const struct export *export) {
    return export->template->reference_kind == REFERENCE_DEFAULT_GENOME;
}

bool is_default_genome(const struct export *export, int variant) {
    const struct genome genome = genome_default(export->template->space);
    return genome_equal(export->request->variants[variant].genome, &genome);
}

void add_itself(const struct export *export, cJSON *values) {
    const int count = export->request->variant_count;
    struct strbuf text = {0};
    int same = 0;
    for (int v = 0; v < count && has_default_reference(export); v++)
        same += is_default_genome(export, v);
    strbuf_add(&text, "", 0);
    if (same == count)
        strbuf_print(&text,
                     "the kernel is the default genome itself: nothing but that it gives the "
                     "same results again was checked");
    else if (same > 0) {
        const char *comma = "of variants of the default genome itself (";
        for (int v = 0; v < count; v++)
            if (is_default_genome(export, v)) {
                strbuf_print(&text, "%s%d", comma, v + 1);
                comma = ", ";
            }
        strbuf_print(&text, ") nothing but that they give the same results again was checked");
    }
    embedded_add_text(values, "itself", &text);
}

const char *variant_file(int variant, const char *extension, char name[VARIANT_FILE_SIZE]) {
    snprintf(name, VARIANT_FILE_SIZE, "variant_%d.%s", variant + 1, extension);
    return name;
}

const char *variant_symbol(int variant, const char *kernel, char symbol[SYMBOL_SIZE]) {
    if (variant == 0)
        snprintf(symbol, SYMBOL_SIZE, "%s", kernel);
    else
        snprintf(symbol, SYMBOL_SIZE, "%s_%d", kernel, variant + 1);
    return symbol;
}

void variant_specialised(const struct export *export, int variant, struct strbuf *text) {
    const struct template *template = export->template;
    int case_index = export->request->variants[variant].case_index;
    const char *comma = "";
    strbuf_add(text, "", 0);
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised) {
            strbuf_print(text, "%s%s=%lld", comma, template->dimensions[d].name,
                         (long long)template->cases[case_index].values[d]);
            comma = ",";
        }
}

int variant_options(const struct export *export, int variant, char architecture[NAME_SIZE],
                    struct strbuf *options, struct error *error) {
    static const char prefix[] = "--gpu-architecture=";
    struct compile_options compiled;
    if (template_options(export->template, export->request->variants[variant].genome, false,
                         &compiled, error) < 0)
        return -1;
    strbuf_add(options, "", 0);
    for (int i = 0; i < compiled.count; i++) {
        const char *option = compiled.items[i];
        if (strncmp(option, prefix, sizeof prefix - 1) == 0)
            snprintf(architecture, NAME_SIZE, "%s", option + sizeof prefix - 1);
        else if (strcmp(option, "--ptxas-options=-v") != 0) /* only affects the compiler's report */
            strbuf_print(options, " %s", option);
    }
    return 0;
}

int find_workspaces(struct export *export, struct error *error) {
    const struct template *template = export->template;
    for (int variant = 0; variant < count_all_variants(export); variant++) {
        bool *needed = variant < export->request->variant_count ? &export->workspaces
                                                                : &export->reference_workspaces;
        struct expr_printer *printer =
            expr_to_c_new(template, &export->request->variants[variant], false, error);
        if (printer == NULL)
            return -1;
        for (int t = 0; t < template->tensor_count; t++) {
            const struct tensor *tensor = &template->tensors[t];
            int64_t there = 1;
            bool never = tensor->when != NULL &&
                         expr_to_c_constant(printer, tensor->when, &there) && there == 0;
            *needed = *needed || (tensor->role == ROLE_WORKSPACE && !never);
        }
        free(printer);
    }
    return 0;
}

bool is_parameter(const struct tensor *tensor) {
    return !tensor->of_output && (tensor->role == ROLE_INPUT || tensor->role == ROLE_OUTPUT);
}

int contents_index(const struct template *template, int tensor) {
    int index = 0;
    for (int t = 0; t < tensor; t++)
        index += template->tensors[t].of_output;
    return index;
}

int index_in_role(const struct template *template, int tensor) {
    int index = 0;
    for (int t = 0; t < tensor; t++)
        index += template->tensors[t].role == template->tensors[tensor].role;
    return index;
}

/* ---- shapes to verify ---- */

static bool same_specialised(const struct template *template, const struct shape *a,
                             const struct shape *b) {
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised && a->values[d] != b->values[d])
            return false;
    return true;
}

/* The variant that the launcher (launcher.c.in) will choose for a probe, or -1. */
static int choose_variant(const struct export *export, const struct template *probes, int probe,
                          struct launch_plan *plan) {
    const struct export_request *request = export->request;
    int best = -1;
    double best_distance = INFINITY;
    for (int c = 0; c < export->template->case_count; c++) {
        int variant = request->cases[c].variant;
        struct launch_plan planned;
        if (!same_specialised(probes, &probes->cases[probe], &export->template->cases[c]) ||
            !template_genome_is_valid(probes, request->variants[variant].genome, probe) ||
            template_launch_plan(probes, request->variants[variant].genome, probe, &planned,
                                 &(struct error){0}) < 0)
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
            if (!same_specialised(export->template, &checked->shape, &export->template->cases[c]))
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

/* The shapes of `others`, probes or held-out cases, were verified for every variant that allows
   them. */
static void add_verified(struct export *export, const struct template *others) {
    const struct export_request *request = export->request;
    for (int variant = 0; variant < request->variant_count; variant++)
        for (int i = 0; i < others->case_count; i++)
            if (same_specialised(others, &others->cases[i],
                                 &export->template->cases[request->variants[variant].case_index]) &&
                template_genome_is_valid(others, request->variants[variant].genome, i))
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
    add_range(export->template, &export->verified[variant], text);
}

void add_served_ranges(const struct export *export, struct strbuf *text) {
    const struct export_request *request = export->request;
    const struct template *template = export->template;
    const char *separator = "";
    for (int v = 0; v < request->variant_count; v++) {
        const struct shape *shape = &template->cases[request->variants[v].case_index];
        struct verified_range range = {0};
        bool listed = false;
        for (int w = 0; w < request->variant_count; w++) {
            const struct verified_range *other = &export->verified[w];
            if (!same_specialised(template, shape,
                                  &template->cases[request->variants[w].case_index]))
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

static int plan_setup(struct checked_shape *checked, const struct template *template, int index,
                      struct error *error) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    int status = template_setup_launch_plan(template, index, plan, error);
    memcpy(checked->own, plan->tensors, sizeof checked->own);
    free(plan);
    return status;
}

static int add_probes(struct export *export, const struct template *probes, struct error *error) {
    for (int p = 0; p < probes->case_count; p++) {
        struct checked_shape *checked = &export->checked[export->checked_count];
        *checked = (struct checked_shape){.shape = probes->cases[p]};
        if (choose_variant(export, probes, p, &checked->plan) < 0 ||
            !template_reference_applies(probes, p))
            continue;
        if (plan_setup(checked, probes, p, error) < 0)
            return -1;
        template_print_shape(probes, &checked->shape, checked->name);
        export->checked_count++;
    }
    return 0;
}

int find_checked_shapes(struct export *export, struct error *error) {
    const struct template *template = export->template;
    const struct export_request *request = export->request;
    struct error why = {0};
    struct template *probes = template_load_probes(template, request->setting, &why);
    if (probes == NULL && why.kind != ERROR_NONE) {
        *error = why;
        return -1;
    }
    int room = template->case_count + (probes != NULL ? probes->case_count : 0);
    export->checked = xcalloc((size_t)room, sizeof *export->checked);
    export->verified = xcalloc((size_t)request->variant_count, sizeof *export->verified);
    int result = 0;
    for (int c = 0; c < template->case_count && result == 0; c++) {
        struct checked_shape *checked = &export->checked[export->checked_count++];
        checked->shape = template->cases[c];
        checked->record = request->cases[c].outcome;
        template_print_shape(template, &checked->shape, checked->name);
        if (checked->record->bound.relative_l2 > 0) /* an emulated device leaves out large ones */
            widen_range(template, &export->verified[request->cases[c].variant], &checked->shape);
        result = template_launch_plan(template, request->variants[request->cases[c].variant].genome,
                                      c, &checked->plan, error);
        if (result == 0)
            result = plan_setup(checked, template, c, error);
    }
    if (probes != NULL && result == 0)
        result = add_probes(export, probes, error);
    if (probes != NULL && result == 0)
        add_verified(export, probes);
    if (request->held_out != NULL && result == 0)
        add_verified(export, request->held_out);
    if (result == 0)
        set_bounds(export);
    template_free(probes);
    return result;
}
