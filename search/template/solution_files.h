/*
 * solution_files: the files of a solution that comes from elsewhere, from a client of a server or
 * over a queue: what they may be, their hash, and the folder in which they are judged:
 *
 *     FOLDER/problem/     the problem's files, which must be there
 *     FOLDER/HASH/        links to them, so that a solution adds files and replaces none, and
 *     FOLDER/HASH/NAME/   the files, of that hash
 *
 * "HASH/NAME", the solution's path, names the same files on every host.
 *
 *     char path[SOLUTION_PATH_SIZE];
 *     if (solution_files_check("mine", files, &error) < 0)
 *         return -1;
 *     solution_files_path("mine", files, path);
 *     int status = solution_files_write("serve/templates", path, files, &error);
 *
 * `files` is a JSON object of texts: { "solution.json": "...", "kernel.cu": "..." }.
 */
#ifndef EVOTILE_TEMPLATE_SOLUTION_FILES_H
#define EVOTILE_TEMPLATE_SOLUTION_FILES_H

#include "base/error.h"
#include "base/hash.h"
#include "space/space.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum {
    SOLUTION_FILES_MAX = 64,
    SOLUTION_BYTES_MAX = 4 << 20, /* of all files together */
    SOLUTION_PATH_SIZE = HASH_TEXT_SIZE + NAME_SIZE,
};

/* What the name or the files may not be is an error of kind ERROR_INPUT. */
int solution_files_check(const char *name, const cJSON *files, struct error *error);

/* The path of files that passed the check, in any order. The hash is BLAKE2b, of 128 bits: nothing
   but these files with this name has it. */
void solution_files_path(const char *name, const cJSON *files, char path[SOLUTION_PATH_SIZE]);
/* True if the text is a path: it leads to no other folder. */
bool solution_files_is_path(const char *text);

/* Reads the regular files of a folder, except in its folders. The caller deletes them; NULL with
   `error`. */
cJSON *solution_files_read(const char *folder, struct error *error);
/* Writes the files of a path, unless they are there: the folder is whole or not there. */
int solution_files_write(const char *folder, const char *path, const cJSON *files,
                         struct error *error);
/* Removes the files of a path. */
int solution_files_remove(const char *folder, const char *path, struct error *error);

/* Takes the folder out of a message: "kernel.cu" for "FOLDER/HASH/NAME/kernel.cu". */
void solution_files_shorten(const char *folder, char *text);

#endif
