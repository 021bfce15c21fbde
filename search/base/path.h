/*
 * path: files and folders, as far as evotile needs them. Paths are plain strings; those that we
 * build live in buffers of PATH_SIZE bytes, and one that does not fit is an error, never a shorter
 * path.
 *
 *     char path[PATH_SIZE];
 *     if (path_join(path, folder, "manifest.json", error) < 0 ||
 *         path_make_folder(folder, error) < 0 || path_write_file(path, text, length, error) < 0)
 *         return -1;
 *     char *text = path_read_file(path, 1 << 20, NULL, error);
 *
 * Every operation returns 0, or -1 (NULL) with `error` filled by a line that names the path and
 * what to do. It knows nothing of what the files hold.
 */
#ifndef EVOTILE_BASE_PATH_H
#define EVOTILE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PATH_SIZE = 4096 };

/* "folder/name"; an absolute `name`, or an empty `folder`, gives `name` alone. `joined` may be
 * `folder`. */
int path_join(char joined[PATH_SIZE], const char *folder, const char *name, struct error *error);

/* What precedes the last component: "a/b" of "a/b/c", "." of "c", "/" of "/c". */
int path_parent(char parent[PATH_SIZE], const char *path, struct error *error);

/* The last component, inside `path`: "c" of "a/b/c". */
const char *path_name(const char *path);

bool path_exists(const char *path);
bool path_is_dir(const char *path);
/* Whether a file may be renamed to this path: nothing is there, or a plain file. A link, a device
   or a pipe (/dev/stdout is all of these) is to be written into: in its place a file would be an
   accident. */
bool path_is_replaceable(const char *path);

/* The whole file, with a NUL after its last byte, in memory that the caller frees; its size without
   the NUL in `*size`, which may be NULL. A file of more than `limit_bytes` is an error. */
char *path_read_file(const char *path, size_t limit_bytes, size_t *size, struct error *error);

/* Puts a file in place whole: written beside it, flushed to the disk, then renamed over it.
   Whatever fails (a full disk, a folder that cannot be written), the old file stays as it was. What
   is not replaceable is written into. */
int path_write_file(const char *path, const void *bytes, size_t size, struct error *error);

/* The same without waiting for the disk: after a power loss the file may be empty or damaged. For
   caches, which check what they read. */
int path_write_scratch(const char *path, const void *bytes, size_t size, struct error *error);

/* Makes the folder and those above it; one that is there already is fine. */
int path_make_folder(const char *folder, struct error *error);

/* The names in a folder without "." and "..", sorted by bytes. Free with path_list_free. */
int path_list(const char *folder, char ***names, int *count, struct error *error);
void path_list_free(char **names, int count);

/* Copies the files and folders below `from` into `to`, which is made; links are followed,
   permissions kept. What was copied before a failure stays: copy into a temporary folder and rename
   that. */
int path_copy_tree(const char *from, const char *to, struct error *error);

/* Removes a folder that we made, and all below it, without following links; one that is not there
   is fine. Being asked to remove "", "/", "." or ".." is our own mistake: BUG. */
int path_remove_tree(const char *folder, struct error *error);

/* The name of the network file system that holds `path` ("NFS"), or NULL where it is a local one
   (or unknown). `path` must exist. */
const char *path_network(const char *path);

/* The folder of the running program. */
int path_own_folder(char folder[PATH_SIZE], struct error *error);

#endif
