/* evolve: continues a run whose sources evolve, for the verb `resume`.
 *
 *     if (evolve_is_run(run_dir))
 *         return evolve_continue(run_dir, changes, &settings);
 */
#ifndef EVOTILE_CLI_EVOLVE_H
#define EVOTILE_CLI_EVOLVE_H

#include "evolve/evolve.h"

/* Takes ownership of `changes`. Returns an exit status. */
int evolve_continue(const char *run_dir, cJSON *changes, const struct session_settings *settings);

#endif
