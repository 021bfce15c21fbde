/* Relaxed genomes: those with coarser arithmetic than their output. In a template.json a rule says
   of which genomes that is; a problem.json names what it allows, and a solution claims it. */
#include "template/load.h"

#include <math.h>
#include <string.h>

static int load_rule(struct template *template, const struct json *value, struct error *error) {
    static const char *const keys[] = {"when", "tile", "length", "input_range", "about", NULL};
    static const char *const problem_keys[] = {"name",        "tile",  "length",
                                               "input_range", "about", NULL};
    const bool split = is_split(template);
    struct relaxed_rule *relaxed = &template->relaxed[template->relaxed_count++];
    struct json member;
    if (json_check_keys(value, split ? problem_keys : keys, error) < 0 ||
        load_about(value, relaxed->about, error) < 0 ||
        (split ? json_copy_text(value, "name", relaxed->name, NAME_SIZE, error)
               : load_required_expression(template, value, "when", &relaxed->when, error)) < 0 ||
        load_required_expression(template, value, "tile",
                                 split ? &relaxed->tile_max : &relaxed->tile, error) < 0 ||
        load_required_expression(template, value, "length", &relaxed->length, error) < 0 ||
        json_require(value, "input_range", &member, error) < 0 ||
        json_number(&member, &relaxed->input_range, error) < 0)
        return -1;
    if (!(relaxed->input_range >= FILL_NORMAL_MAX))
        return json_error(&member, error, "must be at least %.1f, the largest random input",
                          FILL_NORMAL_MAX);
    return 0;
}

/* Reads "NAME": { "when": ..., "tile": ... }: the genomes of which a solution claims what the
   problem allows under that name. */
static int load_claim(struct template *template, const struct json *value, struct error *error) {
    static const char *const keys[] = {"when", "tile", NULL};
    int r = 0;
    while (r < template->relaxed_count && strcmp(template->relaxed[r].name, json_key(value)) != 0)
        r++;
    if (r == template->relaxed_count)
        return json_error(value, error, "problem.json allows nothing of that name in \"relaxed\"");
    struct relaxed_rule *relaxed = &template->relaxed[r];
    return json_check_keys(value, keys, error) < 0 ||
                   load_required_expression(template, value, "when", &relaxed->when, error) < 0
               ? -1
               : load_required_expression(template, value, "tile", &relaxed->tile, error);
}

int load_relaxed(struct template *template, const struct template_roots *roots,
                 struct error *error) {
    static const struct section rules[] = {
        {"relaxed", load_rule, .maximum = RELAXED_MAX, .noun = "of them"},
        {0},
    };
    static const struct section claims[] = {
        {"relaxed", load_claim, .object = true},
        {0},
    };
    return load_sections(template, &roots->problem, rules, error) < 0 ? -1
           : is_split(template) ? load_sections(template, &roots->solution, claims, error)
                                : 0;
}

static int forbid_rule(struct template *template, const struct json *value, struct error *error) {
    struct json when;
    const char *text;
    char require[EXPRESSION_TEXT_MAX];
    if (json_require(value, "when", &when, error) < 0 || json_string(&when, &text, error) < 0)
        return -1;
    if (snprintf(require, sizeof require, "!(%s)", text) >= (int)sizeof require)
        return json_error(&when, error, "must be shorter than %d characters",
                          EXPRESSION_TEXT_MAX - 3);
    return space_add_constraint(template->space, require,
                                "the config's \"limits\" forbids genomes of a limited input range",
                                error) < 0
               ? load_locate_error(&when, error)
               : 0;
}

int forbid_relaxed(struct template *template, const struct json *solution, struct error *error) {
    struct section sections[] = {
        {"relaxed", forbid_rule, .object = is_split(template), .maximum = RELAXED_MAX,
         .noun = "of them"},
        {0},
    };
    return load_sections(template, solution, sections, error);
}

static int evaluate(const struct template *template, const struct expression *expression,
                    const int64_t *values, int64_t *value, struct error *error) {
    return expression_evaluate(expression, values, value, error) < 0
               ? error_prefix(error, "%s: %s", solution_file(template), expression_text(expression))
               : 0;
}

static int plan_rule(const struct template *template, const struct relaxed_rule *relaxed,
                     const int64_t *values, struct launch_plan *plan, struct error *error) {
    int64_t holds, tile, length, most = INT64_MAX;
    if (relaxed->when == NULL)
        return 0;
    if (evaluate(template, relaxed->when, values, &holds, error) < 0)
        return -1;
    if (holds == 0)
        return 0;
    if (evaluate(template, relaxed->tile, values, &tile, error) < 0 ||
        evaluate(template, relaxed->length, values, &length, error) < 0 ||
        (relaxed->tile_max != NULL &&
         evaluate(template, relaxed->tile_max, values, &most, error) < 0))
        return -1;
    tile = tile < most ? tile : most;
    if (tile < 1 || length < 1)
        return error_input(error, "%s: relaxed: tile and length must be positive",
                           solution_file(template));
    plan->limited_range = true;
    plan->dropped_tile = tile < length ? sqrt((double)tile / (double)length) : 1;
    plan->input_range = relaxed->input_range;
    return 0;
}

int plan_relaxed(const struct template *template, const int64_t *values, struct launch_plan *plan,
                 struct error *error) {
    plan->input_range = INFINITY;
    for (int i = 0; i < template->relaxed_count && !plan->limited_range; i++)
        if (plan_rule(template, &template->relaxed[i], values, plan, error) < 0)
            return -1;
    return 0;
}
