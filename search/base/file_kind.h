/*
 * file_kind: whether a path is safe to open and read to its end.
 *
 *     if (file_is_special(path))
 *         return error_input(error, FILE_IS_SPECIAL, path);
 *     FILE *file = fopen(path, "rb");
 */
#ifndef EVOTILE_BASE_FILE_KIND_H
#define EVOTILE_BASE_FILE_KIND_H

#include <stdbool.h>
#include <stdio.h>

#define FILE_IS_SPECIAL "%s is a pipe, a socket or a device: give a regular file"

/* Whether the path is, or links to, a pipe, a socket or a device, which may block or never end. One
   that a user names as such (/dev/stdin, a shell's /dev/fd/63) is not special. */
bool file_is_special(const char *path);

#endif
