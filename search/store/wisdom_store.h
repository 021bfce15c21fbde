/*
 * wisdom_store: the store of `evotile wisdom`: what every kernel took at every case, by template,
 * device, driver and toolkit, with its machine code. One SQLite file, which any number of processes
 * may read and write at the same time: each change is one transaction, and waits for those of
 * others.
 *
 *     struct wisdom_store *store = wisdom_store_open("wisdom.db", STORE_WRITE, &error);
 *     if (store == NULL || wisdom_store_begin(store, &error) < 0)
 *         return -1;
 *     if (wisdom_store_put_code(store, WISDOM_CODES_TABLE, digest, "", bytes, size, &error) < 0 ||
 *         wisdom_store_put(store, &figure, &outcome, &error) < 0)
 *         status = -1;                                              // the end rolls back
 *     status = wisdom_store_end(store, status, &error);
 *     wisdom_store_close(store);
 *
 * It knows texts and bytes: what they mean, search/wisdom/ knows. Whatever is read is checked:
 * types and ranges of columns, and codes against their digests.
 */
#ifndef EVOTILE_STORE_WISDOM_STORE_H
#define EVOTILE_STORE_WISDOM_STORE_H

#include "base/path.h"
#include "store/store.h"

struct wisdom_store;

/* A kernel's figure at a case. Texts are the caller's, or of the list that they were read into. */
struct wisdom_figure {
    int64_t id;
    /* What it is of: two figures that agree in all of these replace each other. */
    const char *template_name, *template_hash, *device, *case_name, *code, *driver, *toolkit;
    int64_t compute_capability, sm_count; /* 90; 132 */
    /* What it is. */
    const char *solution;                        /* "" if the template has one */
    const char *shape;                           /* a JSON object of dimensions */
    const char *genome, *architecture, *options; /* architecture: "sm_90a" */
    const char *checks, *conditions; /* what the trial passed; SM clock and power, or "" */
    int64_t smem_limit;
    double p10_us, p50_us, p90_us;
    double low_us, high_us;         /* an interval of the median; both 0: not known */
    int64_t predicted, measured_at; /* measured_at: seconds since 1970; 0: not known */
    const void *values; /* int64_t: of each dimension its value, then the least, then the most that
                           was verified */
    int64_t values_bytes;
    /* What gate found last. */
    const char *stale;          /* why it no longer holds; "" if it does */
    const char *checked_driver; /* "" if it was not checked */
    double checked_us;
    int64_t checked_at;
};

struct wisdom_figures {
    int count;
    struct wisdom_figure *items;
};

/* Codes of variants, by their digest; those of templates, by the template's hash. */
enum wisdom_codes { WISDOM_CODES_TABLE, WISDOM_TEMPLATES_TABLE };

enum wisdom_put { WISDOM_ADDED, WISDOM_BETTER, WISDOM_KEPT };

/* The store of --store, else of $EVOTILE_WISDOM, else wisdom.db in $XDG_DATA_HOME/evotile or
   ~/.local/share/evotile. */
int wisdom_store_path(const char *given, char path[PATH_SIZE], struct error *error);

/* Makes the file and its folder if the mode is STORE_WRITE. */
struct wisdom_store *wisdom_store_open(const char *path, enum store_mode mode, struct error *error);
void wisdom_store_close(struct wisdom_store *store);

/* A transaction, which also reads one state of the store throughout; the end commits unless
   `status` is negative, and returns it. */
int wisdom_store_begin(struct wisdom_store *store, struct error *error);
int wisdom_store_end(struct wisdom_store *store, int status, struct error *error);

/* Adds a code unless there is one of this key. `name`: of a template. */
int wisdom_store_put_code(struct wisdom_store *store, enum wisdom_codes table, const char *key,
                          const char *name, const void *bytes, size_t size, struct error *error);
/* Reads one; the caller frees the bytes. NULL after an error, which a missing one is too. */
void *wisdom_store_code(struct wisdom_store *store, enum wisdom_codes table, const char *key,
                        size_t *size, struct error *error);

/* Adds a figure. If there is one of the same key, the better measured one stays: a measurement
   rather than a prediction, else the one whose interval is narrower, else the newer one. */
int wisdom_store_put(struct wisdom_store *store, const struct wisdom_figure *figure,
                     enum wisdom_put *outcome, struct error *error);
/* Reads every figure, by template, device, case and time. The caller releases them. */
int wisdom_store_read(struct wisdom_store *store, struct wisdom_figures *figures,
                      struct error *error);
void wisdom_figures_release(struct wisdom_figures *figures);

int wisdom_store_mark(struct wisdom_store *store, int64_t id, const char *stale,
                      const char *checked_driver, double checked_us, struct error *error);
int wisdom_store_remove(struct wisdom_store *store, int64_t id, struct error *error);
/* Removes codes that no figure has. Returns their number, or -1. */
int64_t wisdom_store_sweep(struct wisdom_store *store, struct error *error);

#endif
