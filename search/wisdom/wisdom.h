/*
 * wisdom: what a wisdom store (store/wisdom_store.h) is filled from and packed to. One store has
 * the champions of many runs; one file has those that a program needs, which libevotile_wisdom
 * loads.
 *
 *     struct wisdom_store *store = wisdom_store_open(path, STORE_WRITE, &error);
 *     struct wisdom_counts counts = {0};
 *     if (wisdom_add(store, "kernels/night", &names, &counts, &error) < 0 ||
 *         wisdom_merge(store, "other.db", &counts, &error) < 0)
 *         ...;
 *     struct strbuf file = {0};
 *     if (wisdom_pack(store, &counts, &file, &error) < 0 ||
 *         path_write_file("app.wisdom", file.bytes, file.used, &error) < 0)
 *         ...;
 *
 * Functions return 0, or -1 with `error` filled.
 */
#ifndef EVOTILE_WISDOM_WISDOM_H
#define EVOTILE_WISDOM_WISDOM_H

#include "base/strbuf.h"
#include "store/wisdom_store.h"
#include "template/template.h"

/* What a verb says it did. */
struct wisdom_counts {
    int added, better, kept; /* better: replaced a figure; kept: the stored one is better */
    int removed, left_out;
};

/* Gives the names in machine code of kernels that are C++ name expressions, as in struct
   device_image: that takes a compiler. The caller frees `names`. */
struct wisdom_names {
    int (*compile)(void *context, const struct template *template, const struct genome *genome,
                   int case_index, char **names, struct error *error);
    void *context;
};

/* Adds the kernels of an exported folder, which must be what was exported. */
int wisdom_add(struct wisdom_store *store, const char *folder, const struct wisdom_names *names,
               struct wisdom_counts *counts, struct error *error);

/* Adds everything of another store. */
int wisdom_merge(struct wisdom_store *store, const char *from, struct wisdom_counts *counts,
                 struct error *error);

/* Where the template of a figure is now, and its hash: for gc and gate. `templates`: a folder of
   the user's that is searched first, or NULL. */
struct wisdom_template_state {
    char folder[PATH_SIZE];
    char hash[HASH_TEXT_SIZE]; /* "" if the template, or the solution, is not there or cannot be
                                  read */
};
void wisdom_find_template(const struct wisdom_figure *figure, const char *templates,
                          struct wisdom_template_state *state);

/* The driver of a device as figures have it: "none" without one. */
const char *wisdom_driver(const struct device_info *device);

/* Whether a figure no longer holds, and why: its template is gone or changed; or this host's device
   is of its model and has another driver, under which gate has not checked it. `device` NULL: no
   driver is compared. */
bool wisdom_is_outdated(const struct wisdom_figure *figure,
                        const struct wisdom_template_state *state, const struct device_info *device,
                        char *why, size_t size);

/* Removes the figures that gate marked as stale, and those that are outdated, and the codes that no
   figure has any more. counts->removed: figures. */
int wisdom_collect(struct wisdom_store *store, const char *templates,
                   const struct device_info *device, struct wisdom_counts *counts,
                   struct error *error);

/* Appends the file of everything that is not stale. counts->added: its entries; left_out: figures
   of templates whose interface changed since. */
int wisdom_pack(struct wisdom_store *store, struct wisdom_counts *counts, struct strbuf *file,
                struct error *error);

/* ---- reading a file again ---- */

/* A store, or a packed file: what gate reads. */
struct wisdom_source {
    struct wisdom_figures figures;
    struct wisdom_store *store; /* NULL: of a file, */
    char *file;                 /* whose bytes are here */
};

/* Whether the file is a store or a packed file: by its first bytes. */
bool wisdom_is_source(const char *path);
int wisdom_source_open(struct wisdom_source *source, const char *path, struct error *error);
/* Also after a failure. */
void wisdom_source_close(struct wisdom_source *source);
/* The machine code of a figure, as it was compiled. The caller frees it. */
void *wisdom_source_cubin(const struct wisdom_source *source, const struct wisdom_figure *figure,
                          size_t *size, struct error *error);

#endif
