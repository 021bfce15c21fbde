/*
 * lineage_evidence: what a run holds of a solution's best genome: its numbers, and what limits it.
 * Private to lineage_json.c.
 *
 *     struct evidence evidence;
 *     int status = evidence_open(&evidence, store, error);
 *     if (status == 0)
 *         status = evidence_add(to, &evidence, goal, STORE_NO_TRIAL, error);
 *     evidence_close(&evidence);                  // also after a failure
 */
#ifndef EVOTILE_ANALYSIS_LINEAGE_EVIDENCE_H
#define EVOTILE_ANALYSIS_LINEAGE_EVIDENCE_H

#include "config/config.h"
#include "store/proposals.h"

#include <cjson/cJSON.h>

struct evidence {
    struct store *store;
    struct config *config; /* NULL: cases are numbered, and nothing is known of launches */
    struct device_info device;
    char missing[sizeof((struct error *)0)->text]; /* why nothing is known of launches; empty: it
                                                      is */
};

int evidence_open(struct evidence *evidence, struct store *store, struct error *error);
void evidence_close(struct evidence *evidence);

/* Adds "numbers" and "profile" (lineage.h) of a trial, or of the goal's best one (STORE_NO_TRIAL).
   Both are null unless it is ok. */
int evidence_add(cJSON *to, const struct evidence *evidence, int goal, int64_t number,
                 struct error *error);

/* A number; null unless it is finite. */
void evidence_add_figure(cJSON *to, const char *name, double figure);
/* A text that quotes a candidate, escaped for readers; NULL is null. */
void evidence_add_text(cJSON *to, const char *name, const char *text);

#endif
