/*
 * evolve: a run whose sources evolve. A proposer (proposer.h) gets a solution and answers with a
 * change of it; what it makes is judged, tuned by the session's own strategy, compared in duels,
 * and reverted, kept, or promoted to what everything is compared with from then on.
 *
 *     struct evolve *evolve = evolve_create("results/demo", config, &settings, &error);
 *     int status = evolve != NULL ? evolve_search(evolve, &error) : -1;
 *     evolve_free(evolve);
 *
 * One proposal's way:
 *
 *     asked      its request is stored (store/proposals.h), then sent
 *     answered   the answer is stored, then its solution is made, beside the problem's files
 *                (solutions/solution_store.h), and judged with its default genome, by all gates
 *     tuned      it passed, so it became a solution of the run: a goal, with trials of its own
 *     compared   in a duel with its parent, and if it may be the best of all with the champion
 *     decided    revert, keep or promote
 *
 * A change of the genome alone is a trial of its parent's solution. Everything is stored before it
 * is used, so that a resumed run goes on from what is stored, and asks nothing twice whose answer
 * is there.
 */
#ifndef EVOTILE_EVOLVE_EVOLVE_H
#define EVOTILE_EVOLVE_EVOLVE_H

#include "session/session.h"

struct evolve;

/* The config as such a run has it: with its solutions listed, and without keys that only a search
   of genomes has. A template.json is divided into a problem and the solution "start", in a
   temporary folder, which the caller removes after evolve_create (empty: there is none). Takes
   ownership of `config`; NULL with `error` if its sources cannot evolve. */
struct config *evolve_config(struct config *config, char temporary[PATH_SIZE], struct error *error);

/* Creates the run folder, or continues a run; both start the workers. `config` is of evolve_config,
   and owned, also after a failure. `settings` need no `place_solutions`. NULL with `error`. */
struct evolve *evolve_create(const char *run_dir, struct config *config,
                             const struct session_settings *settings, struct error *error);
struct evolve *evolve_resume(const char *run_dir, const cJSON *changes,
                             const struct session_settings *settings, struct error *error);
void evolve_free(struct evolve *evolve);

/* Whether a run folder is of such a run. False if there is none. */
bool evolve_is_run(const char *run_dir);

/* As session_search. */
int evolve_search(struct evolve *evolve, struct error *error);

const struct session *evolve_session(const struct evolve *evolve);
/* Whether the budget of a resumed run is spent: nothing is left to do. */
bool evolve_is_finished(const struct evolve *evolve);
/* Proposals that were decided on. */
int64_t evolve_decided(const struct evolve *evolve);

#endif
