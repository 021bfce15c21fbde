/*
 * hints: a template's advice on where to look next, and when: "fewer than 4 blocks a
 * multiprocessor: prefer a higher KV_SPLITS, a lower BLOCK_M". A hint has a condition over
 * everything that constraints may read and over what was *measured* of a genome, and the genes that
 * it would move. It guides proposals only: a genome that ignores it is as valid as any other.
 * (Messages and templates call a hint an "insight"; a trial's operator stores it as "rule:N".)
 *
 *     space_name_measures(space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
 *     int hint = space_add_hint(space, "CTAS < 4 * SM_COUNT", "multiprocessors idle", &error);
 *     space_add_preference(space, hint, "KV_SPLITS", "higher", &error);
 *     struct measures measures = {0};
 *     measures_put(&measures, MEASURE_REGISTERS, 168);
 *     uint32_t holding = space_hints(space, &genome, &measures);
 *     bool found = holding >> hint & 1 && breed_hint(space, hint, &random, &genome, &child);
 */
#ifndef EVOTILE_SPACE_HINTS_H
#define EVOTILE_SPACE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct expression;
struct genome;
struct random;
struct space;

enum { HINTS_MAX = 32, PREFERENCES_MAX = 8, HINT_REASON_SIZE = 256 };

/* Measures of a successful trial that a hint may read, beside the names of the space. The space
   knows them by number only; the template names them (outcome/measure_names.h). */
enum { MEASURES_MAX = 32 };

/* All zeros: nothing is known. */
struct measures {
    uint32_t known; /* one bit per measure; a hint that reads another one does not hold */
    int64_t values[MEASURES_MAX];
};

void measures_put(struct measures *measures, int measure, int64_t value);

/* A gene that a hint would move: by steps in its domain, or to a value. */
struct preference {
    int gene;
    int step;  /* 1: higher, -1: lower, 0: to `value` */
    int value; /* index in the domain */
};

struct hint {
    struct expression *when;
    uint32_t reads; /* one bit per measure */
    char because[HINT_REASON_SIZE];
    int preference_count;
    struct preference preferences[PREFERENCES_MAX];
};

struct hints {
    const char *const *measure_names;
    int measure_count, first_profiled; /* measures from that one on need a profiler */
    int count;
    int first_slot;    /* slot of the first measure, directly after the space's own slots */
    uint32_t profiled; /* one bit per hint that reads a profiler's measures */
    struct hint rows[HINTS_MAX];
};

/* Names the measures that the hints may read; call it before space_add_hint. The names are not
   copied. A space has no measures by default. */
void space_name_measures(struct space *space, const char *const *names, int count,
                         int first_profiled);

/* Call after the last name was added to the space. Returns the hint's index, or -1. */
int space_add_hint(struct space *space, const char *when, const char *because, struct error *error);

/* `towards`: "higher", "lower" (for a gene of integers), or one of its values. */
int space_add_preference(struct space *space, int hint, const char *gene, const char *towards,
                         struct error *error);

/* One bit per hint whose condition holds for this valid genome in at least half of the
   environments, and which would move at least one gene. */
uint32_t space_hints(const struct space *space, const struct genome *genome,
                     const struct measures *measures);

/* Makes a child in which some of the genes that the hint prefers are moved by a step or more.
   Returns false if no valid, canonical child that differs from the parent was found. */
bool breed_hint(const struct space *space, int hint, struct random *random,
                const struct genome *parent, struct genome *child);

/* Called by space_free. */
void hints_release(struct hints *hints);

#endif
