/* warm_start: the genomes that a search tries right after the default genome.
 *
 * These are the genomes that the user names, and the best of earlier runs, the nearest cases and
 * devices first. They are ordinary proposals: each passes every gate and is timed again.
 *
 *     struct warm_start *warm = warm_start_open("CTAS=2; CTAS=4", "results", "demo", &error);
 *     struct genome genomes[WARM_START_MAX];
 *     int count = warm_start_genomes(warm, config, goal, template, &device, genomes, &error);
 *     char *text = warm_start_print(genomes, count, template->space);     // for the store
 *     count = warm_start_parse(text, template->space, genomes, WARM_START_MAX, &error);
 *     free(text);
 *     warm_start_close(warm);
 */
#ifndef EVOTILE_SESSION_WARM_START_H
#define EVOTILE_SESSION_WARM_START_H

#include "config/config.h"

struct warm_start;

enum {
    WARM_START_NAMED_MAX = 64, /* most genomes that a user may name */
    WARM_START_FOUND_MAX = 6,  /* most genomes from earlier runs */
    WARM_START_MAX = WARM_START_NAMED_MAX + WARM_START_FOUND_MAX
};

/* `named`: genomes separated by semicolons, each of which may name its solution, "vector:
   THREADS=64". `runs`: a run folder, or a folder of run folders; only runs of the template with
   this name are used. Either may be NULL. Earlier runs are read here; runs in the folder that
   cannot be read are skipped with a warning. Returns NULL with `error` if there is nothing to start
   from. */
struct warm_start *warm_start_open(const char *named, const char *runs, const char *template_name,
                                   struct error *error);
void warm_start_close(struct warm_start *warm);

/* Fills the genomes for a goal, without duplicates. Returns how many; or -1 if a named genome does
   not belong to the space. Of several solutions, a genome that names none is tried by each whose
   space has it. Genomes that violate the goal's constraints are skipped. */
int warm_start_genomes(struct warm_start *warm, const struct config *config, int goal,
                       const struct template *template, const struct device_info *device,
                       struct genome genomes[WARM_START_MAX], struct error *error);

/* Instead, for a goal that is left out (left_out.h): only notes which named genomes its space has.
   Returns 0, or -1 as above. */
int warm_start_leave_out(struct warm_start *warm, const struct config *config, int goal,
                         const struct template *template, struct error *error);

/* After the genomes of all goals: -1 if a named one is in no solution's space; warns of those that
   only goals which are left out could try. `warm` may be NULL. */
int warm_start_check(const struct warm_start *warm, const struct config *config,
                     struct error *error);

/* To text, which the caller frees, and back. Parsing returns how many genomes it read, at most
   `most`; or -1. */
char *warm_start_print(const struct genome *genomes, int count, const struct space *space);
int warm_start_parse(const char *text, const struct space *space, struct genome *genomes,
                     int genomes_max, struct error *error);

#endif
