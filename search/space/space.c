#include "space/space.h"

#include "base/error.h"
#include "base/memory.h"
#include "space/constraint_order.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Building ---- */

struct space *space_new(void) {
    struct space *space = xcalloc(1, sizeof *space);
    return space;
}

void space_free(struct space *space) {
    if (space == NULL)
        return;
    for (int i = 0; i < space->gene_count; i++) {
        expression_free(space->genes[i].when);
        for (int v = 0; space->genes[i].texts != NULL && v < space->genes[i].count; v++)
            free(space->genes[i].texts[v]);
        free(space->genes[i].texts);
    }
    for (int i = 0; i < space->derived_count; i++)
        expression_free(space->derived[i].expression);
    for (int i = 0; i < space->constraint_count; i++)
        expression_free(space->constraints[i].expression);
    hints_release(&space->hints);
    constraint_order_free(space->order);
    free(space);
}

/* Copies `text`, which may be NULL, into `to`. */
static int copy_text(char *to, size_t size, const char *text, const char *what,
                     struct error *error) {
    if (text == NULL)
        text = "";
    if (strlen(text) >= size)
        return error_input(error, "%s '%.40s...' has more than %zu characters", what, text,
                           size - 1);
    strcpy(to, text);
    return 0;
}

static int check_room(const struct space *space, int count, int most, const char *what,
                      struct error *error) {
    if (space->sealed)
        BUG("a sealed space was changed");
    if (count == most)
        return error_input(error, "too many %s: at most %d", what, most);
    return 0;
}

int space_add_dimension(struct space *space, const char *name, struct error *error) {
    /* Environments hold a value per dimension, so dimensions must come first. */
    if (space->environment_count > 0)
        BUG("dimension %s was added after an environment", name);
    if (check_room(space, space->dimension_count, SLOTS_MAX, "dimensions", error) < 0)
        return -1;
    int slot = symbol_table_add(&space->symbols, name, error);
    if (slot >= 0)
        space->dimensions[space->dimension_count++] = slot;
    return slot;
}

/* The part common to both kinds of genes. The caller adds the values; the gene is not counted
   yet. */
static struct gene *init_gene(struct space *space, const char *name, const char *about, int count,
                              int default_index, const char *when, struct error *error) {
    if (check_room(space, space->gene_count, GENES_MAX, "genes", error) < 0)
        return NULL;
    struct gene *gene = &space->genes[space->gene_count];
    *gene = (struct gene){.count = count, .default_index = default_index};
    if (count < 1 || count > DOMAIN_MAX) {
        error_input(error, "gene %s has %d values: it must have from 1 to %d", name, count,
                    DOMAIN_MAX);
        return NULL;
    }
    if (default_index < 0 || default_index >= count) {
        error_input(error, "the default of gene %s is not in its domain", name);
        return NULL;
    }
    if (copy_text(gene->about, sizeof gene->about, about, "the description", error) < 0)
        return NULL;
    if (when != NULL && (gene->when = expression_parse(when, &space->symbols, error)) == NULL)
        return NULL;
    gene->slot = symbol_table_add(&space->symbols, name, error);
    if (gene->slot < 0) {
        expression_free(gene->when);
        return NULL;
    }
    strcpy(gene->name, name); /* a slot's name has the same size */
    space->gene_count++;
    return gene;
}

int space_add_integers(struct space *space, const char *name, const char *about,
                       const int64_t *values, int count, int default_index, const char *when,
                       struct error *error) {
    struct gene *gene = init_gene(space, name, about, count, default_index, when, error);
    if (gene == NULL)
        return -1;
    gene->ordered = true;
    for (int i = 0; i < count; i++) {
        if (i > 0 && values[i] <= values[i - 1])
            return error_input(error, "the values of gene %s are not in ascending order", name);
        gene->values[i] = values[i];
    }
    return space->gene_count - 1;
}

int space_add_labels(struct space *space, const char *name, const char *about,
                     const char *const *labels, int count, int default_index, const char *when,
                     struct error *error) {
    struct gene *gene = init_gene(space, name, about, count, default_index, when, error);
    if (gene == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        if (strpbrk(labels[i], ",= \t\r\n") != NULL)
            return error_input(error, "the value '%.60s' of gene %s has a comma, = or space in it",
                               labels[i], name);
        gene->values[i] = symbol_table_add_label(&space->symbols, labels[i], error);
        if (gene->values[i] < 0)
            return -1;
        for (int j = 0; j < i; j++)
            if (gene->values[j] == gene->values[i])
                return error_input(error, "gene %s has the value '%s' twice", name, labels[i]);
    }
    return space->gene_count - 1;
}

int space_add_reals(struct space *space, const char *name, const char *about, const double *values,
                    int count, int default_index, const char *when, struct error *error) {
    struct gene *gene = init_gene(space, name, about, count, default_index, when, error);
    if (gene == NULL)
        return -1;
    gene->ordered = gene->real = true;
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return error_input(error, "a value of gene %s is not finite", name);
        if (i > 0 && values[i] <= values[i - 1])
            return error_input(error, "the values of gene %s are not in ascending order", name);
        gene->reals[i] = values[i];
        gene->values[i] = i;
    }
    return space->gene_count - 1;
}

void space_set_texts(struct space *space, int gene, const char *const *texts) {
    struct gene *of = &space->genes[gene];
    if (space->sealed || of->ordered || of->texts != NULL)
        BUG("gene %s cannot get texts", of->name);
    of->texts = xcalloc((size_t)of->count, sizeof *of->texts);
    for (int i = 0; i < of->count; i++)
        of->texts[i] = xstrdup(texts[i]);
}

int space_set_condition(struct space *space, int gene, const char *when, struct error *error) {
    if (space->sealed || space->genes[gene].when != NULL)
        BUG("gene %s cannot get a condition", space->genes[gene].name);
    space->genes[gene].when = expression_parse(when, &space->symbols, error);
    return space->genes[gene].when != NULL ? 0 : -1;
}

int space_add_derived(struct space *space, const char *name, const char *expression,
                      struct error *error) {
    if (check_room(space, space->derived_count, DERIVED_MAX, "derived quantities", error) < 0)
        return -1;
    struct derived derived;
    if ((derived.expression = expression_parse(expression, &space->symbols, error)) == NULL)
        return -1;
    derived.slot = symbol_table_add(&space->symbols, name, error);
    if (derived.slot < 0) {
        expression_free(derived.expression);
        return -1;
    }
    space->derived[space->derived_count++] = derived;
    return derived.slot;
}

int space_add_constraint(struct space *space, const char *expression, const char *because,
                         struct error *error) {
    if (check_room(space, space->constraint_count, CONSTRAINTS_MAX, "constraints", error) < 0)
        return -1;
    struct constraint constraint;
    if (copy_text(constraint.because, sizeof constraint.because, because, "the reason", error) < 0)
        return -1;
    if ((constraint.expression = expression_parse(expression, &space->symbols, error)) == NULL)
        return -1;
    space->constraints[space->constraint_count] = constraint;
    return space->constraint_count++;
}

int space_add_environment(struct space *space, const char *name, const int64_t *values,
                          struct error *error) {
    if (check_room(space, space->environment_count, ENVIRONMENTS_MAX, "cases", error) < 0)
        return -1;
    struct environment *environment = &space->environments[space->environment_count];
    *environment = (struct environment){0};
    if (copy_text(environment->name, sizeof environment->name, name, "the name", error) < 0)
        return -1;
    for (int i = 0; i < space->dimension_count; i++)
        environment->values[space->dimensions[i]] = values[i];
    return space->environment_count++;
}

int space_seal(struct space *space, struct error *error) {
    if (space->sealed)
        BUG("a space was sealed twice");
    if (space->gene_count == 0)
        return error_input(error, "there is no gene");
    if (space->environment_count == 0 && space->dimension_count == 0)
        space_add_environment(space, "", NULL, error);
    if (space->environment_count == 0)
        return error_input(error, "there is no case");
    space->order = constraint_order_new(space, error);
    if (space->order == NULL)
        return -1;
    space->sealed = true;
    return 0;
}

int space_seal_rows(struct space *space, const struct genome *rows, size_t count,
                    struct error *error) {
    if (space->derived_count + space->constraint_count > 0)
        BUG("a space of rows has derived quantities or constraints");
    for (int i = 0; i < space->gene_count; i++)
        if (space->genes[i].when != NULL)
            BUG("a space of rows has a gene with a condition");
    if (space_seal(space, error) < 0)
        return -1;
    constraint_order_set_rows(space, rows, count);
    return 0;
}

/* ---- One genome ---- */

static void explain_failure(const struct space *space, const struct check *check,
                            const int64_t *values, struct problem *problem) {
    const char *name = space->environments[problem->environment].name;
    const char *because =
        check->constraint >= 0 ? space->constraints[check->constraint].because : "";
    struct error error = {0};
    int64_t value;
    char what[PROBLEM_SIZE];
    if (expression_evaluate(check->expression, values, &value, &error) < 0)
        snprintf(what, sizeof what, "%s%s%.300s",
                 check->slot >= 0 ? space->symbols.slots[check->slot] : "",
                 check->slot >= 0 ? ": " : "", error.text);
    else
        snprintf(what, sizeof what, "'%.300s' does not hold", expression_text(check->expression));
    snprintf(problem->text, sizeof problem->text, "%s%s%.360s%s%s", name, *name ? ": " : "", what,
             *because ? ": " : "", because);
}

/* Returns whether the genome is a row of a space sealed from rows. */
static bool is_row(const struct space *space, const struct genome *genome) {
    uint64_t rank;
    return mdd_rank(space->order->mdd, genome, &rank);
}

static bool check_row(const struct space *space, const struct genome *genome,
                      struct problem *problem) {
    if (is_row(space, genome))
        return true;
    if (problem != NULL) {
        *problem = (struct problem){.constraint = -1};
        snprintf(problem->text, sizeof problem->text, "it is not one of the %llu rows",
                 (unsigned long long)mdd_count(space->order->mdd));
    }
    return false;
}

bool space_check(const struct space *space, const struct genome *genome, struct problem *problem) {
    if (space->order->table)
        return check_row(space, genome, problem);
    struct constraint_env env = {0};
    const struct check *failed = NULL;
    int first;
    constraint_env_fill(&env, space, genome);
    for (int i = 0; i < space->order->check_count && failed == NULL; i++)
        if (constraint_env_check(&env, space, &space->order->checks[i], &first) > 0)
            failed = &space->order->checks[i];
    if (failed != NULL && problem != NULL) {
        problem->constraint = failed->constraint;
        problem->environment = space->order->environments[first];
        explain_failure(space, failed, env.values[first], problem);
    }
    constraint_env_release(&env);
    return failed == NULL;
}

int space_failures(const struct space *space, const struct genome *genome, uint32_t *causes) {
    struct constraint_env env = {0};
    int failures = 0;
    if (space->order->table) {
        failures = !is_row(space, genome);
        if (causes != NULL)
            *causes = failures ? UINT32_MAX : 0;
        return failures;
    }
    constraint_env_fill(&env, space, genome);
    if (causes != NULL)
        *causes = 0;
    for (int i = 0; i < space->order->check_count; i++) {
        int more = constraint_env_check(&env, space, &space->order->checks[i], NULL);
        if (more && causes != NULL)
            *causes |= space->order->checks[i].genes;
        failures += more;
    }
    constraint_env_release(&env);
    return failures;
}

int space_values(const struct space *space, const struct genome *genome, int environment,
                 int64_t values[SLOTS_MAX], struct error *error) {
    if (environment < 0 || environment >= space->environment_count)
        BUG("there is no environment %d", environment);
    memcpy(values, space->environments[environment].values, SLOTS_MAX * sizeof *values);
    for (int i = 0; i < space->gene_count; i++)
        values[space->genes[i].slot] = space->genes[i].values[genome->value[i]];
    for (int i = 0; i < space->derived_count; i++) {
        const struct derived *derived = &space->derived[i];
        if (expression_evaluate(derived->expression, values, &values[derived->slot], error) < 0)
            return error_prefix(error, "%s", space->symbols.slots[derived->slot]);
    }
    return 0;
}

bool space_active(const struct space *space, const struct genome *genome, int gene) {
    if (space->genes[gene].when == NULL)
        return true;
    struct constraint_env env = {0};
    constraint_env_fill(&env, space, genome);
    constraint_env_derive(&env, space);
    bool active = constraint_env_active(&env, space, gene);
    constraint_env_release(&env);
    return active;
}

int space_find_gene(const struct space *space, const char *name) {
    for (int i = 0; i < space->gene_count; i++)
        if (strcmp(space->genes[i].name, name) == 0)
            return i;
    return -1;
}

int space_find_real(const struct space *space, const struct expression *expression) {
    for (int i = 0; i < space->gene_count; i++)
        if (space->genes[i].real && slots_has(expression_reads(expression), space->genes[i].slot))
            return i;
    return -1;
}

void space_print_real(double number, char text[NAME_SIZE]) {
    for (int digits = 6; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, NAME_SIZE, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

const char *space_value_text(const struct space *space, int gene, int index, char text[NAME_SIZE]) {
    const struct gene *of = &space->genes[gene];
    if (index < 0 || index >= of->count)
        BUG("gene %s has no value %d", of->name, index);
    if (of->real)
        space_print_real(of->reals[index], text);
    else if (of->ordered)
        snprintf(text, NAME_SIZE, "%" PRId64, of->values[index]);
    else
        strcpy(text, space->symbols.labels[of->values[index]]);
    return text;
}
