/* An export's solutions and variants: which cases each serves, and what the files call them. */
#include "base/memory.h"
#include "export/internal.h"

#include <string.h>

int export_assign_variants(const struct template *const *templates,
                           const struct genome *const *genomes, int case_count,
                           struct export_variant *variants, struct export_case *cases) {
    int count = 0;
    for (int c = 0; c < case_count; c++) {
        int variant = 0;
        while (variant < count && !(variants[variant].template == templates[c] &&
                                    genome_equal(variants[variant].genome, genomes[c]) &&
                                    template_variant(templates[c], variants[variant].case_index) ==
                                        template_variant(templates[c], c)))
            variant++;
        if (variant == count)
            variants[count++] = (struct export_variant){.template = templates[c],
                                                        .genome = genomes[c],
                                                        .case_index = c,
                                                        .checks = "not recorded",
                                                        .uses = ""};
        cases[c].variant = variant;
    }
    return count;
}

/* ---- the default genome as the reference ---- */

int export_add_references(const struct template *template, const struct genome *genome,
                          struct export_variant *variants) {
    int count = 0;
    for (int c = 0; c < template->case_count; c++)
        if (template_variant(template, c) == c)
            variants[count++] = (struct export_variant){
                .template = template, .genome = genome, .case_index = c, .checks = "", .uses = ""};
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

/* ---- solutions ---- */

void find_solutions(struct export *export) {
    for (int variant = 0; variant < export->request->variant_count; variant++) {
        const struct template *template = variant_template(export, variant);
        int s = 0;
        while (s < export->solution_count && export->solutions[s] != template)
            s++;
        if (s == SOLUTIONS_MAX)
            BUG("more than %d solutions", SOLUTIONS_MAX);
        if (s == export->solution_count)
            export->solutions[export->solution_count++] = template;
    }
}

const struct template *variant_template(const struct export *export, int variant) {
    return export->request->variants[variant].template;
}

const char *source_file(const struct export *export, const struct template *solution,
                        char name[SOURCE_FILE_SIZE]) {
    const bool several = export->solution_count > 1;
    snprintf(name, SOURCE_FILE_SIZE, "kernel%s%s.cu", several ? "_" : "",
             several ? solution->solution : "");
    return name;
}

bool is_specialised(const struct export *export, int dimension) {
    for (int s = 0; s < export->solution_count; s++)
        if (!export->solutions[s]->dimensions[dimension].specialised)
            return false;
    return true;
}

/* ---- variants ---- */

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
    const struct template *template = variant_template(export, variant);
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
    if (template_options(variant_template(export, variant),
                         export->request->variants[variant].genome, false, &compiled, error) < 0)
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

int export_architecture(const struct export *export, char architecture[NAME_SIZE],
                        struct error *error) {
    *architecture = '\0';
    for (int variant = 0; variant < export->request->variant_count; variant++) {
        char one[NAME_SIZE] = "";
        struct strbuf options = {0};
        const int status = variant_options(export, variant, one, &options, error);
        strbuf_release(&options);
        if (status < 0)
            return -1;
        if (strlen(one) > strlen(architecture)) /* sm_90a, of which there are fewer GPUs */
            strcpy(architecture, one);
    }
    return 0;
}

/* ---- tensors ---- */

int find_workspaces(struct export *export, struct error *error) {
    for (int variant = 0; variant < count_all_variants(export); variant++) {
        const struct template *template = variant_template(export, variant);
        bool *needed = variant < export->request->variant_count ? &export->workspaces
                                                                : &export->reference_workspaces;
        struct expr_printer *printer =
            expr_to_c_new(template, &export->request->variants[variant], false, error);
        if (printer == NULL)
            return -1;
        int count = 0;
        for (int t = 0; t < template->tensor_count; t++) {
            const struct tensor *tensor = &template->tensors[t];
            int64_t there = 1;
            bool never = tensor->when != NULL &&
                         expr_to_c_constant(printer, tensor->when, &there) && there == 0;
            *needed = *needed || (tensor->role == ROLE_WORKSPACE && !never);
            count += tensor->role == ROLE_WORKSPACE;
        }
        if (count > export->workspace_count)
            export->workspace_count = count;
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

int parameter_count(const struct template *template) {
    int count = 0;
    for (int t = 0; t < template->tensor_count; t++)
        count += is_parameter(&template->tensors[t]);
    return count;
}
