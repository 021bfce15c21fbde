#include "template/template.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/spelling.h"
#include "device/device.h"
#include "template/attributes.h"
#include "template/files.h"
#include "template/load.h"

#include <ctype.h>
#include <float.h>
#include <string.h>

/* ---- names and expressions ---- */

bool load_is_identifier(const char *name) {
    bool is_name = *name != '\0' && !isdigit((unsigned char)*name);
    for (; is_name && *name != '\0'; name++)
        is_name = isalnum((unsigned char)*name) || *name == '_';
    return is_name;
}

int load_key(const struct json *value, char name[NAME_SIZE], struct error *error) {
    if (strlen(json_key(value)) >= NAME_SIZE)
        return json_error(value, error, "a name has fewer than %d characters", NAME_SIZE);
    strcpy(name, json_key(value));
    return load_is_identifier(name)
               ? 0
               : json_error(value, error,
                            "is no name: write letters, digits and _, no digit first");
}

int load_sections(struct template *template, const struct json *object,
                  const struct section *sections, struct error *error) {
    struct json list;
    for (const struct section *section = sections; section->key != NULL; section++) {
        if (!json_find(object, section->key, &list)) {
            if (section->required)
                return json_require(object, section->key, &list, error);
            continue;
        }
        if ((section->object ? json_is_object(&list, error) : json_is_array(&list, error)) < 0)
            return -1;
        if (section->maximum > 0 && json_count(&list) > section->maximum)
            return json_error(&list, error, "more than %d %s", section->maximum, section->noun);
        for (int i = 0; i < json_count(&list); i++) {
            struct json value = json_at(&list, i);
            if (section->load(template, &value, error) < 0)
                return -1;
        }
    }
    return 0;
}

int load_about(const struct json *object, char about[ABOUT_SIZE], struct error *error) {
    struct json value;
    const char *text;
    if (!json_find(object, "about", &value))
        return 0;
    if (json_string(&value, &text, error) < 0)
        return -1;
    if (strlen(text) >= ABOUT_SIZE)
        return json_error(&value, error, "must have fewer than %d characters", ABOUT_SIZE);
    strcpy(about, text);
    return 0;
}

int load_expression_text(const struct json *value, char text[EXPRESSION_TEXT_MAX],
                         struct error *error) {
    const char *string;
    int64_t number;
    if (cJSON_IsNumber(value->value)) {
        if (json_integer(value, &number, error) < 0)
            return -1;
        snprintf(text, EXPRESSION_TEXT_MAX, "%lld", (long long)number);
        return 0;
    }
    if (json_string(value, &string, error) < 0)
        return json_error(value, error, "must be an expression: a string or a whole number");
    if (snprintf(text, EXPRESSION_TEXT_MAX, "%s", string) >= EXPRESSION_TEXT_MAX)
        return json_error(value, error, "must be shorter than %d characters", EXPRESSION_TEXT_MAX);
    return 0;
}

int load_locate_error(const struct json *value, struct error *error) {
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    return json_error(value, error, "%s", text);
}

int load_reject_real(const struct template *template, const struct json *value,
                     const struct expression *expression, struct error *error) {
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        if (dimension->real &&
            slots_has(expression_reads(expression),
                      symbol_table_find(&template->space->symbols, dimension->name)))
            return json_error(
                value, error,
                "%s is a real number, which can only be an argument: { \"f32\": \"%s\" }",
                dimension->name, dimension->name);
    }
    int gene = space_find_real(template->space, expression);
    return gene < 0
               ? 0
               : json_error(value, error,
                            "%s is a gene of real numbers, which only the source can read, as a "
                            "macro: let a gene of whole numbers stand in the expression, in "
                            "thousandths or as the number of a choice",
                            template->space->genes[gene].name);
}

int load_reject_genes(const struct template *template, const struct json *value,
                      const struct expression *expression, struct error *error) {
    if (template->problem_slots == 0 || value->document != &template->document)
        return 0;
    for (int slot = template->problem_slots; slot < template->space->symbols.slot_count; slot++)
        if (slot != template->round_slot && slots_has(expression_reads(expression), slot))
            return json_error(value, error,
                              "%s is of a solution, which cannot change the problem: read only "
                              "dimensions, device attributes and what problem.json derives",
                              template->space->symbols.slots[slot]);
    return 0;
}

struct expression *load_parse(struct template *template, const char *text, struct error *error) {
    struct expression *expression = expression_parse(text, &template->space->symbols, error);
    if (expression == NULL)
        return NULL;
    template->expressions = xgrow(template->expressions, (size_t) template->expression_count,
                                  sizeof(struct expression *));
    return template->expressions[template->expression_count++] = expression;
}

int load_expression(struct template *template, const struct json *value,
                    struct expression **expression, struct error *error) {
    char text[EXPRESSION_TEXT_MAX];
    if (load_expression_text(value, text, error) < 0)
        return -1;
    *expression = load_parse(template, text, error);
    if (*expression == NULL)
        return load_locate_error(value, error);
    if (template->round_slot > 0 && !template->in_repeat &&
        slots_has(expression_reads(*expression), template->round_slot))
        return json_error(value, error,
                          "ROUND is the number of a round: only launches of a \"repeat\" know it");
    return load_reject_genes(template, value, *expression, error) < 0
               ? -1
               : load_reject_real(template, value, *expression, error);
}

int load_required_expression(struct template *template, const struct json *object, const char *key,
                             struct expression **expression, struct error *error) {
    struct json value;
    return json_require(object, key, &value, error) < 0
               ? -1
               : load_expression(template, &value, expression, error);
}

int load_optional_expression(struct template *template, const struct json *object, const char *key,
                             struct expression **expression, struct error *error) {
    struct json value;
    return json_find(object, key, &value) ? load_expression(template, &value, expression, error)
                                          : 0;
}

/* ---- dimensions ---- */

static const char *const dimension_keys[] = {"about",  "minimum", "maximum", "real",
                                             "values", "default", NULL};
static const char *const real_dimension_keys[] = {"about", "minimum", "maximum",
                                                  "real",  "default", NULL};

/* Reads the other keys of a real dimension. Its default is a number, not an expression. */
static int load_real_dimension(struct template *template, const struct json *value,
                               struct dimension *dimension, struct error *error) {
    struct json member;
    char text[NAME_SIZE];
    int64_t bits;
    dimension->real = true;
    dimension->least = -FLT_MAX;
    dimension->most = FLT_MAX;
    if (json_check_keys(value, real_dimension_keys, error) < 0)
        return -1;
    if (json_find(value, "minimum", &member)) {
        if (load_float_bits(&member, &bits, error) < 0)
            return -1;
        dimension->least = dimension_real(bits);
    }
    if (json_find(value, "maximum", &member)) {
        if (load_float_bits(&member, &bits, error) < 0)
            return -1;
        dimension->most = dimension_real(bits);
    }
    if (!json_find(value, "default", &member))
        return 0;
    if (load_float_bits(&member, &bits, error) < 0)
        return -1;
    snprintf(text, sizeof text, "%lld", (long long)bits);
    dimension->default_value = load_parse(template, text, error);
    return dimension->default_value != NULL ? 0 : -1;
}

static int load_integer_dimension(struct template *template, const struct json *value,
                                  struct dimension *dimension, struct error *error) {
    struct json member;
    if (json_find(value, "minimum", &member) &&
        json_integer(&member, &dimension->minimum, error) < 0)
        return -1;
    if (json_find(value, "maximum", &member) &&
        json_integer(&member, &dimension->maximum, error) < 0)
        return -1;
    if (json_find(value, "values", &member)) {
        if (json_is_array(&member, error) < 0)
            return -1;
        dimension->value_count = json_count(&member);
        if (dimension->value_count < 1 || dimension->value_count > DOMAIN_MAX)
            return json_error(&member, error, "must have 1 to %d values", DOMAIN_MAX);
        for (int i = 0; i < dimension->value_count; i++) {
            struct json element = json_at(&member, i);
            if (json_integer(&element, &dimension->values[i], error) < 0)
                return -1;
        }
    }
    return load_optional_expression(template, value, "default", &dimension->default_value, error);
}

static int load_dimension(struct template *template, const struct json *value,
                          struct error *error) {
    struct json member;
    bool real = false;
    if (template->dimension_count == DIMENSIONS_MAX)
        return json_error(value, error, "more than %d dimensions", DIMENSIONS_MAX);
    struct dimension *dimension = &template->dimensions[template->dimension_count++];
    *dimension = (struct dimension){.minimum = 1, .maximum = INT32_MAX};
    if (json_check_keys(value, dimension_keys, error) < 0 ||
        load_about(value, dimension->about, error) < 0 ||
        load_key(value, dimension->name, error) < 0)
        return -1;
    if ((json_find(value, "real", &member) && json_bool(&member, &real, error) < 0) ||
        (real ? load_real_dimension(template, value, dimension, error)
              : load_integer_dimension(template, value, dimension, error)) < 0)
        return -1;
    return space_add_dimension(template->space, dimension->name, error) < 0
               ? load_locate_error(value, error)
               : 0;
}

static int load_specialised(struct template *template, const struct json *value,
                            struct error *error) {
    const char *name;
    int d = 0;
    if (json_string(value, &name, error) < 0)
        return -1;
    while (d < template->dimension_count && strcmp(template->dimensions[d].name, name) != 0)
        d++;
    if (d == template->dimension_count)
        return json_error(value, error, "no such dimension");
    if (template->dimensions[d].real)
        return json_error(value, error, "a real number cannot be compiled in");
    template->dimensions[d].specialised = true;
    return 0;
}

static const struct section dimension_sections[] = {
    {"dimensions", load_dimension, .object = true, .required = true},
    {0},
};

static const struct section specialised_sections[] = {
    {"specialised", .load = load_specialised},
    {0},
};

/* ---- the config's "genes", and the cases ---- */

/* Prints the value of a gene as an operand of an expression: a label's name if it is an identifier,
   else its number. */
static void value_operand(const struct space *space, int gene, int index, char operand[NAME_SIZE]) {
    const struct gene *definition = &space->genes[gene];
    space_value_text(space, gene, index, operand);
    bool identifier = isalpha((unsigned char)*operand) || *operand == '_';
    for (const char *at = operand; *at != '\0'; at++)
        identifier = identifier && (isalnum((unsigned char)*at) || *at == '_');
    if (!identifier)
        snprintf(operand, NAME_SIZE, "%lld", (long long)definition->values[index]);
}

/* Adds the config's "genes" as one more constraint a gene: if the gene is active, it must have one
   of the listed values. */
static int restrict_gene(struct template *template, const struct gene_restriction *restriction,
                         struct error *error) {
    struct space *space = template->space;
    char text[EXPRESSION_TEXT_MAX] = "";
    char value[NAME_SIZE];
    size_t used = 0;
    int index = space_find_gene(space, restriction->gene);
    if (index < 0) {
        const char *names[GENES_MAX];
        for (int i = 0; i < space->gene_count; i++)
            names[i] = space->genes[i].name;
        return error_input(
            error, "there is no gene %s in %s; did you mean %s?", restriction->gene, template->name,
            space->gene_count > 0 ? spelling_nearest(restriction->gene, names, space->gene_count)
                                  : "another template");
    }
    const struct gene *gene = &space->genes[index];
    if (gene->when != NULL)
        used = (size_t)snprintf(text, sizeof text, "!(%s) || ", expression_text(gene->when));
    for (int i = 0; i < restriction->count; i++) {
        const int k = genome_find_index(space, index, restriction->values[i]);
        if (k < 0)
            return error_input(error, "gene %s of %s has no value %s: `evotile space` lists them",
                               gene->name, template->name, restriction->values[i]);
        value_operand(space, index, k, value);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s == %s",
                                     i > 0 ? " || " : "", gene->name, value);
    }
    if (used >= sizeof text)
        return error_input(error, "gene %s is restricted to too many values", gene->name);
    return space_add_constraint(space, text,
                                gene->real
                                    ? "these are the numbers, from 0, of the values that the "
                                      "config's \"genes\" allows"
                                    : "the config's \"genes\" allows only these values",
                                error);
}

static int restrict_genes(struct template *template, const struct template_setting *setting,
                          struct error *error) {
    for (int i = 0; i < setting->restriction_count; i++)
        if ((setting->restrictions[i].solution[0] == '\0' ||
             strcmp(setting->restrictions[i].solution, template->solution) == 0) &&
            restrict_gene(template, &setting->restrictions[i], error) < 0)
            return setting->restrictions[i].where[0] != '\0'
                       ? error_prefix(error, "%s", setting->restrictions[i].where)
                       : -1;
    return 0;
}

static int add_environments(struct template *template, const struct template_setting *setting,
                            struct error *error) {
    int64_t values[DIMENSIONS_MAX + ATTRIBUTE_COUNT];
    char name[CASE_NAME_SIZE];
    for (int c = 0; c < setting->case_count; c++) {
        memcpy(values, setting->cases[c].values,
               (size_t) template->dimension_count * sizeof *values);
        attributes_read(setting, values + template->dimension_count);
        template->cases[c] = setting->cases[c];
        template_print_shape(template, &setting->cases[c], name);
        if (space_add_environment(template->space, name, values, error) < 0)
            return error_prefix(error, "%s", solution_file(template));
    }
    template->case_count = setting->case_count;
    if (space_seal(template->space, error) < 0)
        return error_prefix(error, "%s", solution_file(template));
    return 0;
}

/* ---- whole template ---- */

static int load_head(struct template *template, const struct template_roots *roots,
                     struct error *error) {
    struct json value;
    if (json_copy_text(&roots->problem, "name", template->name, NAME_SIZE, error) < 0 ||
        load_about(&roots->problem, template->about, error) < 0 ||
        load_about(&roots->solution, template->about, error) < 0)
        return -1;
    if (load_objective(template, &roots->problem, error) < 0)
        return -1;
    return json_find(&roots->problem, "baseline", &value)
               ? baseline_command_read(&template->baseline, &value, template, error)
               : 0;
}

/* Everything but the dimensions. */
static int load_whole(struct template *template, const struct template_setting *setting,
                      const struct template_roots *roots, struct error *error) {
    if (setting->case_count > CASES_MAX)
        BUG("more than %d cases", CASES_MAX);
    template->compute_capability = setting->device->compute_capability;
    for (int a = 0; a < ATTRIBUTE_COUNT; a++)
        if (space_add_dimension(template->space, attribute_names[a], error) < 0)
            return error_prefix(error, "%s", template->document.file);
    return (is_split(template) && load_problem_space(template, &roots->problem, error) < 0) ||
                   load_space(template, &roots->solution, error) < 0 ||
                   load_insights(template, &roots->solution, error) < 0 ||
                   load_pathologies(template, &roots->solution, error) < 0 ||
                   restrict_genes(template, setting, error) < 0 ||
                   (setting->forbid_limited_range &&
                    forbid_relaxed(template, &roots->solution, error) < 0) ||
                   add_environments(template, setting, error) < 0 ||
                   load_kernel(template, roots, error) < 0 ||
                   check_fills(template, setting->derived_cases, error) < 0 ||
                   check_macro_names(template, error) < 0 || template_hash(template, error) < 0
               ? -1
               : 0;
}

struct template *template_load(const char *folder, const struct template_setting *setting,
                               struct error *error) {
    struct template_roots roots;
    struct template *template = xcalloc(1, sizeof *template);
    template->space = space_new();
    if (path_exists(folder) && !path_is_dir(folder)) {
        template->folder = xstrdup(folder);
        if (load_recorded_template(template, setting, error) < 0)
            goto failed;
        return template;
    }
    const char *solution = setting != NULL ? setting->solution : NULL;
    if (open_template(template, folder, solution, &roots, error) < 0 ||
        load_head(template, &roots, error) < 0 ||
        load_sections(template, &roots.problem, dimension_sections, error) < 0 ||
        load_sections(template, &roots.solution, specialised_sections, error) < 0 ||
        (setting != NULL && setting->device != NULL &&
         load_whole(template, setting, &roots, error) < 0))
        goto failed;
    return template;
failed:
    template_free(template);
    return NULL;
}

bool template_has_kernel(const struct template *template) {
    return template->recorded == NULL;
}

void template_free(struct template *template) {
    if (template == NULL)
        return;
    for (int i = 0; i < template->expression_count; i++)
        expression_free(template->expressions[i]);
    free(template->expressions);
    free(template->source);
    free(template->reference_source);
    free(template->plain_source);
    free(template->setup_source);
    free(template->cpu_reference);
    free(template->cpu_reference_function);
    release_recorded_template(template);
    baseline_command_release(&template->baseline);
    baseline_command_release(&template->reference_program);
    free(template->reference_python);
    release_answers(template);
    space_free(template->space);
    json_release(&template->document);
    json_release(&template->solution_document);
    free(template->solution_folder);
    free(template->folder);
    free(template->library);
    free(template);
}
