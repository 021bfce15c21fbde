/*
 * warm: what a search tries right after the default genome, beside chance: genomes that the user
 * names, and the best that earlier runs found, those of the nearest cases and devices first. They
 * are proposals like any other: each goes through every gate and is timed anew.
 *
 *     struct warm *warm = warm_open("MIN_CTAS=2; MIN_CTAS=4", "results", "scaled_add", &error);
 *     struct genome genomes[WARM_MAX];
 *     int count = warm_genomes(warm, config, goal, template, &device, genomes, &error);
 *     char *text = warm_print(genomes, count, template->space);    // for the store
 *     count = warm_parse(text, template->space, genomes, &error);  // when the run is resumed
 *     free(text);
 *     warm_close(warm);
 */
#ifndef EVOTILE_CMD_WARM_H
#define EVOTILE_CMD_WARM_H

#include "config/config.h"

struct warm;

enum {
    WARM_NAMED = 64, /* genomes that a user may name */
    WARM_FOUND = 6,  /* that are taken of earlier runs */
    WARM_MAX = WARM_NAMED + WARM_FOUND
};

/* `named`: genomes parted by semicolons. `runs`: a run's folder, or a folder of such, of which
   those of the template with this name count. Either may be NULL; both are read here. */
struct warm *warm_open(const char *named, const char *runs, const char *template_name,
                       struct error *error);
void warm_close(struct warm *warm);

/* The genomes for a goal, each once; returns how many, or -1: one that was named is none of the
   space's. Those that are not valid in this goal are left out. */
int warm_genomes(const struct warm *warm, const struct config *config, int goal,
                 const struct template *template, const struct device_info *device,
                 struct genome genomes[WARM_MAX], struct error *error);

char *warm_print(const struct genome *genomes, int count, const struct space *space);
int warm_parse(const char *text, const struct space *space, struct genome *genomes, int most,
               struct error *error);

#endif
