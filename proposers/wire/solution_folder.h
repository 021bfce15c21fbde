/*
 * solution_folder: a solution's files in a folder, where a person edits them.
 *
 *     const cJSON *files = request_files(&request, 0);
 *     solution_folder_write(folder, files, &error);
 *     cJSON *changes = solution_folder_changes(folder, files, &error);
 *
 * Names that start with a dot or end with ~ or .orig are an editor's, and are left out.
 */
#ifndef EVOTILE_PROPOSERS_WIRE_SOLUTION_FOLDER_H
#define EVOTILE_PROPOSERS_WIRE_SOLUTION_FOLDER_H

#include "base/error.h"

#include <cjson/cJSON.h>

int solution_folder_write(const char *folder, const cJSON *files, struct error *error);

/* {NAME: TEXT, or null for a file that is gone} of each file that differs from `files`; the caller
   deletes it. */
cJSON *solution_folder_changes(const char *folder, const cJSON *files, struct error *error);

#endif
