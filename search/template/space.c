/* Reads the search space of a template: conditions of genes, derived quantities, constraints and
   insights. */
#include "outcome/measure_names.h"
#include "template/load.h"

#include <math.h>
#include <string.h>

/* Reads the condition of a gene, which may name any other. */
static int load_condition(struct template *template, const struct json *value,
                          struct error *error) {
    struct json when;
    char condition[EXPRESSION_TEXT_MAX];
    int gene = space_find_gene(template->space, json_key(value));
    if (!json_find(value, "when", &when))
        return 0;
    if (load_expression_text(&when, condition, error) < 0)
        return -1;
    if (space_set_condition(template->space, gene, condition, error) < 0)
        return load_locate_error(value, error);
    return load_reject_real(template, &when, template->space->genes[gene].when, error);
}

static int load_derived(struct template *template, const struct json *value, struct error *error) {
    const struct space *space = template->space;
    char text[EXPRESSION_TEXT_MAX];
    if (load_expression_text(value, text, error) < 0)
        return -1;
    if (space_add_derived(template->space, json_key(value), text, error) < 0)
        return load_locate_error(value, error);
    return load_reject_real(template, value, space->derived[space->derived_count - 1].expression,
                            error);
}

/* Finds a run-time dimension that the expression reads, also through derived quantities. */
static const struct dimension *find_run_time(const struct template *template,
                                             const struct expression *expression) {
    const struct space *space = template->space;
    struct slots reads = *expression_reads(expression);
    for (int i = space->derived_count - 1; i >= 0; i--) /* it reads earlier ones only */
        if (slots_has(&reads, space->derived[i].slot))
            slots_join(&reads, expression_reads(space->derived[i].expression));
    for (int d = 0; d < template->dimension_count; d++)
        if (!template->dimensions[d].specialised && slots_has(&reads, space->dimensions[d]))
            return &template->dimensions[d];
    return NULL;
}

/* A macro is a derived quantity that the source gets: a new one, or "NAME": "NAME". */
static int load_macro(struct template *template, const struct json *value, struct error *error) {
    struct space *space = template->space;
    char text[EXPRESSION_TEXT_MAX];
    int index = 0;
    if (template->macro_count == MACROS_MAX)
        return json_error(value, error, "more than %d macros", MACROS_MAX);
    if (load_expression_text(value, text, error) < 0)
        return -1;
    while (index < space->derived_count &&
           !(strcmp(text, json_key(value)) == 0 &&
             strcmp(space->symbols.slots[space->derived[index].slot], text) == 0))
        index++;
    if (index == space->derived_count && load_derived(template, value, error) < 0)
        return -1;
    const struct dimension *run_time = find_run_time(template, space->derived[index].expression);
    if (run_time != NULL)
        return json_error(value, error,
                          "depends on %s, a run-time argument, so that the source cannot have it: "
                          "add %s to \"specialised\", or pass the value as an argument",
                          run_time->name, run_time->name);
    template->macros[template->macro_count++] = space->derived[index].slot;
    return 0;
}

static const char *const constraint_keys[] = {"require", "because", NULL};

static int load_constraint(struct template *template, const struct json *value,
                           struct error *error) {
    const struct space *space = template->space;
    struct json require, why;
    char text[EXPRESSION_TEXT_MAX];
    const char *because;
    if (json_check_keys(value, constraint_keys, error) < 0 ||
        json_require(value, "require", &require, error) < 0 ||
        json_require(value, "because", &why, error) < 0 ||
        load_expression_text(&require, text, error) < 0 || json_string(&why, &because, error) < 0)
        return -1;
    if (space_add_constraint(template->space, text, because, error) < 0)
        return load_locate_error(&require, error);
    return load_reject_real(template, &require,
                            space->constraints[space->constraint_count - 1].expression, error);
}

int load_problem_space(struct template *template, const struct json *problem, struct error *error) {
    static const struct section sections[] = {
        {"derived", load_derived, .object = true},
        {"constraints", .load = load_constraint},
        {0},
    };
    int result = load_sections(template, problem, sections, error);
    template->problem_slots = template->space->symbols.slot_count;
    return result;
}

int load_space(struct template *template, const struct json *root, struct error *error) {
    static const struct section sections[] = {
        {"genes", load_gene, .object = true, .required = true},
        {"genes", load_condition, .object = true},
        {"derived", load_derived, .object = true},
        {"macros", load_macro, .object = true},
        {"constraints", .load = load_constraint},
        {0},
    };
    return load_sections(template, root, sections, error);
}

static const char *const insight_keys[] = {"when", "favour", "because", NULL};

static int load_insight(struct template *template, const struct json *value, struct error *error) {
    struct json when;
    struct json preference;
    struct json why;
    char text[EXPRESSION_TEXT_MAX];
    const char *because;
    if (json_check_keys(value, insight_keys, error) < 0 ||
        json_require(value, "when", &when, error) < 0 ||
        json_require(value, "favour", &preference, error) < 0 ||
        json_require(value, "because", &why, error) < 0 ||
        load_expression_text(&when, text, error) < 0 || json_is_object(&preference, error) < 0 ||
        json_string(&why, &because, error) < 0)
        return -1;
    if (json_count(&preference) < 1)
        return json_error(&preference, error, "must favour at least one gene");
    int hint = space_add_hint(template->space, text, because, error);
    if (hint < 0)
        return load_locate_error(&when, error);
    if (load_reject_real(template, &when, template->space->hints.rows[hint].when, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&preference); i++) {
        struct json towards = json_at(&preference, i);
        const char *word = text;
        const bool real = cJSON_IsNumber(towards.value) &&
                          towards.value->valuedouble != rint(towards.value->valuedouble);
        if (real)
            space_print_real(towards.value->valuedouble, text);
        else if (cJSON_IsString(towards.value) ? json_string(&towards, &word, error) < 0
                                               : load_expression_text(&towards, text, error) < 0)
            return -1;
        if (space_add_preference(template->space, hint, json_key(&towards), word, error) < 0)
            return load_locate_error(&towards, error);
    }
    return 0;
}

int load_insights(struct template *template, const struct json *root, struct error *error) {
    static const struct section sections[] = {{"insights", .load = load_insight}, {0}};
    struct json list;
    if (json_find(root, "insights", &list))
        space_name_measures(template->space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
    return load_sections(template, root, sections, error);
}
