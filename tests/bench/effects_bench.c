/* How often the effects that an archive states (strategy/effects.h) are true on recorded spaces: a
   strategy searches, and each change of one gene of its champion, and of its tenth-best trial, is
   looked up. Times get the scatter of trials on a GPU.

   usage: effects_bench STRATEGY SEEDS SPACE... */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "device/recorded.h"
#include "strategy/effects.h"
#include "strategy/evolution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS = 5, BASES = 2, TRIALS = 400, TENTH = 9, SCATTER_STREAM = 28 };

static const int lengths[LENGTHS] = {20, 40, 87, 200, TRIALS};

struct tally {
    long changes, slower; /* that are valid, and slower in truth */
    long claims, right, held, measured, claimed_faster, right_faster;
};

struct archive {
    int count;
    struct effect_trial trials[TRIALS];
};

/* The standard deviation of a trial's figure from placement (minimised_repeat_error). */
static double scatter_of(double us) {
    return hypot(0.06 / us, 0.003);
}

static double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(random);
    return sum;
}

static void judge_change(const struct effects *effects, const struct recorded *recorded,
                         const struct genome *base, const struct genome *changed,
                         struct tally *tally) {
    const int64_t from = recorded_find(recorded, base), to = recorded_find(recorded, changed);
    if (to < 0 || recorded->verdicts[to] != VERDICT_OK)
        return;
    const double truth = recorded->times_us[to] / recorded->times_us[from];
    const struct effect effect = effects_between(effects, base, changed);
    tally->changes++;
    tally->slower += truth > 1;
    if (!effect_is_certain(&effect))
        return;
    const bool faster = effect.high < 1, right = faster ? truth < 1 : truth > 1;
    tally->claims++;
    tally->right += right;
    tally->held += effect.low <= truth && truth <= effect.high;
    tally->measured += effect.measured;
    tally->claimed_faster += faster;
    tally->right_faster += faster && right;
}

static void judge_archive(struct effects *effects, const struct recorded *recorded,
                          const struct archive *archive, struct tally tallies[BASES]) {
    const struct space *space = recorded->space;
    struct archive *sorted = xmalloc(sizeof *sorted);
    *sorted = *archive;
    const int count = effects_choose(sorted->trials, sorted->count, EFFECTS_TRIALS_MAX);
    const bool fitted = effects_fit(effects, sorted->trials, count);
    for (int b = 0; b < BASES && fitted; b++)
        for (int gene = 0; gene < space->gene_count; gene++)
            for (int value = 0; value < space->genes[gene].count; value++) {
                const struct genome *base = &sorted->trials[b * TENTH].genome;
                struct genome changed = *base;
                changed.value[gene] = (uint8_t)value;
                if (value != base->value[gene])
                    judge_change(effects, recorded, base, &changed, &tallies[b]);
            }
    free(sorted);
}

static void run_search(const struct recorded *recorded, const char *strategy, uint64_t seed,
                       struct effects *effects, struct tally tallies[LENGTHS][BASES]) {
    struct error error = {0};
    struct evolution_settings settings = evolution_defaults();
    struct archive *archive = xcalloc(1, sizeof *archive);
    struct proposal proposal;
    struct random random;
    int length = 0;
    random_seed(&random, seed, SCATTER_STREAM);
    snprintf(settings.strategy, sizeof settings.strategy, "%s", strategy);
    settings.no_default = true;
    struct evolution *evolution = evolution_new(recorded->space, &settings, seed, 1, &error);
    if (evolution == NULL)
        BUG("%s", error.text);
    for (int trial = 0; trial < TRIALS && evolution_ask(evolution, &proposal) == 1; trial++) {
        const int64_t row = recorded_find(recorded, &proposal.genome);
        const enum verdict verdict = recorded->verdicts[row];
        const double scatter = scatter_of(recorded->times_us[row]);
        const double us = recorded->times_us[row] * exp(scatter * normal(&random));
        evolution_tell(evolution, trial, &proposal.genome, verdict, us);
        if (verdict == VERDICT_OK)
            archive->trials[archive->count++] =
                (struct effect_trial){proposal.genome, us, scatter, trial};
        if (trial + 1 == lengths[length])
            judge_archive(effects, recorded, archive, tallies[length++]);
    }
    evolution_free(evolution);
    free(archive);
}

static void print_tallies(const char *name, const struct tally tallies[LENGTHS][BASES], int runs) {
    static const char *const bases[BASES] = {"champion", "tenth"};
    for (int b = 0; b < BASES; b++)
        for (int l = 0; l < LENGTHS; l++) {
            const struct tally *it = &tallies[l][b];
            const double claims = fmax((double)it->claims, 1);
            printf("| %s | %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f of %.1f |\n",
                   name, bases[b], lengths[l], (double)it->changes / runs,
                   100.0 * (double)it->slower / fmax((double)it->changes, 1),
                   (double)it->claims / runs, (double)it->measured / runs,
                   100.0 * (double)it->right / claims, 100.0 * (double)it->held / claims,
                   (double)it->right_faster / runs, (double)it->claimed_faster / runs);
        }
}

int main(int argc, char **argv) {
    const char *each = getenv("EACH");
    static struct tally all[LENGTHS][BASES];
    if (argc < 4)
        return 2;
    const int seeds = atoi(argv[2]);
    printf(
        "| space | changes of | trials | changes | slower %% | claims | measured | right sign %% | "
        "interval holds %% | faster: right of claimed "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int a = 3; a < argc; a++) {
        struct error error = {0};
        struct tally tallies[LENGTHS][BASES] = {0};
        struct recorded *recorded = recorded_read(argv[a], &error);
        if (recorded == NULL)
            return fprintf(stderr, "%s\n", error.text), 1;
        struct effects *effects = effects_new(recorded->space);
        for (int seed = 1; seed <= seeds; seed++)
            run_search(recorded, argv[1], (uint64_t)seed, effects, tallies);
        effects_free(effects);
        recorded_free(recorded);
        if (each != NULL && *each != '\0')
            print_tallies(argv[a], (const struct tally(*)[BASES])tallies, seeds);
        for (int l = 0; l < LENGTHS; l++)
            for (int b = 0; b < BASES; b++)
                for (size_t i = 0; i < sizeof(struct tally) / sizeof(long); i++)
                    ((long *)&all[l][b])[i] += ((const long *)&tallies[l][b])[i];
    }
    print_tallies("all", (const struct tally(*)[BASES])all, seeds * (argc - 3));
    return 0;
}
