#include "genome/rules.h"

#include "base/error.h"
#include "base/random.h"
#include "genome/breed.h"
#include "genome/space.h"

#include <string.h>

enum { ATTEMPTS = 8 };

static const char *const measure_names[MEASURE_COUNT] = {
    [MEASURE_REGISTERS] = "MEASURED_REGISTERS",
    [MEASURE_SMEM_BYTES] = "MEASURED_SMEM_BYTES",
    [MEASURE_LOCAL_BYTES] = "MEASURED_LOCAL_BYTES",
    [MEASURE_SPILL_BYTES] = "MEASURED_SPILL_BYTES",
    [MEASURE_CTAS_PER_SM] = "MEASURED_CTAS_PER_SM",
    [MEASURE_OCCUPANCY] = "MEASURED_OCCUPANCY",
    [MEASURE_SM] = "PROFILED_SM",
    [MEASURE_MEMORY] = "PROFILED_MEMORY",
    [MEASURE_DRAM] = "PROFILED_DRAM",
    [MEASURE_DRAM_BYTES] = "PROFILED_DRAM_BYTES",
    [MEASURE_SM_ACTIVE] = "PROFILED_SM_ACTIVE",
    [MEASURE_WARPS] = "PROFILED_WARPS",
    [MEASURE_TENSOR_PIPE] = "PROFILED_TENSOR_PIPE",
    [MEASURE_BANK_CONFLICTS] = "PROFILED_BANK_CONFLICTS",
    [MEASURE_WAVEFRONTS] = "PROFILED_WAVEFRONTS",
    [MEASURE_L2_SECTORS] = "PROFILED_L2_SECTORS",
    [MEASURE_L2_HITS] = "PROFILED_L2_HITS",
};

const char *measure_name(enum measure measure) {
    return measure_names[measure];
}

void measures_put(struct measures *measures, enum measure measure, int64_t value) {
    measures->known |= UINT32_C(1) << measure;
    measures->values[measure] = value;
}

/* Measures are visible in hints only, so that no constraint can read what is known only after a
   trial: a hint is parsed with a copy of the symbol table that has additional slots. */
int space_add_rule(struct space *space, const char *when, const char *because,
                   struct error *error) {
    struct rules *rules = &space->rules;
    struct scope scope = space->scope;
    if (rules->count == RULES_MAX)
        return error_input(error, "more than %d insights", RULES_MAX);
    if (strlen(because) >= BECAUSE_SIZE)
        return error_input(error, "the reason '%.40s...' has more than %d characters", because,
                           BECAUSE_SIZE - 1);
    rules->first_slot = scope.slot_count;
    for (int m = 0; m < MEASURE_COUNT; m++)
        if (scope_add(&scope, measure_names[m], error) < 0)
            return -1;
    struct rule *rule = &rules->rows[rules->count];
    rule->when = expression_parse(when, &scope, error);
    if (rule->when == NULL)
        return -1;
    for (int m = 0; m < MEASURE_COUNT; m++)
        if (slots_has(expression_reads(rule->when), rules->first_slot + m))
            rule->reads |= UINT32_C(1) << m;
    if (rule->reads >> MEASURE_PROFILED != 0)
        rules->profiled |= UINT32_C(1) << rules->count;
    strcpy(rule->because, because);
    return rules->count++;
}

int space_add_favour(struct space *space, int rule, const char *gene, const char *towards,
                     struct error *error) {
    struct rule *to = &space->rules.rows[rule];
    char text[NAME_SIZE];
    int index = space_find_gene(space, gene);
    if (index < 0)
        return error_input(error, "unknown gene %s; the nearest name is %s", gene,
                           scope_nearest(&space->scope, gene));
    if (to->favour_count == FAVOURS_MAX)
        return error_input(error, "an insight may prefer at most %d genes", FAVOURS_MAX);
    struct favour favour = {.gene = index};
    if (space->genes[index].ordered)
        favour.step = strcmp(towards, "higher") == 0 ? 1 : strcmp(towards, "lower") == 0 ? -1 : 0;
    while (favour.step == 0 && favour.value < space->genes[index].count &&
           strcmp(space_value_text(space, index, favour.value, text), towards) != 0)
        favour.value++;
    if (favour.value == space->genes[index].count)
        return error_input(
            error, "gene %s has no value %s%s", gene, towards,
            space->genes[index].ordered ? "; \"higher\" and \"lower\" are allowed too" : "");
    to->favours[to->favour_count++] = favour;
    return 0;
}

static bool can_move(const struct favour *favour, const struct space *space,
                     const struct genome *genome) {
    int now = genome->value[favour->gene], next = now + favour->step;
    return favour->step == 0 ? now != favour->value
                             : next >= 0 && next < space->genes[favour->gene].count;
}

/* A hint whose genes are all where it wants them is not applicable. */
static bool leaves_something(const struct rule *rule, const struct space *space,
                             const struct genome *genome) {
    for (int f = 0; f < rule->favour_count; f++)
        if (can_move(&rule->favours[f], space, genome))
            return true;
    return false;
}

uint32_t space_rules(const struct space *space, const struct genome *genome,
                     const struct measures *measures) {
    const struct rules *rules = &space->rules;
    int holds[RULES_MAX] = {0};
    uint32_t holding = 0;
    if (rules->count == 0)
        return 0;
    if (rules->first_slot != space->scope.slot_count)
        BUG("a name was added to a space after its rules");
    for (int e = 0; e < space->environment_count; e++) {
        int64_t values[SLOTS_MAX], held;
        if (space_values(space, genome, e, values, NULL) < 0)
            continue;
        memcpy(values + rules->first_slot, measures->values, sizeof measures->values);
        for (int r = 0; r < rules->count; r++) {
            const struct rule *rule = &rules->rows[r];
            if ((rule->reads & ~measures->known) == 0 &&
                expression_evaluate(rule->when, values, &held, NULL) == 0)
                holds[r] += held != 0;
        }
    }
    for (int r = 0; r < rules->count; r++)
        if (holds[r] > 0 && 2 * holds[r] >= space->environment_count &&
            leaves_something(&rules->rows[r], space, genome))
            holding |= UINT32_C(1) << r;
    return holding;
}

/* Moves one step, and each further step with probability 1/2, within the domain. */
static void move(const struct favour *favour, int domain, struct random *random,
                 struct genome *genome) {
    int value = favour->value;
    if (favour->step != 0) {
        value = genome->value[favour->gene] + favour->step;
        while (value + favour->step >= 0 && value + favour->step < domain &&
               random_below(random, 2))
            value += favour->step;
    }
    if (value >= 0 && value < domain)
        genome->value[favour->gene] = (uint8_t)value;
}

bool breed_rule(const struct space *space, int rule, struct random *random,
                const struct genome *parent, struct genome *child) {
    const struct rule *by = &space->rules.rows[rule];
    for (int attempt = 0; attempt < ATTEMPTS && by->favour_count > 0; attempt++) {
        uint64_t sure = random_below(random, (uint64_t)by->favour_count);
        *child = *parent;
        for (int f = 0; f < by->favour_count; f++)
            if ((uint64_t)f == sure || random_below(random, 2))
                move(&by->favours[f], space->genes[by->favours[f].gene].count, random, child);
        if (breed_repair(space, random, child) && !genome_equal(child, parent))
            return true;
    }
    return false;
}

void rules_release(struct rules *rules) {
    for (int r = 0; r < rules->count; r++)
        expression_free(rules->rows[r].when);
}
