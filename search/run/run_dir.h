/* run_dir: the files of a run folder. docs/formats.md lists them.
 *
 *     struct error error = {0};
 *     struct config *config = run_dir_read_config("results/demo", &error);
 *     if (config == NULL)
 *         fprintf(stderr, "%s\n", error.text);
 *     config_free(config);
 *
 * Functions return 0, or -1 with `error` filled, unless they say otherwise.
 */
#ifndef EVOTILE_RUN_RUN_DIR_H
#define EVOTILE_RUN_RUN_DIR_H

#include "config/config.h"
#include "store/store.h"

/* Finds the config and the template folder of an existing run. */
int run_dir_files(const char *run_dir, char config_path[PATH_SIZE], char template_folder[PATH_SIZE],
                  struct error *error);

/* Reads the config of a run; the caller frees it. Its `path` and `template_folder` are those of
   run_dir_files. NULL with `error` filled on failure. */
struct config *run_dir_read_config(const char *run_dir, struct error *error);

/* The same for the names of cases: NULL, with a warning, if the config cannot be read; cases are
   then numbered. */
struct config *run_dir_config(struct store *store);

/* The name of case `number` of a goal whose trials have `case_count` cases. `config`: of
   run_dir_config. */
void run_dir_case_name(const struct store *store, const struct config *config, int goal,
                       int case_count, int number, char name[CASE_NAME_SIZE]);

/* The device that the run was measured on; its space depends on it. Returns 1; 0 if the run does
   not record it; -1. */
int run_dir_device(struct store *store, struct device_info *device, struct error *error);

/* What the run's search minimises, which its scores are of. Latency if the run records nothing
 * else.
 */
int run_dir_minimised(struct store *store, enum minimised *minimised, struct error *error);

/* The last component of the template folder's real path: "a/b/" and "." give a name as well. */
int run_dir_template_name(const char *folder, char name[PATH_SIZE], struct error *error);

/* Copies the template folder, and the lib/ folder beside it, into the run folder. */
int run_dir_copy_template(const char *from, const char *name, const char *run_dir,
                          struct error *error);

/* Takes workers.lock and returns its file descriptor, which workers inherit; waits up to 30 s for
   the workers of an earlier session to exit, so that no other process uses the GPU while this
   session measures. The lock is free when the last process that holds the descriptor has exited. */
int run_dir_lock(const char *run_dir, struct error *error);

/* Creates the folder, takes its lock as run_dir_lock does, so that a second run into the same
   folder writes nothing, and returns the descriptor. Refuses a folder that holds a run. */
int run_dir_claim(const char *run_dir, struct error *error);

#endif
