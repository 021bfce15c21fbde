/* Constraints that never bind. */
#include "lint/lint_internal.h"

#include "base/random.h"

#include <string.h>

/* Raw genomes for each constraint; all are tried if there are no more. */
enum { SAMPLES = 4000 };

static struct genome raw_genome(const struct space *space, struct random *random) {
    struct genome genome = {0};
    for (int g = 0; g < space->gene_count; g++)
        genome.value[g] = (uint8_t)random_below(random, (uint64_t)space->genes[g].count);
    return genome;
}

/* The genome behind `index` in the order of a counter, for spaces that are small enough. */
static struct genome numbered_genome(const struct space *space, uint64_t index) {
    struct genome genome = {0};
    for (int g = 0; g < space->gene_count; g++) {
        genome.value[g] = (uint8_t)(index % (uint64_t)space->genes[g].count);
        index /= (uint64_t)space->genes[g].count;
    }
    return genome;
}

/* Values of the slots that an environment could have: other sizes, another device. */
static void vary_environment(const struct lint *lint, struct random *random, int64_t *values) {
    static const struct {
        const char *name;
        int64_t values[5];
    } attributes[] = {{"CC", {80, 86, 89, 90, 100}},
                      {"SM_COUNT", {1, 58, 108, 132, 148}},
                      {"CLUSTERS_OF_2", {1, 29, 54, 66, 74}},
                      {"CLUSTERS_OF_4", {1, 14, 27, 30, 36}},
                      {"CLUSTERS_OF_8", {1, 7, 13, 15, 18}},
                      {"MAX_THREADS", {256, 512, 768, 1024, 1024}},
                      {"THREADS_PER_SM", {1024, 1536, 2048, 2048, 2048}},
                      {"REGISTERS_PER_SM", {32768, 65536, 65536, 65536, 65536}},
                      {"SMEM_LIMIT", {49152, 65536, 101376, 166912, 232448}}};
    const struct template *template = lint->template;
    for (size_t a = 0; a < sizeof attributes / sizeof *attributes; a++)
        for (int d = 0; d < template->space->dimension_count; d++) {
            const int slot = template->space->dimensions[d];
            if (strcmp(template->space->symbols.slots[slot], attributes[a].name) == 0)
                values[slot] = attributes[a].values[random_below(random, 5)];
        }
    for (int i = 0; i < template->dimension_count; i++) {
        const struct dimension *dimension = &template->dimensions[i];
        for (int d = 0; d < template->space->dimension_count; d++) {
            const int slot = template->space->dimensions[d];
            if (dimension->real ||
                strcmp(template->space->symbols.slots[slot], dimension->name) != 0)
                continue;
            if (dimension->value_count > 0)
                values[slot] =
                    dimension->values[random_below(random, (uint64_t)dimension->value_count)];
            else {
                const int64_t ends[] = {dimension->minimum, dimension->maximum, values[slot]};
                values[slot] = ends[random_below(random, 3)];
            }
        }
    }
}

/* Whether a constraint holds: 1, 0, or -1 if what it reads cannot be evaluated. */
static int holds(const struct space *space, int constraint, const struct genome *genome,
                 int64_t *values) {
    const struct slots *reads = expression_reads(space->constraints[constraint].expression);
    struct slots failed = {0};
    int64_t result;
    for (int g = 0; g < space->gene_count; g++)
        values[space->genes[g].slot] = space->genes[g].values[genome->value[g]];
    for (int d = 0; d < space->derived_count; d++) {
        const struct derived *derived = &space->derived[d];
        if (slots_meet(expression_reads(derived->expression), &failed) ||
            expression_evaluate(derived->expression, values, &values[derived->slot], NULL) < 0)
            slots_add(&failed, derived->slot);
    }
    if (slots_meet(reads, &failed) ||
        expression_evaluate(space->constraints[constraint].expression, values, &result, NULL) < 0)
        return -1;
    return result != 0;
}

static bool reads_gene(const struct space *space, int constraint) {
    struct slots genes = {0};
    for (int g = 0; g < space->gene_count; g++)
        slots_add(&genes, space->genes[g].slot);
    /* What a derived quantity reads, it reads too. */
    for (int d = 0; d < space->derived_count; d++)
        if (slots_meet(expression_reads(space->derived[d].expression), &genes))
            slots_add(&genes, space->derived[d].slot);
    return slots_meet(expression_reads(space->constraints[constraint].expression), &genes);
}

struct binding {
    uint64_t tried, excluded; /* of the goal's own cases */
    bool elsewhere;           /* it binds for other sizes, or on another device */
};

static struct binding try_constraint(const struct lint *lint, int constraint) {
    const struct space *space = lint->template->space;
    const bool all = space_raw_count(space) <= SAMPLES;
    const uint64_t count = all ? (uint64_t)space_raw_count(space) : SAMPLES;
    struct binding binding = {0};
    struct random random;
    int64_t values[SLOTS_MAX];
    random_seed(&random, 1, (uint64_t)constraint);
    for (uint64_t i = 0; i < count; i++) {
        struct genome genome = all ? numbered_genome(space, i) : raw_genome(space, &random);
        genome_canonicalise(&genome, space);
        bool fails = false;
        for (int e = 0; e < space->environment_count; e++) {
            memcpy(values, space->environments[e].values, sizeof values);
            fails = fails || holds(space, constraint, &genome, values) == 0;
        }
        binding.tried++;
        binding.excluded += fails;
    }
    for (uint64_t i = 0; i < SAMPLES && binding.excluded == 0 && !binding.elsewhere; i++) {
        const struct genome genome = raw_genome(space, &random);
        memcpy(values, space->environments[0].values, sizeof values);
        vary_environment(lint, &random, values);
        binding.elsewhere = holds(space, constraint, &genome, values) == 0;
    }
    return binding;
}

int lint_check_constraints(struct lint *lint, struct error *error) {
    const struct space *space = lint->template->space;
    (void)error;
    for (int c = 0; c < space->constraint_count; c++) {
        const char *text = expression_text(space->constraints[c].expression);
        if (!reads_gene(space, c))
            continue;
        const struct binding binding = try_constraint(lint, c);
        const bool all = space_raw_count(space) <= SAMPLES;
        if (binding.excluded > 0)
            lint_add(lint, "constraints", text, LINT_FINE, "excludes %.2g %% of %llu %s",
                     100.0 * (double)binding.excluded / (double)binding.tried,
                     (unsigned long long)binding.tried, all ? "genomes" : "random genomes");
        else if (binding.elsewhere)
            lint_add(lint, "constraints", text, LINT_FINE,
                     "excludes nothing here, but genomes for other sizes or devices");
        else
            lint_add(lint, "constraints", text, LINT_WRONG,
                     "never binds: it holds for all of %llu %s, and for every size and device that "
                     "was tried",
                     (unsigned long long)binding.tried, all ? "genomes" : "random genomes");
    }
    return 0;
}
