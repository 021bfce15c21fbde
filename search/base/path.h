/*
 * path: file and folder operations. Paths are plain strings; the paths that evotile builds are
 * stored in buffers of PATH_SIZE bytes, and a path that does not fit is an error, never truncated.
 *
 *     char path[PATH_SIZE];
 *     if (path_join(path, folder, "manifest.json", error) < 0 ||
 *         path_make_folder(folder, error) < 0 || path_write_file(path, text, length, error) < 0)
 *         return -1;
 *     char *manifest = path_read_file(path, 1 << 20, NULL, error);
 *
 * Every operation returns 0, or -1 (NULL) with a line in `error` that names the path and the
 * remedy.
 */
#ifndef EVOTILE_BASE_PATH_H
#define EVOTILE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PATH_SIZE = 4096 };

/* Writes "folder/name"; an absolute `name`, or an empty `folder`, gives `name` alone. `joined` may
   be `folder`. */
int path_join(char joined[PATH_SIZE], const char *folder, const char *name, struct error *error);

/* The path without its last component: "a/b" for "a/b/c", "." for "c", "/" for "/c". */
int path_parent(char parent[PATH_SIZE], const char *path, struct error *error);

/* The last component, a pointer into `path`: "c" for "a/b/c". */
const char *path_name(const char *path);

bool path_exists(const char *path);
bool path_is_dir(const char *path);
/* Returns whether a file may be renamed to this path: it does not exist, or is a regular file. A
   link, a device or a pipe (/dev/stdout can be any of these) must be written in place instead. */
bool path_is_replaceable(const char *path);

/* Returns the whole file with a NUL after its last byte; the caller frees it. `*size`, which may be
   NULL, gets the size without the NUL. A file of more than `limit_bytes` is an error. */
char *path_read_file(const char *path, size_t limit_bytes, size_t *size, struct error *error);

/* Replaces a file atomically: writes a temporary file beside it, syncs it to the disk and renames
   it. On any failure (a full disk, a read-only folder) the old file stays unchanged. A path that is
   not replaceable is written in place. */
int path_write_file(const char *path, const void *bytes, size_t size, struct error *error);

/* The same without syncing to the disk: after a power loss the file may be empty or damaged. For
   caches, which check what they read. */
int path_write_unsynced(const char *path, const void *bytes, size_t size, struct error *error);

/* Creates the folder and its parents; succeeds if it already exists. */
int path_make_folder(const char *folder, struct error *error);

/* Makes a symbolic link of that name in the folder; an entry that is there stays. */
int path_link(const char *folder, const char *name, const char *target, struct error *error);

/* Lists the names in a folder without "." and "..", sorted by bytes. Free with path_list_free. */
int path_list(const char *folder, char ***names, int *count, struct error *error);
void path_list_free(char **names, int count);

/* Copies the files and folders below `from` into `to`, which is created. Links are followed and
   permissions kept. A failure leaves a partial copy: copy into a temporary folder and rename that.
   */
int path_copy_tree(const char *from, const char *to, struct error *error);
/* Copies the files of `from`, without its folders and without the file named `except`, which may be
   NULL, into `to`, which is created. */
int path_copy_files(const char *from, const char *to, const char *except, struct error *error);

/* Removes a folder that evotile created and everything below it, without following links; succeeds
   if it does not exist. Removing "", "/", "." or ".." is a BUG. */
int path_remove_tree(const char *folder, struct error *error);

/* Returns the name of the network file system that holds `path` ("NFS"), or NULL if it is local or
   unknown. `path` must exist. */
const char *path_network_filesystem(const char *path);

/* The running executable, and its folder. */
int path_program(char program[PATH_SIZE], struct error *error);
int path_program_folder(char folder[PATH_SIZE], struct error *error);

#endif
