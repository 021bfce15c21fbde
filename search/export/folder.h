/*
 * folder: writes a folder atomically: completely beside its place, then renamed. Private to
 * export/.
 *
 *     struct export_folder folder;
 *     if (export_folder_open(&folder, "kernels/rows", force, error) < 0 ||
 *         export_folder_create(&folder, error) < 0)
 *         return -1;
 *     int status = write_all(folder.temporary, error);
 *     return export_folder_finish(&folder, status, error);
 */
#ifndef EVOTILE_EXPORT_FOLDER_H
#define EVOTILE_EXPORT_FOLDER_H

#include "base/error.h"
#include "base/path.h"

#include <stdbool.h>

/* The folder without trailing slashes, and the temporary names beside it. */
struct export_folder {
    char folder[PATH_SIZE], temporary[PATH_SIZE], old[PATH_SIZE];
};

/* An error if it exists, but for an earlier export with `force`. */
int export_folder_open(struct export_folder *folder, const char *requested, bool force,
                       struct error *error);
/* Makes the empty temporary folder, and the one that contains it. */
int export_folder_create(const struct export_folder *folder, struct error *error);
/* After `status` 0 puts it in its place, of an earlier export too; else removes it and returns -1.
 */
int export_folder_finish(const struct export_folder *folder, int status, struct error *error);

#endif
