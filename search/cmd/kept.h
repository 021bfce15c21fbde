/*
 * kept: what verbs find out about a run after its search, and keep with it: JSON objects by name,
 * in the meta of run.db. So a run of any age takes them, and whoever shows the run reads them
 * beside a writer.
 *
 *     "baseline"      what a baseline took for each case (cmd/yardstick.h)
 *     "ablation:K"    what each choice of goal K's champion is worth (cmd/ablation.h)
 *     "profile:N"     what a profiler counted of trial N (cmd/profiled.h)
 *     "predictions"   what a model that had not seen them predicts of trials (cmd/predictions.h)
 *
 * What is kept under a name last replaces what was there.
 */
#ifndef EVOTILE_CMD_KEPT_H
#define EVOTILE_CMD_KEPT_H

#include "base/json.h"
#include "store/store.h"

/* 1 with a document, to be released; 0 where nothing has that name; -1 where it is no JSON. */
int kept_read(struct store *store, const char *name, struct json_document *document,
              struct error *error);

/* Within no batch; the store is open for writing. `object` is freed. */
int kept_write(struct store *store, const char *name, cJSON *object, struct error *error);

/* The same for who has no store open: opens the run for writing meanwhile. */
int kept_write_to(const char *run_dir, const char *name, cJSON *object, struct error *error);

#endif
