#include "run/kept_profiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder_name[] = "profiles";

int kept_profile_path(const char *run_dir, int64_t trial, char path[PATH_SIZE],
                      struct error *error) {
    char name[64];
    snprintf(name, sizeof name, "%s/%" PRId64 ".ncu-rep", folder_name, trial);
    return path_join(path, run_dir, name, error);
}

int kept_profile_prepare(const char *run_dir, int64_t trial, char path[PATH_SIZE],
                         struct error *error) {
    char folder[PATH_SIZE];
    return path_join(folder, run_dir, folder_name, error) < 0 || path_make_folder(folder, error) < 0
               ? -1
               : kept_profile_path(run_dir, trial, path, error);
}

bool kept_profile_exists(const char *run_dir, int64_t trial) {
    struct error ignored;
    char path[PATH_SIZE];
    return kept_profile_path(run_dir, trial, path, &ignored) == 0 && path_exists(path);
}

/* The trial of "12.ncu-rep"; -1 for any other name. */
static int64_t parse_name(const char *name) {
    char again[64], *end;
    const long long trial = strtoll(name, &end, 10);
    snprintf(again, sizeof again, "%lld.ncu-rep", trial);
    return trial >= 0 && strcmp(name, again) == 0 ? trial : -1;
}

static int compare_trials(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int kept_profiles_list(const char *run_dir, int64_t trials[KEPT_PROFILES_MAX]) {
    struct error ignored;
    char folder[PATH_SIZE], **names = NULL;
    int name_count = 0, count = 0;
    if (path_join(folder, run_dir, folder_name, &ignored) < 0 || !path_exists(folder) ||
        path_list(folder, &names, &name_count, &ignored) < 0)
        return 0;
    for (int i = 0; i < name_count && count < KEPT_PROFILES_MAX; i++) {
        const int64_t trial = parse_name(names[i]);
        if (trial >= 0)
            trials[count++] = trial;
    }
    path_list_free(names, name_count);
    qsort(trials, (size_t)count, sizeof *trials, compare_trials);
    return count;
}
