/* Values that never compile, and genes that change nothing. */
#include "lint/lint_internal.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* DRAWS: valid genomes among which one with a value is looked for. TRIES: genomes in which a value
   may compile. BASES: genomes in which a gene may show, each with other values of it; PAIRS of
   these are compiled. */
enum { DRAWS = 600, TRIES = 3, BASES = 4, PAIRS = 6 };

/* Draws valid genomes; the first is the one that is judged. */
static int draw_genomes(const struct lint *lint, struct genome genomes[DRAWS]) {
    struct random random;
    int count = 1;
    genomes[0] = lint->genome;
    random_seed(&random, 2, 0);
    while (count < DRAWS && space_sample(lint->template->space, &random, &genomes[count]))
        count++;
    return count;
}

/* ---- values ---- */

struct value_state {
    bool compiled;
    int tries;
    struct genome tried[TRIES]; /* that did not compile */
    char reason[REASON_SIZE];
};

struct value_check {
    struct lint *lint;
    const struct genome *genomes;
    int genome_count;
    struct value_state (*states)[DOMAIN_MAX]; /* by gene and value */
    int compilations, refused;
    struct genome refused_genome; /* the first valid one that does not compile */
    char refused_reason[REASON_SIZE];
};

static bool was_tried(const struct value_state *state, const struct genome *genome) {
    for (int i = 0; i < state->tries; i++)
        if (genome_equal(&state->tried[i], genome))
            return true;
    return false;
}

/* The drawn genome with the value whose other values compile most often and that has most values
   left to show; -1 if none is left. */
static int pick_genome(const struct value_check *check, int gene, int value) {
    const struct space *space = check->lint->template->space;
    int best = -1, best_score = 0;
    for (int i = 0; i < check->genome_count; i++) {
        const struct genome *genome = &check->genomes[i];
        int score = 0;
        if (genome->value[gene] != value || was_tried(&check->states[gene][value], genome))
            continue;
        for (int g = 0; g < space->gene_count; g++) {
            const struct value_state *state = &check->states[g][genome->value[g]];
            /* After a failure, only with values that are known to compile. */
            score += check->states[gene][value].tries > 0 ? state->compiled
                                                          : !state->compiled && state->tries == 0;
        }
        if (best < 0 || score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static int try_value(struct value_check *check, int gene, int value, struct error *error) {
    struct value_state *state = &check->states[gene][value];
    struct device_image images[CASES_MAX];
    while (!state->compiled && state->tries < TRIES) {
        const int picked = pick_genome(check, gene, value);
        if (picked < 0)
            return 0;
        const struct genome *genome = &check->genomes[picked];
        int status = lint_compile(check->lint, genome, false, images, state->reason, error);
        if (status < 0)
            return -1;
        check->compilations++;
        if (status == 0) {
            lint_release_images(images);
            for (int g = 0; g < check->lint->template->space->gene_count; g++)
                check->states[g][genome->value[g]].compiled = true;
            continue;
        }
        if (check->refused++ == 0) {
            check->refused_genome = *genome;
            memcpy(check->refused_reason, state->reason, sizeof state->reason);
        }
        state->tried[state->tries++] = *genome;
    }
    return 0;
}

static void report_values(struct value_check *check) {
    struct lint *lint = check->lint;
    const struct space *space = lint->template->space;
    char subject[2 * NAME_SIZE + 2], value[NAME_SIZE], genome[GENOME_TEXT_SIZE];
    int values = 0, never = 0, unreached = 0;
    for (int g = 0; g < space->gene_count; g++)
        for (int v = 0; v < space->genes[g].count; v++) {
            const struct value_state *state = &check->states[g][v];
            snprintf(subject, sizeof subject, "%s=%s", space->genes[g].name,
                     space_value_text(space, g, v, value));
            values++;
            if (state->compiled)
                continue;
            if (state->tries > 0) {
                never++;
                lint_add(lint, "values", subject, LINT_WRONG,
                         "never compiles: not in %d genomes; the last: %.400s", state->tries,
                         state->reason);
            } else {
                unreached++;
                lint_add(lint, "values", subject, LINT_NOTE,
                         "is in no valid genome of these cases among %d that were drawn",
                         check->genome_count);
            }
        }
    if (never == 0 && unreached == 0)
        lint_add(lint, "values", "all", LINT_FINE, "%d values compile, in %d genomes", values,
                 check->compilations - check->refused);
    if (never == 0 && check->refused > 0) {
        genome_print(&check->refused_genome, space, genome);
        lint_add(lint, "values", "all", LINT_NOTE,
                 "%d valid genomes do not compile: exclude them by a constraint: %.200s: %.300s",
                 check->refused, genome, check->refused_reason);
    }
}

int lint_check_values(struct lint *lint, struct error *error) {
    const struct space *space = lint->template->space;
    struct genome *genomes = xmalloc(DRAWS * sizeof *genomes);
    struct value_check check = {.lint = lint, .genomes = genomes};
    check.genome_count = draw_genomes(lint, genomes);
    check.states = xcalloc((size_t)space->gene_count, sizeof *check.states);
    int status = 0;
    for (int g = 0; g < space->gene_count && status == 0; g++)
        for (int v = 0; v < space->genes[g].count && status == 0; v++)
            status = try_value(&check, g, v, error);
    if (status == 0)
        report_values(&check);
    free(check.states);
    free(genomes);
    return status;
}

/* ---- genes ---- */

/* The PTX of all variants without the marks of the genome. */
static char *print_ptx(const struct device_image images[CASES_MAX]) {
    struct strbuf text = {0};
    for (int c = 0; c < CASES_MAX; c++)
        for (const char *line = images[c].ptx; line != NULL && *line != '\0';) {
            const size_t length = strcspn(line, "\n");
            const char *mark =
                memmem(line, length, TEMPLATE_TAG_SYMBOL, strlen(TEMPLATE_TAG_SYMBOL));
            if (mark == NULL)
                strbuf_add(&text, line, length);
            strbuf_add(&text, "\n", 1);
            line += length + (line[length] == '\n');
        }
    return text.bytes != NULL ? text.bytes : xstrdup("");
}

/* 1 if a launch of any case differs between two genomes. */
static int launches_differ(const struct lint *lint, const struct genome *a, const struct genome *b,
                           struct error *error) {
    struct launch_plan *plans = xmalloc(2 * sizeof *plans);
    int differ = 0;
    for (int c = 0; c < lint->template->case_count && differ == 0; c++) {
        if (template_launch_plan(lint->template, a, c, &plans[0], error) < 0 ||
            template_launch_plan(lint->template, b, c, &plans[1], error) < 0) {
            differ = -1;
            break;
        }
        differ = plans[0].launch_count != plans[1].launch_count;
        for (int t = 0; t < lint->template->tensor_count && !differ; t++)
            differ = plans[0].tensors[t].bytes != plans[1].tensors[t].bytes ||
                     plans[0].tensors[t].present != plans[1].tensors[t].present;
        for (int i = 0; i < plans[0].launch_count && !differ; i++) {
            const struct planned_launch one = planned_launch(&plans[0], i),
                                        two = planned_launch(&plans[1], i);
            differ = strcmp(one.kernel, two.kernel) != 0 ||
                     memcmp(one.grid, two.grid, sizeof one.grid) != 0 ||
                     memcmp(one.block, two.block, sizeof one.block) != 0 ||
                     one.smem_bytes != two.smem_bytes || one.early != two.early ||
                     one.cooperative != two.cooperative || one.window_tensor != two.window_tensor ||
                     one.window_percent != two.window_percent ||
                     one.argument_count != two.argument_count;
            for (int k = 0; k < one.argument_count && !differ; k++)
                differ = one.arguments[k].value != two.arguments[k].value ||
                         one.arguments[k].tensor != two.arguments[k].tensor;
        }
    }
    free(plans);
    return differ;
}

/* 1 if the code differs, or if only one of the two compiles. */
static int code_differs(struct lint *lint, const struct genome *a, const struct genome *b,
                        struct error *error) {
    struct device_image images[CASES_MAX];
    const struct genome *both[] = {a, b};
    char *texts[2] = {NULL, NULL}, reason[REASON_SIZE];
    int status = 0;
    for (int i = 0; i < 2 && status >= 0; i++) {
        status = lint_compile(lint, both[i], false, images, reason, error);
        texts[i] = status == 0 ? print_ptx(images) : xstrdup(reason);
        if (status == 0)
            lint_release_images(images);
    }
    int differ = status < 0 ? -1 : strcmp(texts[0], texts[1]) != 0;
    free(texts[0]);
    free(texts[1]);
    return differ;
}

struct gene_check {
    struct lint *lint;
    const struct genome *genomes;
    int genome_count, gene;
    int pairs, compiled; /* of genomes that differ in the gene alone */
    char text[LINT_TEXT_SIZE];
};

/* Whether two genomes that differ in the gene alone differ in what runs. */
static int pair_differs(struct gene_check *check, const struct genome *base,
                        const struct genome *other, struct error *error) {
    const struct space *space = check->lint->template->space;
    char one[NAME_SIZE], two[NAME_SIZE];
    check->pairs++;
    int differ = launches_differ(check->lint, base, other, error);
    const char *what = "the launch";
    if (differ == 0 && check->compiled < PAIRS) {
        check->compiled++;
        differ = code_differs(check->lint, base, other, error);
        what = "the code";
    }
    if (differ == 1)
        snprintf(check->text, sizeof check->text, "%s for %s changes %s",
                 space_value_text(space, check->gene, other->value[check->gene], one),
                 space_value_text(space, check->gene, base->value[check->gene], two), what);
    return differ;
}

/* Looks for two valid genomes that differ in the gene alone and in what runs: 1 if there are. */
static int find_use(struct gene_check *check, struct error *error) {
    const struct space *space = check->lint->template->space;
    const int gene = check->gene;
    int bases = 0;
    for (int i = 0; i < check->genome_count && bases < BASES; i++) {
        const struct genome *base = &check->genomes[i];
        bool is_base = false;
        if (!space_active(space, base, gene))
            continue;
        for (int v = 0; v < space->genes[gene].count; v++) {
            struct genome other = *base;
            other.value[gene] = (uint8_t)v;
            genome_canonicalise(&other, space);
            bool alone = other.value[gene] == v && v != base->value[gene];
            for (int g = 0; g < space->gene_count && alone; g++)
                alone = g == gene || other.value[g] == base->value[g];
            if (!alone || !space_check(space, &other, NULL))
                continue;
            is_base = true;
            int differ = pair_differs(check, base, &other, error);
            if (differ != 0)
                return differ;
        }
        bases += is_base;
    }
    return 0;
}

int lint_check_genes(struct lint *lint, struct error *error) {
    const struct space *space = lint->template->space;
    struct genome *genomes = xmalloc(DRAWS * sizeof *genomes);
    const int count = draw_genomes(lint, genomes);
    int status = 0;
    for (int g = 0; g < space->gene_count && status >= 0; g++) {
        struct gene_check check = {
            .lint = lint, .genomes = genomes, .genome_count = count, .gene = g};
        const char *name = space->genes[g].name;
        status = find_use(&check, error);
        if (status == 1)
            lint_add(lint, "genes", name, LINT_FINE, "is used: %s", check.text);
        else if (status == 0 && space->genes[g].count == 1)
            lint_add(lint, "genes", name, LINT_NOTE, "has one value");
        else if (status == 0 && check.pairs == 0)
            lint_add(lint, "genes", name, LINT_NOTE,
                     "was not checked: no two valid genomes differ in it alone");
        else if (status == 0)
            lint_add(lint, "genes", name, LINT_WRONG,
                     "is not used: of %d pairs of genomes that differ in it alone, %d were "
                     "compiled, and neither code nor launches differ",
                     check.pairs, check.compiled);
    }
    free(genomes);
    return status < 0 ? -1 : 0;
}
