/*
 * solution_store: the folder in which a server keeps the solutions that clients send, and a run
 * those that a proposer writes. Each lies beside links to the problem's files
 * (template/solution_files.h), so that its author adds files and replaces none:
 *
 *     FOLDER/config.json            the server's config without solutions and genes
 *     FOLDER/templates/lib          a link to the library of the problem
 *     FOLDER/templates/problem/     the problem's files
 *     FOLDER/templates/HASH/        links to them, and
 *     FOLDER/templates/HASH/NAME/   the files that a client sent, of that hash
 *
 *     struct solution_store *store = solution_store_new(config, "serve", 100, &error);
 *     char folder[PATH_SIZE];
 *     int status = solution_store_add(store, "mine", files, folder, &error);
 *     solution_store_free(store);
 */
#ifndef EVOTILE_SOLUTIONS_SOLUTION_STORE_H
#define EVOTILE_SOLUTIONS_SOLUTION_STORE_H

#include "base/path.h"
#include "config/config.h"

#include <cjson/cJSON.h>

struct solution_store;

/* A template.json is divided into a problem and one solution of its name (template/divide.h). */
struct solution_store *solution_store_new(const struct config *config, const char *folder, int most,
                                          struct error *error);
void solution_store_free(struct solution_store *store);

/* The folder of the problem: the user's, or what a template.json was divided into. */
const char *solution_store_problem(const struct solution_store *store);
/* The store's own folder. */
const char *solution_store_folder(const struct solution_store *store);
/* The config with which every solution of the folder is judged. */
const char *solution_store_config(const struct solution_store *store);

/* Writes the files, { "solution.json": TEXT, "kernel.cu": TEXT ... }, and gives the folder of the
   solution, for template_load. The same files under the same name are the same folder. What a file
   or the name may not be is an error of kind ERROR_INPUT. */
int solution_store_add(struct solution_store *store, const char *name, const cJSON *files,
                       char folder[PATH_SIZE], struct error *error);
/* The same with the files of a folder of this host. */
int solution_store_add_folder(struct solution_store *store, const char *from,
                              char folder[PATH_SIZE], struct error *error);
/* The folder of a solution that the problem has. */
int solution_store_find(struct solution_store *store, const char *name, char folder[PATH_SIZE],
                        struct error *error);
/* Keeps a stored solution, or lets it go again. Where there would be more than `most`, the one that
   was not used for longest and is not held makes room. */
void solution_store_hold(struct solution_store *store, const char *folder);
void solution_store_release(struct solution_store *store, const char *folder);
/* Takes the server's folder out of a message for a client: "kernel.cu" for "FOLDER/.../kernel.cu".
 */
void solution_store_shorten(const struct solution_store *store, char *text);

#endif
