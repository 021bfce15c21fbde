/* space: shows the search space of a config, or checks one genome. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "render/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Templates are loaded per goal because their spaces have different environments. Genes, derived
   quantities and constraints are the same in all of them. */
struct space_view {
    struct config *config;
    struct device_info device;
    int first_goal, last_goal;
    int step;                              /* from one shown goal to the next */
    struct template *templates[GOALS_MAX]; /* by goal; NULL if the goal is not shown */
    cJSON *json;                           /* NULL for text output */
};

static const struct space *space_of(const struct space_view *view, int goal) {
    return view->templates[goal]->space;
}

/* Prints a table as text under a title, or adds it to the JSON object; then frees it. */
static void print_table(struct space_view *view, struct table *table, const char *title,
                        const char *key) {
    if (view->json != NULL) {
        cJSON_AddItemToObject(view->json, key, table_json(table));
    } else if (table_row_count(table) > 0) {
        printf("\n%s\n", title);
        table_print(table, TABLE_TEXT, stdout);
    }
    table_free(table);
}

/* ---- the space ---- */

/* Prints the values with the default in brackets. Omits the middle of a long list. */
static void print_domain(const struct space *space, int gene, char *text, size_t size) {
    enum { SHOWN_MAX = 16 };
    char value[NAME_SIZE];
    int count = space->genes[gene].count;
    *text = '\0';
    for (int i = 0; i < count; i++) {
        bool is_default = i == space->genes[gene].default_index;
        if (count > SHOWN_MAX && i >= SHOWN_MAX / 2 && i < count - 2 && !is_default) {
            if (i == SHOWN_MAX / 2)
                text_append(text, size, " ...");
            continue;
        }
        text_append(text, size, "%s%s%s%s", i > 0 ? " " : "", is_default ? "[" : "",
                    space_value_text(space, gene, i, value), is_default ? "]" : "");
    }
}

static cJSON *domain_json(const struct space *space, int gene) {
    const struct gene *definition = &space->genes[gene];
    char text[NAME_SIZE];
    cJSON *values = cJSON_CreateArray();
    for (int i = 0; i < definition->count; i++)
        cJSON_AddItemToArray(values,
                             definition->real ? cJSON_CreateNumber(definition->reals[i])
                             : definition->ordered
                                 ? cJSON_CreateNumber((double)definition->values[i])
                                 : cJSON_CreateString(space_value_text(space, gene, i, text)));
    return values;
}

static void show_genes(struct space_view *view) {
    static const struct table_column columns[] = {
        {.name = "name", .heading = "gene"},
        {.name = "values", .heading = "values [default]"},
        {.name = "default"},
        {.name = "when", .heading = "when"},
        {.name = "about", .heading = "about", .wrap = true},
    };
    const struct space *space = space_of(view, view->first_goal);
    struct table *table = table_new(columns, 5);
    for (int i = 0; i < space->gene_count; i++) {
        const struct gene *gene = &space->genes[i];
        char text[1024];
        char value[NAME_SIZE];
        table_add(table, "%s", gene->name);
        print_domain(space, i, text, sizeof text);
        table_cell(table, domain_json(space, i), text);
        space_value_text(space, i, gene->default_index, value);
        if (gene->real)
            table_cell(table, cJSON_CreateNumber(gene->reals[gene->default_index]), value);
        else if (gene->ordered)
            table_add(table, "%ld", gene->values[gene->default_index]);
        else
            table_add(table, "%s", value);
        table_add(table, "%s %s", gene->when != NULL ? expression_text(gene->when) : NULL,
                  gene->about);
    }
    print_table(view, table, "Genes", "genes");
}

static void show_derived(struct space_view *view) {
    static const struct table_column columns[] = {
        {.name = "name", .heading = "derived"},
        {.name = "expression", .heading = "expression", .wrap = true},
    };
    const struct space *space = space_of(view, view->first_goal);
    struct table *table = table_new(columns, 2);
    for (int i = 0; i < space->derived_count; i++) {
        table_add(table, "%s %s", space->symbols.slots[space->derived[i].slot],
                  expression_text(space->derived[i].expression));
    }
    print_table(view, table, "Derived quantities", "derived");
}

static void show_constraints(struct space_view *view) {
    static const struct table_column columns[] = {
        {.name = "require", .heading = "require"},
        {.name = "because", .heading = "because", .wrap = true},
    };
    const struct space *space = space_of(view, view->first_goal);
    struct table *table = table_new(columns, 2);
    for (int i = 0; i < space->constraint_count; i++) {
        table_add(table, "%s %s", expression_text(space->constraints[i].expression),
                  space->constraints[i].because);
    }
    print_table(view, table, "Constraints", "constraints");
}

/* Adds the number of valid genomes: exact, or an estimate if there are too many to count. */
static void add_valid(const struct space *space, bool exact, uint64_t counted,
                      struct table *table) {
    enum { PROBES = 10000 };
    double valid = (double)counted;
    double deviation = 0;
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64, counted);
    if (!exact) {
        valid = fmax(valid, space_estimate(space, PROBES, &deviation));
        snprintf(text, sizeof text, "about %.2g (+- %.2g)", valid, deviation);
    }
    table_cell(table, cJSON_CreateNumber(valid), text);
    table_cell(table, cJSON_CreateBool(exact), exact ? "yes" : "no");
    table_cell(table, cJSON_CreateNumber(deviation), "");
}

/* Adds a goal's numbers of genomes to the table. Returns whether a genome may be valid. */
static bool count_goal(const struct space_view *view, int goal, uint64_t limit,
                       struct table *table) {
    const struct space *space = space_of(view, goal);
    char name[CASE_NAME_SIZE];
    uint64_t valid = 0;
    int first;
    int count;
    bool exact = space_count(space, limit, &valid);
    config_goal_name(view->config, goal, name);
    config_goal_cases(view->config, goal, &first, &count);
    table_add(table, "%d %s %d %.15g", goal, name, count, space_raw_count(space));
    add_valid(space, exact, valid, table);
    return !exact || valid > 0;
}

/* Whether a goal of the same cases is shown that has valid genomes. */
static bool has_valid_rival(const struct space_view *view, int goal, const bool *has_valid) {
    const int first = config_first_rival(view->config, goal);
    for (int rival = first; rival < first + config_rivals(view->config); rival++)
        if (has_valid[rival])
            return true;
    return false;
}

/* Says why a goal has no valid genome: it is an error, unless a search leaves the goal out. */
static int tell_empty(const struct space_view *view, int goal, const bool *has_valid,
                      struct error *error) {
    char name[CASE_NAME_SIZE];
    struct problem why = {0};
    config_goal_name(view->config, goal, name);
    space_is_empty(space_of(view, goal), &why);
    if (!has_valid_rival(view, goal, has_valid))
        return error_input(error,
                           "goal %d, %s: no genome is valid: %s; relax that constraint, or the "
                           "config's \"genes\" and \"limits\"",
                           goal, name, why.text);
    log_info("goal %d, %s: a search leaves it out, because no genome is valid: %s", goal, name,
             why.text);
    return 0;
}

static int show_space(struct space_view *view, uint64_t limit, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "goal", .heading = "goal", .right = true},
        {.name = "name", .heading = "name"},
        {.name = "cases", .heading = "cases", .right = true},
        {.name = "genomes", .heading = "genomes", .right = true},
        {.name = "valid", .heading = "valid", .right = true},
        {.name = "valid_is_exact"},
        {.name = "valid_deviation"},
    };
    if (view->last_goal > view->first_goal && view->step < config_rivals(view->config))
        log_info("the genes, derived quantities and constraints are those of %s; --goal K shows "
                 "those of another goal's solution, --solution NAME one alone",
                 config_goal_solution(view->config, view->first_goal));
    show_genes(view);
    show_derived(view);
    show_constraints(view);
    struct table *table = table_new(columns, 7);
    bool has_valid[GOALS_MAX] = {false};
    int status = 0;
    for (int goal = view->first_goal; goal <= view->last_goal; goal += view->step)
        has_valid[goal] = count_goal(view, goal, limit, table);
    print_table(view, table, "Goals and their numbers of genomes", "goals");
    for (int goal = view->first_goal; goal <= view->last_goal; goal += view->step)
        if (!has_valid[goal] && tell_empty(view, goal, has_valid, error) < 0)
            status = -1;
    return status;
}

/* ---- one genome ---- */

/* Prints the values that a failed constraint reads: "SMEM_BYTES=65536, SMEM_LIMIT=49152". */
static void print_reads(const struct space *space, const struct genome *genome,
                        const struct problem *problem, char *text, size_t size) {
    int64_t values[SLOTS_MAX];
    struct error error = {0};
    text[0] = '\0';
    if (problem->constraint < 0 ||
        space_values(space, genome, problem->environment, values, &error) < 0)
        return;
    const struct slots *reads =
        expression_reads(space->constraints[problem->constraint].expression);
    for (int slot = 0; slot < space->symbols.slot_count; slot++) {
        char value[NAME_SIZE];
        if (!slots_has(reads, slot))
            continue;
        snprintf(value, sizeof value, "%" PRId64, values[slot]);
        int gene = space_find_gene(space, space->symbols.slots[slot]);
        if (gene >= 0)
            space_value_text(space, gene, genome->value[gene], value);
        text_append(text, size, "%s%s=%s", *text != '\0' ? ", " : "", space->symbols.slots[slot],
                    value);
    }
}

/* Adds a row that says whether the genome is valid for the goal. Returns true if it is. */
static bool add_validity(const struct space_view *view, int goal, const struct genome *genome,
                         struct table *table) {
    const struct space *space = space_of(view, goal);
    struct problem problem = {0};
    char name[CASE_NAME_SIZE];
    char reads[512];
    bool valid = space_check(space, genome, &problem);
    config_goal_name(view->config, goal, name);
    table_add(table, "%d %s", goal, name);
    table_cell(table, cJSON_CreateBool(valid), valid ? "valid" : "not valid");
    if (valid) {
        table_add(table, "- - - -");
        return true;
    }
    print_reads(space, genome, &problem, reads, sizeof reads);
    char reason_and_values[PROBLEM_SIZE + sizeof reads + 8];
    snprintf(reason_and_values, sizeof reason_and_values, "%s%s%s%s", problem.text,
             *reads != '\0' ? " (" : "", reads, *reads != '\0' ? ")" : "");
    table_add(table, "%s %s %s %s", problem.text,
              problem.constraint >= 0
                  ? expression_text(space->constraints[problem.constraint].expression)
                  : NULL,
              reads, reason_and_values);
    return false;
}

static void print_extents(const unsigned extents[3], char *text, size_t size) {
    snprintf(text, size, "%ux%ux%u", extents[0], extents[1], extents[2]);
}

static cJSON *extents_json(const unsigned extents[3]) {
    return cJSON_CreateIntArray((const int[]){(int)extents[0], (int)extents[1], (int)extents[2]},
                                3);
}

/* Adds the launches of a valid genome for each case of the goal. */
static int add_launches(const struct space_view *view, int goal, const struct genome *genome,
                        struct table *launches, struct table *cases, struct error *error) {
    const struct template *template = view->templates[goal];
    for (int c = 0; c < template->case_count; c++) {
        struct launch_plan plan;
        char name[CASE_NAME_SIZE];
        char text[64];
        int64_t workspace_bytes = 0;
        if (template_launch_plan(template, genome, c, &plan, error) < 0)
            return -1;
        template_print_shape(template, &template->cases[c], name);
        for (int i = 0; i < plan.launch_count; i++) {
            const struct planned_launch launch = planned_launch(&plan, i);
            double cta_count = (double)launch.grid[0] * launch.grid[1] * launch.grid[2];
            table_add(launches, "%s %s", name, launch.kernel);
            print_extents(launch.grid, text, sizeof text);
            table_cell(launches, extents_json(launch.grid), text);
            print_extents(launch.block, text, sizeof text);
            table_cell(launches, extents_json(launch.block), text);
            table_add(launches, "%d %ld %.2f", launch.smem_bytes, (int64_t)cta_count,
                      cta_count / view->device.sm_count);
        }
        for (int i = 0; i < template->tensor_count; i++)
            if (template->tensors[i].role == ROLE_WORKSPACE && plan.tensors[i].present)
                workspace_bytes += plan.tensors[i].bytes;
        table_add(cases, "%s %ld %ld %ld", name, workspace_bytes, plan.operations, plan.bytes);
        table_cell(cases, cJSON_CreateBool(plan.limited_range), plan.limited_range ? "yes" : "no");
    }
    return 0;
}

static int show_launches(struct space_view *view, const bool *valid, const struct genome *genome,
                         struct error *error) {
    static const struct table_column launch_columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "kernel", .heading = "kernel"},
        {.name = "grid", .heading = "grid", .right = true},
        {.name = "block", .heading = "block", .right = true},
        {.name = "dynamic_smem_bytes", .heading = "dynamic\nshared bytes", .right = true},
        {.name = "ctas", .heading = "CTAs", .right = true},
        {.name = "ctas_over_sm_count", .heading = "CTAs /\nSMs", .right = true},
    };
    static const struct table_column case_columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "workspace_bytes", .heading = "workspace\nbytes", .right = true},
        {.name = "operations", .heading = "operations", .right = true},
        {.name = "bytes", .heading = "bytes read\nand written", .right = true},
        {.name = "limited_range", .heading = "limited\nrange", .right = true},
    };
    struct table *launches = table_new(launch_columns, 7);
    struct table *cases = table_new(case_columns, 5);
    int status = 0;
    for (int goal = view->first_goal; goal <= view->last_goal && status == 0; goal += view->step)
        if (valid[goal])
            status = add_launches(view, goal, genome, launches, cases, error);
    print_table(view, launches, "Launches", "launches");
    print_table(view, cases, "Cases", "cases");
    return status;
}

static int show_genome(struct space_view *view, const struct genome *genome, bool *all_valid,
                       struct error *error) {
    static const struct table_column columns[] = {
        {.name = "goal", .heading = "goal", .right = true},
        {.name = "name", .heading = "name"},
        {.name = "valid", .heading = "genome"},
        {.name = "reason"},
        {.name = "constraint"},
        {.name = "values"},
        {.heading = "because", .wrap = true},
    };
    const struct space *space = space_of(view, view->first_goal);
    char canonical[GENOME_TEXT_SIZE];
    bool valid[GOALS_MAX] = {false};
    genome_print(genome, space, canonical);
    if (view->json != NULL)
        cJSON_AddStringToObject(view->json, "genome", canonical);
    else
        printf("\nGenome, with inactive genes at their defaults\n%s\n", canonical);
    struct table *table = table_new(columns, 7);
    *all_valid = true;
    for (int goal = view->first_goal; goal <= view->last_goal; goal += view->step) {
        valid[goal] = add_validity(view, goal, genome, table);
        *all_valid = *all_valid && valid[goal];
    }
    print_table(view, table, "Goals", "goals");
    return show_launches(view, valid, genome, error);
}

/* ---- the verb ---- */

static void show_heading(struct space_view *view) {
    const struct template *template = view->templates[view->first_goal];
    if (view->json != NULL) {
        json_add(view->json, "template=%s device=%s device_name=%s sm_count=%d smem_limit_bytes=%d",
                 template->name, view->device.spec, view->device.name, view->device.sm_count,
                 config_smem_limit(view->config, &view->device));
        return;
    }
    if (!template_has_kernel(template)) { /* a recorded space knows only the device's name */
        printf("%s: %s\n", template->name, template->about);
        return;
    }
    printf("%s: %s\n%s (%s), %d multiprocessors; at most %d bytes of shared memory per block\n",
           template->name, template->about, view->device.name, view->device.spec,
           view->device.sm_count, config_smem_limit(view->config, &view->device));
}

/* Of several solutions, only the one that is named or that the genome fits. */
static int choose_solution(struct space_view *view, int64_t goal, const char *solution,
                           const char **genome, struct error *error) {
    const char *genes = *genome != NULL ? *genome : "";
    int chosen;
    view->step = 1;
    if (*genome == NULL && solution == NULL)
        return 0;
    if (config_genome_goal(view->config, &view->device, goal, solution, &genes, &chosen, error) < 0)
        return *genome != NULL ? error_prefix(error, "--genome") : -1;
    if (*genome != NULL)
        *genome = genes;
    view->step = config_rivals(view->config);
    view->last_goal += chosen - view->first_goal;
    view->first_goal = chosen;
    if (view->last_goal >= config_goal_count(view->config))
        view->last_goal = config_goal_count(view->config) - 1;
    return 0;
}

static int view_open(struct space_view *view, const char *path, const char *templates,
                     const char *spec, int64_t goal, const char *solution, const char **genome,
                     struct error *error) {
    view->config = config_load(path, templates, error);
    if (view->config == NULL)
        return -1;
    int goals = config_goal_count(view->config);
    if (goal >= goals)
        return error_input(error, "%s has no goal %" PRId64 ": --goal must be from 0 to %d", path,
                           goal, goals - 1);
    view->first_goal = goal < 0 ? 0 : (int)goal;
    view->last_goal = goal < 0 ? goals - 1 : (int)goal;
    if (device_describe(spec != NULL ? spec : view->config->device, &view->device, error) < 0 ||
        choose_solution(view, goal, solution, genome, error) < 0)
        return -1;
    for (int g = view->first_goal; g <= view->last_goal; g += view->step) {
        view->templates[g] = config_load_template(view->config, g, &view->device, error);
        if (view->templates[g] == NULL)
            return -1;
    }
    return 0;
}

static void view_release(struct space_view *view) {
    for (int g = 0; g < GOALS_MAX; g++)
        template_free(view->templates[g]);
    config_free(view->config);
}

static int space_run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool all_valid = true;
    const char *text = NULL;
    const char *device = NULL;
    const char *templates = NULL;
    const char *solution = NULL;
    int64_t goal = -1;
    int64_t limit = 100000000;
    const struct option_row rows[] = {
        OPTION("genome", "TEXT",
               "check this genome and show its launches; omitted genes have their defaults", &text),
        OPTION("goal", "K", "show only goal K, counted from 0", &goal),
        OPTION("solution", "NAME", "show only this one of several solutions", &solution),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the config's device)",
               &device),
        OPTION("templates", "DIR", "folder that is searched for templates first", &templates),
        OPTION(
            "count-limit", "N",
            "partial genomes to visit before the count becomes an estimate; 0: no limit (default "
            "100000000)",
            &limit),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    struct space_view view = {0};
    struct genome genome;
    int status = view_open(&view, argv[0], templates, device, goal, solution, &text, &error);
    if (status == 0 && text != NULL &&
        genome_parse(&genome, space_of(&view, view.first_goal), text, &error) < 0)
        status = error_prefix(&error, "--genome");
    if (status == 0) {
        view.json = json ? cJSON_CreateObject() : NULL;
        show_heading(&view);
        status = text != NULL ? show_genome(&view, &genome, &all_valid, &error)
                              : show_space(&view, (uint64_t)limit, &error);
        /* An empty space is an error, but its description is still printed. */
        if (json && (status == 0 || text == NULL))
            table_print_json(view.json, stdout);
        else
            cJSON_Delete(view.json);
    }
    view_release(&view);
    fflush(stdout);
    if (status < 0)
        return error_report(&error);
    return all_valid ? STATUS_DONE : STATUS_GATE;
}

const struct verb verb_space = {
    .name = "space",
    .arguments = "CONFIG [options]",
    .summary = "show the search space of a config, or check one genome",
    VERB_HELP(space),
    .run = space_run,
};
