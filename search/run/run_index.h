/*
 * run_index: the list of this user's runs on this host, by which a new run finds the earlier ones
 * of its template wherever their folders are. JSON lines: a header, then an object for each run.
 *
 *     char path[PATH_SIZE], **runs;
 *     int count;
 *     if (run_index_path(path, &error) == 1 &&
 *         run_index_find(path, "demo", 8, 16, &runs, &count, &error) == 0)
 *         path_list_free(runs, count);
 *     const struct run_index_entry entry = {"/data/results/demo", "demo", "NVIDIA H200", 400};
 *     run_index_add(path, &entry, &error);
 *
 * The file is $EVOTILE_INDEX, else $XDG_STATE_HOME/evotile/runs.jsonl, else
 * ~/.local/state/evotile/runs.jsonl. It may be deleted at any time: a run that ends writes it
 * again. A file that is no index is never written to. It has at most RUN_INDEX_MAX runs; beyond
 * that those whose folder is gone are dropped, then the oldest.
 *
 * Writers exclude each other by a lock on the file's name with ".lock"; readers need none, because
 * the file is replaced as a whole.
 */
#ifndef EVOTILE_RUN_RUN_INDEX_H
#define EVOTILE_RUN_RUN_INDEX_H

#include "base/path.h"

#include <stdint.h>

enum { RUN_INDEX_MAX = 1000 };

struct run_index_entry {
    const char *run; /* absolute path of the run folder */
    const char *template, *device;
    int64_t trials;
};

/* 1: fills the path of the file; 0: EVOTILE_INDEX is "none", so there is no index; -1: no variable
   says where it is. */
int run_index_path(char path[PATH_SIZE], struct error *error);

/* Adds the run as the newest, in place of an earlier entry of the same folder. Damaged lines are
   dropped. */
int run_index_add(const char *path, const struct run_index_entry *entry, struct error *error);

/* Lists the folders of the template's runs of at least so many trials that are still there, the
   newest first, `most` at most, for path_list_free. A file that does not exist has none; damaged
   lines are skipped with one warning. -1: it cannot be read, or is no index. */
int run_index_find(const char *path, const char *template_name, int trials_least, int most,
                   char ***runs, int *count, struct error *error);

#endif
