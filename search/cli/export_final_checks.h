/*
 * export_final_checks: runs the final checks of a champion for what an export takes from a run and
 * that has not passed them: a trial that was never the best of its search.
 *
 *     if (export_run_read(&run, &error) < 0 || export_check_champions(&run, &error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_CLI_EXPORT_FINAL_CHECKS_H
#define EVOTILE_CLI_EXPORT_FINAL_CHECKS_H

#include "cli/export_run.h"

/* Measures on a device of the run's model on this host, and stores in the champions' outcomes which
   checks they passed. Fails without such a device, and for a champion that fails a check. Nothing
   is run if all champions have passed the checks before. */
int export_check_champions(struct export_run *run, struct error *error);

#endif
