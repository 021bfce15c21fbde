#include "export/folder.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Only an earlier export is replaced, so that --force with a mistyped path deletes no other
   folder. */
static int check_target(const char *folder, bool force, struct error *error) {
    char manifest[PATH_SIZE];
    const char *name = path_name(folder);
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return error_input(error, "\"%s\" cannot be a kernel's folder: choose another name",
                           folder);
    if (!path_exists(folder))
        return 0;
    if (!force)
        return error_input(error, "%s exists: choose another --out, or replace it with --force",
                           folder);
    if (path_join(manifest, folder, "manifest.json", error) < 0)
        return -1;
    if (!path_exists(manifest))
        return error_input(
            error,
            "%s is not an exported kernel (it has no manifest.json), so --force does "
            "not replace it: choose another --out",
            folder);
    return 0;
}

static int rename_folder(const char *from, const char *to, struct error *error) {
    return rename(from, to) == 0 ? 0
                                 : error_set(error, "cannot rename %s to %s: %s; check the path",
                                             from, to, strerror(errno));
}

/* Moves the old folder aside, the new one in place and removes the old one; undoes the first step
   if the second fails. */
static int replace_folder(const char *temporary, const char *folder, const char *old,
                          struct error *error) {
    bool replaces = path_exists(folder);
    if (replaces && rename_folder(folder, old, error) < 0)
        return -1;
    if (rename_folder(temporary, folder, error) < 0) {
        if (replaces)
            rename(old, folder);
        return -1;
    }
    if (replaces && path_remove_tree(old, &(struct error){0}) < 0)
        log_warn("the old export could not be removed: delete %s", old);
    return 0;
}

static int make_paths(const char *requested, struct export_folder *paths, struct error *error) {
    char suffix[32];
    char *folder = paths->folder;
    snprintf(suffix, sizeof suffix, ".%ld", (long)getpid());
    if (path_join(folder, "", requested, error) < 0)
        return -1;
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = '\0';
    if (length + sizeof suffix + 8 > PATH_SIZE)
        return error_input(error, "the path of the kernel's folder is too long: use a shorter one");
    memcpy(paths->temporary, folder, length);
    memcpy(paths->old, folder, length);
    snprintf(paths->temporary + length, PATH_SIZE - length, "%s.new", suffix);
    snprintf(paths->old + length, PATH_SIZE - length, "%s.old", suffix);
    return 0;
}

int export_folder_open(struct export_folder *folder, const char *requested, bool force,
                       struct error *error) {
    return make_paths(requested, folder, error) < 0 ? -1
                                                    : check_target(folder->folder, force, error);
}

int export_folder_create(const struct export_folder *folder, struct error *error) {
    char parent[PATH_SIZE];
    return path_parent(parent, folder->folder, error) < 0 || path_make_folder(parent, error) < 0 ||
                   path_remove_tree(folder->temporary, error) < 0 || /* left by a killed process */
                   path_make_folder(folder->temporary, error) < 0
               ? -1
               : 0;
}

int export_folder_finish(const struct export_folder *folder, int status, struct error *error) {
    if (status == 0 && replace_folder(folder->temporary, folder->folder, folder->old, error) == 0)
        return 0;
    path_remove_tree(folder->temporary, &(struct error){0});
    return -1;
}
